"""When something was: the years, months, days, quarters and lengths of time that a heading or a question names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from functools import cache, lru_cache

from ragstone.core.records import Span
from ragstone.language import lexicon, plain
from ragstone.language.days import dates_in, days_in
from ragstone.language.facts import words
from ragstone.language.words import any_of
from ragstone.respond.requirements.periods import periods

_MONTHS = re.compile(r"\b(three|six|nine|twelve|3|6|9|12)[ -]months?\b(?: period)?")
_COUNTS = {"three": 3, "six": 6, "nine": 9, "twelve": 12}
_QUARTER = re.compile(r"\bquarter(?:s|ly)?\b|\bq[1-4]\b|\b[1-4]q(?:\d\d)?\b")
_LAST_QUARTER = re.compile(r"\b(?:last|final) quarter of\b")
_YEAR = re.compile(r"\b(?:fiscal )?years? ended\b|\bfull[ -]year\b|\bannual(?:ly)?\b")
_BETWEEN = " of "
"""A word between headings, so that "m" below "2019" does not look like its unit."""
QUARTER, YEAR = 3, 12
"""Months."""
TO_DATE = -1
"""Stands for the months since the beginning of a fiscal year, more than a quarter."""
_FILLER = re.compile(
    r"\b(?:three|six|nine|twelve|months?|years?|quarters?|first|second|third|fourth|ended|fiscal"
    r"|\d{1,2}(?=[ -](?:months?|years?|quarters?)\b))\b"
)


_CLOCK = re.compile(r"(?<![\d.])(?:[01]?\d|2[0-3])[:.h][0-5]\d(?![\d.])")
_TIMES = frozenset(["s", "min", "h", "day", "week", "month", "year"])


class Dates:
    """What a text says about when.

    ``years``, ``months``, ``days`` and ``quarters`` are numbers that it names; ``length`` is how many months a period
    lasts, 0 if it does not say.
    """

    def __init__(self, text: str) -> None:
        found = words(text)
        named = periods(text, found)
        self._spans = [one.span for one in named]
        self.years = {year for one in named if one.kind == "year" and one.last - one.first < 2 for year in (one.first,)}
        self.months = {one.first for one in named if one.kind == "month"}
        self.quarters = {one.first for one in named if one.kind == "quarter"}
        lower = plain(text)
        if _LAST_QUARTER.search(lower):
            self.quarters.add(4)
        days = days_in(text)
        self.days = {one.day for one in days}
        self.months |= {one.month for one in days}
        months = _MONTHS.search(lower)
        self.length = 0
        if months:
            self.length = _COUNTS.get(months[1]) or int(months[1])
        elif _YEAR.search(lower):
            self.length = YEAR
        elif self.quarters or _QUARTER.search(lower):
            self.length = QUARTER
        months_named = lexicon().months
        self._fillers = (
            [Span(start=m.start(), end=m.end()) for m in _FILLER.finditer(lower) if named or self.length]
            if len(lower) == len(text)
            else []
        )
        self._fillers += [word.span for word in found if word.lower in months_named and word.value.startswith("month")]
        self._fillers += [one.span for one in days if named]

    def __bool__(self) -> bool:
        return bool(self.years or self.months or self.quarters or self.length)

    def covers(self, span: Span) -> bool:
        """Return whether a word belongs to a period, or may belong to one."""
        return self.names(span) or any(span.overlaps(one) for one in self._fillers)

    def names(self, span: Span) -> bool:
        """Return whether a word is part of the name of a period, as "first" is in "the first quarter"."""
        return any(span.overlaps(one) for one in self._spans)


def has_time(text: str) -> bool:
    """Return whether a text says when or how long: a date, a year, a time of day, a weekday or a number of days."""
    if dates(text) or _CLOCK.search(text):
        return True
    said = words(text)
    counts = any(word.value[:1].isdigit() for word in said)
    lasts = counts and any(word.unit in _TIMES or lexicon().unit(word.lower) in _TIMES for word in said)
    return lasts or any(word.value.startswith("month ") for word in said) or bool(_weekday().search(plain(text)))


@cache
def _weekday() -> re.Pattern[str]:
    said = lexicon().table_words
    return re.compile(rf"\b(?:{any_of(map(plain, (*said['weekdays'], *said['times'])))})\b")


def dates_of(headings: Iterable[str]) -> Dates:
    """Return what headings above each other say about when."""
    return dates(_BETWEEN.join(headings))


@lru_cache(maxsize=4096)
def dates(text: str) -> Dates:
    """Return what a text says about when."""
    return Dates(text)


def only_day(text: str) -> date | None:
    """Return the day that a text names, as "July 1, 2023"; None if it names none, or other years or days too."""
    named = dates_in(text)
    return named[0][1] if len(named) == 1 and len(dates(text).years) == 1 else None


def year_and_quarter(text: str) -> tuple[int, int]:
    """Return the one year and the one quarter that a text names; 0 for what it does not name, or names twice."""
    named = dates(text)
    year, quarter = (next(iter(some)) if len(some) == 1 else 0 for some in (named.years, named.quarters))
    return year, quarter
