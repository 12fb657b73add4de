"""Cells beside the one that answers: the total that it is part of, and the other figures that the question compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from ragstone.core.table import Cell, Row
from ragstone.respond.tables.asked import Asked, named_in
from ragstone.respond.tables.calculate import value_of
from ragstone.respond.tables.cell_kinds import NOTHING, is_total
from ragstone.respond.tables.features import Found

_ROUNDED = Decimal("0.51")
"""How far each figure may be rounded, in units of its last digit."""


def whole_of(asked: Asked, part: Found) -> Found | None:
    """Return the total below a figure that the question names, if the figures above add up to it; else None.

    A total of sub-totals is one of the figures that they are made of, too.
    """
    rows = part.table.rows
    at = next(n for n, row in enumerate(rows) if row is part.row)
    totals = [n for n in range(at + 1, len(rows)) if is_total(rows[n].label)]
    own = asked.found_in(named_in(part.row.label))
    named = {n: asked.weight(asked.found_in(named_in(rows[n].label)) - own) for n in totals}
    most = max(named.values(), default=0.0)
    firsts = _firsts(rows, part.cell, at)
    for n in totals:
        total = _in_column(rows[n], part.cell)
        if total and firsts.get(n, n) <= at and named[n] == most:
            return replace(part, row=rows[n], cell=total)
    return None


def _firsts(rows: Sequence[Row], like: Cell, inside: int) -> dict[int, int]:
    """Return the totals whose figures add up, each with the first row of those, if it can be up to the row ``inside``.

    Both are numbers of rows. A total above counts once, for all rows that it is made of.
    """
    firsts = dict[int, int]()
    for end, row in enumerate(rows):
        total = _in_column(row, like)
        whole = value_of(total.text) if total and is_total(row.label) else None
        added, count, at = Decimal(), 0, end
        while whole is not None and at > 0:
            at -= 1
            cell = _in_column(rows[at], like)
            value = value_of(cell.text) if cell else None
            if cell and value is None and not NOTHING.fullmatch(cell.text):
                break  # a figure that is not understood
            at = firsts.get(at, at)
            added, count = added + (value or 0), count + (value is not None)
            rounded = _ROUNDED * count * Decimal(1).scaleb(_exponent(whole))
            if count > 1 and abs(added - whole) <= rounded:
                firsts[end] = at
                if at <= inside or end <= inside:
                    break
    return firsts


def compared_with(asked: Asked, best: Found) -> tuple[Found, ...]:
    """Return the figures of the other measures that a question names, in the column of the best; none if one lacks."""
    own = {item.concept for item in named_in(best.row.label).items}
    others = [one for one in asked.measures if one.concept not in own]
    found: list[Found] = []
    for measure in others:
        rows = [row for row in best.table.rows if named_in(row.label).has(measure)]
        rows = [row for row in rows if row.section == best.row.section] or rows
        cells = [(row, cell) for row in rows if (cell := _in_column(row, best.cell)) and "%" not in cell.text]
        if not cells:
            return ()
        row, cell = min(cells, key=lambda one: len(named_in(one[0].label).items))
        found.append(replace(best, row=row, cell=cell))
    return tuple(found)


def without_totals(found: Sequence[Found]) -> list[int]:
    """Return the numbers of the cells that are no totals."""
    return [n for n, one in enumerate(found) if not is_total(one.row.label)]


def _in_column(row: Row, like: Cell) -> Cell | None:
    return next((cell for cell in row.cells[1:] if cell.column == like.column), None)


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0
