"""The years, quarters and months that a text names, in any form: 2023, FY23, '98, the 1990s, 2019/20, 1998 to 2005."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Literal

from ragstone.core.question import Period
from ragstone.core.span import Span
from ragstone.core.words import Word
from ragstone.language import languages, lexicon
from ragstone.language.money import MARK
from ragstone.language.talk import limit_words
from ragstone.language.words import any_of

_YEAR = re.compile(r"(?:1\d{3}|20\d\d|21\d\d)(?P<long>'?s|['’]s|ern?|-an|[-–]?aisiais|[-–]?uju)?")
"""A year, or with an ending a decade or century: 1990s, 1990er, 1990-an, 1700's."""
_SHORT = re.compile(
    r"\bfy[ -]?'?(?:20)?(?P<fiscal>\d\d)\b|(?<!\w)['’](?P<cut>\d\d)\b(?!s)|\b(?:19|20)\d\d[/–-](?P<next>\d\d)(?![\d-])",
    re.IGNORECASE,
)
_OF_RANGE = r"(1\d{3}|20\d\d|21\d\d)"
_QUARTER = re.compile(r"(?<![^\W\d_])(?:q([1-4])|([1-4])q)(?![^\W\d_])", re.IGNORECASE)
_AMOUNT = re.compile(rf"(?:{MARK}|#)\s*$")
_SIGN = 6
"""Characters before a number that are looked at for the sign of a currency."""
_ROMAN = dict(zip("i ii iii iv v vi vii viii ix x".split(), map(str, range(1, 11)), strict=True))  # noqa: SIM905
_RECENT = 30
"""Years of two digits up to this are in this century."""
_EARLIEST, _LATEST = 1000, 2199
_COUNTED = 1900
"""A number before "years" is a year from this on: Lithuanian says "2020 years" for 2020."""


def periods(text: str, words: Sequence[Word]) -> list[Period]:
    """Return the periods that a text names, given its words."""
    out = [*_years(text, words), *_quarters(text, words), *_months(text, words)]
    return sorted(out, key=lambda one: one.span)


class Periods:
    """The periods of a text, for looking up whether it has one."""

    def __init__(self, text: str, words: Sequence[Word]) -> None:
        named = periods(text, words)
        self._others = {kind: {one.first for one in named if one.kind == kind} for kind in ("quarter", "month")}
        self._years = {int(word.value) for word in words if _is_year(word.value)}
        for one in named:
            if one.kind == "year":
                self._years |= set(range(one.first, one.last + 1))
        for first, last in _ranges().findall(text):
            self._years |= set(range(int(first), int(last) + 1))

    def has(self, period: Period) -> bool:
        """Return whether the text names a period, or a longer one around it."""
        if period.kind == "year":
            return any(year in self._years for year in range(period.first, period.last + 1))
        return period.first in self._others[period.kind]

    def names_others(self, period: Period) -> bool:
        """Return whether the text names periods of the same kind."""
        return bool(self._years if period.kind == "year" else self._others[period.kind])


def _years(text: str, words: Sequence[Word]) -> Iterator[Period]:
    for word in words:
        match = _YEAR.match(text, word.span.start) if word.value else None
        if match and match.end() >= word.span.end - len(word.unit) and _counts_nothing(word):
            if _AMOUNT.search(text, max(0, word.span.start - _SIGN), word.span.start) or text[
                match.end() : match.end() + 1
            ] in ("%", "°"):
                continue
            first = int(match[0][:4])
            years = 1 if not match["long"] else 100 if first % 100 == 0 else 10 if first % 10 == 0 else 1
            yield _period("year", first, match[0], word.span.start, years)
    for word, after in pairwise(words):
        if word.value.isdigit() and len(word.value) <= 2 and after.lower in lexicon().centuries:
            start = word.span.start
            yield _period("year", 100 * (int(word.value) - 1), text[start : after.span.end], start, 101)
    for match in _SHORT.finditer(text):
        two = int(match[match.lastgroup or 0])
        year = two + (2000 if two <= _RECENT or match["fiscal"] else 1900)
        yield _period("year", year, match[0], match.start())


def _quarters(text: str, words: Sequence[Word]) -> Iterator[Period]:
    for match in _QUARTER.finditer(text):
        yield _period("quarter", int(match[1] or match[2]), match[0], match.start())
    quarters = lexicon().quarters
    for word, after in pairwise(words):
        for one, number in ((after, word), (word, after)):
            if one.lower.startswith(quarters) and (value := ordinal(number)) in ("1", "2", "3", "4"):
                start, end = word.span.start, after.span.end
                yield _period("quarter", int(value), text[start:end], start)
                break


def _months(text: str, words: Sequence[Word]) -> Iterator[Period]:
    for word in words:
        if word.value.startswith("month "):
            yield _period("month", int(word.value.removeprefix("month ")), word.span.of(text), word.span.start)


def _period(kind: Literal["year", "quarter", "month"], first: int, text: str, start: int, size: int = 1) -> Period:
    return Period(
        kind=kind, first=first, last=first + size - 1, text=text, span=Span(start=start, end=start + len(text))
    )


@cache
def _ranges() -> re.Pattern[str]:
    """Return a pattern of ranges of years in a passage; "1998 and 2005" counts, since "between" may stand before it."""
    until = "|".join([any_of(lexicon().until), *(limit_words(one).until for one in languages())])
    return re.compile(rf"\b{_OF_RANGE}\s*(?:[-–—/]|{until})\s*{_OF_RANGE}\b")


@cache
def all_of_years() -> re.Pattern[str]:
    """Return a pattern of ranges of years in a question; "2022 and 2023" does not count, since it may mean each."""
    between = rf"\s*(?:[-–]|{any_of(lexicon().until)})\s*(?:[^\W\d]\w* )?"
    return re.compile(rf"\b{_OF_RANGE}{between}{_OF_RANGE}\b", re.IGNORECASE)


def ordinal(word: Word) -> str:
    """Return the value of an ordinal number or of a Roman one: third, 3rd, III; empty for any other word."""
    if word.value:
        return word.value if word.lower[:1].isdigit() else ""
    if word.capitals and word.lower in _ROMAN:
        return _ROMAN[word.lower]
    return next((value for begin, value in lexicon().ordinals.items() if word.lower.startswith(begin)), "")


def _counts_nothing(year: Word) -> bool:
    return year.unit in ("", "s") or (year.unit == "year" and int(year.value) >= _COUNTED)


def _is_year(value: str) -> bool:
    # Not all that is a number can be read as one: Python refuses those of thousands of digits.
    return len(value) == len(str(_LATEST)) and value.isdigit() and _EARLIEST <= int(value) <= _LATEST
