"""How an external engine follows the catalog: what it lacks, and whether it can be asked."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from ragstone.core.catalog import EngineStatus, IndexedCatalog, Stamp
from ragstone.core.errors import EngineBehind, EngineError
from ragstone.core.frozen import frozen
from ragstone.core.protocols import Closable
from ragstone.index.follow.protocol import Configured, RowStore
from ragstone.services.breaker import Breaker
from ragstone.services.engine_calls import EngineCalls

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

Added = TypeVar("Added")

LATE = 50_000
"""The most chunks an engine may lack to be asked; they are compared in memory."""
LOOK_AGAIN = 2.0
"""Seconds until an engine that is behind is asked again how far it is."""


@frozen(eq=False)
class Lag(Generic[Added]):
    """What an engine synced to ``since`` lacks of the catalog at ``now``, and the time of that comparison.

    ``gone`` are the rows that were removed and may still be in the engine.
    """

    since: Stamp
    now: Stamp
    added: Added
    gone: Rows
    looked: float


class Follower(Generic[Added]):
    """The state of one store, and its calls, which are made while the engine is not left alone."""

    def __init__(self, leg: str, store: RowStore, catalog: IndexedCatalog, breaker: Breaker | None = None) -> None:
        """
        Args:
            leg: the search leg that the store serves.
            store: in the engine.
            catalog: that it follows.
            breaker: decides when to try an engine that failed; a new one if not given.
        """
        self._leg, self._store, self._catalog = leg, store, catalog
        self.calls = EngineCalls(store.stamp, breaker)
        self._changing = threading.Lock()
        self._seen: Lag[Added] | None = None

    def close(self) -> None:
        """Stop trying an engine that is away, and close its connections."""
        self.calls.close()
        if isinstance(self._store, Closable):
            self._store.close()

    @contextmanager
    def changing(self) -> Generator[None]:
        """Change the store, one caller at a time, even if the engine was away a moment ago."""
        with self._changing, self.calls.guard(insist=True):
            try:
                yield
            finally:
                self._seen = None

    def removed_since(self, since: Stamp) -> Rows:
        """Return the rows, ascending, of the chunks removed after a commit."""
        return np.array(self._catalog.removed_since(since.generation), dtype=np.int64)

    def status(self, least: int = -1) -> EngineStatus:
        """Return how far the engine is, or that it is away.

        Args:
            least: changes that are kept in memory by design and do not count.
        """
        try:
            with self.calls.guard():
                since, unlike = self._store.stamp(), self.unlike()
        except EngineError as error:
            return EngineStatus(leg=self._leg, engine=self._store.name, problem=str(error))
        with self._catalog.snapshot() as now:
            if not self._catalog.knows(since):
                behind = now.generation
            elif self._catalog.changes_since(since.generation) <= least:
                behind = 0
            else:
                behind = now.generation - since.generation
        return EngineStatus(leg=self._leg, engine=self._store.name, behind=behind, unlike=unlike)

    def unlike(self) -> str:
        """Return how what the store holds was made otherwise than the settings say."""
        return self._store.unlike() if isinstance(self._store, Configured) else ""

    def lag(self, added_since: Callable[[Stamp], Added]) -> Lag[Added]:
        """Return what the engine lacks, from memory as long as nothing can have changed.

        Args:
            added_since: reads what was added to the catalog after a commit.

        Raises:
            EngineBehind: it lacks so much that it cannot be asked.
        """
        now, clock, seen = self._catalog.stamp(), time.monotonic(), self._seen
        if seen and seen.now == now and (seen.since == now or clock - seen.looked < LOOK_AGAIN):
            return seen
        since = self._store.stamp()
        with self._catalog.snapshot() as now:
            if not self._catalog.knows(since):
                raise EngineBehind(self._store.name, self._catalog.counts().chunks)
            if (behind := self._catalog.changes_since(since.generation)) > LATE:
                raise EngineBehind(self._store.name, behind)
            added, gone = added_since(since), self.removed_since(since)
        self._seen = Lag(since=since, now=now, added=added, gone=gone, looked=clock)
        return self._seen
