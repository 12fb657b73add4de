"""Tell whether a duration is the time between two points of time that the same text names.

"The boat was out of the water for twelve days, from 16 to 27 February." Days and months may count both ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations

from ragstone.core.span import Span
from ragstone.language import lexicon
from ragstone.language.days import Day, days_in
from ragstone.language.words import any_of
from ragstone.respond.proof.figure import BASE, Figure, is_year, near
from ragstone.respond.proof.figures import figures

_DAY, _MONTH, _YEAR = (BASE[unit][1] for unit in ("day", "month", "year"))
_MINUTES = 60
_ANY_YEAR = 2025
"""Taken for days without a year; it has no 29 February."""


def is_between(duration: Figure, text: str) -> bool:
    """Return whether a duration lies between two points of time of a text."""
    step = duration.step * duration.factor
    return any(
        near(own, seconds, step) for own in duration.base() for seconds in (*_days(text), *_months(text), *_years(text))
    ) or any(_is_of_day(duration, minutes, step) for minutes in _between_clocks(text))


def _is_of_day(duration: Figure, minutes: float, step: float) -> bool:
    """Return whether a duration is a span of minutes, or the hours or the minutes of it: "13 hours and 15 minutes"."""
    parts = {"h": minutes // _MINUTES, "min": minutes % _MINUTES}
    whole = any(near(own, minutes * _MINUTES, step) for own in duration.base())
    return whole or parts.get(duration.unit) in duration.values


def _between_clocks(text: str) -> Iterator[float]:
    found = figures(text)
    times = [
        one.values[0] * (1 if one.unit == "clock" else _MINUTES) for one in found if one.unit == "clock" or one.hour
    ]
    return ((last - first) % (24 * _MINUTES) for first, last in combinations(times, 2))


def _days(text: str) -> Iterator[float]:
    found = [one for day in days_in(text) for one in (*_first_of_range(text, day), day)]
    for first, last in combinations(found, 2):
        year = first.year or last.year or _ANY_YEAR
        begin, end = first.within(first.year or year), last.within(last.year or year)
        if begin and end:
            apart = abs((end - begin).days)
            yield from (apart * _DAY, (apart + 1) * _DAY)


def _first_of_range(text: str, last: Day) -> Iterator[Day]:
    """Yield the first day of a range that names the month once: "16 to 27 February"."""
    if found := _range_before().search(text, 0, last.span.start):
        span = Span(start=found.start("day"), end=found.end("day"))
        yield replace(last, span=span, day=int(found["day"]))


def _months(text: str) -> Iterator[float]:
    months = [one.values[0] for one in figures(text) if one.unit == "month name"]
    for first, last in combinations(months, 2):
        apart = (last - first) % 12
        yield from (apart * _MONTH, (apart + 1) * _MONTH)


def _years(text: str) -> Iterator[float]:
    years = [one.values[0] for one in figures(text) if is_year(one)]
    for first, last in combinations(years, 2):
        yield from (abs(last - first) * _YEAR, (abs(last - first) + 1) * _YEAR)


@cache
def _range_before() -> re.Pattern[str]:
    """Return a pattern of the first day of a range, at the end of what stands before the last: "16 to "."""
    return re.compile(
        rf"(?<![\d.,])(?P<day>[1-9]|[12]\d|3[01])(?:st|nd|rd|th|\.)?\s*(?:[-–—]|{any_of(lexicon().range)})\s*\Z"
    )
