"""How many documents a reader may read, counted once a commit."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.access import READERS
from ragstone.core.catalog import Stamp

if TYPE_CHECKING:
    from ragstone.catalog.database import Database

MOST_READERS = 1000
"""Readers whose numbers are kept until the next commit."""


class ReadableCounts:
    """The numbers of documents that readers may read, at the commit that was asked for last."""

    def __init__(self, database: Database) -> None:
        self._database, self._asking = database, threading.Lock()
        self._stamp, self._counts = Stamp(), dict[tuple[str, ...] | None, int]()

    def of(self, groups: Sequence[str] | None, stamp: Stamp) -> int:
        """Return the number of documents that groups may read, all for the owner; call it within a snapshot.

        Args:
            groups: groups of the reader; None for the owner.
            stamp: the commit that the snapshot shows.
        """
        reader = None if groups is None else tuple(sorted(groups))
        with self._asking:
            if stamp != self._stamp or len(self._counts) >= MOST_READERS:
                self._stamp = stamp
                self._counts.clear()
            if reader not in self._counts:
                self._counts[reader] = self._count(reader)
            return self._counts[reader]

    def _count(self, groups: Sequence[str] | None) -> int:
        ((whole,),) = self._database.rows("SELECT count(*) FROM documents")
        if groups is None:
            return whole
        dialect = self._database.dialect
        having, key = dialect.has_key(READERS)
        restricted = f"SELECT document AS row FROM facts WHERE {having} AND chunk IS NULL"
        own = f"{restricted} AND value {dialect.in_values}"
        return whole - self._distinct(restricted, key) + self._distinct(own, [*key, dialect.values(groups)])

    def _distinct(self, sql: str, values: Sequence[object]) -> int:
        """Return how many documents a query finds; as one text they are read several times faster than one by one."""
        ((text,),) = self._database.rows(self._database.dialect.joined.format(sql), values)
        return len(np.unique(np.fromstring(text or "", dtype=np.int64, sep=",")))
