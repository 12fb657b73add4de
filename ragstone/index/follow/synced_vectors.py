"""Vector search in an external engine that follows the catalog.

The catalog stays the truth. The engine returns rows only; the catalog decides which of them still exist and may be
shown, and how near they are. What the engine lacks is compared in memory, so a question sees it, whether the engine is
a moment behind or was away for an hour.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.catalog import NO_MATCHES, EngineStatus, IndexedCatalog, Stamp
from ragstone.core.errors import Damaged
from ragstone.core.filters import Filter
from ragstone.core.records import Matches
from ragstone.index.exact import nearest_of, nearest_rows
from ragstone.index.follow.follower import Follower, Lag
from ragstone.index.follow.protocol import Differences, VectorStore
from ragstone.services.breaker import Breaker

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.records import Vector

    Rows = NDArray[np.int64]

FEW = 2000
"""If a filter matches at most this many chunks, they are compared here, which no engine does faster."""
FILTERED = 50_000
"""Up to this many matching rows are sent to the engine; with more, enough of them are among the nearest anyway."""
SAMPLED = 100_000
"""Vectors for an engine to train on."""


class SyncedVectors:
    """A vector index over any `VectorStore`."""

    def __init__(
        self, store: VectorStore, catalog: IndexedCatalog, *, dimensions: int, breaker: Breaker | None = None
    ) -> None:
        self._store, self._catalog, self._dimensions = store, catalog, dimensions
        self._follower = Follower["tuple[Rows, Vector]"]("vectors", store, catalog, breaker)

    def close(self) -> None:
        """Stop trying an engine that is away, and close its connections."""
        self._follower.close()

    @property
    def stamp(self) -> Stamp:
        """The commit of the catalog that the engine was last synced to."""
        return self._store.stamp()

    async def search(self, vector: Vector, k: int, where: Filter | None = None) -> Matches:
        """Return the ``k`` nearest chunks by cosine similarity that match ``where``, best first.

        There are fewer only if fewer match; the similarities are exact.

        Raises:
            EngineError: the engine is away, or too far behind.
        """
        return await self._follower.calls.asked(lambda: self._search(vector, k, where))

    # ------------------------------------------------------------ following

    @property
    def problem(self) -> str:
        """Why the engine is left alone for now; empty if it is not."""
        return self._follower.calls.problem

    def follow(self, *, write: bool) -> None:
        """Sync the engine with the catalog; an engine that holds another history starts again."""
        if write:
            with self._follower.changing():
                self._sync()
                self._store.publish()

    def _sync(self, *, restart: bool = False) -> None:
        with self._catalog.snapshot() as now:
            since = self._store.stamp()
            if since == now and not restart:
                return
            if self._catalog.knows(since) and not self._store.worn and not restart:
                if self._catalog.changes_since(since.generation) <= self._store.least:
                    return
                self._store.drop(self._follower.removed_since(since))
            else:
                since = Stamp()
                self._store.begin(self._catalog.sample_vectors(SAMPLED, self._dimensions))
            for rows, vectors in self._catalog.vectors_since(since.generation, self._dimensions):
                self._store.put(rows, vectors)
            self._store.seal(now)

    def status(self) -> EngineStatus:
        """Return how far the engine is, or that it is away."""
        return self._follower.status(self._store.least)

    def verify(self) -> None:
        if len(found := self.difference(mend=False)):
            raise Damaged(f"{self._store.name}: {found}")

    def difference(self, *, mend: bool) -> Differences:
        """Compare the vector of every row with the catalog's, apart from what is yet to sync."""
        with self._follower.changing():
            try:
                return self._compared(mend=mend)
            except Damaged:
                if mend:
                    self._sync(restart=True)
                return Differences(missing=self._every_row(), extra=_none(), changed=_none())

    def _compared(self, *, mend: bool) -> Differences:
        since = self._store.stamp()
        if not self._catalog.knows(since):
            return Differences(missing=_none(), extra=_none(), changed=_none())
        with self._catalog.snapshot():
            wanted, stored = self._every_row(), self._store.rows()
            late = _joined(rows for rows, _ in self._catalog.vectors_since(since.generation, self._dimensions))
            gone = self._follower.removed_since(since)
            missing = np.setdiff1d(np.setdiff1d(wanted, late), stored)
            extra = np.setdiff1d(np.setdiff1d(stored, wanted), gone)
            unlike = self._follower.unlike()
            differences = Differences(missing=missing, extra=extra, changed=self._changed(stored), unlike=unlike)
            if mend and unlike:
                self._sync(restart=True)
            elif mend and len(differences):
                self._store.drop(np.union1d(differences.extra, differences.changed))
                vectors = self._catalog.vectors(np.union1d(differences.missing, differences.changed).tolist())
                if rows := sorted(vectors):
                    self._store.put(np.array(rows, dtype=np.int64), np.stack([vectors[row] for row in rows]))
                self._store.seal(since)
            return differences

    def _changed(self, stored: Rows) -> Rows:
        """Return the rows whose vector is not the catalog's."""
        changed = [_none()]
        for rows, vectors in self._catalog.vectors_since(0, self._dimensions):
            present = np.isin(rows, stored)
            if present.any():
                changed.append(self._store.differing(rows[present], vectors[present]))
        return np.concatenate(changed)

    def _every_row(self) -> Rows:
        return _joined(rows for rows, _ in self._catalog.vectors_since(0, self._dimensions))

    # ------------------------------------------------------------ searching

    def _search(self, vector: Vector, k: int, where: Filter | None) -> Matches:
        if k < 1:
            return NO_MATCHES
        allowed = None if where is None else self._catalog.select(where)
        if allowed is not None and len(allowed) <= FEW:
            return nearest_rows(self._catalog, allowed.tolist(), vector, k)
        with self._follower.calls.guard():
            late = self._follower.lag(self._added_since)
            nearest = self._asked(vector, k * self._store.refine, allowed, late)
        rows, vectors = late.added
        fresh = _allowed_mask(rows, allowed) if allowed is not None else np.ones(len(rows), dtype=bool)
        newest = nearest_of(iter([(rows[fresh], vectors[fresh])]), vector, k)
        best = nearest_rows(self._catalog, np.union1d(nearest, newest.rows).tolist(), vector, k)
        if len(best) < k and len(best) < self._most(allowed):  # it found fewer than exist
            if allowed is not None:
                return nearest_rows(self._catalog, allowed.tolist(), vector, k)
            return nearest_of(self._catalog.vectors_since(0, self._dimensions), vector, k)
        return best

    def _most(self, allowed: Rows | None) -> int:
        return self._catalog.counts().chunks if allowed is None else len(allowed)

    def _asked(self, vector: Vector, k: int, allowed: Rows | None, late: Lag[tuple[Rows, Vector]]) -> Rows:
        """Return the best rows of the engine that exist and are allowed."""
        sent = allowed if allowed is not None and len(allowed) <= FILTERED else None
        depth = k + min(k, len(late.gone))
        if allowed is not None and sent is None:
            depth += depth * self._most(None) // len(allowed) * 5 // 4
        while True:
            rows = self._store.nearest(vector, depth, sent)
            kept = rows[~np.isin(rows, late.gone)]
            if allowed is not None:
                kept = kept[_allowed_mask(kept, allowed)]
            if len(kept) >= k or len(rows) < depth:
                return kept[:k]
            depth *= 4

    def _added_since(self, since: Stamp) -> tuple[Rows, Vector]:
        parts = list(self._catalog.vectors_since(since.generation, self._dimensions))
        none = np.empty((0, self._dimensions), dtype=np.float32)
        return _joined(rows for rows, _ in parts), np.concatenate([none, *(vectors for _, vectors in parts)])


def _joined(parts: Iterable[Rows]) -> Rows:
    return np.concatenate([_none(), *parts])


def _allowed_mask(rows: Rows, allowed: Rows) -> NDArray[np.bool_]:
    """Return a mask of the rows that are allowed; ``allowed`` ascends and is not empty."""
    return allowed[np.minimum(np.searchsorted(allowed, rows), len(allowed) - 1)] == rows


def _none() -> Rows:
    return np.empty(0, dtype=np.int64)
