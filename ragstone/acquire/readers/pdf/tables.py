"""Tables of a PDF page without lines around their cells, from the positions of words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from ragstone.acquire.readers.pdf.column_headings import Bounds, column_headings
from ragstone.acquire.readers.pdf.rules import Rule
from ragstone.acquire.readers.pdf.words import Line, side_by_side
from ragstone.acquire.readers.tables.figures import is_before, is_value, is_year
from ragstone.acquire.readers.tables.grid import Cell, around
from ragstone.language.units import is_unit_line

_ROW_GAP = 4.0
_CELL_GAP = 1.3
_FIGURE_GAP = 0.45
"""A gap between columns of words, and next to figures, in line heights."""
_LABELS = 0.3
_MOST_ROWS = 500
_MOST_ABOVE = 16
"""Lines above a table that may be its headings, and how high they may reach above it, in line heights."""
_HIGHEST = 8.0
_TABLE_GAP = 1.5
"""Tables are farther apart than rows, by this factor."""
_MOST_TITLES = 5
"""Lines from one table to the headings of the next, at most."""
_BESIDE = 0.15
"""Lines closer than this, in line heights, are lines of cells side by side, not below each other."""
_PROSE = 30
"""If most cells are longer than this, the columns are columns of text, not of a table."""


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
        if end > number and _is_next_table(lines, number, end):
            break
        bounds = with_cells(bounds, line)
        end += 1
    while end > number and len(lines[end - 1].cells) < 2:
        end -= 1
    return end


def _is_next_table(lines: Sequence[Line], number: int, at: int) -> bool:
    """Return whether another table begins at a line far below the rows from ``number``: it has headings of its own."""
    rows = lines[number:at]
    gaps = [above.bottom - below.top for above, below in pairwise(rows)]
    if len(gaps) < 2 or rows[-1].bottom - lines[at].top < _TABLE_GAP * max(median(gaps), lines[at].height):
        return False
    heading = next((n for n in range(at, min(at + _MOST_TITLES, len(lines) - 1)) if len(lines[n].cells) > 1), None)
    if heading is None or not _is_above_figures(lines[heading], lines[heading + 1]):
        return False
    return any(map(_has_figures, rows))


def _is_above_figures(line: Line, below: Line) -> bool:
    """Return whether a line holds column headings, without figures but years, right above figures."""
    return _has_figures(below) and not any(is_value(cell.text) and not is_year(cell.text) for cell in line.cells)


def _fits(line: Line, bounds: Sequence[Bounds]) -> bool:
    return len(bounds) > 1 and sum(line.left < right and left < line.right for left, right in bounds) <= 1


def with_cells(bounds: Sequence[Bounds], line: Line) -> list[Bounds]:
    """Return bounds of columns that also hold the cells of a line."""
    return _united([*bounds, *((cell.left, cell.right) for cell in line.cells)])


def _united(bounds: Sequence[Bounds]) -> list[Bounds]:
    united: list[Bounds] = []
    for left, right in sorted(bounds):
        if united and left <= united[-1][1]:
            united[-1] = (united[-1][0], max(united[-1][1], right))
        else:
            united.append((left, right))
    return united


def columns(rows: Sequence[Line]) -> list[Bounds]:
    """Return the bounds of the columns: words that overlap from row to row belong to one column.

    Rows with figures decide, if there are any: headings span columns. Of many rows, a few may reach into the next
    column. A narrow gap divides columns only if one of them holds figures.
    """
    body = [row for row in rows if _has_figures(row)]
    if len(body) < 2:
        body = [row for row in rows if len(row.cells) > 1] or [*rows]
        return _united([(cell.left, cell.right) for row in body for cell in row.cells])
    covered = _covered(body, len(body) // 8)
    height = median(row.height for row in body)
    figures = [_holds_figures(body, one) for one in covered]
    merged: list[Bounds] = []
    is_figures: list[bool] = []
    for bounds, has_figures in zip(covered, figures, strict=True):
        gap = _CELL_GAP if merged and not has_figures and not is_figures[-1] else _FIGURE_GAP
        if merged and bounds[0] - merged[-1][1] < gap * height:
            merged[-1] = (merged[-1][0], bounds[1])
            is_figures[-1] = is_figures[-1] and has_figures
        else:
            merged.append(bounds)
            is_figures.append(has_figures)
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
    covered: list[Bounds] = []
    depth, start = 0, 0.0
    for at, step in edges:
        before, depth = depth, depth + step
        if before <= tolerance < depth:
            start = at
        elif depth <= tolerance < before:
            covered.append((start, at))
    return covered


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
        is_title = len(above.cells) == 1 and off_middle < 0.08 * (right - left) and not is_unit_line(above.text)
        if above.right > right + 3 * above.height or is_title:
            break
        at -= 1
        if above.left >= bounds[0][1] or len(above.cells) > 1 or above.text.endswith(":"):
            start = at
        elif abs(above.left - left) > 2 * above.height:  # neither a heading nor the label of a section
            break
    return start


def headings_as_rows(lines: Sequence[Line], number: int, end: int, first: int) -> tuple[int, list[Line]]:
    """Return the number of the first line that may be a heading of a table, and these lines as they stand above it.

    Files often store headings of several lines one after the other. The lines are unchanged if they already go down.

    Args:
        lines: of the page.
        number: of the first line of the table.
        end: the line after it.
        first: the earliest line that may belong to it.
    """
    bounds = columns(lines[number:end])
    top, height = lines[number].top, median(line.height for line in lines[number:end])
    left, right = bounds[0][0] - 2 * height, bounds[-1][1] + 3 * height
    at = number
    while at > first and number - at < _MOST_ABOVE:
        line = lines[at - 1]
        is_above = top - 0.5 * height <= line.bottom <= top + _HIGHEST * height
        if not is_above or line.left < left or line.right > right or len(line.text) > 80:
            break
        at -= 1
    above = lines[at:number]
    if all(one.bottom >= below.top - 0.5 * below.height for one, below in pairwise(above)):
        return at, [*above]
    return at, side_by_side(above)


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
    head = column_headings(rows[:first], bounds, rules) if first else None
    if head is None:
        return _body(rows, bounds, rules), None
    return [*head, *_body(rows[first:], bounds, rules)], len(head)


def _is_label(row: Line, bounds: Sequence[Bounds]) -> bool:
    return row.left < bounds[0][1] and not is_unit_line(row.text)


def _is_heading(row: Line, bounds: Sequence[Bounds]) -> bool:
    """Return whether all figures of a row are years."""
    values = [cell.text for cell in row.cells if cell.left > bounds[0][1]]
    return bool(values) and all(is_year(text) or not is_value(text) for text in values)


def _body(rows: Sequence[Line], bounds: Sequence[Bounds], rules: Sequence[Rule]) -> list[list[Cell]]:
    """Return the rows of the body. Lines of a label or a text that goes on below join their row."""
    if bands := _bands(rows, bounds, rules):
        return [_whole_row(band, bounds) for band in bands]
    body: list[list[Cell]] = []
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
        is_beside = gap < _BESIDE * line.height and not (label and any(values))
        if before is not None and body and is_words and is_beside:  # a label in the middle beside the lines of a cell
            body[-1] = [a.plus(b) for a, b in zip(body[-1], row, strict=True)]
            before = line
            continue
        if before is not None and body and is_words and tight and not (label and any(values)):
            starts_row = label_only and _starts(label) and number + 1 < len(rows) and not body[-1][0].text
            if not starts_row and (not label_only or _has_values(body[-1]) or waiting):
                body[-1] = [a.plus(b) for a, b in zip(body[-1], row, strict=True)]
                before = line
                continue
        if body and waiting and label and not _has_values(body[-1]) and _goes_on(body[-1][0].text, label):
            body[-1] = [body[-1][0].plus(row[0]), *row[1:]]
        elif body and label_only and _has_values(body[-1]) and label[:1].islower() and gap < 1.2 * line.height:
            body[-1][0] = body[-1][0].plus(row[0])
        else:
            body.append(row)
        waiting = label_only
        before = line
    return body


def _bands(rows: Sequence[Line], bounds: Sequence[Bounds], rules: Sequence[Rule]) -> list[Sequence[Line]]:
    """Return the lines of each row if lines are drawn between all rows; none if they are not."""
    left, right = bounds[0][0], bounds[-1][1]
    wide = [rule for rule in rules if min(rule.end, right) - max(rule.start, left) > 0.8 * (right - left)]
    starts = [0]
    for n, (above, below) in enumerate(pairwise(rows), 1):
        if any(below.top - 0.3 * below.height <= rule.at <= above.bottom + 0.3 * above.height for rule in wide):
            starts.append(n)
    bands = [rows[start:end] for start, end in pairwise([*starts, len(rows)])]
    if len(bands) < 3 or any(
        sum(len(line.cells) > 1 and line.left <= bounds[0][1] for line in one) > 1 for one in bands
    ):
        return []
    return bands


def _whole_row(lines: Sequence[Line], bounds: Sequence[Bounds]) -> list[Cell]:
    row = _row(lines[0], bounds)
    for line in lines[1:]:
        row = [a.plus(b) for a, b in zip(row, _row(line, bounds), strict=True)]
    return row


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
        part = Cell(signs.text + word.text, box=around([box for box in (signs.box, alone.box) if box]))
        if is_before(word.text):  # It stands anywhere on the left of its figure.
            signs = part
            continue
        parts.append((part, _column(alone, bounds)))
        signs = Cell("")
    return [*parts, (signs, parts[-1][1] if parts else _column(cell, bounds))] if signs.text else parts


def _column(cell: Line, bounds: Sequence[Bounds]) -> int:
    return max(range(len(bounds)), key=lambda n: _shared(cell, bounds[n]))


def _shared(cell: Line, column: Bounds) -> float:
    """Return how much of a column a cell covers; less than 0 is how far away it is."""
    shared = min(cell.right, column[1]) - max(cell.left, column[0])
    # A label that runs into the next columns belongs where it begins.
    return shared + (1000.0 if column[0] - 1 <= cell.left <= column[1] else 0.0)
