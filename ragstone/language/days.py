"""The days that a text names, in words and in figures, with or without a year.

A question, the cell of a table and a sentence write the same day in different ways: "18 May", 2026-05-18, "18.05.26",
"May 18th, 2026", "Mon 18 May". The day of the week before a day belongs to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import cache, lru_cache

from ragstone.core.frozen import frozen
from ragstone.core.span import Span, line_end, line_start
from ragstone.core.words import Word
from ragstone.language.facts import words
from ragstone.language.numbers import is_year
from ragstone.language.words import any_of, lexicon, plain

_MOST = 31
_SURELY = 12
"""A number above this, before a stroke and the number of a month, is a day and no part of a fraction."""
_JOINING = frozenset(["of", "de", "m"])
"""What may stand between the parts of a date: "18th of May", "2026 m. gegužės 18 d."."""
_FIGURES = re.compile(
    r"(?<![\w./-])(?P<day>0?[1-9]|[12]\d|3[01])(?P<mark>[./])(?P<month>0?[1-9]|1[0-2])"
    r"(?:(?P=mark)(?P<year>\d\d)(?!\d)|(?:(?<=\d\d)(?<=\.\d\d)\.|(?<=\.\d)(?P<loose>\.)|(?<=/0\d)|(?<=/1\d)))"
    r"(?![\w/-]|\.\d)"
)
"""A day without a century or a year: "18.05.26", "18/05", "18.05."; "18.5." may also be a number and a full stop."""
_BESIDE = re.compile(r"[\s.,]*(?:(?:of|de|m)\b[\s.,]*)?")
"""What may stand between the number of a day and its month."""
_CENTURY = 2000
_NEAR = 6
"""Characters between the two at most."""
_SHORT = (2, 3)
"""Letters of the abbreviation of a day of the week."""


@frozen
class Day:
    """A day of the calendar at a place of a text; ``year`` is 0 if the text does not name it."""

    span: Span
    day: int
    month: int
    year: int = 0

    @property
    def date(self) -> date | None:
        """The date; None without a year, and for 31 February."""
        return self.within(self.year)

    def within(self, year: int) -> date | None:
        """Return the date of this day in a year; None if the year lacks it, or if the day is of another year."""
        with suppress(ValueError):
            return date(year, self.month, self.day) if self.year in (0, year) else None
        return None


@lru_cache(maxsize=8192)
def days_in(text: str) -> tuple[Day, ...]:
    """Return the days that a text names, in order.

    Two numbers with a stroke are a day if they are all of a line, or if the first is too large for a fraction; "18.5."
    is one if it is all of a line, or if the day of the week is before it.
    """
    found = words(text)
    days = sorted((*_in_words(text, found), *days_in_figures(text)), key=lambda one: one.span)
    return tuple(_with_weekday(one, found) for one in days)


def dates_in(text: str) -> list[tuple[Span, date]]:
    """Return the days that a text names with their year."""
    return [(one.span, found) for one in days_in(text) if (found := one.date)]


def _in_words(text: str, found: Sequence[Word]) -> Iterator[Day]:
    for n, word in enumerate(found):
        if not word.value.startswith("month "):
            continue
        before = [*(one for one in reversed(found[max(0, n - 3) : n]) if one.lower not in _JOINING), None, None][:2]
        after = [*found[n + 1 : n + 3], None, None][:2]
        if _is_day(before[0]) and _are_beside(text, before[0], word):
            day, years = before[0], (after[0],)
        else:
            day, years = after[0], (after[1], before[0])
        if day is None or not _is_day(day) or not _are_beside(text, *sorted((day, word), key=lambda one: one.span)):
            continue
        year = next((one for one in years if one and is_year(one.value)), None)
        spans = [one.span for one in (day, word, year) if one]
        yield Day(
            span=Span(start=min(one.start for one in spans), end=max(one.end for one in spans)),
            day=int(day.value),
            month=int(word.value.removeprefix("month ")),
            year=int(year.value) if year else 0,
        )


def days_in_figures(text: str) -> Iterator[Day]:
    """Yield the days that a text writes in figures without a century, without the day of the week before them."""
    for one in _FIGURES.finditer(text):
        day = Day(
            span=Span(start=one.start(), end=one.end()),
            day=int(one["day"]),
            month=int(one["month"]),
            year=_CENTURY + int(one["year"]) if one["year"] else 0,
        )
        if one["loose"]:
            is_day = _is_line(text, one) or _with_weekday(day, words(text)).span != day.span
        else:
            is_day = one["year"] or one["mark"] == "." or _is_line(text, one) or day.day > _SURELY
        if is_day:
            yield day


def _is_line(text: str, found: re.Match[str]) -> bool:
    """Return whether a match is all of its line."""
    return text[line_start(text, found.start()) : line_end(text, found.end())].strip() == found[0]


def _with_weekday(day: Day, found: Sequence[Word]) -> Day:
    """Return a day together with the day of the week before it: "Mon 18 May", "Donnerstag, den 3. Dezember"."""
    earlier = (one for one in reversed(found) if one.span.end <= day.span.start)
    before = next((one for one in earlier if plain(one.lower) not in lexicon().articles), None)
    if before is None or not is_weekday(before) or day.span.start - before.span.end > _NEAR:
        return day
    return replace(day, span=Span(start=before.span.start, end=day.span.end))


def is_weekday(word: Word) -> bool:
    """Return whether a word is a day of the week, or the first two or three letters of one."""
    folded = plain(word.lower)
    is_short = len(folded) in _SHORT and not word.stop
    return _weekday().fullmatch(folded) is not None or (is_short and _begin_weekdays(folded))


@cache
def _weekday() -> re.Pattern[str]:
    return re.compile(any_of(map(plain, lexicon().table_words["weekdays"])))


@cache
def _begin_weekdays(letters: str) -> bool:
    return any(plain(one).startswith(letters) for one in lexicon().table_words["weekdays"])


def _are_beside(text: str, first: Word | None, after: Word) -> bool:
    """Return whether two words of a day stand together, and not in two cells or sentences."""
    if first is None:
        return False
    between = text[first.span.end : after.span.start]
    is_number = text[first.span.start].isdigit() or text[after.span.start].isdigit()
    return _BESIDE.fullmatch(between) is not None and (is_number or "." not in between)


def _is_day(word: Word | None) -> bool:
    return word is not None and word.value.isdigit() and 0 < int(word.value) <= _MOST
