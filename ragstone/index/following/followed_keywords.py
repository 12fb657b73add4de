"""Keyword search in an engine of somebody else's making, which follows the catalog.

The index of terms that lies beside the catalog tells how rare a term is, and finds what the engine does not know yet;
so a question sees what was added a moment ago, and scores are those of the embedded search.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ragstone.conditions import Filter
from ragstone.contracts import Matches
from ragstone.errors import Behind, EngineError
from ragstone.index.catalog.any_catalog import AnyCatalog
from ragstone.index.following.breaker import Breaker
from ragstone.index.following.engine_calls import EngineCalls
from ragstone.index.following.followed_vectors import LATE, LOOK_AGAIN
from ragstone.index.following.protocol import TermStore
from ragstone.index.records import EngineStatus, Stamp
from ragstone.index.terms.scoring import Weighed, idf

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.index.terms.bm25 import TermIndex

    Rows = NDArray[np.int64]

AT_ONCE = 2000
"""Chunks that are analysed and stored together."""
MOST_TERMS = 1024
"""A longer question is cut, as for the embedded search."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Late:
    """What the engine, brought up to ``since``, does not know of the catalog at ``now``: rows added and rows gone."""

    since: Stamp
    now: Stamp
    added: Rows
    gone: Rows
    looked: float


class FollowedKeywords:
    """The keyword index that the engine sees, whatever `TermStore` holds the terms."""

    def __init__(self, store: TermStore, catalog: AnyCatalog, terms: TermIndex, breaker: Breaker | None = None) -> None:
        self._store, self._catalog, self._terms = store, catalog, terms
        self._engine = EngineCalls(store.stamp, breaker)
        self._following = threading.Lock()
        self._seen: _Late | None = None

    @property
    def stamp(self) -> Stamp:
        """The commit of the catalog that the engine was last brought up to."""
        return self._store.stamp()

    async def search(self, terms: Sequence[str], k: int, where: Filter | None = None) -> Matches:
        """The ``k`` best chunks by BM25, best first, of those ``where`` lets through.

        Raises:
            EngineError: the engine is away, or further behind than can be made up for.
        """
        return await self._engine.asked(lambda: self._search(terms[:MOST_TERMS], k, where))

    def ceiling(self, terms: Sequence[str]) -> float:
        """What a chunk would score that held these terms over and over."""
        return self._terms.ceiling(terms)

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

    def _bring_up(self) -> None:
        with self._catalog.snapshot() as now:
            since = self._store.stamp()
            if since == now:
                return
            if self._catalog.knows(since) and not self._store.worn:
                self._store.drop(np.array(self._catalog.removed_since(since.generation), dtype=np.int64))
            else:
                since = Stamp()
                self._store.begin()
            chunks = self._catalog.chunks_since(since.generation)
            while part := [(row, self._terms.analysed(chunk)) for row, chunk in islice(chunks, AT_ONCE)]:
                self._store.put(part)
            self._store.seal(now)

    def status(self) -> EngineStatus:
        """How far the engine is; one that is away is said to be."""
        try:
            with self._engine.guard():
                since = self._store.stamp()
        except EngineError as error:
            return EngineStatus(leg="keywords", engine=self._store.name, problem=str(error))
        with self._catalog.snapshot() as now:
            done = since.generation if self._catalog.knows(since) else 0
        return EngineStatus(leg="keywords", engine=self._store.name, behind=now.generation - done)

    def difference(self, *, mend: bool) -> tuple[Rows, Rows]:
        """Rows that the engine lacks and rows it has too much, apart from what it has yet to follow."""
        with self._following, self._engine.guard(insist=True), self._catalog.snapshot():
            since = self._store.stamp()
            if not self._catalog.knows(since):
                return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
            wanted, held = self._catalog.rows_since(0), self._store.rows()
            gone = np.array(self._catalog.removed_since(since.generation), dtype=np.int64)
            missing = np.setdiff1d(np.setdiff1d(wanted, self._catalog.rows_since(since.generation)), held)
            extra = np.setdiff1d(np.setdiff1d(held, wanted), gone)
            if mend and (len(missing) or len(extra)):
                self._store.drop(extra)
                found = iter(self._catalog.chunks(missing.tolist()).items())
                while part := [(row, self._terms.analysed(chunk)) for row, chunk in islice(found, AT_ONCE)]:
                    self._store.put(part)
            return missing, extra

    # ------------------------------------------------------------ searching

    def _search(self, terms: Sequence[str], k: int, where: Filter | None) -> Matches:
        allowed = None if where is None else self._catalog.select(where)
        with self._engine.guard():
            late = self._looked()
            found = self._store.best(self._weighed(terms), k + min(k, len(late.gone)), allowed)
        known = ~np.isin(found.rows, np.concatenate([late.gone, late.added]))
        rows, scores = found.rows[known], found.scores[known]
        if len(late.added):  # what is among the best of all is among the best of those beside the catalog
            beside = self._terms.best(terms, k, where)
            fresh = np.isin(beside.rows, late.added)
            rows = np.concatenate([rows, beside.rows[fresh]])
            scores = np.concatenate([scores, beside.scores[fresh]])
        order = np.lexsort((rows, -scores))[: max(k, 0)]
        return Matches(rows=rows[order], scores=scores[order])

    def _weighed(self, terms: Sequence[str]) -> list[Weighed]:
        """Each term once, by how rare it is; one that is asked twice counts twice."""
        total, having = self._terms.frequencies(terms)
        return [
            Weighed(term=term, weight=count * idf(having[term], total), chunks=having[term])
            for term, count in Counter(terms).items()
        ]

    def _looked(self) -> _Late:
        """What the engine lacks; what it was the last time, while nothing can have changed."""
        now, clock, seen = self._catalog.stamp(), time.monotonic(), self._seen
        if seen and seen.now == now and (seen.since == now or clock - seen.looked < LOOK_AGAIN):
            return seen
        since = self._store.stamp()
        with self._catalog.snapshot() as now:
            if not self._catalog.knows(since):
                raise Behind(self._store.name, self._catalog.counts().chunks)
            if (behind := self._catalog.changes_since(since.generation)) > LATE:
                raise Behind(self._store.name, behind)
            added = self._catalog.rows_since(since.generation)
            gone = np.array(self._catalog.removed_since(since.generation), dtype=np.int64)
        self._seen = _Late(since=since, now=now, added=added, gone=gone, looked=clock)
        return self._seen
