"""What a question asks to calculate: differences, and the largest or smallest figure of a row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Literal

from ragstone.core.table import Cell

_DIFFERENCE = re.compile(
    r"\bhow (?:much|many) (?:more|less|fewer|higher|lower|larger|smaller|greater)\b|\bby how (?:much|many)\b"
    r"|\bdifference\b|\bhow (?:much )?did\b.*\b(?:change|grow|increase|decrease|fall|rise|decline)\b"
    r"|\b(?:change|increase|decrease) (?:in|of)\b"
)
Extreme = Literal["largest", "smallest"]
_WHICH_TIME = re.compile(
    r"\b(?:which|what) (?:fiscal |financial |calendar )?(?:year|period|quarter)\b(?:(?!\bthan\b|\d).)*"
    r"\b(?:(?P<largest>larg(?:er|est)|high(?:er|est)|great(?:er|est)|bigg(?:er|est)|more|most|maximum|peak|best)"
    r"|(?P<smallest>small(?:er|est)|low(?:er|est)|less|least|fewer|fewest|minimum))\b(?!.*\bthan\b)"
)
_SHARE = re.compile(r"\bpercent(?:age)?\b|%")
_FIGURE = re.compile(r"([(\-–−]?)[\s$€£¥]*([(\-–−]?)\s*(\d[\d,]*(?:\.\d+)?)\s*\)?")


def difference(question: str, cells: Sequence[Cell]) -> str:
    """Return the calculation of the difference that a question asks for, as "5 − 3 = 2"; empty if it asks for none.

    Args:
        question: as it was understood.
        cells: the later first; only two plain figures of one row are compared.
    """
    lower = question.lower()
    if len(cells) != 2 or not _DIFFERENCE.search(lower) or _SHARE.search(lower):
        return ""
    later, earlier = (value_of(cell.text) for cell in cells)
    if later is None or earlier is None or cells[0].row != cells[1].row:
        return ""
    other = f"({_shown(earlier)})" if earlier < 0 else _shown(earlier)
    return f"{_shown(later)} − {other} = {_shown(later - earlier)}"


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


def _shown(value: Decimal) -> str:
    return f"{value:,}".replace("-", "−")
