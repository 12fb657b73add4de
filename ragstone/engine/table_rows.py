"""A cited row of a table among its neighbours, with the cited part of its cells."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone import acquire
from ragstone.core.frozen import frozen
from ragstone.core.records import Span

MOST_COLUMNS, SHORT_CELL = 100, 200
"""Columns that are shown besides cited ones, and characters of a cell in another row than the cited one."""


@frozen
class CitedCell:
    """Characters ``start`` to ``end`` of a cell of the cited row; ``column`` counts from 0."""

    column: int
    start: int
    end: int


@frozen
class TableRows:
    """A cited row in its table: the names of the columns, rows of as many cells, and the place of the cited one."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    at: int
    cited: tuple[CitedCell, ...]


def table_of(rows: Sequence[acquire.TableRow], id: str, cited: Span, hidden: str) -> TableRows:
    """Return rows as a table.

    Args:
        rows: in their order; of the cells of all but the cited one, only the beginning is shown.
        id: of the document that the cited row became.
        cited: characters of that document.
        hidden: the name, in lower case, of a column that is left out.
    """
    at = next(n for n, one in enumerate(rows) if one.id == id)
    own = rows[at]
    touched = [name for name, span in own.spans.items() if span.overlaps(cited)]
    names = [name for name in own.cells if name.casefold() != hidden]
    names = [name for n, name in enumerate(names) if n < MOST_COLUMNS or name in touched]
    cells = [
        tuple(text if n == at else _shortened(text) for text in (one.cells.get(name, "") for name in names))
        for n, one in enumerate(rows)
    ]
    marks = [_cited_cell(names.index(name), own, name, cited) for name in touched if name in names]
    return TableRows(columns=tuple(names), rows=tuple(cells), at=at, cited=tuple(marks))


def _cited_cell(column: int, row: acquire.TableRow, name: str, cited: Span) -> CitedCell:
    """Return the cited part of a cell; all of it if the text has it in other words, such as without markup."""
    text, span = row.cells[name], row.spans[name]
    if span.of(row.text) != text:
        return CitedCell(column=column, start=0, end=len(text))
    first, last = max(cited.start, span.start), min(cited.end, span.end)
    return CitedCell(column=column, start=first - span.start, end=last - span.start)


def _shortened(text: str) -> str:
    return text if len(text) <= SHORT_CELL else f"{text[:SHORT_CELL].rstrip()}…"
