"""What kind of value answers a question: a number, a name, a sum, the largest of a column, or how many rows fit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation

from ragstone.core.question import Asks, Comparison, Extreme, Operation, Question, RowLimit, Wanted
from ragstone.core.words import Word
from ragstone.language import lexicon, plain
from ragstone.language.facts import words
from ragstone.language.files import tried
from ragstone.language.message import message_words, writing
from ragstone.language.money import MARK, currency_of
from ragstone.language.talk import list_words
from ragstone.respond.tables.asked import terms

MAX_QUESTION = 2000
"""Characters of a question that are looked at."""
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
_WHICH_TIME = re.compile(
    r"\b(?:which|what) (?:fiscal |financial |calendar )?(?:year|period|quarter)\b(?:(?!\bthan\b|\d).)*"
    r"\b(?:(?P<largest>larg(?:er|est)|high(?:er|est)|great(?:er|est)|bigg(?:er|est)|more|most|maximum|peak|best)"
    r"|(?P<smallest>small(?:er|est)|low(?:er|est)|less|least|fewer|fewest|minimum))\b(?!.*\bthan\b)"
)
_PERCENT = re.compile(r"\bpercent(?:age)?\b|%|\bgrowth rate\b|\brate of growth\b")
_CODE = re.compile(r"(?<![\w-])(?P<letters>[a-z]{1,4})?-?(?P<digits>\d{2,6})(?![\w.-])")
_WORD = re.compile(r"\w+")
_HOW = re.compile(r"\bhow\b|\bwhat\b|\bwie\b|\bwas\b|\bwieviel\b|\bkiek\b|\bkoks\b|\bberapa\b")


def asks_of(text: str, written: Sequence[Word]) -> Asks:
    """Return what kind of value answers a question, given its text and its words."""
    lower, folded, lists = text.lower(), plain(text), lexicon()
    number = lists.asks_number.search(folded) is not None
    return Asks(
        number=number,
        name=not number and lists.asks_name.search(folded) is not None,
        money=lists.asks_money.search(folded) is not None,
        operation=_operation(lower),
        extreme=_extreme(lower),
        comparison=comparison_of(text),
        units=_units(folded),
        codes=_codes(lower, written),
    )


def _units(folded: str) -> tuple[str, ...]:
    """Return the units that answer "how heavy" and the like."""
    said = set(_WORD.findall(folded)) if _HOW.search(folded) else set[str]()
    measures = (message_words(one).measures for one in writing())
    return tuple(
        dict.fromkeys(unit for one in measures for name, units in one.items() if name in said for unit in units)
    )


def _codes(lower: str, words: Sequence[Word]) -> tuple[str, ...]:
    """Return the codes in a question that asks for nothing but what they mean: "What does E-104 mean?", "error 105"."""
    known = [message_words(one) for one in writing()]
    named = frozenset[str]().union(*(one.codes for one in known))
    codes, rest = list[str](), lower
    for match in _CODE.finditer(lower):
        before = lower[: match.start()].split()[-1:]
        if match["letters"] or (before and before[0] in named):
            codes.append(f"{match['letters'] or ''}{match['digits']}")
            rest = rest.replace(match[0], " ")
    told = named.union(*(one.means for one in known))
    others = [word for word in words if not word.stop and not word.value and word.lower in _WORD.findall(rest)]
    return tuple(dict.fromkeys(codes)) if all(word.lower in told for word in others) else ()


def _operation(lower: str) -> Operation | None:
    """Return what a question asks to calculate from several figures; None if nothing."""
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


def _extreme(lower: str) -> Extreme | None:
    """Return whether a question asks when something was largest or smallest; None if it asks for something else."""
    found = _WHICH_TIME.search(lower)
    if found is None:
        return None
    return "largest" if found["largest"] else "smallest"


# ---------------------------------------------------------------- all rows of a table

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


def rows_wanted(question: Question) -> Comparison | None:
    """Return what the rows of a table must have that a question wants listed: "Which products cost less than 9 euro?".

    None if it does not begin as a question for a list does, has several limits, or asks for the largest.
    """
    text = question.wording.typed.strip()
    for language in tried(question.language):
        known = list_words(language)
        begins = rf"(?:{known.every}|(?P<which>{known.which}))\s+(?:(?:{known.articles})\s+)*"
        if head := re.match(begins, text, re.IGNORECASE):
            return _rows(text.lower(), head.end(), must_limit=head["which"] is not None)
    return None


def _rows(lower: str, start: int, *, must_limit: bool) -> Comparison | None:
    limits = [*_LIMIT.finditer(lower)]
    limit = _limit(limits[0]) if limits else None
    if len(limits) > 1 or (limits and limit is None) or _EXTREME.search(_LIMIT.sub(" ", lower)):
        return None
    found = [word for word in _telling(lower, limits) if word.span.start >= start]
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
