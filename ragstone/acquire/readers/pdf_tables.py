"""Tables of a PDF page without lines around their cells, from the positions of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from ragstone.acquire.readers.figures import is_before, is_unit, is_value, is_year
from ragstone.acquire.readers.grid import Cell, around
from ragstone.acquire.readers.pdf_rules import Rule
from ragstone.acquire.readers.pdf_words import Line, Word, box_of

_ROW_GAP = 4.0
_CELL_GAP = 1.3
_FIGURE_GAP = 0.45
"""A gap between columns of words, and next to figures, in line heights."""
_LINE_GAP = 1.1
"""Lines of one cell are at most this far apart, in line heights."""
_LABELS = 0.3
_MOST_ROWS = 500
_PROSE = 30
"""If most cells are longer than this, the columns are columns of text, not of a table."""

Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heading:
    """A heading, of one or more lines, above the columns ``first`` to ``last``."""

    lines: Sequence[Line]
    first: int
    last: int

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)


def is_table(rows: Sequence[Line]) -> bool:
    """Return whether a run of lines is a table.

    Without figures, most of its lines must have several cells, and some of them a label at the left.
    """
    bounds = columns(rows) if len(rows) >= 3 else []
    if len(bounds) < 2:
        return False
    if any(map(_has_figures, rows)):
        return True
    labels = sum(row.left <= bounds[0][1] for row in rows)
    return 2 * sum(len(row.cells) > 1 for row in rows) >= len(rows) and labels >= _LABELS * len(rows)


def table_end(lines: Sequence[Line], number: int) -> int:
    """Return the line after a run of lines with cells. Lines with a single cell may be among them."""
    end = number
    bounds: list[Bounds] = []
    while end < len(lines) and end - number < _MOST_ROWS:
        line = lines[end]
        if end > number:
            gap = lines[end - 1].bottom - line.top
            if not -0.5 * line.height <= gap <= _ROW_GAP * line.height:
                break
        if len(line.cells) < 2 and (end == number or not _fits(line, bounds)):
            break
        bounds = _with(bounds, line)
        end += 1
    while end > number and len(lines[end - 1].cells) < 2:
        end -= 1
    return end


def _fits(line: Line, bounds: Sequence[Bounds]) -> bool:
    return len(bounds) > 1 and sum(line.left < right and left < line.right for left, right in bounds) <= 1


def _with(bounds: Sequence[Bounds], line: Line) -> list[Bounds]:
    """Return bounds of columns that also hold the cells of a line."""
    return _united([*bounds, *((cell.left, cell.right) for cell in line.cells)])


def _united(bounds: Sequence[Bounds]) -> list[Bounds]:
    found: list[Bounds] = []
    for left, right in sorted(bounds):
        if found and left <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], right))
        else:
            found.append((left, right))
    return found


def columns(rows: Sequence[Line]) -> list[Bounds]:
    """Return the bounds of the columns: words that overlap from row to row belong to one column.

    Rows with figures decide, if there are any: headings span columns. Of many rows, a few may reach into the next
    column. A narrow gap divides columns only if one of them holds figures.
    """
    body = [row for row in rows if _has_figures(row)]
    if len(body) < 2:
        body = [row for row in rows if len(row.cells) > 1] or [*rows]
        return _united([(cell.left, cell.right) for row in body for cell in row.cells])
    found = _covered(body, len(body) // 8)
    height = median(row.height for row in body)
    figures = [_holds_figures(body, one) for one in found]
    merged: list[Bounds] = []
    is_figures: list[bool] = []
    for one, held in zip(found, figures, strict=True):
        gap = _CELL_GAP if merged and not held and not is_figures[-1] else _FIGURE_GAP
        if merged and one[0] - merged[-1][1] < gap * height:
            merged[-1] = (merged[-1][0], one[1])
            is_figures[-1] = is_figures[-1] and held
        else:
            merged.append(one)
            is_figures.append(held)
    return merged


def _covered(rows: Sequence[Line], tolerance: int) -> list[Bounds]:
    """Return where more rows than ``tolerance`` have words."""
    edges = sorted(
        edge
        for row in rows
        for word in row.words
        if not is_before(word.text)
        for edge in ((word.left, 1), (max(word.right, word.left + 0.1), -1))
    )
    found: list[Bounds] = []
    depth, start = 0, 0.0
    for at, step in edges:
        before, depth = depth, depth + step
        if before <= tolerance < depth:
            start = at
        elif depth <= tolerance < before:
            found.append((start, at))
    return found


def _holds_figures(rows: Sequence[Line], bounds: Bounds) -> bool:
    inside = [w.text for row in rows for w in row.words if bounds[0] <= (w.left + w.right) / 2 <= bounds[1]]
    return bool(inside) and sum(is_value(text) or is_before(text) for text in inside) >= 0.6 * len(inside)


def _has_figures(row: Line) -> bool:
    return any(is_value(cell.text) for cell in row.cells[1:])


def is_prose(rows: Sequence[Line]) -> bool:
    return median(len(cell.text) for row in rows for cell in row.cells) > _PROSE


def table_start(lines: Sequence[Line], number: int, end: int, first: int) -> int:
    """Return where the table from ``number`` to ``end`` begins, ``first`` at the earliest.

    Headings right above its rows belong to it. A line in the middle above the whole table is its title.
    """
    bounds = columns(lines[number:end])
    left, right = bounds[0][0], bounds[-1][1]
    start = at = number
    while at > first and number - at < 6:
        above, below = lines[at - 1], lines[at]
        gap = above.bottom - below.top
        if not -0.5 * above.height <= gap <= 1.8 * above.height or len(above.text) > 80:
            break
        off_middle = abs((above.left + above.right) / 2 - (left + right) / 2)
        if above.right > right + 3 * above.height or (len(above.cells) == 1 and off_middle < 0.08 * (right - left)):
            break
        at -= 1
        if above.left >= bounds[0][1] or len(above.cells) > 1 or above.text.endswith(":"):
            start = at
        elif abs(above.left - left) > 2 * above.height:  # neither a heading nor the label of a section
            break
    return start


def cells_of(rows: Sequence[Line], rules: Sequence[Rule]) -> tuple[list[list[Cell]], int | None]:
    """Return the cells of a table and the number of rows with column headings; None if that cannot be told.

    Args:
        rows: the lines of the table.
        rules: horizontal lines of the page; one below a heading shows which columns it spans.
    """
    bounds = columns(rows)
    body = [n for n, row in enumerate(rows) if _has_figures(row) and not _is_heading(row, bounds)]
    first = body[0] if len(body) > 1 else 0
    # Labels without figures right above the first row are sections of the body.
    while first > 1 and len(rows[first - 1].cells) == 1 and _is_label(rows[first - 1], bounds):
        first -= 1
    head = _headings(rows[:first], bounds, rules) if first else None
    if head is None:
        return _body(rows, bounds), None
    return [*head, *_body(rows[first:], bounds)], len(head)


def _is_label(row: Line, bounds: Sequence[Bounds]) -> bool:
    return row.left < bounds[0][1] and not is_unit(row.text)


def _is_heading(row: Line, bounds: Sequence[Bounds]) -> bool:
    """Return whether all figures of a row are years."""
    values = [cell.text for cell in row.cells if cell.left > bounds[0][1]]
    return bool(values) and all(is_year(text) or not is_value(text) for text in values)


def _headings(rows: Sequence[Line], bounds: Sequence[Bounds], rules: Sequence[Rule]) -> list[list[Cell]] | None:
    """Return the rows of headings, with lines of one heading in one cell; None if these rows are no headings."""
    blocks: list[_Heading] = []
    for row in rows:
        taken: set[int] = set()
        cells = [part for cell in row.cells for part in _divided(cell, bounds)]
        spans = _shared_out(cells, bounds) or [_spanned(cell, bounds, rules) for cell in cells]
        for cell, (first, last) in zip(cells, spans, strict=True):
            if first in taken:
                return None
            taken |= {*range(first, last + 1)}
            above = next((one for one in reversed(blocks) if one.first <= last and first <= one.last), None)
            if above and (above.first, above.last) == (first, last) and _continues(above.lines[-1], cell):
                blocks.remove(above)
                blocks.append(_Heading(lines=[*above.lines, cell], first=first, last=last))
            else:
                blocks.append(_Heading(lines=[cell], first=first, last=last))
    if not any(block.first > 0 for block in blocks):
        return None
    # From the lowest up: a heading stands above all headings of its columns.
    levels: list[list[_Heading]] = []
    height = [0] * len(bounds)
    for block in sorted(blocks, key=lambda one: one.lines[-1].bottom):
        level = max(height[block.first : block.last + 1])
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
    labels = [cell for cell in cells if cell.left < bounds[0][1]]
    above = [cell for cell in cells if cell.left >= bounds[0][1]]
    values = len(bounds) - 1
    if not above or len(labels) > 1 or values <= len(above) or values % len(above):
        return []
    size = values // len(above)
    found = [(0, 0) for _ in labels]
    for number, cell in enumerate(above):
        first, last = 1 + number * size, (number + 1) * size
        left, right = bounds[first][0], bounds[last][1]
        off_middle = abs((cell.left + cell.right) / 2 - (left + right) / 2)
        middle = bounds[(first + last) // 2]
        # One narrow heading above an odd number of columns may belong to the one in the middle.
        narrow = size % 2 == 1 and cell.right - cell.left < middle[1] - middle[0]
        if narrow or off_middle > (0.12 if len(above) == 1 else 0.25) * (right - left):
            return []
        found.append((first, last))
    return found


def _spanned(cell: Line, bounds: Sequence[Bounds], rules: Sequence[Rule]) -> tuple[int, int]:
    """Return the first and last column below a heading."""
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


def _continues(above: Line, below: Line) -> bool:
    return above.bottom - below.top <= _LINE_GAP * max(above.height, below.height)


def _body(rows: Sequence[Line], bounds: Sequence[Bounds]) -> list[list[Cell]]:
    """Return the rows of the body. Lines of a label or a text that goes on below join their row."""
    found: list[list[Cell]] = []
    pitch = _pitch(rows)
    before: Line | None = None
    waiting = False  # The row before is a label that goes on in this one.
    for number, line in enumerate(rows):
        row = _row(line, bounds)
        label, values = row[0].text, [cell.text for cell in row[1:]]
        gap = before.bottom - line.top if before is not None else 0.0
        tight = before is not None and gap < 0.6 * pitch
        label_only = label != "" and not any(values)
        is_words = not any(is_value(cell.text) for cell in row)
        if before is not None and found and is_words and tight and not (label and any(values)):
            starts_row = label_only and _starts(label) and number + 1 < len(rows) and not found[-1][0].text
            if not starts_row and (not label_only or _has_values(found[-1]) or waiting):
                found[-1] = [a.plus(b) for a, b in zip(found[-1], row, strict=True)]
                before = line
                continue
        if found and waiting and label and not _has_values(found[-1]) and _goes_on(found[-1][0].text, label):
            found[-1] = [found[-1][0].plus(row[0]), *row[1:]]
        elif found and label_only and _has_values(found[-1]) and label[:1].islower() and gap < 1.2 * line.height:
            found[-1][0] = found[-1][0].plus(row[0])
        else:
            found.append(row)
        waiting = label_only
        before = line
    return found


def _has_values(row: Sequence[Cell]) -> bool:
    return any(cell.text for cell in row[1:])


def _starts(label: str) -> bool:
    return label[:1].isupper() or label[:1].isdigit()


def _goes_on(label: str, below: str) -> bool:
    """Return whether a label continues in the next line: it is no section, and the line begins in its middle."""
    return not label.endswith(":") and (below[:1].islower() or below[:1] in "(&$") and not below.startswith("(in ")


def _pitch(rows: Sequence[Line]) -> float:
    """Return the usual distance between rows with figures."""
    gaps = [above.bottom - below.top for above, below in pairwise(rows) if _has_figures(above) and _has_figures(below)]
    return median(gaps) if gaps else 0.0


def _row(line: Line, bounds: Sequence[Bounds]) -> list[Cell]:
    row = [Cell("")] * len(bounds)
    for cell in line.cells:
        for part, at in _parts(cell, bounds):
            row[at] = row[at].plus(part)
    return row


def _parts(cell: Line, bounds: Sequence[Bounds]) -> list[tuple[Cell, int]]:
    """Return the words of a cell with their column; several if it holds figures of other columns."""
    if not any(is_value(word.text) for word in cell.words[1:]):
        return [(Cell(cell.text, box=cell.box), _column(cell, bounds))]
    parts: list[tuple[Cell, int]] = []
    signs = Cell("")
    for word in cell.words:
        alone = Line(words=[word])
        one = Cell(signs.text + word.text, box=around([box for box in (signs.box, alone.box) if box]))
        if is_before(word.text):  # It stands anywhere on the left of its figure.
            signs = one
            continue
        parts.append((one, _column(alone, bounds)))
        signs = Cell("")
    return [*parts, (signs, parts[-1][1] if parts else _column(cell, bounds))] if signs.text else parts


def _column(cell: Line, bounds: Sequence[Bounds]) -> int:
    return max(range(len(bounds)), key=lambda n: _shared(cell, bounds[n]))


def _shared(cell: Line, column: Bounds) -> float:
    """Return how much of a column a cell covers; less than 0 is how far away it is."""
    shared = min(cell.right, column[1]) - max(cell.left, column[0])
    # A label that runs into the next columns belongs where it begins.
    return shared + (1000.0 if column[0] - 1 <= cell.left <= column[1] else 0.0)
