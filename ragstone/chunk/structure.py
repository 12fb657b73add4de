"""Split by headings, then by size. Code and tables stay whole if they fit."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ragstone.chunk import tables, units
from ragstone.chunk.outline import Section, sections
from ragstone.chunk.ruler import Ruler
from ragstone.chunk.text import pack, sentences_of
from ragstone.core.frozen import frozen
from ragstone.core.records import Mark, Span
from ragstone.core.span import lines_of

_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})[^\n]*\s*")


@frozen
class Piece:
    """A future chunk: its span, its section, and its kind: text, code, a table with what stands above it, a picture."""

    span: Span
    section: Section
    kind: str = "text"
    part: tables.Part | None = None


def structured(text: str, marks: Sequence[Mark], ruler: Ruler, size: int, overlap: int) -> list[Piece]:
    """Return pieces of at most ``size``, in order, none across a heading. They cover every character but white space.

    A heading without text of its own joins the section below: alone, it would match a query and say nothing.

    Args:
        text: the text of the document.
        marks: its structure, in order of ``start``.
        ruler: measures size and overlap.
        size: the largest measure of a piece.
        overlap: the most that a piece of prose repeats of the one before, within its section.
    """
    pieces: list[Piece] = []
    waiting: int | None = None
    heading_ends = {mark.start: mark.end for mark in marks if mark.kind == "heading"}
    blocks = [mark for mark in marks if mark.kind in ("code", "table", "picture")]
    for section in sections(len(text), marks):
        bare = not text[heading_ends.get(section.start, section.start) : section.end].strip()
        if bare and section.level and section.end < len(text):
            waiting = section.start if waiting is None else waiting
            continue
        own = list(_in_section(text, section, _within(section, blocks), ruler, size, overlap))
        if waiting is not None and own:
            own = _with_headings(text, waiting, own, ruler, size)
            waiting = None
        pieces += own
    return pieces


def _within(section: Section, blocks: Sequence[Mark]) -> list[Mark]:
    """Return the blocks that lie in a section."""
    first, last = (bisect_left(blocks, at, key=lambda mark: mark.start) for at in (section.start, section.end))
    return [mark for mark in blocks[first:last] if mark.end <= section.end]


def _with_headings(text: str, start: int, own: list[Piece], ruler: Ruler, size: int) -> list[Piece]:
    """Return the pieces of a section, with the bare headings above it in its first piece, if they fit, or before it."""
    first = own[0]
    # Source code holds its headings: they are the lines on which definitions begin.
    holds_heading = first.kind == "text" or first.span.start == first.section.start
    if holds_heading and ruler.length(start, first.span.end) <= size:
        return [replace(first, span=Span(start=start, end=first.span.end)), *own[1:]]
    headings = pack(text, [*_prose(text, start, first.section.start)], [units.words], ruler, size, 0)
    return [*(Piece(span=span, section=first.section) for span in headings), *own]


def _in_section(
    text: str, section: Section, blocks: Sequence[Mark], ruler: Ruler, size: int, overlap: int
) -> Iterator[Piece]:
    at = section.start
    for block in blocks:
        if block.start < at:  # inside the block before
            continue
        whole = _with_fences(text, block, at, section.end)
        yield from _pieces(text, at, whole.start, section, "text", ruler, size, overlap)
        if block.kind == "table":
            yield from of_table(text, block, whole, section, ruler, size)
        else:
            yield from _pieces(text, whole.start, whole.end, section, block.kind, ruler, size, 0)
        at = whole.end
    yield from _pieces(text, at, section.end, section, "text", ruler, size, overlap)


def of_table(text: str, table: Mark, whole: Span, section: Section, ruler: Ruler, size: int) -> Iterator[Piece]:
    """Yield the pieces of a table: whole rows, unless one is longer than ``size``."""
    for part in tables.parts(text, table, whole, ruler, size):
        yield Piece(span=part.span, section=section, kind="table", part=part)


def _with_fences(text: str, block: Mark, start: int, end: int) -> Span:
    """Return a block with its fences, within ``start`` to ``end``: alone, a fence would say nothing."""
    before = max(text.rfind("\n", start, max(block.start - 1, start)) + 1, start)
    after = text.find("\n", min(block.end + 1, end), end)
    after = end if after < 0 else after
    return Span(
        start=before if _FENCE.fullmatch(text, before, block.start) else block.start,
        end=after if _FENCE.fullmatch(text, block.end, after) else block.end,
    )


def _pieces(
    text: str, start: int, end: int, section: Section, kind: str, ruler: Ruler, size: int, overlap: int
) -> Iterator[Piece]:
    units_of = lines_of if kind == "code" else _prose
    for span in pack(text, units_of(text, start, end), [sentences_of, units.words], ruler, size, overlap):
        yield Piece(span=span, section=section, kind=kind)


def _prose(text: str, start: int, end: int) -> Iterator[Span]:
    for span in units.paragraphs(text[start:end]):
        yield Span(start=start + span.start, end=start + span.end)
