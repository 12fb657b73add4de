"""The filter of a question, read against what the documents have: their fields, the kinds of values, and the values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches

import numpy as np

from ragstone.acquire.metadata import dates
from ragstone.core.access import READERS, both
from ragstone.core.catalog import FIELDS
from ragstone.core.errors import UsageError
from ragstone.core.filters import And, Compare, Exists, Filter, In, Not, Or, Scalar
from ragstone.core.records import MENTIONS
from ragstone.core.request import Request
from ragstone.engine.components import Components
from ragstone.query.where import describe, parse, refuse_foreign_groups, refuse_unknown_fields

_VALUES, _SHOWN, _SAMPLE = 1000, 8, 200
"""Values of a field to read, and to show; chunks whose numbers are read."""
UNMATCHED = ("no document has ", "each condition of the filter has documents, but ")
"""Beginnings of the notices on a filter that no document matches."""
_ISO = re.compile(r"\d{4}(?:-\d\d(?:-\d\d(?:[T ].*)?)?)?")


def read_filter(version: Components, where: Filter | str | None, request: Request) -> Filter | None:
    """Return a filter, parsed, with each value as the documents write values of its field.

    Raises:
        UsageError: it is malformed, names a field that no document has, or compares a date or number with other text.
    """
    parsed = parse(where) if isinstance(where, str) else where
    if parsed is None or not version.has_embedder:  # an empty knowledge base has no fields yet
        return parsed
    fields = _Fields(version, request)
    refuse_unknown_fields(parsed, version.catalog.metadata_keys(fields.groups))
    if request.reader.groups is not None:
        refuse_foreign_groups(parsed, fields.groups)
    return _each(parsed, fields.adapted)


def unmatched(version: Components, where: Filter | None, request: Request) -> str:
    """Return why no document that the reader may read matches a filter, as a notice; empty if one does."""
    fields = _Fields(version, request)
    if where is None or fields.has(where):
        return ""
    parts = where.parts if isinstance(where, And) else (where,)
    for part in parts:
        if not fields.has(part):
            known = fields.near(part) if isinstance(part, Compare | In) else ""
            return f"{UNMATCHED[0]}{describe(part)}{known}; change the filter"
    return f"{UNMATCHED[1]}none meets all of them: {describe(where)}; leave one out"


def _each(where: Filter, change: Callable[[Compare], Filter]) -> Filter:
    """Return a filter with each comparison changed."""
    match where:
        case Compare():
            return change(where)
        case In(key=key, values=values):
            parts = tuple(change(Compare(key=key, op="=", value=value)) for value in values)
            plain = [part.value for part in parts if isinstance(part, Compare)]
            return In(key=key, values=tuple(plain)) if len(plain) == len(parts) else Or(parts=parts)
        case Not(part=part):
            return Not(part=_each(part, change))
        case And(parts=parts):
            return And(parts=tuple(_each(part, change) for part in parts))
        case Or(parts=parts):
            return Or(parts=tuple(_each(part, change) for part in parts))
        case Exists():
            return where


class _Fields:
    """What the documents that a reader may read have under each field."""

    def __init__(self, version: Components, request: Request) -> None:
        self._catalog, self._allowed = version.catalog, request.allowed
        self.groups = request.reader.names

    def has(self, where: Filter) -> bool:
        """Return whether a document matches."""
        allowed = both(self._allowed, where)
        return allowed is None or len(self._catalog.select(allowed)) > 0

    def adapted(self, condition: Compare) -> Filter:
        """Return a comparison with its value as the documents write it: "2024" for 2024 if they have text or dates.

        Raises:
            UsageError: it compares dates or numbers with text that is none.
        """
        key, value = condition.key, condition.value
        if (
            key == READERS
            or isinstance(value, bool)
            or (condition.op in ("=", "!=") and self.has(replace(condition, op="=")))
        ):
            return condition
        if not isinstance(value, str):
            texts = () if self._has_numbers(key) else self._texts(key)
            if not texts and key not in FIELDS:
                return condition
            if isinstance(value, int) and _are_dates(texts) and key not in MENTIONS:
                return _in_year(condition, value)
            return replace(condition, value=str(value))
        if _ISO.fullmatch(value) or key in FIELDS:
            return condition
        texts = self._texts(key)
        if _are_dates(texts):
            if len(found := dates.find(value)) == 1:
                return replace(condition, value=found[0])
            if condition.op not in ("=", "!="):
                raise UsageError(f"'{key}' has dates such as {texts[0]}, and '{value}' is none; write {texts[0][:10]}")
        if not texts and self._has_numbers(key):
            with suppress(ValueError):
                return replace(condition, value=float(value))
            raise UsageError(
                f"'{key}' has numbers, and '{value}' is none; write a number, such as {key} {condition.op} 10"
            )
        return condition

    def near(self, part: Compare | In) -> str:
        """Return the values that a field has, those most like the wanted ones first, to append to a notice."""
        if part.key == READERS or part.key in FIELDS:
            return ""
        wanted = [part.value] if isinstance(part, Compare) else [*part.values]
        stored = self._texts(part.key) or self._numbers(part.key, wanted[0])
        if not stored:
            return ""
        folded = {one.casefold(): one for one in reversed(stored)}
        alike = [folded[one] for value in wanted for one in get_close_matches(str(value).casefold(), folded, _SHOWN)]
        shown = [*dict.fromkeys((*alike, *stored))]
        more = f" and {len(shown) - _SHOWN:,} more" if len(shown) > _SHOWN else ""
        return f"; values of '{part.key}' are {', '.join(shown[:_SHOWN])}{more}"

    def _texts(self, key: str) -> Sequence[str]:
        return [value for value, _ in self._catalog.common_values(self.groups, key, _VALUES)]

    def _has_numbers(self, key: str) -> bool:
        return self.has(Or(parts=(Compare(key=key, op="<", value=0), Compare(key=key, op=">=", value=0))))

    def _numbers(self, key: str, wanted: Scalar) -> Sequence[str]:
        """Return some of the numbers under a key, those nearest to the wanted one first."""
        rows = self._catalog.select(both(self._allowed, Exists(key=key)) or Exists(key=key))
        spread = rows[np.linspace(0, len(rows) - 1, min(len(rows), _SAMPLE)).astype(int)] if len(rows) else rows
        found = {chunk.described.get(key) for chunk in self._catalog.chunks(spread.tolist()).values()}
        near = float(wanted) if not isinstance(wanted, str) else 0.0
        return [
            str(one)
            for one in sorted((one for one in found if isinstance(one, int | float)), key=lambda n: abs(n - near))
        ]


def _are_dates(texts: Sequence[str]) -> bool:
    return bool(texts) and all(_ISO.fullmatch(one) for one in texts)


def _in_year(condition: Compare, year: int) -> Filter:
    """Return a comparison of dates with a whole year: later than 2024 is from 2025 on."""
    begins = Compare(key=condition.key, op=">=", value=str(year))
    ends = Compare(key=condition.key, op="<", value=str(year + 1))
    match condition.op:
        case "=":
            return And(parts=(begins, ends))
        case "!=":
            return Not(part=And(parts=(begins, ends)))
        case ">":
            return Compare(key=condition.key, op=">=", value=str(year + 1))
        case "<=":
            return ends
        case _:
            return replace(condition, value=str(year))
