"""Rows of a table on a PDF page that the file stores cell by cell, each with several lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ragstone.acquire.readers.pdf.column_headings import Bounds
from ragstone.acquire.readers.pdf.tables import with_cells
from ragstone.acquire.readers.pdf.words import Line
from ragstone.acquire.readers.tables.figures import is_value

_MOST_LINES = 40
_LINE_GAP = 1.3
"""Lines of a cell are at most this far apart, in line heights."""
_ALIGNED = 0.5
"""The tops or the middles of the cells of a row differ at most by this, in line heights."""


def with_wrapped_row(lines: Sequence[Line], number: int, end: int) -> list[Line]:
    """Return the lines with those of a row below a table as one; as they are if they are none.

    Files often store a row cell by cell: all lines of its label, in the middle or at the top, and then those beside it.

    Args:
        lines: of the page.
        number: of the first line of the table.
        end: the line after it.
    """
    for start in (end, end - 1):  # The label may be in a line of the table, with the first line beside it.
        if start > number and (row := _wrapped_row(lines, number, start)) and row[1] > end:
            return [*lines[: row[0]], row[2], *lines[row[1] :]]
    return [*lines]


def _wrapped_row(lines: Sequence[Line], number: int, start: int) -> tuple[int, int, Line] | None:
    """Return where a row of several lines begins and ends, and its cells as one line; None if there is none."""
    bounds: list[Bounds] = []
    for row in lines[number:start]:
        bounds = with_cells(bounds, row)
    lowest = lines[start - 1].bottom
    parts: dict[int, list[Line]] = {}
    at = start
    while at < len(lines) and at - start < _MOST_LINES and lines[at].top <= lowest + lines[at].height / 2:
        cells = lines[at].cells
        under = [[n for n, one in enumerate(bounds) if cell.left < one[1] and one[0] < cell.right] for cell in cells]
        if any(len(columns) != 1 for columns in under) or under[0][0] < max(parts, default=0):
            break
        if any(a == b for a, b in pairwise(under)):
            break
        before = parts.get(under[0][0], [lines[at]])[-1]
        if under[0][0] in parts and not 0 < before.bottom - lines[at].top + 1 <= _LINE_GAP * before.height:
            break
        for cell, (column,) in zip(cells, under, strict=True):
            parts.setdefault(column, []).append(cell)
        at += 1
    if len(parts) < 2 or any(sum(is_value(cell.text) for cell in part) > 1 for part in parts.values()):
        return None
    first, *others = parts.values()
    while len(first) > 1 and all(first[0].bottom > other[0].top for other in others):  # the title of a section
        del first[0]
        start += 1
    tops = [part[0].top for part in parts.values()]
    middles = [(part[0].top + part[-1].bottom) / 2 for part in parts.values()]
    if min(max(tops) - min(tops), max(middles) - min(middles)) > _ALIGNED * first[0].height:
        return None
    whole = [Line(words=[word for line in part for word in line.words]) for part in parts.values()]
    return start, at, Line(words=[word for cell in whole for word in cell.words], parts=whole)
