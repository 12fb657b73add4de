"""What a cell or a heading is by its looks: a figure, a quantity, a column of people, places or row numbers."""

from __future__ import annotations

import re
from functools import cache

from ragstone.language import lexicon
from ragstone.language.money import MARK
from ragstone.respond.tables.asked import Asked
from ragstone.respond.tables.calculate import MAX_FIGURE

NOTHING = re.compile(r"[\s—–\-−.*]*|n/?a|nm", re.IGNORECASE)
_PLACES = re.compile(r"\b(?:venue|location|city|place|country|stadium|site|town|state|headquarters|ort|vieta|lokasi)\b")
_COUNTS = re.compile(r"\b(?:numbers?|n|counts?|anzahl|skaičius|bilangan)\b|\bno\.|#")
INDEX = re.compile(
    r"\W*(?:#|№|nos?|nrs?|numbers?|ranks?|pos|positions?|place|id|index|pick|seed|fin|rk)?\W*", re.IGNORECASE
)
"""The heading of a column that counts or orders the rows."""
_QUANTITY = re.compile(r"[~<>≈±+\-−–]?\s?\d[\d.,:']*(?:\s?[a-zA-Z°%/²³]{1,8}\.?){0,2}")
"""A number with its unit, or a time: 232 kg, 1 week, 1:34:45.026."""
_PEOPLE = re.compile(
    r"\b(?:name|player|driver|rider|winner|artist|actor|director|author|candidate|person|president|nation|team|producer)\b"
)
TOTAL = re.compile(r"\b(?:sub-?)?totals?\b|\bconsolidated\b|\boverall\b|\ball\b", re.IGNORECASE)


def is_figure(text: str) -> bool:
    """Return whether a cell is a number, an amount or a share."""
    return len(text) <= MAX_FIGURE and _figure().fullmatch(text) is not None


@cache
def _figure() -> re.Pattern[str]:
    unit = rf"[a-z%]{{0,3}}|(?:{lexicon().large})\.?|{MARK}"
    return re.compile(rf"(?:[(\-–−+~<>\s]|{MARK})*\d[\d,.]*(?:\s\d{{3}}(?!\d))*[)%\s]*(?:{unit})[)\s]*", re.IGNORECASE)


def is_quantity(text: str) -> bool:
    """Return whether a cell is a number with its unit, an ordinal number or a time."""
    return len(text) <= MAX_FIGURE and _QUANTITY.fullmatch(text) is not None


def fits(asked: Asked, heading: str) -> float:
    """Return 1 if a heading is of people, places, counts or times, and the question asks who, where or how many."""
    kinds = ((asked.person, _PEOPLE), (asked.place, _PLACES), (asked.counts, _COUNTS))
    own = asked.quality is not None and asked.quality.search(heading)
    return float(bool(own) or any(wanted and pattern.search(heading) for wanted, pattern in kinds))
