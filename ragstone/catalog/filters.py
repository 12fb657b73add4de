"""The filter language as sets of rows: one query for each comparison, then set algebra.

An index of the database finds the chunks that match one comparison; "and", "or" and "not" are operations on sorted
arrays. As one SQL condition, the filter would be evaluated for every chunk.

Whole numbers beyond 64 bits are stored, and compared, as the nearest float.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Protocol, assert_never

import numpy as np

from ragstone.core.ascending import ascending, difference, intersection
from ragstone.core.catalog import Stamp
from ragstone.core.filters import And, Compare, Exists, Filter, In, Not, Or, Scalar, filter_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

Value = str | int | float | bytes
"""A metadata value as the database stores it."""
AT_ONCE = 1_000_000
"""The minimum number of rows of the parts of an "or" to merge in one step."""
MAX_ROWS = 4_000_000
"""Row numbers to cache, 8 bytes each."""
MAX_FILTERS = 1000
"""Filters to cache; those that match nothing need memory too."""
_EVERYTHING = "SELECT row FROM chunks"


class FilterDialect(Protocol):
    """How a database finds the chunks with a metadata value."""

    @property
    def joined(self) -> str:
        """SQL that returns the rows of a query ``{}`` as one text with commas."""
        ...

    def fact(self, key: str, op: str, value: Scalar | None) -> tuple[str, list[Value]]:
        """Return a query for chunks with a matching value of a key, and its parameters; no value matches any."""
        ...


class Selections:
    """The rows that match the last few filters, cached until the next commit: each leg of a search asks for them."""

    def __init__(self, single: Callable[[str, Sequence[Value]], str | None], dialect: FilterDialect) -> None:
        """
        Args:
            single: runs a query that returns a single value.
            dialect: of the database that ``single`` asks.
        """
        self._one, self._dialect = single, dialect
        self._asking = threading.Lock()
        self._stamp, self._cached = Stamp(), dict[str, "Rows"]()
        self._size = 0

    def __len__(self) -> int:
        return len(self._cached)

    def rows(self, where: Filter, stamp: Stamp) -> Rows:
        """Return the matching rows, ascending and read-only, at the commit that is being read."""
        with self._asking:  # a second leg waits for the answer to the first
            if stamp != self._stamp:
                self._stamp = stamp
                self._cached.clear()
                self._size = 0
            return self._rows(where)

    def known(self, where: Filter, stamp: Stamp) -> Rows | None:
        """Return the rows of a filter if they are cached; None instead of waiting for a thread that evaluates one."""
        if not self._asking.acquire(blocking=False):
            return None
        try:
            return self._cached.get(filter_key(where)) if stamp == self._stamp else None
        finally:
            self._asking.release()

    def _rows(self, where: Filter) -> Rows:
        # The parts of "and" and "or" are cached too: a reader's access filter is part of many filters.
        key = filter_key(where)
        rows = self._cached.pop(key, None)
        if rows is not None:
            self._size -= len(rows)
        else:
            rows = self._evaluate(where)
            rows.flags.writeable = False
        self._cached[key] = rows
        self._size += len(rows)
        while len(self._cached) > 1 and (self._size > MAX_ROWS or len(self._cached) > MAX_FILTERS):
            self._size -= len(self._cached.pop(next(iter(self._cached))))
        return rows

    def _evaluate(self, where: Filter) -> Rows:
        match where:
            case And(parts=(_, _, *_) as parts):
                return reduce(intersection, map(self._rows, parts))
            case Or(parts=(_, _, *_) as parts):
                return united(map(self._rows, parts))
            case _:
                return self._matching(where)

    def _matching(self, where: Filter) -> Rows:
        """Return the rows that match a filter, without caching its parts."""
        match where:
            case Compare(key=key, op="!=", value=value):
                return self._matching(Not(part=Compare(key=key, op="=", value=value)))
            case Compare(op=op, value=bool()) if op != "=":
                return _no_rows()  # truth values have no order
            case Compare(value=float() as number) if math.isnan(number):
                return _no_rows()
            case Compare(key=key, op=op, value=value):
                return self._ask(*self._dialect.fact(key, op, value))
            case In(key=key, values=values):
                return united(self._matching(Compare(key=key, op="=", value=value)) for value in values)
            case Exists(key=key):
                return self._ask(*self._dialect.fact(key, "", None))
            case And(parts=()):
                return self._ask(_EVERYTHING, [])
            case And(parts=parts):
                return reduce(intersection, map(self._matching, parts))
            case Or(parts=parts):
                return united(map(self._matching, parts))
            case Not(part=part):
                return difference(self._ask(_EVERYTHING, []), self._matching(part))
            case _:
                assert_never(where)

    def _ask(self, sql: str, values: Sequence[Value]) -> Rows:
        # As one text: a million rows are read several times faster than one by one.
        text = self._one(self._dialect.joined.format(sql), values)
        return ascending(np.fromstring(text or "", dtype=np.int64, sep=","))


def united(parts: Iterable[Rows]) -> Rows:
    """Return the rows, ascending, that are in any part; merges many at once, because each merge sorts all rows."""
    whole, waiting, count = _no_rows(), list["Rows"](), 0
    for part in parts:
        waiting.append(part)
        count += len(part)
        if count > max(len(whole), AT_ONCE):
            whole, waiting, count = ascending(np.concatenate([whole, *waiting])), [], 0
    return ascending(np.concatenate([whole, *waiting]))


def stored_value(value: Scalar) -> Value:
    """Return a metadata value as the database stores it, in facts as in filters.

    A truth value is a blob, so that it equals no number; so is NaN, which equals nothing but exists.
    """
    if isinstance(value, bool):
        return bytes([value])
    if isinstance(value, float) and math.isnan(value):
        return b"nan"
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return value


def _no_rows() -> Rows:
    return np.empty(0, dtype=np.int64)
