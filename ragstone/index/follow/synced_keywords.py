"""Keyword search in an external engine that follows the catalog.

The index of terms, of this host or of a server, knows how rare a term is, and finds what the engine lacks. So a
question sees what was added a moment ago, and scores are those of the embedded search.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.catalog import EngineStatus, IndexedCatalog, Stamp
from ragstone.core.filters import Filter
from ragstone.core.records import Matches
from ragstone.index.follow.follower import Follower
from ragstone.index.follow.protocol import Differences, TermStore
from ragstone.index.keyword.analyze import weight_of
from ragstone.index.keyword.scoring import Weighed, idf

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.index.keyword.terms import Terms

    Rows = NDArray[np.int64]

AT_ONCE = 2000
"""Chunks to analyse and store at once."""
MOST_TERMS = 1024
"""Terms of a question; a longer one is cut, as for the embedded search."""


class SyncedKeywords:
    """A keyword index over any `TermStore`."""

    def __init__(self, store: TermStore, catalog: IndexedCatalog, terms: Terms) -> None:
        self._store, self._catalog, self._terms = store, catalog, terms
        self._follower = Follower["Rows"]("keywords", store, catalog)

    def close(self) -> None:
        """Stop trying an engine that is away, and close its connections."""
        self._follower.close()

    @property
    def stamp(self) -> Stamp:
        """The commit of the catalog that the engine was last synced to."""
        return self._store.stamp()

    async def search(self, terms: Sequence[str], k: int, where: Filter | None = None) -> Matches:
        """Return the ``k`` best chunks by BM25 that match ``where``, best first.

        Raises:
            EngineError: the engine is away, or too far behind.
        """
        return await self._follower.calls.asked(lambda: self._search(terms[:MOST_TERMS], k, where))

    def ceiling(self, terms: Sequence[str]) -> float:
        """Return the score of a chunk that repeats these terms forever."""
        return self._terms.ceiling(terms)

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
                self._store.drop(self._follower.removed_since(since))
            else:
                since = Stamp()
                self._store.begin()
            chunks = self._catalog.chunks_since(since.generation)
            while part := [(row, self._terms.analysed(chunk)) for row, chunk in islice(chunks, AT_ONCE)]:
                self._store.put(part)
            self._store.seal(now)

    def status(self) -> EngineStatus:
        """Return how far the engine is, or that it is away."""
        return self._follower.status()

    def difference(self, *, mend: bool) -> Differences:
        """Compare the terms of every row with those of the catalog's text, apart from what is yet to sync."""
        with self._follower.changing(), self._catalog.snapshot():
            since = self._store.stamp()
            if not self._catalog.knows(since):
                return Differences(missing=_none(), extra=_none(), changed=_none())
            wanted, held = self._catalog.rows_since(0), self._store.rows()
            gone = self._follower.removed_since(since)
            missing = np.setdiff1d(np.setdiff1d(wanted, self._catalog.rows_since(since.generation)), held)
            extra = np.setdiff1d(np.setdiff1d(held, wanted), gone)
            changed = [self._store.differing(part) for part in self._analysed(np.intersect1d(wanted, held))]
            every, unlike = np.concatenate([_none(), *changed]), self._follower.unlike()
            differences = Differences(missing=missing, extra=extra, changed=every, unlike=unlike)
            if mend and unlike:
                self._sync(restart=True)
            elif mend and len(differences):
                self._store.drop(differences.extra)
                for part in self._analysed(np.union1d(differences.missing, differences.changed)):
                    self._store.put(part)
            if mend:
                self._store.recount()
            return differences

    def _analysed(self, rows: Rows) -> Iterator[list[tuple[int, list[str]]]]:
        """Yield rows with the terms of their chunks, as many as are stored at once."""
        for start in range(0, len(rows), AT_ONCE):
            chunks = self._catalog.chunks(rows[start : start + AT_ONCE].tolist())
            yield [(row, self._terms.analysed(chunk)) for row, chunk in chunks.items()]

    # ------------------------------------------------------------ searching

    def _search(self, terms: Sequence[str], k: int, where: Filter | None) -> Matches:
        allowed = None if where is None else self._catalog.select(where)
        with self._follower.calls.guard():
            late = self._follower.lag(self._added_since)
            matches = self._store.best(self._weighed(terms), k + min(k, len(late.gone)), allowed)
        current = ~np.isin(matches.rows, np.concatenate([late.gone, late.added]))
        rows, scores = matches.rows[current], matches.scores[current]
        if len(late.added):
            fresh = self._terms.best_of(late.added, terms, k, where)
            rows = np.concatenate([rows, fresh.rows])
            scores = np.concatenate([scores, fresh.scores])
        order = np.lexsort((rows, -scores))[: max(k, 0)]
        return Matches(rows=rows[order], scores=scores[order])

    def _added_since(self, since: Stamp) -> Rows:
        return self._catalog.rows_since(since.generation)

    def _weighed(self, terms: Sequence[str]) -> list[Weighed]:
        """Return each term once, weighted by kind and rarity; a repeated term counts as often as it is asked."""
        total, having = self._terms.frequencies(terms)
        return [
            Weighed(term=term, weight=count * weight_of(term) * idf(having[term], total), chunks=having[term])
            for term, count in Counter(terms).items()
        ]


def _none() -> Rows:
    return np.empty(0, dtype=np.int64)
