"""The fiscal period of a company's report, such as "third quarter of fiscal 2024", from its last day and its text."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from datetime import date, datetime

_NAMES = ("first", "second", "third", "fourth")
_MONTHS = {"three": 1, "six": 2, "nine": 3, "twelve": 4, "3": 1, "6": 2, "9": 3, "12": 4}
_WEEKS = {"12": 1, "13": 1, "24": 2, "26": 2, "36": 3, "39": 3}
_LENGTH = (
    r"\b(?P<months>three|six|nine|3|6|9)[ -]months?\s+(?:period )?ended\s+{day}"
    r"|\b(?P<weeks>12|13|24|26|36|39)[ -]weeks?\s+(?:period )?ended\s+{day}"
)
_YEAR = re.compile(r"\bfiscal(?: year)?\s+(20\d\d)\b", re.IGNORECASE)
_SHARE = 0.2
"""How often, compared with the year before it, a report names a year that it reaches into."""


def fiscal_period(text: str, kind: str, ended: str) -> str:
    """Return the fiscal period of a report; empty if its text does not tell.

    The quarter follows from the longest period that the report covers: nine months end with the third quarter. A fiscal
    year is named after the year in which it ends, or the one before, as the report itself names years.

    Args:
        text: of the report.
        kind: what it covers: "quarter" or "year".
        ended: its last day, as "October 29, 2023".
    """
    last = day_of(ended)
    if last is None:
        return ""
    quarter = _quarter(text, f"{last:%B} {last.day}") if kind == "quarter" else len(_NAMES)
    if not quarter:
        return ""
    # A last day at the beginning of a month, as in "52 weeks", belongs to the month before.
    months = 12 * last.year + last.month - 1 - (last.day < 8) + 3 * (len(_NAMES) - quarter)
    end, month = divmod(months, 12)
    named = Counter(map(int, _YEAR.findall(text)))
    year = end if named[end] >= _SHARE * named[end - 1] else end - 1
    name = f"fiscal {year}" if named or month != 11 else str(year)
    return name if kind == "year" else f"{_NAMES[quarter - 1]} quarter of {name}"


def day_of(written: str) -> date | None:
    """Return a day such as "October 29, 2023"; None if it is none."""
    with suppress(ValueError):
        return datetime.strptime(" ".join(written.split()).replace(" ,", ","), "%B %d, %Y").date()
    return None


def _quarter(text: str, day: str) -> int:
    """Return which quarter ends on a day such as "October 29", by the longest period that ends then; 0 if unknown."""
    pattern = re.compile(_LENGTH.format(day=day.replace(" ", r"\s+")), re.IGNORECASE)
    found = [
        _MONTHS[one["months"].lower()] if one["months"] else _WEEKS[one["weeks"]] for one in pattern.finditer(text)
    ]
    return max(found, default=0)
