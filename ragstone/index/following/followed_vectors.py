"""Vectors in an engine of anybody's making: it follows the catalog, and what it lacks is compared here.

The catalog stays the truth. The engine is asked for rows only; which of them are there still and may be shown, and how
near they are, the catalog tells. What was added since the engine was brought up is compared in memory, so a question
sees it, whether the engine is a moment behind or was away for an hour.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ragstone.conditions import Filter
from ragstone.contracts import Matches
from ragstone.errors import Behind, Damaged, EngineError
from ragstone.index.among import nearest_among, nearest_of
from ragstone.index.catalog.any_catalog import AnyCatalog
from ragstone.index.following.breaker import Breaker
from ragstone.index.following.engine_calls import EngineCalls
from ragstone.index.following.protocol import VectorStore
from ragstone.index.records import NO_MATCHES, EngineStatus, Stamp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.contracts import Vector

    Rows = NDArray[np.int64]

FEW = 2000
"""Up to so many chunks that a filter lets through are compared here, which no engine does faster."""
TOLD = 50_000
"""Up to so many are told to the engine; of more, chance finds enough among the nearest of all."""
LATE = 50_000
"""Chunks that an engine may lack and still be asked; they are compared in memory."""
LOOK_AGAIN = 2.0
"""Seconds after which an engine that is behind is asked again how far it is."""
SAMPLED = 100_000
"""Vectors that an engine may learn from."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Late:
    """What the engine, brought up to ``since``, does not know of the catalog at ``now``; and when that was looked at.

    ``rows`` with their ``vectors`` were added; ``gone`` were removed, and may be in the engine still.
    """

    since: Stamp
    now: Stamp
    rows: Rows
    vectors: Vector
    gone: Rows
    looked: float


class FollowedVectors:
    """The vector index that the engine sees, whatever `VectorStore` holds it."""

    def __init__(
        self, store: VectorStore, catalog: AnyCatalog, *, dimensions: int, breaker: Breaker | None = None
    ) -> None:
        self._store, self._catalog, self._dimensions = store, catalog, dimensions
        self._engine = EngineCalls(store.stamp, breaker)
        self._following = threading.Lock()
        self._seen: _Late | None = None

    @property
    def stamp(self) -> Stamp:
        """The commit of the catalog that the engine was last brought up to."""
        return self._store.stamp()

    async def search(self, vector: Vector, k: int, where: Filter | None = None) -> Matches:
        """The ``k`` nearest chunks by cosine similarity, best first, of those ``where`` lets through.

        Always so many, where there are; the similarities are exact.

        Raises:
            EngineError: the engine is away, or further behind than can be made up for.
        """
        return await self._engine.asked(lambda: self._search(vector, k, where))

    # ------------------------------------------------------------ following

    @property
    def problem(self) -> str:
        """Why the engine is left alone for now; empty while it is not."""
        return self._engine.problem

    def follow(self, *, write: bool) -> None:
        """Bring the engine up to the catalog; one that holds nothing of this catalog begins anew."""
        if not write:
            return
        with self._following, self._engine.guard(insist=True):
            self._bring_up()
            self._store.publish()
            self._seen = None

    def _bring_up(self, *, anew: bool = False) -> None:
        with self._catalog.snapshot() as now:
            since = self._store.stamp()
            if since == now and not anew:
                return
            if self._catalog.knows(since) and not self._store.worn and not anew:
                if self._catalog.changes_since(since.generation) <= self._store.least:
                    return
                self._store.drop(np.array(self._catalog.removed_since(since.generation), dtype=np.int64))
            else:
                since = Stamp()
                self._store.begin(self._catalog.some_vectors(SAMPLED, self._dimensions))
            for rows, vectors in self._catalog.vectors_since(since.generation, self._dimensions):
                self._store.put(rows, vectors)
            self._store.seal(now)

    def status(self) -> EngineStatus:
        """How far the engine is; commits whose changes are kept in memory by design do not count."""
        try:
            with self._engine.guard():
                since = self._store.stamp()
        except EngineError as error:
            return EngineStatus(leg="vectors", engine=self._store.name, problem=str(error))
        with self._catalog.snapshot() as now:
            if not self._catalog.knows(since):
                behind = now.generation
            elif self._catalog.changes_since(since.generation) <= self._store.least:
                behind = 0
            else:
                behind = now.generation - since.generation
        return EngineStatus(leg="vectors", engine=self._store.name, behind=behind)

    def verify(self) -> None:
        missing, extra = self.difference(mend=False)
        if len(missing) or len(extra):
            raise Damaged(f"{self._store.name} lacks {len(missing)} chunks and has {len(extra)} that are gone")

    def difference(self, *, mend: bool) -> tuple[Rows, Rows]:
        """Rows that the engine lacks and rows it has too much, apart from what it has yet to follow."""
        with self._following, self._engine.guard(insist=True):
            try:
                return self._compared(mend=mend)
            except Damaged:
                if mend:
                    self._bring_up(anew=True)
                return self._every_row(), _none()
            finally:
                self._seen = None

    def _compared(self, *, mend: bool) -> tuple[Rows, Rows]:
        since = self._store.stamp()
        if not self._catalog.knows(since):
            return _none(), _none()
        with self._catalog.snapshot():
            wanted, held = self._every_row(), self._store.rows()
            late = np.concatenate([_none(), *(rows for rows, _ in self._since(since))])
            gone = np.array(self._catalog.removed_since(since.generation), dtype=np.int64)
            missing = np.setdiff1d(np.setdiff1d(wanted, late), held)
            extra = np.setdiff1d(np.setdiff1d(held, wanted), gone)
            if mend and (len(missing) or len(extra)):
                self._store.drop(extra)
                found = self._catalog.vectors(missing.tolist())
                if found:
                    self._store.put(
                        np.array(sorted(found), dtype=np.int64), np.stack([found[r] for r in sorted(found)])
                    )
                self._store.seal(since)
            return missing, extra

    def _every_row(self) -> Rows:
        """Not by `Catalog.select`, which reads a state of its own."""
        return np.concatenate([_none(), *(rows for rows, _ in self._catalog.vectors_since(0, self._dimensions))])

    # ------------------------------------------------------------ searching

    def _search(self, vector: Vector, k: int, where: Filter | None) -> Matches:
        if k < 1:
            return NO_MATCHES
        allowed = None if where is None else self._catalog.select(where)
        if allowed is not None and len(allowed) <= FEW:
            return nearest_among(self._catalog, allowed.tolist(), vector, k)
        with self._engine.guard():
            late = self._looked()
            found = self._asked(vector, k * self._store.refine, allowed, late)
        fresh = _among(late.rows, allowed) if allowed is not None else np.ones(len(late.rows), dtype=bool)
        newest = nearest_of(iter([(late.rows[fresh], late.vectors[fresh])]), vector, k)
        best = nearest_among(self._catalog, np.union1d(found, newest.rows).tolist(), vector, k)
        if len(best) < k and len(best) < self._most(allowed):  # it found fewer than there are
            if allowed is not None:
                return nearest_among(self._catalog, allowed.tolist(), vector, k)
            return nearest_of(self._catalog.vectors_since(0, self._dimensions), vector, k)
        return best

    def _most(self, allowed: Rows | None) -> int:
        return self._catalog.counts().chunks if allowed is None else len(allowed)

    def _asked(self, vector: Vector, k: int, allowed: Rows | None, late: _Late) -> Rows:
        """The best rows of the engine, of those that are there and allowed."""
        told = allowed if allowed is not None and len(allowed) <= TOLD else None
        depth = k + min(k, len(late.gone))
        if allowed is not None and told is None:
            depth += depth * self._most(None) // len(allowed) * 5 // 4
        while True:
            rows = self._store.nearest(vector, depth, told)
            kept = rows[~np.isin(rows, late.gone)]
            if allowed is not None:
                kept = kept[_among(kept, allowed)]
            if len(kept) >= k or len(rows) < depth:
                return kept[:k]
            depth *= 4

    def _looked(self) -> _Late:
        """What the engine lacks; what it was the last time, while nothing can have changed."""
        now, time_now, seen = self._catalog.stamp(), time.monotonic(), self._seen
        if seen and seen.now == now and (seen.since == now or time_now - seen.looked < LOOK_AGAIN):
            return seen
        since = self._store.stamp()
        with self._catalog.snapshot() as now:
            if not self._catalog.knows(since):
                raise Behind(self._store.name, self._catalog.counts().chunks)
            if (behind := self._catalog.changes_since(since.generation)) > LATE:
                raise Behind(self._store.name, behind)
            parts = self._since(since)
            gone = np.array(self._catalog.removed_since(since.generation), dtype=np.int64)
        rows = np.concatenate([_none(), *(rows for rows, _ in parts)])
        none = np.empty((0, self._dimensions), dtype=np.float32)
        vectors = np.concatenate([none, *(vectors for _, vectors in parts)])
        self._seen = _Late(since=since, now=now, rows=rows, vectors=vectors, gone=gone, looked=time_now)
        return self._seen

    def _since(self, stamp: Stamp) -> list[tuple[Rows, Vector]]:
        return list(self._catalog.vectors_since(stamp.generation, self._dimensions))


def _among(rows: Rows, allowed: Rows) -> NDArray[np.bool_]:
    """Which rows are among those allowed, which ascend and are some; there may be many more of these."""
    return allowed[np.minimum(np.searchsorted(allowed, rows), len(allowed) - 1)] == rows


def _none() -> Rows:
    return np.empty(0, dtype=np.int64)
