"""The cover of a company's filing: its name, the form, the last day, and the fiscal period that the text tells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from itertools import pairwise

from ragstone.core.frozen import frozen

_MOST_FIRST = 60
"""Lines of the first page to look at."""
_NAME_ABOVE = re.compile(r"\(?\s*exact name of (?:the )?(?:registrant|company|issuer)", re.IGNORECASE)
_FILE_NUMBER = re.compile(r"commission file (?:number|no)", re.IGNORECASE)
_FORM = re.compile(r"\bform\s+(10-?[KQ]T?|20-?F|40-?F|8-?K|6-?K|11-?K|S-?[1348]|F-?[134])(/A)?\b", re.IGNORECASE)
_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_PERIOD = re.compile(
    r"for the (?:fiscal |annual |transition )?(quarter|year|period)(?:ly period|ly)?\s+ended:?\s+"
    rf"({_MONTH}\s+\d{{1,2}},?\s+\d{{4}})",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\W\d_][\w&.,'’/()\- ]{1,100}")
_KINDS = {"10-K": "year", "10-KT": "year", "20-F": "year", "40-F": "year", "11-K": "year", "10-Q": "quarter"}
_QUARTERS = ("first", "second", "third", "fourth")
_MONTHS = {"three": 1, "six": 2, "nine": 3, "twelve": 4, "3": 1, "6": 2, "9": 3, "12": 4}
_WEEKS = {"12": 1, "13": 1, "24": 2, "26": 2, "36": 3, "39": 3}
_LENGTH = (
    r"\b(?P<months>three|six|nine|3|6|9)[ -]months?\s+(?:period )?ended\s+{day}"
    r"|\b(?P<weeks>12|13|24|26|36|39)[ -]weeks?\s+(?:period )?ended\s+{day}"
)
_FISCAL_YEAR = re.compile(r"\bfiscal(?: year)?\s+(20\d\d)\b", re.IGNORECASE)
_SHARE = 0.2
"""How often, compared with the year before it, a report names a year that it reaches into."""


@frozen
class Cover:
    """The title that a cover gives a document, and its ``company``, ``form``, ``period`` and ``fiscal_period``."""

    title: str
    facts: Mapping[str, str]


def cover_of(rows: Sequence[str], text: str) -> Cover | None:
    """Return what the cover of a filing says; None if the first page is no such cover.

    Args:
        rows: the lines of the first page, from top to bottom.
        text: of the whole document.
    """
    rows = rows[:_MOST_FIRST]
    cover = " ".join(rows)
    form, company = _FORM.search(cover), _company(rows)
    if form is None or not company or not _FILE_NUMBER.search(cover):
        return None
    code = form[1].upper()
    code = (code if "-" in code else re.sub(r"^(\d+|[SF])", r"\1-", code)) + (form[2] or "").upper()
    ended = _PERIOD.search(cover)
    period = " ".join(ended[2].split()).title() if ended else ""
    kind = _KINDS.get(code.removesuffix("/A"), ended[1].lower() if ended else "")
    fiscal = fiscal_period(text, kind, period) if kind in ("quarter", "year") else ""
    parts = [company, f"Form {code}", f"{kind} ended {period}" if period else "", fiscal]
    day = _day_of(period)
    facts = {"company": company, "form": code, "period": day.isoformat() if day else "", "fiscal_period": fiscal}
    return Cover(
        title=" · ".join(part for part in parts if part), facts={key: value for key, value in facts.items() if value}
    )


def _company(rows: Sequence[str]) -> str:
    """Return the name above the line that asks for it, or below the number of the file."""
    for above, row in pairwise(rows):
        if _NAME_ABOVE.match(row) and _NAME.fullmatch(above):
            return above.strip()
    for row, below in pairwise(rows):
        if _FILE_NUMBER.search(row) and _NAME.fullmatch(below):
            return below.strip()
    return ""


def fiscal_period(text: str, kind: str, ended: str) -> str:
    """Return the fiscal period of a report; empty if its text does not tell.

    The quarter follows from the longest period that the report covers: nine months end with the third quarter. A fiscal
    year is named after the year in which it ends, or the one before, as the report itself names years.

    Args:
        text: of the report.
        kind: what it covers: "quarter" or "year".
        ended: its last day, as "October 29, 2023".
    """
    last = _day_of(ended)
    if last is None:
        return ""
    quarter = _quarter(text, f"{last:%B} {last.day}") if kind == "quarter" else len(_QUARTERS)
    if not quarter:
        return ""
    # A last day at the beginning of a month, as in "52 weeks", belongs to the month before.
    months = 12 * last.year + last.month - 1 - (last.day < 8) + 3 * (len(_QUARTERS) - quarter)
    end, month = divmod(months, 12)
    named = Counter(map(int, _FISCAL_YEAR.findall(text)))
    year = end if named[end] >= _SHARE * named[end - 1] else end - 1
    name = f"fiscal {year}" if named or month != 11 else str(year)
    return name if kind == "year" else f"{_QUARTERS[quarter - 1]} quarter of {name}"


def _day_of(written: str) -> date | None:
    """Return a day such as "October 29, 2023"; None if it is none."""
    with suppress(ValueError):
        return datetime.strptime(" ".join(written.split()).replace(" ,", ","), "%B %d, %Y").date()
    return None


def _quarter(text: str, day: str) -> int:
    """Return which quarter ends on a day such as "October 29", by the longest period that ends then; 0 if unknown."""
    pattern = re.compile(_LENGTH.format(day=day.replace(" ", r"\s+")), re.IGNORECASE)
    quarters = (
        _MONTHS[length["months"].lower()] if length["months"] else _WEEKS[length["weeks"]]
        for length in pattern.finditer(text)
    )
    return max(quarters, default=0)
