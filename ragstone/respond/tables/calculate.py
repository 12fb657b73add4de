"""What a question asks to calculate: sums, means and changes of a row, and its largest or smallest figure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Literal

from ragstone.core.table import Cell

_DIFFERENCE = re.compile(
    r"\bhow (?:much|many) (?:more|less|fewer|higher|lower|larger|smaller|greater)\b|\bby how (?:much|many)\b"
    r"|\bdifference\b|\bhow (?:much )?(?:did|has|have)\b.*\b(?:change|grow|increase|decrease|fall|rise|decline)"
    r"|\b(?:change|increase|decrease|growth|decline|rise|fall)\b.*\b(?:in|of|from|between)\b"
)
_MEAN = re.compile(r"(?<!weighted[ -])\b(?:average|mean)\b")
_SUM = re.compile(
    r"\b(?:sum|combined|cumulative|altogether|added up|add up|together)\b|\btotal\b.*\bboth\b|\bin total\W*$"
)
_REASON = re.compile(r"\b(?:why|driven by|due to|because|reasons?|drivers?|caused?)\b")
Operation = Literal["difference", "change in percent", "sum", "mean"]
Extreme = Literal["largest", "smallest"]
_WHICH_TIME = re.compile(
    r"\b(?:which|what) (?:fiscal |financial |calendar )?(?:year|period|quarter)\b(?:(?!\bthan\b|\d).)*"
    r"\b(?:(?P<largest>larg(?:er|est)|high(?:er|est)|great(?:er|est)|bigg(?:er|est)|more|most|maximum|peak|best)"
    r"|(?P<smallest>small(?:er|est)|low(?:er|est)|less|least|fewer|fewest|minimum))\b(?!.*\bthan\b)"
)
_PERCENT = re.compile(r"\bpercent(?:age)?\b|%|\bgrowth rate\b|\brate of growth\b")
_FIGURE = re.compile(r"([(\-–−]?)[\s$€£¥]*([(\-–−]?)\s*(\d[\d,]*(?:\.\d+)?)\s*\)?")


def calculation(question: str, cells: Sequence[Cell]) -> str:
    """Return the calculation that a question asks for, as "(5 − 4) ÷ 4 = 25%"; empty if it asks for none.

    Args:
        question: as it was understood.
        cells: plain figures of one row, the later first; a difference is that of two.
    """
    wanted = operation(question)
    values = [value_of(cell.text) for cell in cells]
    figures = [value for value in values if value is not None]
    if not wanted or len(figures) < 2 or len(figures) < len(cells) or len({cell.row for cell in cells}) > 1:
        return ""
    terms = " + ".join(map(_term, figures))
    if wanted == "mean":
        is_one = _MEAN.search(" ".join(cells[0].label).lower())
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


def operation(question: str) -> Operation | None:
    """Return what a question asks to calculate from the figures of several periods; None if nothing."""
    lower = question.lower()
    difference, mean = _DIFFERENCE.search(lower), _MEAN.search(lower)
    if _REASON.search(lower):
        return None
    if mean and not (difference and difference.start() < mean.start()):
        return "mean"
    if _SUM.search(lower):
        return "sum"
    if difference:
        return "change in percent" if _PERCENT.search(lower) else "difference"
    return None


def extreme(question: str) -> Extreme | None:
    """Return whether a question asks when something was largest or smallest; None if it asks for something else."""
    found = _WHICH_TIME.search(question.lower())
    if found is None:
        return None
    return "largest" if found["largest"] else "smallest"


def value_of(text: str) -> Decimal | None:
    """Return the number of a cell, negative in brackets; None if the cell has a unit of its own or is no number."""
    found = _FIGURE.fullmatch(text.strip())
    if not found:
        return None
    try:
        value = Decimal(found[3].replace(",", ""))
    except InvalidOperation:
        return None
    return -value if found[1] or found[2] else value


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
