"""Split documents into chunks with exact spans."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from ragstone.chunk import text as strategies
from ragstone.chunk.facts import facts_of
from ragstone.chunk.outline import Outlined, Section, questions_apart, section_at, sections
from ragstone.chunk.reading import reading_sentences as sentences
from ragstone.chunk.ruler import Characters, Ruler, Tokens
from ragstone.chunk.structure import Piece, of_table, structured
from ragstone.core.place import place_of
from ragstone.core.protocols import Tokens as TokensOf
from ragstone.core.records import CITED_BY_LINE, Chunk, Document, Span
from ragstone.settings import ChunkSettings

__all__ = ["Outlined", "fingerprint", "sentences", "split"]

_VERSION = 1
"""Increase it when chunks of the same settings must not stand beside those of before: then documents can be added only
after a rebuild."""


def fingerprint(settings: ChunkSettings) -> str:
    """Return a text that differs if chunks must not stand beside each other in a knowledge base."""
    return f"{settings.strategy} {settings.unit} {settings.size}/{settings.overlap} {settings.context} v{_VERSION}"


def split(document: Document, settings: ChunkSettings, tokens_of: TokensOf) -> list[Chunk]:
    """Return the chunks of a document, in order; none if it is blank.

    Args:
        document: every chunk has its title, URL and metadata.
        settings: strategy, unit, size, overlap and context.
        tokens_of: finds tokens, if the settings measure size in tokens.
    """
    ruler = _ruler(document.text, settings, tokens_of)
    pieces = list(_pieces(document, settings, ruler))
    pages, pictures = ([mark for mark in document.marks if mark.kind == kind] for kind in ("page", "picture"))
    lines = _line_starts(document.text) if document.metadata.get("kind") in CITED_BY_LINE else []
    return [
        Chunk(
            id=chunk_id(document.id, index, piece.span.of(document.text)),
            document_id=document.id,
            index=index,
            total=len(pieces),
            start=piece.span.start,
            end=piece.span.end,
            text=piece.span.of(document.text),
            title=document.title,
            url=document.url,
            metadata=document.metadata,
            context=_context(document, piece, settings),
            facts=facts_of(
                piece,
                pages,
                pictures,
                ruler if settings.strategy == "structure" else None,
                bisect_right(lines, piece.span.start) if lines else 0,
            ),
        )
        for index, piece in enumerate(pieces)
    ]


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", text))]


def _pieces(document: Document, settings: ChunkSettings, ruler: Ruler) -> Iterator[Piece]:
    text, marks = document.text, document.marks
    if settings.strategy == "structure":
        yield from structured(text, marks, ruler, settings.size, settings.overlap)
        return
    outline = sections(len(text), marks)
    # Windows lie on a grid, regardless of what they hold.
    kinds = ("table", "picture") if settings.strategy != "sliding_window" else ()
    at = 0
    for block in (mark for mark in marks if mark.kind in kinds):
        if block.start >= at:
            yield from _of_prose(text, at, block.start, outline, settings, ruler)
            if block.kind == "table":
                whole = Span(start=block.start, end=block.end)
                yield from of_table(text, block, whole, section_at(outline, block.start), ruler, settings.size)
            else:
                yield from _of_prose(text, block.start, block.end, outline, settings, ruler)
            at = block.end
    yield from _of_prose(text, at, len(text), outline, settings, ruler)


def _of_prose(
    text: str, start: int, end: int, outline: Sequence[Section], settings: ChunkSettings, ruler: Ruler
) -> Iterator[Piece]:
    """Yield the pieces of the text between two tables, or of all of it."""
    if settings.strategy == "recursive":
        yield from _recursive(text, start, end, outline, settings)
        return
    prose, size, overlap = text[start:end], settings.size, settings.overlap
    local = ruler if len(prose) == len(text) else ruler.part(start, end)
    match settings.strategy:
        case "sliding_window":
            spans = strategies.sliding_window(prose, size, overlap)
        case "sentence":
            spans = strategies.by_sentence(prose, size, overlap, local)
        case _:
            spans = strategies.by_paragraph(prose, size, overlap, local)
    for span in spans:
        moved = Span(start=start + span.start, end=start + span.end)
        yield Piece(span=moved, section=section_at(outline, moved.start))


def _recursive(text: str, start: int, end: int, outline: Sequence[Section], settings: ChunkSettings) -> Iterator[Piece]:
    """Yield the pieces of a text, none across the questions of a FAQ or the messages of a mail.

    With others, each would be found less well.
    """
    for part, first in questions_apart(text, outline, start, end):
        for span in strategies.recursive(part.of(text), settings.size, settings.overlap):
            moved = Span(start=part.start + span.start, end=part.start + span.end)
            section = section_at(outline, moved.start)
            yield Piece(span=moved, section=first if section.start < first.start < moved.end else section)


def _ruler(text: str, settings: ChunkSettings, tokens_of: TokensOf) -> Ruler:
    return Tokens(text, tokens_of) if settings.unit == "tokens" else Characters(text)


def _context(document: Document, piece: Piece, settings: ChunkSettings) -> str:
    """Return what precedes a chunk: its place, titles, and what stands above its rows in their table."""
    above = piece.part.above if piece.part else []
    place = place_of(document.metadata.get("path"), document.title)
    match settings.context:
        case "none":
            return ""
        case "title":
            return "\n".join(part for part in (place, document.title, *above) if part)
        case "path":
            # The first heading is usually the title again.
            titles = piece.section.titles
            titles = titles[1:] if titles[:1] == (document.title,) else titles
            return "\n".join(part for part in (place, document.title, " > ".join(titles), *above) if part)


def chunk_id(document_id: str, index: int, text: str) -> str:
    """Return the id of a chunk, a hash of its document, position and text."""
    # A text from another program may hold lone surrogates, which strict UTF-8 refuses.
    identity = f"{document_id}\0{index}\0{text}".encode(errors="surrogatepass")
    return hashlib.sha256(identity).hexdigest()[:32]
