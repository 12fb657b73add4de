"""What kind of value answers a question: a number, a name, a sum, or the largest or smallest."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragstone.core.question import Asks, Extreme, Operation
from ragstone.core.words import Word
from ragstone.language import lexicon, plain
from ragstone.language.message import message_words, writing
from ragstone.question.rows import comparison_of

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
