"""What a question asks to calculate: sums, means and changes of a row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from ragstone.core.question import Operation
from ragstone.core.table import Cell
from ragstone.language.money import MARK, currencies

MAX_FIGURE = 100
"""Characters of a cell that is a figure."""
MEAN = re.compile(r"(?<!weighted[ -])\b(?:average|mean)\b")
"""A mean that can be calculated from the figures alone."""
_FIGURE = re.compile(
    rf"([(\-–−]?)(?:\s|{MARK})*([(\-–−]?)\s*((?:\d{{1,3}}(?:,\d{{2,3}})*,\d{{3}}|\d+)(?:\.\d+)?)(?:\s*{MARK})?\s*\)?"
)
DOTTED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}\.\d{3}(?![\d.,])")
"""A figure that is a thousand times greater in Europe than in America: 1.200."""
_SCALE = re.compile(r"%|\bpercent|\b(?:thousand|million|billion)", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\(([^\W\d_]{1,4})\)")
"""A unit in brackets, as a heading has it: "2022 (kg)"."""


def calculation(wanted: Operation | None, cells: Sequence[Cell]) -> str:
    """Return the calculation that a question asks for, as "(5 − 4) ÷ 4 = 25%"; empty if it asks for none.

    Args:
        wanted: what the question asks to calculate.
        cells: plain figures of one row, the later first; a difference is that of two.
    """
    figures = [value for cell in cells if (value := value_of(cell.text)) is not None]
    if not wanted or len(figures) < 2 or len(figures) < len(cells) or len({cell.row for cell in cells}) > 1:
        return ""
    if not are_comparable(cells) or (any(DOTTED.search(cell.text) for cell in cells) and "percent" not in wanted):
        return ""
    terms = " + ".join(map(_term, figures))
    if wanted == "mean":
        is_one = MEAN.search(" ".join(cells[0].label).lower())
        return "" if is_one else f"({terms}) ÷ {len(figures)} = {_mean(figures)}"
    if wanted == "sum":
        return f"{terms} = {_shown(sum(figures, start=Decimal()))}"
    later, *others = figures
    earlier = others[0]
    taken = f"{_shown(later)} − {_term(earlier)}"
    if len(others) > 1 or (wanted == "change in percent" and earlier <= 0):
        return ""
    if wanted == "difference":
        return f"{taken} = {_shown(later - earlier)}"
    return f"({taken}) ÷ {_shown(earlier)} = {_shown(round(100 * (later - earlier) / earlier, 2))}%"


def value_of(text: str) -> Decimal | None:
    """Return the number of a cell, negative in brackets; None if the cell has a unit of its own or is no number."""
    match = _FIGURE.fullmatch(text.strip()) if len(text) <= MAX_FIGURE else None
    if not match:
        return None
    try:
        value = Decimal(match[3].replace(",", ""))
    except InvalidOperation:
        return None
    return -value if match[1] or match[2] else value


def are_comparable(cells: Sequence[Cell]) -> bool:
    """Return whether cells of one row have the same unit as far as they and their headings say it.

    A currency may stand in some cells only, as in the first column; all other units must be in all headings or in none.
    A figure such as 1.200, which may be a thousand times greater, compares only with others like it.
    """
    headings = [cell.head for cell in cells]
    named = [currencies(f"{cell.text} {above}") for cell, above in zip(cells, headings, strict=True)]
    if len({frozenset(one) for one in named if one}) > 1:
        return False
    if len({tuple(sorted(one.lower() for one in _SCALE.findall(above))) for above in headings}) > 1:
        return False
    units = [tuple(_IN_BRACKETS.findall(above)) for above in headings]
    return len({one for one in units if one}) < 2 and len({bool(DOTTED.search(cell.text)) for cell in cells}) < 2


def _term(value: Decimal) -> str:
    return f"({_shown(value)})" if value < 0 else _shown(value)


def _mean(figures: Sequence[Decimal]) -> str:
    """Return the mean with two decimals more than the figures have, without zeros at the end."""
    mean = sum(figures, start=Decimal()) / len(figures)
    places = 2 + max(-int(figure.as_tuple().exponent) for figure in figures)
    shown = _shown(round(mean, places))
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def _shown(value: Decimal) -> str:
    return f"{value:,}".replace("-", "−")
