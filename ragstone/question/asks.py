"""What kind of value answers a question: a number, a name, a sum, the largest of a column, or which rows fit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache

from ragstone.core.question import Asks, Comparison, Extreme, Operation, RowLimit, Wanted
from ragstone.core.words import Word
from ragstone.language import lexicon, plain
from ragstone.language.contacts import contact_in
from ragstone.language.facts import words
from ragstone.language.files import tried
from ragstone.language.message import messages_in
from ragstone.language.money import MARK, currency_of
from ragstone.language.talk import amount_columns, amount_verbs, limit_words, list_words
from ragstone.respond.requirements.periods import all_of_years
from ragstone.respond.tables.asked import terms
from ragstone.respond.tables.calculate import MEAN

_DIFFERENCE = re.compile(
    r"\bhow (?:much|many) (?:more|less|fewer|higher|lower|larger|smaller|greater|cheaper|dearer)\b"
    r"|\bby how (?:much|many)\b"
    r"|\bwie ?viel (?:mehr|weniger|teurer|billiger|höher|niedriger|größer|kleiner)\b|\bum wie ?viel\b"
    r"|\bdifference\b|\bhow (?:much )?(?:did|has|have)\b.*\b(?:change|grow|increase|decrease|fall|rise|decline)"
    r"|\b(?:change|increase|decrease|growth|decline|rise|fall)\b.*\b(?:in|of|from|between)\b"
)
_MEANING = re.compile(r"\b(?:do|does|did)\b.*\bmean\b")
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


def asks_of(text: str, written: Sequence[Word], language: str) -> Asks:
    """Return what kind of value answers a question, given its text, its words and its likely language."""
    lower, folded, lists = text.lower(), plain(text), lexicon()
    contact = contact_in(text)
    number = contact is None and lists.asks_number.search(folded) is not None
    return Asks(
        number=number,
        name=not number and lists.asks_name.search(folded) is not None,
        money=lists.asks_money.search(folded) is not None,
        operation=_operation(lower),
        extreme=_extreme(lower),
        comparison=None if contact else comparison_of(text) or listed_rows(text, language),
        units=_units(folded),
        codes=_codes(lower, written),
        contact=contact,
    )


def _units(folded: str) -> tuple[str, ...]:
    """Return the units that answer "how heavy" and the like."""
    said = set(_WORD.findall(folded)) if _HOW.search(folded) else set[str]()
    measures = (one.measures for one in messages_in())
    return tuple(
        dict.fromkeys(unit for one in measures for name, units in one.items() if name in said for unit in units)
    )


def _codes(lower: str, words: Sequence[Word]) -> tuple[str, ...]:
    """Return the codes in a question that asks for nothing but what they mean: "What does E-104 mean?", "error 105"."""
    known = messages_in()
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
    difference, mean = _DIFFERENCE.search(lower), None if _MEANING.search(lower) else MEAN.search(lower)
    if _REASON.search(lower):
        return None
    if mean and not (difference and difference.start() < mean.start()):
        return "mean"
    over_years = all_of_years().search(lower) or terms().every_year.search(plain(lower))
    if _SUM.search(lower) or (_TOTAL.search(lower) and over_years and not difference):
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
_TOTALS = ("total", "sum", "altogether", "combined")
_TOTAL = re.compile(rf"\b(?:{'|'.join(_TOTALS)})\b")
_DID = re.compile(r"\w{3,}ed\b(?= (?:in|on|by|at|for|from|to|of|during|this|last|since|until|between|with)\b|\W*$)")
"""A participle that does not describe the noun after it, as "handled in 2026"."""
_DIFFERENT = re.compile(r"\b(?:different|distinct|unique)\b")
_SMALLEST = frozenset(["lowest", "smallest", "least", "fewest", "minimum", "min", "shortest", "lightest", "cheapest"])
_PRICED = frozenset(["cheapest", "priciest", "costliest", "expensive"])
_WEIGHED = frozenset(["heaviest", "lightest"])
_OF = {
    "longest": ("length", "duration", "distance"),
    "shortest": ("length", "duration", "distance"),
    "tallest": ("height",),
    "fastest": ("speed",),
}
"""The columns that other words of the largest or smallest mean without naming them."""
_YEARS = re.compile(r"\b(?:1[5-9]|20)\d\d\b.*\b(?:1[5-9]|20)\d\d\b")
_NOT_COMPARED = frozenset(["latest", "newest", "youngest", "oldest", "earliest", "top"])
"""Words whose column does not follow from them: the oldest has the greatest age, or the smallest year."""


def comparison_of(question: str) -> Comparison | None:
    """Return what a question compares over the rows of a table; None if it compares nothing, or several things."""
    lower = question.lower()
    limits = _limits_in(lower, "en")
    extremes = _EXTREME.findall(_limits("en").sub(" ", lower))  # "at most 5" asks for no largest
    if _COUNT.search(lower):
        if extremes or len(limits) > 1:
            return None
        limit = _limit(limits[0], "en") if limits else None
        wanted: Wanted = "distinct" if _DIFFERENT.search(lower) else "count"
        return Comparison(wanted=wanted, words=tuple(_telling(lower, limits)), limit=limit)
    if _TOTAL.search(lower) and not extremes and not limits:
        did = {one.start() for one in _DID.finditer(lower)}
        return Comparison(wanted="sum", words=tuple(one for one in _telling(lower, ()) if one.span.start not in did))
    if len(extremes) != 1 or limits or not _ASKS.search(lower):
        return None
    (extreme,) = extremes
    adjective = "expensive" if extreme in ("most", "least") and f"{extreme} expensive" in lower else extreme
    if extreme in _NOT_COMPARED:
        return None
    telling = [word for word in _telling(lower, ()) if word.lower not in (extreme, adjective)]
    wanted = "smallest" if extreme in _SMALLEST else "largest"
    return Comparison(wanted=wanted, words=tuple(telling), columns=(*_columns(adjective), extreme))


def _columns(adjective: str) -> tuple[str, ...]:
    """Return the columns that an adjective means without naming them."""
    if adjective in _PRICED:
        return amount_columns("price")
    return amount_columns("weight") if adjective in _WEIGHED else _OF.get(adjective, ())


def listed_rows(question: str, language: str) -> Comparison | None:
    """Return what rows must have that a question wants listed: "Which products cost less than 9 euro?".

    None if it asks for no list, or for the largest, or if it has several limits.
    """
    found = [one for one in (_listed_rows(question, one) for one in tried(language)) if one]
    # "All" is the same word in some languages, and the limit tells which one it is.
    return max(found, key=lambda one: one.limit is not None, default=None)


def _listed_rows(question: str, language: str) -> Comparison | None:
    head = _listing(language).match(question)
    if head is None:
        return None
    text, must_limit = question[head.end() :], head["which"] is not None
    lower = text.lower()
    limits = _limits_in(lower, language)
    limit = _limit(limits[0], language) if limits else None
    if len(limits) > 1 or _EXTREME.search(_limits(language).sub(" ", lower)):
        return None
    costs, weighs = amount_verbs("price", language), amount_verbs("weight", language)
    found = [*_telling(lower, limits)]
    told = tuple(word for word in found if word.lower not in costs | weighs)
    if len(told) < len(found) and limit is None:
        return None  # "What does a quarter plot cost?"
    columns = tuple[str, ...]()
    if any(word.lower in weighs for word in found):
        columns = amount_columns("weight")
    elif len(told) < len(found) or (limit and limit.currency):
        columns = amount_columns("price")
    return Comparison(wanted="some rows" if must_limit else "rows", words=told, columns=columns, limit=limit)


@cache
def _listing(language: str) -> re.Pattern[str]:
    """Return a pattern of the beginning of a question for a list."""
    words = list_words(language)
    begins = rf"\s*(?:{words.every}|(?P<which>{words.which}))\s+(?:(?:{words.articles})\s+)*"
    return re.compile(begins, re.IGNORECASE)


def _limits_in(lower: str, language: str) -> list[re.Match[str]]:
    """Return the limits in a question; "between 2018 and 2019" is a period."""
    found = _limits(language).finditer(lower)
    return [one for one in found if not (_YEARS.search(one[0]) and not currency_of(one[0]))]


@cache
def _limits(language: str) -> re.Pattern[str]:
    """Return a pattern of the limits of a language, whose numbers are plain and no shares."""
    known = limit_words(language)
    other = "." if known.decimal == "," else ","
    digits = rf"(?:\d{{1,3}}(?:[{other}\u00a0\u202f ]\d{{3}})+|\d+)(?:[{known.decimal}]\d+)?(?![.,]?\d)"
    mark, end = rf"(?:{MARK} ?)?", rf"\b(?! ?%)(?! (?:{lexicon().large})\b)"
    one = rf"(?:(?P<least>{known.least})|(?P<most>{known.most})|(?P<above>{known.above})|(?P<below>{known.below}))"
    two = rf"(?:{known.between}) {mark}(?P<from>{digits})(?: ?[^\W\d_]+)? (?:{known.until}) {mark}(?P<to>{digits})"
    return re.compile(
        rf"\b(?:{one} {mark}(?P<limit>{digits})|{two}){end}(?: ?(?P<unit>[^\W\d_]+|[^\w\s.,;:?!]))?", re.IGNORECASE
    )


def _limit(match: re.Match[str], language: str) -> RowLimit:
    decimal = limit_words(language).decimal
    first, last, only = (
        Decimal(re.sub(rf"[^\d{decimal}]", "", match[name]).replace(",", ".")) if match[name] else None
        for name in ("from", "to", "limit")
    )
    return RowLimit(
        least=only if match["least"] or match["above"] else first,
        most=only if match["most"] or match["below"] else last,
        included=not (match["above"] or match["below"]),
        currency=currency_of(re.sub(r"\d", " ", match[0])),  # "rm4000"
        decimal=decimal,
    )


def _telling(lower: str, limits: Sequence[re.Match[str]]) -> Iterator[Word]:
    """Yield the words of a question that must be found in a table: neither those that only ask nor those of a limit."""
    for word in words(lower):
        inside = any(one.start() <= word.span.start < _end(one) for one in limits)
        asks = any(word.lower in some for some in (_ASKING, _ADMITS, terms().frame))
        if not inside and not word.stop and not asks:
            yield word


def _end(limit: re.Match[str]) -> int:
    """Return where a limit ends: behind the word after it, if that is a currency."""
    return limit.end() if currency_of(limit["unit"] or "") else max(limit.end("limit"), limit.end("to"))


_ASKING = frozenset([*_TOTALS, "number", "count", "different", "distinct", "unique", "there", "overall", "whole"])
_ADMITS = frozenset(["take", "takes", "accept", "accepts", "allow", "allows"])
"""Verbs of what something is large enough for: "the berth that takes the longest ships"."""
