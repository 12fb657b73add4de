"""What a reader may know: the documents that are hidden, found once per commit, and the keys of the others."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.core.access import deciding_key
from ragstone.core.ascending import ascending, difference
from ragstone.core.catalog import Stamp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.catalog.database import Database

    Rows = NDArray[np.int64]

MOST_NUMBERS = 4_000_000
"""Numbers of documents that are kept until the next commit, 8 bytes each."""
MOST_READERS = 1000
"""Readers for whom they are kept."""


class ReadableDocuments:
    """The documents that are hidden from readers, at the last requested commit."""

    def __init__(self, database: Database) -> None:
        self._database, self._asking = database, threading.Lock()
        self._stamp, self._hidden = Stamp(), dict[tuple[str, ...], "Rows"]()
        self._whole: int | None = None

    def readable(self, groups: Sequence[str] | None, stamp: Stamp) -> int:
        """Return the number of documents that groups may read, all for the owner; call it within a snapshot.

        Args:
            groups: groups of the reader; None for everything.
            stamp: the commit that the snapshot shows.
        """
        hidden = len(self.of(groups, stamp))
        with self._asking:
            self._begin(stamp)
            if self._whole is None:
                ((whole,),) = self._database.rows("SELECT count(*) FROM documents")
                self._whole = int(whole)
            return self._whole - hidden

    def of(self, groups: Sequence[str] | None, stamp: Stamp) -> Rows:
        """Return the numbers, ascending, of the documents that are hidden from groups; call it within a snapshot.

        Args:
            groups: groups of the reader; None hides nothing.
            stamp: the commit that the snapshot shows.
        """
        if groups is None:
            return np.empty(0, dtype=np.int64)
        reader = tuple(sorted(groups))
        with self._asking:
            self._begin(stamp)
            if reader not in self._hidden:
                rows = self._found(reader)
                kept = sum(map(len, self._hidden.values())) + len(rows)
                if kept > MOST_NUMBERS or len(self._hidden) >= MOST_READERS:
                    self._hidden.clear()
                self._hidden[reader] = rows
            return self._hidden[reader]

    def _begin(self, stamp: Stamp) -> None:
        if stamp != self._stamp:
            self._stamp, self._whole = stamp, None
            self._hidden.clear()

    def _found(self, groups: Sequence[str]) -> Rows:
        (named, key), (own, values) = naming(self._database, groups)
        return difference(numbers(self._database, named, key), numbers(self._database, own, values))


def naming(database: Database, groups: Sequence[str]) -> tuple[tuple[str, list[Any]], tuple[str, list[Any]]]:
    """Return the queries, with their values, of the documents that name groups, and of those that name one of these."""
    dialect = database.dialect
    having, key = dialect.has_key(deciding_key(groups))
    named = f"SELECT document AS row FROM facts WHERE {having} AND chunk IS NULL"
    return (named, [*key]), (f"{named} AND value {dialect.in_values}", [*key, dialect.values(groups)])


def readable_keys(database: Database, groups: Sequence[str] | None) -> Iterator[str]:
    """Yield the metadata keys in the documents that groups may read; all for the owner."""
    dialect = database.dialect
    allowed, reader = dialect.readable(groups)
    for (key,) in database.rows(dialect.metadata_keys):
        having, values = dialect.has_key(key)
        sql = f"SELECT 1 FROM facts JOIN documents d USING (document) WHERE {having} AND {allowed} LIMIT 1"
        if groups is None or database.rows(sql, [*values, *reader]):
            yield key


def numbers(database: Database, sql: str, values: Sequence[object]) -> Rows:
    """Return the numbers that a query finds, ascending; as one text they are read faster than one by one."""
    ((text,),) = database.rows(database.dialect.joined.format(sql), values)
    return ascending(np.fromstring(text or "", dtype=np.int64, sep=","))
