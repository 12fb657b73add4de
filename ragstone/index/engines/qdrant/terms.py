"""The terms of chunks in Qdrant as sparse vectors, with BM25.

A term's place in the vector is a hash of it, its value what BM25 gives the term in that chunk by the mean length when
the collection was begun. The product with a question's weights is then its BM25 score, but for what has changed since:
the mean length moves with every document, and two terms may share a place. So more of the best are fetched than asked
for, each with its length and how often it has the question's terms, and scored again as of today. What the server gave
bounds what any other chunk could score; where one could still be among the best, more are fetched.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, cast

import numpy as np

from ragstone.core.catalog import NO_MATCHES, Stamp
from ragstone.core.frozen import frozen
from ragstone.core.records import Matches
from ragstone.index.engines.qdrant.collection import Collection
from ragstone.index.engines.qdrant.connection import Connect, connect, models
from ragstone.index.follow.collection_names import CollectionNames
from ragstone.index.keyword.scoring import Weighed
from ragstone.settings.services import ENGINE_SECONDS, QdrantSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

WORDS = "words"
"""Name of the sparse vector of a point."""
LENGTH, COUNTS = "length", "counts"
"""In the payload of a point: its terms, and how often it has each, by the longer hash."""
SENT, SENT_TERMS = 512, 100_000
"""Points in a request, and different terms of all of them; a server takes 32 MB."""
TOLD = 50_000
"""The most rows to send to the server as a filter; with more, the server is asked for more and the rest dropped."""
ROOM = 10
"""So many more are fetched at first than half as many again as asked for; to read them takes the server longest."""
MOST = 4000
"""Chunks fetched at most to tell apart some that score nearly the same."""
DRIFTED = 1.1
"""The mean length may become so many times what it was; a collection further off is made anew, or too many are fetched
for each question.
"""
ROUNDED = 1e-5
"""The server's scores have single precision."""


@frozen
class _Known:
    """A collection: its name, the mean length it was begun with, and about how many chunks it holds."""

    name: str = ""
    mean: float = 1.0
    chunks: int = 0


class QdrantTerms:
    """Terms in Qdrant, as a `TermStore`."""

    def __init__(
        self,
        settings: QdrantSettings,
        names: CollectionNames,
        analyzer: str,
        mean: Callable[[], float],
        *,
        k1: float,
        b: float,
        connect: Connect = connect,
        seconds: float = ENGINE_SECONDS,
    ) -> None:
        """
        Args:
            settings: where they are.
            names: of the collections.
            analyzer: fingerprint of what makes the terms.
            mean: gives the mean length of a chunk in terms, as of today; 0 where that is not known.
            k1: BM25 term saturation.
            b: BM25 length normalisation.
            connect: gives the client.
            seconds: to wait for one reply.
        """
        self._collection = Collection(settings, names, f"{settings.collection}-keywords", connect, seconds)
        self._made_with = f"{analyzer}, k1={k1!r}, b={b!r}"
        self._mean, self._k1, self._b = mean, k1, b
        self._known, self._filling = _Known(), 1.0
        self.name = self._collection.name

    @property
    def worn(self) -> bool:
        """Whether the mean length has drifted far from what it was."""
        return not 1 / DRIFTED <= self._drift(self._today(self._known), self._known) <= DRIFTED

    def stamp(self) -> Stamp:
        name = self._collection.current
        about = self._collection.about(name)
        if about.get("made_with") != self._made_with:
            return Stamp()
        self._known = _Known(name=name, mean=about["mean"], chunks=self._collection.count(name))
        return Stamp(generation=about["generation"], mark=about["mark"])

    # ------------------------------------------------------------ changing

    def begin(self) -> None:
        self._filling = self._mean() or 1.0
        on_disk = models.SparseVectorParams(index=models.SparseIndexParams(on_disk=True))
        self._collection.begin(sparse={WORDS: on_disk})

    def drop(self, rows: Rows) -> None:
        self._filling = self._searched().mean
        self._collection.drop(rows)

    def put(self, chunks: Sequence[tuple[int, list[str]]]) -> None:
        for part in _parts(chunks):
            self._collection.put([self._point(row, len(terms), Counter(terms)) for row, terms in part])

    def seal(self, stamp: Stamp) -> None:
        self._collection.seal(stamp, {"made_with": self._made_with, "mean": self._filling})

    def publish(self) -> None:
        self._collection.publish()

    def _point(self, row: int, length: int, counts: Counter[str]) -> models.PointStruct:
        norm = float(self._norm(length, self._filling))
        values: defaultdict[int, float] = defaultdict(float)
        for term, count in counts.items():
            values[_place(term)] += count * (self._k1 + 1) / (count + norm)
        words = models.SparseVector(indices=list(values), values=list(values.values()))
        payload = {LENGTH: length, COUNTS: {_key(term): count for term, count in counts.items()}}
        return models.PointStruct(id=row, vector={WORDS: words}, payload=payload)

    # ------------------------------------------------------------ searching

    def best(self, terms: Iterable[Weighed], k: int, allowed: Rows | None) -> Matches:
        """Return the ``k`` best by BM25, best first; only of ``allowed``, if given."""
        asked = [one for one in terms if one.chunks]
        if not asked or k < 1 or (allowed is not None and not len(allowed)):
            return NO_MATCHES
        collection = self._searched()
        mean = self._today(collection)
        # No chunk scores more than this times what the server says.
        most = max(1.0, self._drift(mean, collection)) * (1 + ROUNDED)
        sent = allowed if allowed is not None and len(allowed) <= TOLD else None
        everything = 2 * collection.chunks + MOST
        depth = min(k + k // 2 + ROOM, everything)
        if allowed is not None and sent is None:
            depth = min(depth + depth * collection.chunks // len(allowed), everything)
        while True:
            points = self._fetched(collection.name, asked, depth, sent)
            matches = self._scored(points, asked, mean)
            if allowed is not None and sent is None:
                kept = np.isin(matches.rows, allowed)
                matches = Matches(rows=matches.rows[kept], scores=matches.scores[kept])
            full = len(matches) >= k
            sure = full and (depth >= MOST or float(matches.scores[k - 1]) > most * points[-1].score)
            if sure or len(points) < depth or depth == everything:
                return Matches(rows=matches.rows[:k], scores=matches.scores[:k])
            depth = min(depth * 4, everything)

    def _fetched(
        self, name: str, asked: Sequence[Weighed], depth: int, allowed: Rows | None
    ) -> Sequence[models.ScoredPoint]:
        """The best by what the server holds, best first, with what they are scored by again."""
        weights: defaultdict[int, float] = defaultdict(float)
        for one in asked:  # two that share a place: more than either counts, so that nothing is missed
            weights[_place(one.term)] += one.weight
        return self._collection.best(
            models.SparseVector(indices=list(weights), values=list(weights.values())),
            depth,
            using=WORDS,
            only=allowed,
            payload=[LENGTH, *(f"{COUNTS}.{_key(one.term)}" for one in asked)],
            name=name,
        )

    def _scored(self, points: Sequence[models.ScoredPoint], asked: Sequence[Weighed], mean: float) -> Matches:
        """Points by BM25 with this mean length, best first; one that has none of the terms is left out."""
        keys, held = [_key(one.term) for one in asked], [point.payload or {} for point in points]
        counts: list[dict[str, float]] = [one.get(COUNTS) or {} for one in held]
        times = np.array([[count.get(key, 0) for key in keys] for count in counts], dtype=np.float64)
        times = times.reshape(len(points), len(keys))
        lengths = np.array([one.get(LENGTH, 0) for one in held], dtype=np.float64)
        norms = self._norm(lengths, mean)[:, None]
        weights = np.array([one.weight for one in asked]) * (self._k1 + 1)
        parts = np.divide(weights * times, times + norms, out=np.zeros_like(times), where=times > 0)
        scores, rows = parts.sum(axis=1), np.array([point.id for point in points], dtype=np.int64)
        order = np.lexsort((rows, -scores))
        order = order[scores[order] > 0]
        return Matches(rows=rows[order], scores=scores[order].astype(np.float32))

    def rows(self) -> Rows:
        return self._collection.rows()

    def differing(self, chunks: Sequence[tuple[int, list[str]]]) -> Rows:
        self._filling = self._searched().mean
        wanted = {row: self._point(row, len(terms), Counter(terms)) for row, terms in chunks}
        rows = np.array(sorted(wanted), dtype=np.int64)
        same = {
            int(point.id)
            for point in self._collection.points(rows, with_payload=True)
            if _is_same(point, wanted[int(point.id)])
        }
        return np.array([row for row in rows.tolist() if row not in same], dtype=np.int64)

    def unlike(self) -> str:
        return self._collection.unlike(has_vectors=False)

    def recount(self) -> None:
        """Do nothing: the server counts, and the mean length is that of the embedded index."""

    def _searched(self) -> _Known:
        """The collection that is searched; another than before, where another process has made one since."""
        if self._collection.current != self._known.name:
            self.stamp()
        return self._known

    def _today(self, collection: _Known) -> float:
        """The mean length now; where that is not known, what it was."""
        return self._mean() or collection.mean

    def _drift(self, mean: float, collection: _Known) -> float:
        """How many times as long chunks are as when the collection was begun, where scores depend on that."""
        return mean / collection.mean if self._k1 and self._b else 1.0

    def _norm(self, length: NDArray[np.float64] | int, mean: float) -> NDArray[np.float64]:
        return self._k1 * (1 - self._b + self._b * np.asarray(length, dtype=np.float64) / mean)


def _parts(chunks: Sequence[tuple[int, list[str]]]) -> Iterator[list[tuple[int, list[str]]]]:
    """As many at a time as a request may hold; one at least."""
    part: list[tuple[int, list[str]]] = []
    room = SENT_TERMS
    for row, terms in chunks:
        room -= len(terms)
        if part and (room < 0 or len(part) == SENT):
            yield part
            part, room = [], SENT_TERMS - len(terms)
        part.append((row, terms))
    if part:
        yield part


def _is_same(stored: models.Record, wanted: models.PointStruct) -> bool:
    """Return whether a point has the payload and the sparse vector that it was stored with, rounding aside."""
    here, there = _weights(stored.vector), _weights(wanted.vector)
    return (
        stored.payload == wanted.payload
        and here.keys() == there.keys()
        and all(abs(here[place] - there[place]) <= ROUNDED * there[place] for place in there)
    )


def _weights(vector: models.VectorStruct | models.VectorStructOutput | None) -> dict[int, float]:
    """Return the sparse vector of a point as its values by place."""
    words = cast("dict[str, object]", vector).get(WORDS) if isinstance(vector, dict) else None
    return dict(zip(words.indices, words.values, strict=True)) if isinstance(words, models.SparseVector) else {}


@lru_cache(maxsize=100_000)
def _key(term: str) -> str:
    """A term by 64 bits; that two of a million terms have the same has a chance of one in forty million."""
    return blake2b(term.encode(errors="surrogatepass"), digest_size=8).hexdigest()


def _place(term: str) -> int:
    """A term by 32 bits, so many places a sparse vector has; of a million terms one in 4,000 shares its place."""
    return int(_key(term)[:8], 16)
