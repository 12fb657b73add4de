"""The rows that filters let through, kept until the next commit: each leg of a search asks for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.conditions import And, Filter, Or
from ragstone.index.catalog.filters import Dialect, passing, told, united
from ragstone.index.records import Stamp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

MOST = 4_000_000
"""Row numbers that are kept, 8 bytes each."""
MOST_FILTERS = 1000
"""Filters that are kept: those that let nothing through take room too."""


class Selections:
    """The selections of the last few filters. ``one`` asks the database for one value."""

    def __init__(self, one: Callable[[str, Sequence[Any]], Any], dialect: Dialect) -> None:
        self._one, self._dialect = one, dialect
        self._asking = threading.Lock()
        self._stamp, self._kept = Stamp(), dict[str, "Rows"]()
        self._size = 0

    def passing(self, where: Filter, stamp: Stamp) -> Rows:
        """The rows, ascending, that a filter lets through, at the commit that is being read; not to be changed."""
        with self._asking:  # a second leg waits for what the first has asked
            if stamp != self._stamp:
                self._stamp = stamp
                self._kept.clear()
                self._size = 0
            return self._passing(where)

    def _passing(self, where: Filter) -> Rows:
        """The same; of "and" and "or" each part is kept too, for what a reader may read is part of many filters."""
        key = told(where)
        rows = self._kept.pop(key, None)
        if rows is not None:
            self._size -= len(rows)
        else:
            if isinstance(where, And | Or) and len(where.parts) > 1:
                parts = map(self._passing, where.parts)
                both = partial(np.intersect1d, assume_unique=True)
                rows = united(parts) if isinstance(where, Or) else reduce(both, parts)
            else:
                rows = passing(where, self._row_numbers, self._dialect)
            rows.flags.writeable = False
        self._kept[key] = rows
        self._size += len(rows)
        while len(self._kept) > 1 and (self._size > MOST or len(self._kept) > MOST_FILTERS):
            self._size -= len(self._kept.pop(next(iter(self._kept))))
        return rows

    def _row_numbers(self, sql: str, values: Sequence[Any]) -> Rows:
        # As one text: a million rows are read several times faster than one by one.
        text = self._one(self._dialect.joined.format(sql), values)
        return np.unique(np.fromstring(text or "", dtype=np.int64, sep=","))
