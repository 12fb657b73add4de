"""The lines of a picture in reading order: columns one after the other, cells of a row side by side.

A gutter divides columns only if there is running text on both sides of it. Between short texts, such as the words and
prices of a receipt, it divides the cells of rows, which are read across.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from ragstone.acquire.ocr.columns import Columns
from ragstone.acquire.ocr.recognizer import TextLine
from ragstone.core.frozen import frozen

_SAME_ROW = 0.5
"""Share of the lower of two boxes that both have in common if they are in a row."""
_NEW_PARAGRAPH = 0.5
"""Space above a paragraph beyond that between its lines, in heights of a line."""
_MOST_LINES = 3000
"""A picture with more lines than this is a pattern; its lines are left from top to bottom."""

Row = Sequence[TextLine]
"""Lines side by side, from left to right."""


@frozen
class Paragraph:
    rows: Sequence[Row]


def paragraphs(lines: Sequence[TextLine]) -> list[Paragraph]:
    """Return the paragraphs of an upright picture in reading order."""
    if not lines:
        return []
    if len(lines) > _MOST_LINES:
        return [Paragraph(rows=[[line] for line in sorted(lines, key=lambda line: line.top)])]
    height = median(line.height for line in lines)
    found: list[Paragraph] = []
    for block in _blocks(lines, height):
        found += _divided(_rows(block))
    return found


def _blocks(lines: Sequence[TextLine], height: float) -> list[Sequence[TextLine]]:
    """Return the lines in blocks of one column each, in reading order."""
    bands = _bands(lines)
    columns = Columns(bands, height)
    blocks: list[Sequence[TextLine]] = []
    plain: list[TextLine] = []
    at = 0
    while at < len(bands):
        end, split = columns.find(at)
        if not end:
            plain += bands[at]
            at += 1
            continue
        inside = [line for band in bands[at:end] for line in band]
        blocks += [plain] if plain else []
        plain = []
        for side in (
            [line for line in inside if (line.left + line.right) / 2 < split],
            [line for line in inside if (line.left + line.right) / 2 >= split],
        ):
            blocks += _blocks(side, height)
        at = end
    return [*blocks, plain] if plain else blocks


def _bands(lines: Sequence[TextLine]) -> list[list[TextLine]]:
    """Return the lines in bands that overlap in the middle of their heights, from top to bottom."""
    bands: list[list[TextLine]] = []
    bottom = 0.0
    for line in sorted(lines, key=lambda line: line.top):
        margin = 0.25 * line.height
        if bands and line.top + margin < bottom:
            bands[-1].append(line)
            bottom = max(bottom, line.bottom - margin)
        else:
            bands.append([line])
            bottom = line.bottom - margin
    return bands


def _rows(lines: Sequence[TextLine]) -> list[list[TextLine]]:
    """Return the lines in rows from top to bottom."""
    rows: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda line: line.top + line.bottom):
        # A cell belongs to the row of its nearest neighbour, so that leaning rows stay together.
        near = [row for row in rows[-3:] if _is_beside(_nearest(row, line), line)]
        if near:
            near[-1].append(line)
        else:
            rows.append([line])
    for row in rows:
        row.sort(key=lambda line: line.left)
    return rows


def _nearest(row: Sequence[TextLine], line: TextLine) -> TextLine:
    return min(row, key=lambda other: max(other.left - line.right, line.left - other.right))


def _is_beside(one: TextLine, other: TextLine) -> bool:
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    overlap = min(one.right, other.right) - max(one.left, other.left)
    return shared > _SAME_ROW * min(one.height, other.height) and overlap < 0.5 * min(one.height, other.height)


def _divided(rows: Sequence[Row]) -> list[Paragraph]:
    """Return rows as paragraphs, divided where there is more space between two rows than between most."""
    spaces = [_space(above, below) for above, below in pairwise(rows)]
    usual = median(spaces) if spaces else 0.0
    parts: list[list[Row]] = [[rows[0]]]
    for row, space in zip(rows[1:], spaces, strict=True):
        height = median(line.height for line in row)
        if space > usual + _NEW_PARAGRAPH * height:
            parts.append([])
        parts[-1].append(row)
    return [Paragraph(rows=one) for one in parts]


def _space(above: Row, below: Row) -> float:
    return min(line.top for line in below) - max(line.bottom for line in above)
