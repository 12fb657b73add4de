"""Read the tables within a text: their rows, and their cells with the heads of their columns.

A section of a document that a model reads has its tables as lines with bars between the cells, as in Markdown or
without the outer bars. The first line of a table is the head of its columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from ragstone.core.frozen import frozen
from ragstone.core.records import Span

_LINE = re.compile(r"[^\s\n](?:[^\n]*\S)?")
_FENCED = re.compile(r"\|.*\|")
_BETWEEN = re.compile(r"(?<!\\)\s\|\s")
_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[\s|:-]+")
_LEAST_LINES = 2


@frozen
class Headed:
    """A cell of a table, with the head of its column; ``span`` is in the text."""

    span: Span
    head: str


@frozen
class TextTable:
    """A table within a text, the line of its heads, and its rows and cells below them."""

    head: Span
    rows: tuple[Span, ...]
    cells: tuple[Headed, ...]


def tables_in(text: str) -> list[TextTable]:
    """Return the tables of a text, in order: lines with bars that follow each other, two at least."""
    out: list[TextTable] = []
    for head, *rows in _blocks(text):
        names = [cell.of(text).strip() for cell in _cells(text, head)]
        cells = [
            Headed(span=cell, head=name)
            for row in rows
            for cell, name in zip(_cells(text, row), [*names, *[""] * len(row.of(text))], strict=False)
        ]
        out.append(TextTable(head=head, rows=tuple(rows), cells=tuple(cells)))
    return out


def _blocks(text: str) -> Iterator[Sequence[Span]]:
    """Yield the lines of each table without the rule below its heads."""
    lines = [Span(start=line.start(), end=line.end()) for line in _LINE.finditer(text)]
    for is_row, some in groupby(lines, key=lambda line: _is_row(line.of(text))):
        block: list[Span] = []
        for line in some if is_row else ():
            if block and text.count("\n", block[-1].end, line.start) > 1:
                yield from _told(text, block)
                block = []
            block.append(line)
        yield from _told(text, block)


def _told(text: str, block: Sequence[Span]) -> Iterator[Sequence[Span]]:
    rows = [line for line in block if not _RULE.fullmatch(line.of(text))]
    if len(rows) >= _LEAST_LINES:
        yield rows


def _is_row(line: str) -> bool:
    return bool(_FENCED.fullmatch(line) or _BETWEEN.search(line))


def _cells(text: str, row: Span) -> list[Span]:
    line = row.of(text)
    bars = [row.start + found.start() for found in _BAR.finditer(line)]
    if not _FENCED.fullmatch(line):
        bars = [row.start - 1, *bars, row.end]
    return [Span(start=start + 1, end=end) for start, end in pairwise(bars)]
