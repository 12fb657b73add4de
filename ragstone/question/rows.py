"""What a question compares over all rows of a table, or which of them it wants listed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation

from ragstone.core.question import Comparison, RowLimit, Wanted
from ragstone.core.words import Word
from ragstone.language.facts import words
from ragstone.language.money import MARK, currency_of
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
_PRICE = ("price", "cost", "fee")
_WEIGHT = ("weight", "mass")
_MEASURED = {"cost": _PRICE, "costs": _PRICE, "costing": _PRICE, "weigh": _WEIGHT, "weighs": _WEIGHT}
"""The columns that a verb before a limit means."""
_OF = {
    "longest": ("length", "duration", "distance"),
    "shortest": ("length", "duration", "distance"),
    "tallest": ("height",),
    "heaviest": _WEIGHT,
    "lightest": _WEIGHT,
    "cheapest": _PRICE,
    "priciest": _PRICE,
    "costliest": _PRICE,
    "expensive": _PRICE,
    "fastest": ("speed",),
}
"""The columns that words of the largest or smallest mean without naming them."""
_NOT_COMPARED = frozenset(["latest", "newest", "youngest", "oldest", "earliest", "top"])
"""Words whose column does not follow from them: the oldest has the greatest age, or the smallest year."""
_LIMIT = re.compile(
    r"\b(?P<words>(?P<above>above|over|more than|greater than|higher than|larger than|at least)"
    r"|(?P<below>below|under|less than|lower than|fewer than|smaller than|at most))"
    rf" (?:(?P<mark>{MARK}) ?)?(?P<limit>\d[\d,]*(?:\.\d+)?)\b(?! ?%)(?! (?:thousand|million|billion))"
    r"(?: ?(?P<unit>[^\W\d_]+|[^\w\s.,;:?!]))?",
    re.IGNORECASE,
)


def comparison_of(question: str) -> Comparison | None:
    """Return what a question compares over the rows of a table; None if it compares nothing, or several things."""
    lower = question.lower()
    limits = [*_LIMIT.finditer(lower)]
    extremes = _EXTREME.findall(_LIMIT.sub(" ", lower))  # "at most 5" asks for no largest
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
    (extreme,) = extremes
    adjective = "expensive" if extreme in ("most", "least") and f"{extreme} expensive" in lower else extreme
    columns = _OF.get(adjective, ())
    if extreme in _NOT_COMPARED:
        return None
    telling = [word for word in _telling(lower, ()) if word.lower not in (extreme, adjective)]
    return Comparison(wanted="smallest" if extreme in _SMALLEST else "largest", words=tuple(telling), columns=columns)


def rows_of(text: str, *, must_limit: bool) -> Comparison | None:
    """Return what rows must have that a question wants listed: "Which products cost less than 9 euro?".

    None if it has several limits or asks for the largest.

    Args:
        text: the question, behind the words that ask for a list.
        must_limit: whether only some of the rows of a table can be meant.
    """
    lower = text.lower()
    limits = [*_LIMIT.finditer(lower)]
    limit = _limit(limits[0]) if limits else None
    if len(limits) > 1 or (limits and limit is None) or _EXTREME.search(_LIMIT.sub(" ", lower)):
        return None
    found = [*_telling(lower, limits)]
    verbs = [word.lower for word in found if word.lower in _MEASURED]
    columns = _MEASURED[verbs[0]] if verbs else _PRICE if limit and limit.currency else ()
    told = tuple(word for word in found if word.lower not in _MEASURED)
    return Comparison(wanted="some rows" if must_limit else "rows", words=told, columns=columns, limit=limit)


def _limit(match: re.Match[str]) -> RowLimit | None:
    try:
        value = Decimal(match["limit"].replace(",", ""))
    except InvalidOperation:
        return None
    currency = currency_of(match["mark"] or match["unit"] or "")
    return RowLimit(
        above=bool(match["above"]), included=match["words"].startswith("at "), value=value, currency=currency
    )


def _telling(lower: str, limits: Sequence[re.Match[str]]) -> Iterator[Word]:
    """Yield the words of a question that must be found in a table: neither those that only ask nor those of a limit."""
    for word in words(lower):
        inside = any(one.start() <= word.span.start < _end(one) for one in limits)
        asks = word.lower in _ASKING or word.lower in terms().frame
        if not inside and not word.stop and not asks:
            yield word


def _end(limit: re.Match[str]) -> int:
    """Return where a limit ends: behind the word after it, if that is a currency."""
    return limit.end() if currency_of(limit["unit"] or "") else limit.end("limit")


_ASKING = frozenset(["number", "count", "different", "distinct", "unique", "there", "overall", "whole", "total"])
