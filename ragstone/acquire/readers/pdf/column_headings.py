"""The column headings of a table on a PDF page: which lines are one heading, and which columns it stands above."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ragstone.acquire.readers.pdf.rules import Rule
from ragstone.acquire.readers.pdf.words import Line, Word, box_of
from ragstone.acquire.readers.tables.figures import is_year
from ragstone.acquire.readers.tables.grid import Cell
from ragstone.core.frozen import frozen
from ragstone.language.units import is_unit_line

_LINE_GAP = 1.1
"""Lines of one cell are at most this far apart, in line heights."""
_SAME_EDGE = 2.0
"""Points between the edges of lines of one heading."""

Bounds = tuple[float, float]


@frozen
class _Heading:
    """A heading, of one or more lines, above the columns ``first`` to ``last``."""

    lines: Sequence[Line]
    first: int
    last: int

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)

    def overlaps(self, other: _Heading) -> bool:
        return self.first <= other.last and other.first <= self.last


def column_headings(rows: Sequence[Line], bounds: Sequence[Bounds], rules: Sequence[Rule]) -> list[list[Cell]] | None:
    """Return the rows of headings, with lines of one heading in one cell; None if these rows are no headings."""
    blocks: list[_Heading] = []
    drawn = _drawn(bounds, rows, rules)
    for row in rows:
        cells = [part for cell in row.cells for part in _divided(cell, bounds)]
        spans = _shared_out(cells, drawn) or [_spanned(cell, bounds, rules) for cell in cells]
        below = [
            _Heading(lines=[cell], first=first, last=last) for cell, (first, last) in zip(cells, spans, strict=True)
        ]
        if any(one.first <= before.last for before, one in pairwise(below)):
            return None
        above = [next((one for one in reversed(blocks) if one.overlaps(here)), None) for here in below]
        # Years in a row are alike: if one of them has nothing above it, no heading above goes on in another.
        years_alone = any(is_year(here.text) and one is None for one, here in zip(above, below, strict=True))
        for heading, here in zip(above, below, strict=True):
            spans = heading is not None and sum(map(heading.overlaps, below)) > 1
            if heading is None or spans or (years_alone and is_year(here.text)) or not _are_one(heading, here):
                blocks.append(here)
                continue
            blocks.remove(heading)
            blocks.append(_joined(heading, here, bounds, rules))
    blocks = _over_years(blocks, bounds)
    if not any(block.first > 0 for block in blocks):
        return None
    # From the lowest up: a heading stands above all headings of its columns, and the unit above all.
    levels: list[list[_Heading]] = []
    height = [0] * len(bounds)
    for block in sorted(blocks, key=lambda one: (is_unit_line(one.text), one.lines[-1].bottom)):
        level = len(levels) - 1 if levels and is_unit_line(block.text) else max(height[block.first : block.last + 1])
        levels += [[] for _ in range(level + 1 - len(levels))]
        levels[level].append(block)
        height[block.first : block.last + 1] = [level + 1] * (block.last + 1 - block.first)
    return [_heading_row(level, len(bounds)) for level in reversed(levels)]


def _heading_row(level: Sequence[_Heading], width: int) -> list[Cell]:
    row: list[Cell] = []
    at = 0
    for block in sorted(level, key=lambda one: one.first):
        row += [Cell("") for _ in range(block.first - at)]
        row.append(Cell(block.text, columns=block.last + 1 - block.first, box=box_of(block.lines)))
        at = block.last + 1
    return [*row, *(Cell("") for _ in range(width - at))]


def _divided(cell: Line, bounds: Sequence[Bounds]) -> list[Line]:
    """Return a heading, divided where its words are farther apart than usual and a column ends."""
    words = cell.words
    gaps = [after.left - before.right for before, after in pairwise(words)]
    if not gaps or len(bounds) < 2:
        return [cell]
    usual = max(min(gaps), 0.2 * cell.height)
    parts: list[list[Word]] = [[words[0]]]
    for gap, before, after in zip(gaps, words, words[1:], strict=False):
        middle = (before.right + after.left) / 2
        ends = any(a[1] - cell.height <= middle <= b[0] + cell.height for a, b in pairwise(bounds))
        if ends and (gap > 1.5 * usual or len(words) == 2) and gap > 0.5 * cell.height:
            parts.append([after])
        else:
            parts[-1].append(after)
    return [Line(words=part) for part in parts]


def _shared_out(cells: Sequence[Line], bounds: Sequence[Bounds]) -> list[tuple[int, int]]:
    """Return the columns below headings that stand in the middle above equal groups of columns; none if they do not."""
    if any(is_unit_line(cell.text) for cell in cells):
        return []
    labels = [cell for cell in cells if cell.left < bounds[0][1]]
    above = [cell for cell in cells if cell.left >= bounds[0][1]]
    values = len(bounds) - 1
    if not above or len(labels) > 1 or values <= len(above) or values % len(above):
        return []
    size = values // len(above)
    shares = [(0, 0) for _ in labels]
    for number, cell in enumerate(above):
        first, last = 1 + number * size, (number + 1) * size
        left, right = bounds[first][0], bounds[last][1]
        off_middle = abs((cell.left + cell.right) / 2 - (left + right) / 2)
        middle = bounds[(first + last) // 2]
        # One narrow heading above an odd number of columns may belong to the one in the middle.
        narrow = size % 2 == 1 and cell.right - cell.left < middle[1] - middle[0]
        if narrow or off_middle > (0.12 if len(above) == 1 else 0.25) * (right - left):
            return []
        shares.append((first, last))
    return shares


def _spanned(cell: Line, bounds: Sequence[Bounds], rules: Sequence[Rule]) -> tuple[int, int]:
    """Return the first and last column below a heading."""
    if is_unit_line(cell.text):
        return 0, 0
    left, right = cell.left, cell.right
    for rule in rules:
        # A line right below a heading, about as wide as its columns.
        if 0 <= cell.bottom - rule.at <= cell.height and rule.start <= left + 2 and rule.end >= right - 2:
            if rule.start > bounds[0][1]:
                left, right = min(left, rule.start), max(right, rule.end)
            break
    under = [n for n, one in enumerate(bounds) if min(right, one[1]) - max(left, one[0]) > 0.2 * (one[1] - one[0])]
    if under:
        return under[0], under[-1]
    middle = (left + right) / 2
    nearest = min(range(len(bounds)), key=lambda n: max(bounds[n][0] - middle, middle - bounds[n][1], 0.0))
    return nearest, nearest


def _drawn(bounds: Sequence[Bounds], rows: Sequence[Line], rules: Sequence[Rule]) -> list[Bounds]:
    """Return the columns as wide as the lines below their headings are drawn; figures stand at their right edges."""
    top, bottom = max(row.top for row in rows), min(row.bottom - row.height for row in rows)
    near = [rule for rule in rules if bottom <= rule.at <= top]
    drawn: list[Bounds] = []
    for n, (left, right) in enumerate(bounds):
        others = [*bounds[:n], *bounds[n + 1 :]]
        over = [
            rule
            for rule in near
            if rule.start <= left + 2
            and rule.end >= right - 2
            and not any(rule.start < b and a < rule.end for a, b in others)
        ]
        drawn.append((min(left, over[0].start), max(right, over[0].end)) if over else (left, right))
    return drawn


def _joined(above: _Heading, below: _Heading, bounds: Sequence[Bounds], rules: Sequence[Rule]) -> _Heading:
    """Return two headings as one; if their columns differ, with those below both."""
    lines = [*above.lines, *below.lines]
    first, last = above.first, above.last
    if (first, last) != (below.first, below.last):
        first, last = _spanned(Line(words=[word for line in lines for word in line.words]), bounds, rules)
    return _Heading(lines=lines, first=first, last=last)


def _are_one(above: _Heading, below: _Heading) -> bool:
    """Return whether a line continues a heading: it has the same columns, or the same edge and no year."""
    line, cell = above.lines[-1], below.lines[0]
    if not _continues(line, cell):
        return False
    if (above.first, above.last) == (below.first, below.last):
        return True
    edges = (line.left - cell.left, line.right - cell.right, (line.left + line.right - cell.left - cell.right) / 2)
    return min(map(abs, edges)) < _SAME_EDGE and not is_year(cell.text) and not is_year(line.text)


def _over_years(blocks: Sequence[_Heading], bounds: Sequence[Bounds]) -> list[_Heading]:
    """Return the headings, those above a year reaching over the years beside it that have no other heading above."""
    years = {one.first for one in blocks if one.first == one.last and is_year(one.text)}
    upper = [one for one in blocks if not is_year(one.text) and {*range(one.first, one.last + 1)} <= years]
    rest = [one for one in blocks if one not in upper]
    free = years - {n for one in upper for n in range(one.first, one.last + 1)}
    while upper and free:
        column = min(free, key=lambda n: min(_away(one, bounds[n]) for one in upper))
        nearest = min(upper, key=lambda one: _away(one, bounds[column]))
        free.remove(column)
        if column in (nearest.first - 1, nearest.last + 1):
            first, last = min(nearest.first, column), max(nearest.last, column)
            upper[upper.index(nearest)] = _Heading(lines=nearest.lines, first=first, last=last)
    return [*rest, *upper]


def _away(heading: _Heading, column: Bounds) -> float:
    """Return how far the middle of a column is from the words of a heading."""
    middle = (column[0] + column[1]) / 2
    left, right = min(line.left for line in heading.lines), max(line.right for line in heading.lines)
    return max(left - middle, middle - right, 0.0)


def _continues(above: Line, below: Line) -> bool:
    return above.bottom - below.top <= _LINE_GAP * max(above.height, below.height)
