"""Rows without a column of text: the whole row as a readable record."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from itertools import chain

from ragstone.acquire.readers.decode import clean
from ragstone.acquire.readers.tables.fields import Json, as_text, as_time, typed
from ragstone.core.records import Span
from ragstone.language import lexicon
from ragstone.language.words import any_of

MOST_FACTS = 100
"""Columns of a row that become facts to filter by; a wider table holds measurements, and its text has them all."""
LONGEST_FACT = 200
"""Characters of a fact; people filter by names and numbers, not by descriptions."""

_SHORT = 120
"""Characters of a value that still stands on the line of the others."""


def record_text(fields: Mapping[str, Json]) -> str:
    """Return the fields of a row as text: ``name: value`` for each, on one line, and below it the long ones.

    The short values share a line because each is read with the others: a price says nothing without its name.
    """
    line, below = _written_fields(fields)
    told = [f"{name}: {text}" for _, name, text in below]
    return "\n\n".join(["; ".join(f"{name}: {text}" for _, name, text in line), *told] if line else told)


def record_spans(fields: Mapping[str, Json]) -> dict[str, Span]:
    """Return where the value of each column stands in what `record_text` returns."""
    spans, at = dict[str, Span](), 0
    for column, name, text in chain(*_written_fields(fields)):
        start = at + len(name) + len(": ")
        spans[column] = Span(start=start, end=start + len(text))
        at = start + len(text) + len("; ")  # as long as a blank line
    return spans


def _written_fields(fields: Mapping[str, Json]) -> tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]]:
    """Return column, name and value of each field that has one: those of the line, and those below it."""
    line: list[tuple[str, str, str]] = []
    below: list[tuple[str, str, str]] = []
    for column, value in fields.items():
        text = _written(value)
        if text:
            short = len(text) <= _SHORT and "\n" not in text
            (line if short else below).append((column, " ".join(clean(column).split()), text))
    return line, below


def record_title(fields: Mapping[str, Json]) -> str:
    """Return what names a row: the value of the likeliest column, or else its first words; empty if it has none."""
    named = {column.strip(): _written(value) for column, value in fields.items()}
    full = [next((text for column, text in named.items() if part.fullmatch(column)), "") for part in _full_name()]
    if all(full):
        return " ".join(full)
    for pattern in _naming():
        for column, text in named.items():
            if text and len(text) <= _SHORT and pattern.fullmatch(column):
                return text
    return next((text for text in named.values() if _is_words(text)), "")


def _is_words(text: str) -> bool:
    """Return whether a value is short text, neither a number nor a date."""
    return 0 < len(text) <= _SHORT and isinstance(typed(text), str) and text[:1].isalpha() and as_time(text) == text


def _written(value: Json) -> str:
    """Return a value as a reader writes it; nested values as JSON."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case list() if not any(isinstance(one, list | dict) for one in value):
            return ", ".join(text for one in value if (text := _written(one)))
        case list() | dict():
            return clean(json.dumps(value, ensure_ascii=False))
        case _:
            return as_text(value).strip()


@cache
def _full_name() -> tuple[re.Pattern[str], ...]:
    """Return patterns of the names of the columns that together name a person."""
    return tuple(_columns(name) for name in ("first_name", "last_name"))


@cache
def _naming() -> tuple[re.Pattern[str], ...]:
    """Return patterns of the names of columns that name what a row is about, the likeliest first."""
    return (_columns("name"), _columns("subject"), _columns("ending", ".*"), _columns("thing", ".*"))


def _columns(kind: str, before: str = "") -> re.Pattern[str]:
    words = any_of(lexicon().columns[kind]).replace(r"\ ", "[ _-]?")
    return re.compile(rf"{before}(?:{words})", re.IGNORECASE)
