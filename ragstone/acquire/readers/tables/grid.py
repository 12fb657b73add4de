"""Tables as grids: cells that span rows or columns, columns that only hold signs, and rows of column headings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from ragstone.acquire.readers.tables import figures
from ragstone.core.frozen import frozen

_WIDEST = 1000
"""Columns that a cell may span at most; files are not to be trusted."""
_MOST_HEADINGS = 8
_LONGEST_REPEATED = 80
"""Characters of a cell that is worth repeating in each of its columns."""
_PLAIN = 5000
"""Rows of a table that is written as it is. People do not make larger ones for show, with signs in columns."""


Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table, which may span several rows and columns.

    ``heading`` says that the file calls it a heading. ``box`` is where its words stand on a page: left, bottom, right
    and top in points; None if that is not known.
    """

    text: str
    columns: int = 1
    rows: int = 1
    heading: bool = False
    box: Box | None = None

    def plus(self, other: Cell) -> Cell:
        """Return this cell with the words of another one behind its own."""
        if not other.text:
            return self
        if not self.text:
            return replace(self, text=other.text, box=other.box)
        box = around([one for one in (self.box, other.box) if one])
        return replace(self, text=f"{self.text} {other.text}", box=box)


@frozen
class Grid:
    """Rows of equal length without empty rows and columns. The first ``header`` rows are column headings.

    ``titles`` are the lines above the column headings that belong to the whole table. ``boxes`` has the box of each
    cell of ``rows``; it is empty where none is known.
    """

    titles: Sequence[Cell]
    rows: Sequence[Sequence[str]]
    header: int
    boxes: Sequence[Sequence[Box | None]] = ()


@dataclass(slots=True)
class _Placed:
    """A cell at one of its places in the grid: ``number`` identifies it, ``is_first`` says whether it begins there."""

    text: str
    number: int
    is_first: bool
    heading: bool
    box: Box | None = None


_NOTHING = _Placed(text="", number=-1, is_first=True, heading=False)


def grid(rows: Sequence[Sequence[Cell]], header: int | None = None) -> Grid:
    """Return the grid of a table.

    A heading that spans columns stands in each of them. Any other short cell stands in each that has a heading, unless
    it begins in the first column: that is the label of the row. A cell that spans rows stands in each. Columns of
    currency signs, brackets and percent signs join the figures that they belong to.

    Args:
        rows: the cells of each row, in order.
        header: the number of rows with column headings; None to tell them from the rest.
    """
    if len(rows) > _PLAIN:
        return _plain([[cell.text for cell in row] for row in rows], header)
    placed = [row for row in _spread(rows) if any(cell.text for cell in row)]
    titles: list[Cell] = []
    if header is None:
        while len(placed) > 2 and _is_title(placed):
            titles.append(next(Cell(cell.text, box=cell.box) for cell in placed.pop(0) if cell.text))
        header = _heading_rows(placed)
    joined = [(_joined(placed, group, header), group) for group in _groups(placed, header)]
    _repeat(placed, joined, header)
    columns = [(column, group) for column, group in joined if any(column)]
    found = [[column[n] for column, _ in columns] for n in range(len(placed))]
    has_boxes = any(cell.box for row in placed for cell in row)
    boxes = [[_box([row[n] for n in group]) for _, group in columns] for row in placed] if has_boxes else []
    return Grid(titles=titles, rows=found, header=min(header, max(len(found) - 1, 0)), boxes=boxes)


def _plain(rows: Sequence[Sequence[str]], header: int | None) -> Grid:
    """Return a large table without empty rows and columns, and otherwise as it is."""
    width = max((len(row) for row in rows), default=0)
    used = [n for n in range(width) if any(n < len(row) and row[n] for row in rows)]
    found = [[row[n] if n < len(row) else "" for n in used] for row in rows if any(row)]
    header = figures.heading_rows(found[:60]) if header is None else header
    return Grid(titles=[], rows=found, header=min(header, max(len(found) - 1, 0)))


def _spread(rows: Sequence[Sequence[Cell]]) -> list[list[_Placed]]:
    """Return the grid of cells, all rows of one length."""
    numbers = count()
    below: dict[int, tuple[_Placed, int]] = {}
    grid: list[list[_Placed]] = []
    for cells in rows:
        row: list[_Placed] = []
        waiting, below = below, {}
        for cell in _with_ends(cells):
            while len(row) in waiting:
                placed, left = waiting.pop(len(row))
                if left > 1:
                    below[len(row)] = (placed, left - 1)
                row.append(placed)
            if cell is None:
                break
            number = next(numbers)
            for n in range(min(max(cell.columns, 1), _WIDEST)):
                waiting.pop(len(row), None)
                placed = _Placed(text=cell.text, number=number, is_first=n == 0, heading=cell.heading, box=cell.box)
                if cell.rows > 1:
                    below[len(row)] = (placed, cell.rows - 1)
                row.append(placed)
        for at, (placed, left) in sorted(waiting.items()):  # cells that reach down beyond the end of the row
            row += [_NOTHING] * (at - len(row))
            row.append(placed)
            if left > 1:
                below[at] = (placed, left - 1)
        grid.append(row)
    width = max(map(len, grid), default=0)
    return [[*row, *[_NOTHING] * (width - len(row))] for row in grid]


def _with_ends(cells: Sequence[Cell]) -> Iterator[Cell | None]:
    yield from cells
    yield None


def _texts(row: Sequence[_Placed]) -> list[str]:
    """Return the words of a row, those of a cell that spans columns only once."""
    return [cell.text if cell.is_first else "" for cell in row]


def _is_title(placed: Sequence[Sequence[_Placed]]) -> bool:
    """Return whether the first row belongs to the whole table: it has one cell, and column headings are below it."""
    texts = [text for text in _texts(placed[0]) if text]
    if len(texts) != 1 or not placed[0][0].text:
        return False
    below = [_texts(row) for row in placed[1:60]]
    while len(below) > 2 and sum(map(bool, below[0])) == 1:
        below.pop(0)
    return sum(map(bool, below[0])) > 1 and (bool(_marked_headings(placed[1:])) or figures.heading_rows(below) > 0)


def _heading_rows(placed: Sequence[Sequence[_Placed]]) -> int:
    """Return the number of rows with column headings: those that the file marks, and those that divide them further."""
    header = _marked_headings(placed)
    if not header or not all(cell.is_first for cell in placed[header - 1]):
        header = max(header, figures.heading_rows([_texts(row) for row in placed[:60]]))
    while 0 < header < min(len(placed) - 1, _MOST_HEADINGS) and _reaches(placed[header - 1], placed[header]):
        header += 1
    return header


def _reaches(row: Sequence[_Placed], below: Sequence[_Placed]) -> bool:
    """Return whether a heading in a row spans the row below, which has no figures."""
    spans = any(one.text and one.number == other.number for one, other in zip(row, below, strict=True))
    return spans and not any(figures.is_value(cell.text) for cell in below if cell.text)


def _marked_headings(placed: Sequence[Sequence[_Placed]]) -> int:
    """Return the number of rows at the beginning in which every cell is a heading.

    A row below them with a single cell opens a section.
    """
    count = 0
    for row in placed[:-1]:
        filled = {cell.number for cell in row if cell.text}
        if not all(cell.heading for cell in row if cell.text) or (count and len(filled) == 1 and row[0].text):
            break
        count += 1
    return count


def _groups(placed: Sequence[Sequence[_Placed]], header: int) -> list[list[int]]:
    """Return the columns that are one to a reader."""
    groups: list[_Group] = []
    width = len(placed[0]) if placed else 0
    for column in range(width):
        if not groups or not groups[-1].has(column):
            groups.append(_Group(placed, header))
        groups[-1].add(column)
    return [one.columns for one in groups]


class _Group:
    """Columns side by side that are one to a reader.

    What they hold is noted column by column, so that the time for a wide table grows with its width, not its square.
    ``_says`` tells of each row below the headings whether it has words other than a sign before a figure.
    """

    def __init__(self, placed: Sequence[Sequence[_Placed]], header: int) -> None:
        self.columns: list[int] = []
        self._headings, self._body = placed[:header], placed[header:]
        self._above: list[set[int]] = [set() for _ in self._headings]
        self._says, self._has_text = [False] * len(self._body), False

    def add(self, column: int) -> None:
        self.columns.append(column)
        for row, above in zip(self._headings, self._above, strict=True):
            if row[column].text:
                above.add(row[column].number)
        for n, row in enumerate(self._body):
            if row[column].is_first and row[column].text:
                self._has_text = True
                self._says[n] = self._says[n] or not figures.is_before(row[column].text)

    def has(self, column: int) -> bool:
        """Return whether a column belongs to these: it never holds other words in a row than they do."""
        here = [row[column].text if row[column].is_first else "" for row in self._body]
        shared = False
        for row, above in zip(self._headings, self._above, strict=True):
            if row[column].text and above and row[column].number not in above:
                return False
            # Only the lowest heading says whether two columns are one.
            shared = row[column].text != "" and row[column].number in above if row[column].text or above else shared
        if not any(here) and not any(row[column].text for row in self._headings):
            return True
        if all(figures.is_after(text) for text in here if text) and any(here):
            return self.columns != [0] or self._has_text
        if self.columns[0] and not any(self._says):
            return True
        return shared and not any(
            text and not figures.is_after(text) and says for text, says in zip(here, self._says, strict=True)
        )


def _joined(placed: Sequence[Sequence[_Placed]], group: Sequence[int], header: int) -> list[str]:
    """Return the words of columns that are one, for each row."""
    column: list[str] = []
    for number, row in enumerate(placed):
        if number < header:
            headings = {row[n].number: row[n].text for n in group if row[n].text}
            column.append(" ".join(headings.values()))
        else:
            column.append(figures.joined([row[n].text for n in group if row[n].is_first and row[n].text]))
    return column


def _repeat(
    placed: Sequence[Sequence[_Placed]], columns: Sequence[tuple[list[str], Sequence[int]]], header: int
) -> None:
    """Put the words of cells that span columns into each column that has a heading."""
    for number, row in enumerate(placed[header:] if header else (), header):
        if all(cell.is_first for cell in row):
            continue
        for column, group in columns[1:]:
            if column[header - 1] and not column[number]:
                texts = (row[at].text for at in group if row[at].number != row[0].number)
                column[number] = next((text for text in texts if 0 < len(text) <= _LONGEST_REPEATED), "")


def _box(cells: Sequence[_Placed]) -> Box | None:
    """Return the box around the words of cells that are one."""
    return around([cell.box for cell in cells if cell.box and cell.text])


def around(boxes: Sequence[Box]) -> Box | None:
    """Return the smallest box that holds others; None if there are none."""
    if not boxes:
        return None
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)
