"""What a cell or a heading is by its looks: a figure, a quantity, a column of people, places or row numbers."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from ragstone.core.table import Cell, Row, Table
from ragstone.language import lexicon
from ragstone.language.days import days_in
from ragstone.language.money import MARK
from ragstone.language.units import unit_of
from ragstone.language.words import any_of
from ragstone.respond.tables.asked import Asked
from ragstone.respond.tables.calculate import MAX_FIGURE
from ragstone.respond.tables.dates import dates

NOTHING = re.compile(r"[\s—–\-−.*]*|n/?a|nm", re.IGNORECASE)
_QUANTITY = re.compile(r"[~<>≈±+\-−–]?\s?\d[\d.,:']*(?:\s?[a-zA-Z°%/²³]{1,8}\.?){0,2}")
"""A number with its unit, or a time: 232 kg, 1 week, 1:34:45.026."""
_CODE = re.compile(r"[A-Za-z]{1,6}(?:[-_./]\d|\d\w)[\w./-]{0,15}|\d{2,}-[\w-]{1,15}|\d{4,14}")
"""The number of an article: WR-100, C-1, 4711-02, 10045."""


@lru_cache(maxsize=8192)
def is_figure(text: str) -> bool:
    """Return whether a cell is a number, an amount or a share."""
    return len(text) <= MAX_FIGURE and _figure().fullmatch(text) is not None


@cache
def _figure() -> re.Pattern[str]:
    unit = rf"[a-z%]{{0,3}}|(?:{lexicon().large})\.?|{MARK}"
    return re.compile(rf"(?:[(\-–−+~<>\s]|{MARK})*\d[\d,.]*(?:\s\d{{3}}(?!\d))*[)%\s]*(?:{unit})[)\s]*", re.IGNORECASE)


def naming(row: Row) -> tuple[Cell, ...]:
    """Return the cells that name a row: the first, and behind the number of an article, as WR-100, the next one."""
    first, *others = row.cells[:2]
    if not others or is_figure(others[0].text) or not _CODE.fullmatch(first.text) or dates(first.text):
        return (first,)
    return (first, *others)


def is_quantity(text: str) -> bool:
    """Return whether a cell is a number with its unit, an ordinal number or a time."""
    return len(text) <= MAX_FIGURE and _QUANTITY.fullmatch(text) is not None


def is_day(text: str) -> bool:
    """Return whether a cell is a day and nothing else."""
    return any(one.span.of(text) == text for one in days_in(text))


def fits(asked: Asked, heading: str) -> float:
    """Return 1 if a heading is of people, places, counts or times, and the question asks who, where or how many."""
    people, places, counts = _headings()
    kinds = ((asked.person, people), (asked.place, places), (asked.counts, counts))
    own = asked.quality is not None and asked.quality.search(heading)
    return float(bool(own) or any(wanted and pattern.search(heading) for wanted, pattern in kinds))


def is_index(heading: str) -> bool:
    """Return whether a heading is of a column that counts or orders the rows."""
    return _index().fullmatch(heading) is not None


def is_total(label: str) -> bool:
    """Return whether a label or a heading is of a sum of others."""
    return _total().search(label) is not None


def unit_in(table: Table) -> str:
    """Return in what the figures of a table are, by its caption or headings, such as "in millions"; else empty."""
    return unit_of(table.caption) or unit_of(" ".join(table.columns[0]) if table.columns else "")


@cache
def _headings() -> tuple[re.Pattern[str], ...]:
    """Return patterns of the headings of columns of people, places and counts."""
    words = lexicon().table_words
    return tuple(
        re.compile(rf"\b(?:{any_of(words[kind])})\b{more}")
        for kind, more in (("people", ""), ("places", ""), ("counts", r"|\bn\b|\bno\.|#"))
    )


@cache
def _index() -> re.Pattern[str]:
    return re.compile(rf"\W*(?:#|№|{any_of(lexicon().table_words['indexes'])})?\W*", re.IGNORECASE)


@cache
def _total() -> re.Pattern[str]:
    return re.compile(rf"\b(?:sub-?)?(?:{any_of(lexicon().table_words['totals'])})\b", re.IGNORECASE)
