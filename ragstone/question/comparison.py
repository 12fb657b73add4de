"""What a question compares over all rows of a table: the largest or smallest of a column, or how many rows fit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation

from ragstone.core.question import Comparison, RowLimit, Wanted
from ragstone.core.words import Word
from ragstone.language.facts import words
from ragstone.language.money import MARK
from ragstone.respond.tables.asked import terms

_LARGEST = (
    r"highest|largest|greatest|biggest|most|maximum|max|top|longest|tallest|heaviest|latest|newest|youngest|oldest"
    r"|earliest|lowest|smallest|least|fewest|minimum|min|shortest|lightest|cheapest|priciest|costliest|fastest"
)
_EXTREME = re.compile(rf"\b(?:{_LARGEST})\b")
_ASKS = re.compile(r"\b(?:what|which|who|whose|where|when|name|show|list|find|give)\b")
_COUNT = re.compile(r"\bhow many\b|\b(?:number|count) of\b")
_DIFFERENT = re.compile(r"\b(?:different|distinct|unique)\b")
_SMALLEST = frozenset(["lowest", "smallest", "least", "fewest", "minimum", "min", "shortest", "lightest", "cheapest"])
_OF = {
    "longest": ("length", "duration", "distance"),
    "shortest": ("length", "duration", "distance"),
    "tallest": ("height",),
    "heaviest": ("weight", "mass"),
    "lightest": ("weight", "mass"),
    "cheapest": ("price", "cost", "fee"),
    "priciest": ("price", "cost", "fee"),
    "costliest": ("price", "cost", "fee"),
    "expensive": ("price", "cost", "fee"),
    "fastest": ("speed",),
}
"""The columns that words of the largest or smallest mean without naming them."""
_NOT_COMPARED = frozenset(["latest", "newest", "youngest", "oldest", "earliest", "top"])
"""Words whose column does not follow from them: the oldest has the greatest age, or the smallest year."""
_LIMIT = re.compile(
    r"\b(?P<words>(?P<above>above|over|more than|greater than|higher than|larger than|at least)"
    r"|(?P<below>below|under|less than|lower than|fewer than|smaller than|at most))"
    rf" (?:{MARK} ?)?(?P<limit>\d[\d,]*(?:\.\d+)?)\b(?! ?%)(?! (?:thousand|million|billion))",
    re.IGNORECASE,
)


def comparison_of(question: str) -> Comparison | None:
    """Return what a question compares over the rows of a table; None if it compares nothing, or several things."""
    lower = question.lower()
    extremes = _EXTREME.findall(lower)
    limits = [*_LIMIT.finditer(lower)]
    if _COUNT.search(lower):
        if extremes or len(limits) > 1:
            return None
        limit = _limit(limits[0]) if limits else None
        if limits and limit is None:
            return None
        wanted: Wanted = "distinct" if _DIFFERENT.search(lower) else "count"
        return Comparison(wanted=wanted, words=tuple(_telling(lower, limits)), limit=limit)
    if len(extremes) != 1 or limits or not _ASKS.search(lower):
        return None
    (said,) = extremes
    adjective = "expensive" if said in ("most", "least") and f"{said} expensive" in lower else said
    columns = _OF.get(adjective, ())
    if said in _NOT_COMPARED:
        return None
    telling = [word for word in _telling(lower, ()) if word.lower not in (said, adjective)]
    return Comparison(wanted="smallest" if said in _SMALLEST else "largest", words=tuple(telling), columns=columns)


def _limit(found: re.Match[str]) -> RowLimit | None:
    try:
        value = Decimal(found["limit"].replace(",", ""))
    except InvalidOperation:
        return None
    return RowLimit(above=bool(found["above"]), included=found["words"].startswith("at "), value=value)


def _telling(lower: str, limits: Sequence[re.Match[str]]) -> Iterator[Word]:
    """Yield the words of a question that must be found in a table: neither those that only ask nor those of a limit."""
    for word in words(lower):
        inside = any(one.start() <= word.span.start < one.end() for one in limits)
        asks = word.lower in _ASKING or word.lower in terms().frame
        if not inside and not word.stop and not asks:
            yield word


_ASKING = frozenset(["number", "count", "different", "distinct", "unique", "there", "overall", "whole", "total"])
