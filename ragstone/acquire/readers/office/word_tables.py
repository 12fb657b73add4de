"""Tables of Word documents: their rows, merged cells, and the rows that the file shows as column headings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from ragstone.acquire.readers.numbers import whole
from ragstone.acquire.readers.office.numbering import value
from ragstone.acquire.readers.office.package import Element, local
from ragstone.acquire.readers.tables.grid import Cell

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_AROUND = {"sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"}
"""Elements around rows, cells and runs that change nothing of what they say."""
_OFF = ("0", "false", "off")
_FIRST_ROW = 0x20
"""The bit of an older ``tblLook`` by which the style formats the first row."""


def rows_of(table: Element, words_of: Callable[[Element], str], headed: Collection[str]) -> list[list[Cell]]:
    """Return the rows of a table. A cell that continues the one above has a text of its own only by mistake.

    A row is one of headings if Word repeats it on each page. If it repeats none, the first row is if the style of the
    table or bold type sets it apart.

    Args:
        table: its element.
        words_of: returns the words of a paragraph.
        headed: the styles of tables whose first row looks different.
    """
    rows: list[list[Cell]] = []
    starts: dict[int, tuple[list[Cell], int]] = {}
    elements = [row for row in _children(table, "tr") if row.find(f"{_W}trPr/{_W}del") is None]
    repeated = [_is_on(row.find(f"{_W}trPr/{_W}tblHeader")) for row in elements]
    if not any(repeated) and _first_is_apart(table, elements, headed):
        repeated[0] = True
    for row, heading in zip(elements, repeated, strict=True):
        cells: list[Cell] = []
        column = _number(row.find(f"{_W}trPr/{_W}gridBefore"))
        cells += [Cell("")] * column
        for cell in _children(row, "tc"):
            span = max(_number(cell.find(f"{_W}tcPr/{_W}gridSpan")), 1)
            merge = cell.find(f"{_W}tcPr/{_W}vMerge")
            if merge is not None and merge.get(f"{_W}val", "continue") == "continue" and column in starts:
                above, at = starts[column]
                above[at] = replace(above[at], rows=above[at].rows + 1)
            else:
                is_deleted = cell.find(f"{_W}tcPr/{_W}cellDel") is not None
                words = "" if is_deleted else " ".join(map(words_of, cell.iter(f"{_W}p")))
                cells.append(Cell(words, columns=span, heading=heading))
                starts.pop(column, None)
                if merge is not None:
                    starts[column] = (cells, len(cells) - 1)
            column += span
        rows.append(cells)
    return rows


def _first_is_apart(table: Element, rows: list[Element], headed: Collection[str]) -> bool:
    """Return whether the first row of several looks different: by the style of the table, or since only it is bold."""
    if len(rows) < 2:
        return False
    properties = table.find(f"{_W}tblPr")
    if properties is not None and value(properties, "tblStyle") in headed and _formats_first(properties):
        return True
    return _is_bold(rows[0]) and not _is_bold(rows[1])


def _formats_first(properties: Element) -> bool:
    """Return whether a table lets its style format the first row."""
    look = properties.find(f"{_W}tblLook")
    if look is None:
        return False
    if first := look.get(f"{_W}firstRow"):
        return first not in _OFF
    bits = look.get(f"{_W}val", "")
    return bits.isalnum() and len(bits) <= 8 and bool(_bits(bits) & _FIRST_ROW)


def _bits(written: str) -> int:
    try:
        return int(written, 16)
    except ValueError:
        return 0


def _is_bold(row: Element) -> bool:
    """Return whether all words of a row are bold by themselves, not by a style."""
    runs = [run for run in row.iter(f"{_W}r") if any((text.text or "").strip() for text in run.iterfind(f"{_W}t"))]
    return bool(runs) and all(_is_on(run.find(f"{_W}rPr/{_W}b")) for run in runs)


def _is_on(switch: Element | None) -> bool:
    return switch is not None and switch.get(f"{_W}val", "1") not in _OFF


def _children(parent: Element, name: str) -> Iterator[Element]:
    """Yield the rows of a table or the cells of a row, also those inside content controls and insertions."""
    for child in parent:
        if local(child) == name:
            yield child
        elif local(child) in _AROUND:
            yield from _children(child, name)


def _number(element: Element | None) -> int:
    return min(whole(element.get(f"{_W}val"), 0), 100) if element is not None else 0
