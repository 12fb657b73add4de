"""Cells beside the one that answers: the total that it is part of, and the other figures that the question compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from ragstone.core.table import Cell, Row
from ragstone.respond.tables.asked import Asked, named_in
from ragstone.respond.tables.calculate import value_of
from ragstone.respond.tables.features import NOTHING, TOTAL, Found

_ROUNDED = Decimal("0.51")
"""How far each figure may be rounded, in units of its last digit."""


def whole_of(part: Found) -> Found | None:
    """Return the total below a figure, if the figures from some row above to the total add up to it; else None."""
    rows = part.table.rows
    at = next(n for n, row in enumerate(rows) if row is part.row)
    end = next((n for n in range(at + 1, len(rows)) if TOTAL.search(rows[n].label)), None)
    total = _in_column(rows[end], part.cell) if end is not None else None
    whole = value_of(total.text) if total else None
    if end is None or total is None or whole is None:
        return None
    added, count = Decimal(), 0
    for row in reversed(rows[:end]):
        if TOTAL.search(row.label):
            break
        cell = _in_column(row, part.cell)
        value = value_of(cell.text) if cell else None
        if cell and value is None and not NOTHING.fullmatch(cell.text):
            return None  # a figure that is not understood
        added, count = added + (value or 0), count + (value is not None)
        is_inside = row is part.row or row.span.start < part.row.span.start
        if is_inside and count > 1 and abs(added - whole) <= _ROUNDED * count * Decimal(1).scaleb(_exponent(whole)):
            return replace(part, row=rows[end], cell=total)
    return None


def compared_with(asked: Asked, best: Found) -> tuple[Found, ...]:
    """Return the figures of the other measures that a question names, in the column of the best; none if one lacks."""
    own = {item.concept for item in named_in(best.row.label).items}
    others = [one for one in asked.measures if one.concept not in own]
    found: list[Found] = []
    for measure in others:
        rows = [row for row in best.table.rows if named_in(row.label).has(measure)]
        cells = [(row, cell) for row in rows if (cell := _in_column(row, best.cell)) and "%" not in cell.text]
        if not cells:
            return ()
        row, cell = min(cells, key=lambda one: len(named_in(one[0].label).items))
        found.append(replace(best, row=row, cell=cell))
    return tuple(found)


def without_totals(found: Sequence[Found]) -> list[int]:
    """Return the numbers of the cells that are no totals."""
    return [n for n, one in enumerate(found) if not TOTAL.search(one.row.label)]


def _in_column(row: Row, like: Cell) -> Cell | None:
    return next((cell for cell in row.cells[1:] if cell.column == like.column), None)


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0
