"""The dates in a text, as ISO 8601.

A day or month counts only together with its year. A year at the end of a list or range belongs to all of it:
"September 13 and 14, 2022" names two days.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache

from ragstone.language import lexicon, plain

_ISO = re.compile(r"(?<![\w.-])([12]\d{3})([-/])(\d\d)\2(\d\d)(?![\d/-])", re.ASCII)
_NUMERIC = re.compile(r"(?<![\w./-])(\d{1,2})([./-])[ ]?(\d{1,2})\2[ ]?([12]\d{3})(?![\d/-]|\.\d)", re.ASCII)
_YEAR = r"(?P<year>[12]\d{3})"
_ANY_YEAR = re.compile(r"[12]\d{3}(?!\d)")
_BEFORE, _AFTER = 120, 60
"""Characters around a year to search for the rest of its date."""


def find(text: str) -> tuple[str, ...]:
    """Return all dates of a text, sorted: days as ``2024-06-09``, months as ``2024-06``.

    In numbers with dots, the day comes first. With slashes or hyphens, the order must be clear: one of the two numbers
    is above 12, or both are equal.
    """
    dates = {_iso(int(y), int(m), int(d)) for y, _, m, d in _ISO.findall(text)}
    dates.update(_numeric(*numbers) for numbers in _NUMERIC.findall(text))

    def take(match: re.Match[str]) -> str:
        dates.update(_in_words(match))
        return "\n"

    text = _near_years(text)
    # A match is removed for the patterns that follow: "June 9, 2024" must not also give a month.
    for pattern in _patterns():
        text = pattern.sub(take, text)
    return tuple(sorted(dates - {""}))


def _near_years(text: str) -> str:
    """Return the parts of a text around its years, which are far shorter than the text."""
    parts: list[tuple[int, int]] = []
    for year in _ANY_YEAR.finditer(text):
        start, end = max(0, year.start() - _BEFORE), year.end() + _AFTER
        if parts and start <= parts[-1][1]:
            start = parts.pop()[0]
        parts.append((start, end))
    return "\n".join(text[start:end] for start, end in parts)


def _iso(year: int, month: int, day: int = 0) -> str:
    """Return a date; empty if the calendar has no such day."""
    try:
        full = date(year, month, day or 1).isoformat()
    except ValueError:
        return ""
    return full if day else full[:7]


def _numeric(first: str, mark: str, second: str, year: str) -> str:
    day, month = int(first), int(second)
    if mark != "." and day <= 12:
        if month <= 12 and day != month:
            return ""
        day, month = month, day
    return _iso(int(year), month, day)


def _in_words(match: re.Match[str]) -> Iterator[str]:
    """Yield the days of a match, or its month if it names no day."""
    parts = match.groupdict()
    year, days = int(parts["year"]), parts.get("days")
    if not days:
        yield _iso(year, _months()[parts["month"]])
        return
    tokens = re.findall(_token(), days)
    # A day belongs to the month before it; if days come first, to the month after it.
    if not tokens[0][1]:
        tokens.reverse()
    month = 0
    for day, name in tokens:
        if name:
            month = _months()[name]
        else:
            yield _iso(year, month, int(day))


@cache
def _months() -> dict[str, int]:
    """Return the number of each month by its spellings. Case matters: "may" is no month, and "Mars" is a planet."""
    months: dict[str, int] = {}
    for name, number in lexicon().month_names.items():
        capital = name if plain(name) in lexicon().month_like else name.capitalize()
        months |= dict.fromkeys((name, capital, name.upper()), number)
    return months


@cache
def _month() -> str:
    return "(?:" + "|".join(sorted(map(re.escape, _months()), key=len, reverse=True)) + r")(?!\w)"


@cache
def _token() -> str:
    """Return a pattern for the number of a day, or a month."""
    return rf"(?<!\d)(\d{{1,2}})(?!\d)|(?<!\w)({_month()})"


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    month = _month()
    day = r"(?<![\d.,])\d{1,2}(?:st|nd|rd|th|hb|\.(?!\d))?(?!\w)"
    # Dutch joins days by "of", but "version 2 of 1 May 2024" names one.
    joining = "|".join(sorted({*lexicon().range} - {"of"}, key=len, reverse=True))
    join = rf"(?:\s*[,&–—/-]\s*|\s+(?:{joining})\s+)"
    days_first = rf"(?:{day}(?:\s+(?:of\s+)?{month}\.?)?{join}){{0,5}}{day}\s+(?:of\s+)?{month}"
    month_first = rf"{month}\.?\s+{day}(?:{join}(?:{month}\.?\s+)?{day}){{0,5}}"
    year_last, year_first = rf",?\s+{_YEAR}(?!\d|[.,]\d)", rf"(?<![\w.-]){_YEAR}\s*(?:m\.|metų|metais)\s+"
    return (
        # 9 June 2024, 9th of June, 2024; 3. Mai 2020; 13 and 14 September 2022; 3. Mai bis 5. Juni 2020
        re.compile(rf"(?<!\w)(?P<days>{days_first})\.?{year_last}"),
        # June 9, 2024; September 13 and 14, 2022; February 27 to March 2, 2023
        re.compile(rf"(?<!\w)(?P<days>{month_first}){year_last}"),
        # 2024 m. birželio 9 d.; 2024 m. birželio 9–11 d.
        re.compile(rf"{year_first}(?P<days>{month_first})(?=\s*(?:d\b|dien|-\w))"),
        # June 2024
        re.compile(rf"(?<!\w)(?P<month>{month})\.?{year_last}"),
        # 2024 m. birželio mėn.
        re.compile(rf"{year_first}(?P<month>{month})"),
    )
