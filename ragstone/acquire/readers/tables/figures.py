"""Figures in tables: what is one, what belongs to one, and which rows stand above them as headings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from ragstone.language import lexicon
from ragstone.language.money import MARK, SIGN
from ragstone.language.units import is_unit_line
from ragstone.language.words import any_of

_BEFORE = re.compile(rf"\(?\s?{MARK}\s?\(?|\(")
_AFTER = re.compile(r"(?:[)%*†‡¢¹²³⁰⁴-⁹]|bps|pts?\.?|\([a-z0-9]{1,2}\)|\s)+")
_FIGURE = re.compile(
    rf"[(\[+\-–−~<>≤≥±]*\s?{MARK}?\s?[(\-–−]?\s?\d[\d,.' \u00a0\u202f]*(?:[–-]\d[\d,.]*)?\s?"
    rf"(?:[%)\]*†‡¢¹²³⁰⁴-⁹xX€£]|bps|pp|bn|[kKmM]\b|{MARK}|\([a-z0-9]{{1,2}}\)|\s)*"
)
_NONE = re.compile(rf"[—–\-−.…]{{1,3}}|{SIGN}\s?[—–\-]|[nN][./]?[aAmM]\.?|\*+")
_YEAR = re.compile(
    r"(?:FY|CY|Q[1-4]|[1-4]Q|H[12]|[12]H)?\s?['’]?(?:19|20)\d\d(?:\s?[-/–]\s?(?:\d\d){1,2})?\s?[AEFP*]?(?:\s?\(\w{1,2}\))?"
)
_WITH_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_DATE = re.compile(r"\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{4}-\d\d-\d\d")
_TIGHT = re.compile(rf"([(\-–−]?)\s?({MARK})?\s?([(\-–−]?)\s?(\d[\d,.]*)\s?([)%]{{0,2}})\s?([)%]{{0,2}})")
_MOST_HEADINGS = 8
_LONGEST_HEADING = 160


def is_figure(text: str) -> bool:
    """Return whether a cell is a number, with its signs, that is no year and no date."""
    return bool(_FIGURE.fullmatch(text)) and not _YEAR.fullmatch(text) and not _DATE.fullmatch(text)


@lru_cache(maxsize=1 << 14)
def is_value(text: str) -> bool:
    """Return whether a cell is a figure, or a dash in place of one."""
    return is_figure(text) or bool(_NONE.fullmatch(text))


def is_year(text: str) -> bool:
    return bool(_YEAR.fullmatch(text))


@lru_cache(maxsize=1 << 14)
def is_before(text: str) -> bool:
    """Return whether a cell only holds signs that belong to the figure on its right, such as "$"."""
    return bool(_BEFORE.fullmatch(text))


@lru_cache(maxsize=1 << 14)
def is_after(text: str) -> bool:
    """Return whether a cell only holds signs that belong to the figure on its left, such as ")" or "%"."""
    return bool(_AFTER.fullmatch(text))


def joined(parts: Sequence[str]) -> str:
    """Return the parts of a cell as one, without spaces between a figure and its signs."""
    if len(parts) == 1 and parts[0].isalpha():
        return parts[0]
    text = ""
    for part in parts:
        tight = not text or is_after(part) or (is_before(text) and text != "")
        text += part if tight else f" {part}"
    return tidy(text)


def tidy(text: str) -> str:
    """Return a cell without spaces inside its figure: "$ (1,234 )" is "$(1,234)"."""
    if " " in text and (found := _TIGHT.fullmatch(text)):
        return "".join(part or "" for part in found.groups())
    return text


def heading_rows(rows: Sequence[Sequence[str]]) -> int:
    """Return how many rows at the beginning hold column headings: those above the first figures.

    Args:
        rows: the cells of the first rows, at least; a cell that spans columns has its words in the first.
    """
    count = 0
    seen_years = seen_label = False
    for row, below in zip(rows[:_MOST_HEADINGS], [*rows[1:], ()], strict=False):
        label, values = (row[0] if row else ""), [cell for cell in row[1:] if cell]
        if not values or any(is_value(cell) for cell in values):
            break
        years = any(_WITH_YEAR.search(cell) for cell in values)
        if label and count and not is_unit_line(label) and seen_label and (seen_years or not _are_periods(row, below)):
            break
        if max(map(len, values)) > _LONGEST_HEADING:
            break
        count += 1
        seen_years, seen_label = seen_years or years, seen_label or bool(label)
    if count >= len(rows):
        # No figures at all: only a first row of short and different words can be told from the rest.
        count = 1
    if not count or len(rows) < 2:
        return 0
    return count if _are_headings(rows, count) else 0


def _are_periods(row: Sequence[str], below: Sequence[str]) -> bool:
    """Return whether a row with a label has years as headings, and not as the first ones in columns of dates."""
    dated = [_WITH_YEAR.search(cell) is not None for cell in row[1:]]
    goes_on = any(is_dated and _WITH_YEAR.search(cell) for cell, is_dated in zip(below[1:], dated, strict=False))
    return 2 * sum(dated) > sum(map(bool, row[1:])) and not goes_on


def _are_headings(rows: Sequence[Sequence[str]], found: int) -> bool:
    """Return whether the rows above the figures are headings, and not the first rows of data in words."""
    first, below = rows[0], rows[found:]
    width = max(map(len, rows))
    if any(row and not row[0] for row in rows[:found]):
        return True
    values = [cell for cell in first[1:] if cell]
    if all(is_year(cell) for cell in values):
        return width > 2 or is_unit_line(first[0]) or bool(_label_of_years().match(first[0]))
    for column in range(1, width):
        inside = [row[column] for row in below if column < len(row) and row[column]]
        if inside and sum(map(is_value, inside)) >= 0.6 * len(inside):
            return True
    filled = [cell for cell in first if cell]
    return width > 2 and len(rows) > 2 and len(filled) == width == len({*filled}) and max(map(len, filled)) <= 40


@cache
def _label_of_years() -> re.Pattern[str]:
    return re.compile(rf"\s*(?:{any_of(lexicon().table_words['periods'])})\b", re.IGNORECASE)
