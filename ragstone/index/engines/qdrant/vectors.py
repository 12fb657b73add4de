"""Vectors in Qdrant: a server or a cluster, by its address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.catalog import Stamp
from ragstone.index.engines.qdrant.collection import ABOUT, SENT, Collection
from ragstone.index.engines.qdrant.connection import Connect, connect, models, oversampled
from ragstone.index.follow.collection_names import CollectionNames
from ragstone.index.follow.protocol import StoreContext, unlike
from ragstone.settings.services import ENGINE_SECONDS, QdrantSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.records import Vector

    Rows = NDArray[np.int64]

EFFORT = 400
"""Candidates of a search in the graph."""
TEXT = "text"
"""Name of the vector of a point."""


class QdrantVectors:
    """Vectors in Qdrant, as a `VectorStore`."""

    def __init__(
        self,
        settings: QdrantSettings,
        names: CollectionNames,
        dimensions: int,
        *,
        exact_limit: int,
        connect: Connect = connect,
        seconds: float = ENGINE_SECONDS,
    ) -> None:
        """
        Args:
            settings: where it is.
            names: of the collections.
            dimensions: of the vectors.
            exact_limit: with at most this many points every vector is compared, without the graph.
            connect: gives the client.
            seconds: to wait for one reply.
        """
        self._collection = Collection(settings, names, settings.collection, connect, seconds)
        self._settings = settings
        self._dimensions, self._exact_limit = dimensions, exact_limit
        self._is_exact = False
        self.name = self._collection.name
        self.least, self.refine, self.worn = 0, 1, False

    def stamp(self) -> Stamp:
        name = self._collection.current
        if not (about := self._collection.about(name)):
            return Stamp()
        self._is_exact = 0 < self._collection.count(name) <= self._exact_limit
        return Stamp(generation=about["generation"], mark=about["mark"])

    def begin(self, sample: Vector) -> None:
        del sample  # Qdrant does not train
        # With codes in memory the vectors are read for the best few only, so they may be on disk.
        on_disk = None if self._settings.quantization == "none" else True
        vector = models.VectorParams(size=self._dimensions, distance=models.Distance.COSINE, on_disk=on_disk)
        self._collection.begin(vectors={TEXT: vector})

    def drop(self, rows: Rows) -> None:
        self._collection.drop(rows)

    def put(self, rows: Rows, vectors: Vector) -> None:
        for start in range(0, len(rows), SENT):
            part = slice(start, start + SENT)
            self._collection.put(models.Batch(ids=rows[part].tolist(), vectors={TEXT: vectors[part].tolist()}))

    def seal(self, stamp: Stamp) -> None:
        self._collection.seal(stamp)

    def publish(self) -> None:
        self._collection.publish()

    def nearest(self, vector: Vector, k: int, allowed: Rows | None) -> Rows:
        # A graph search fails if few points are allowed; comparing those few is fast.
        exact = self._is_exact or allowed is not None
        effort = (
            models.SearchParams(exact=True)
            if exact
            else models.SearchParams(hnsw_ef=EFFORT, quantization=oversampled(self._settings, k))
        )
        rows = self._collection.best(vector.tolist(), k, using=TEXT, only=allowed, params=effort)
        return np.array([point.id for point in rows if point.id != ABOUT], dtype=np.int64)

    def unlike(self) -> str:
        return self._collection.unlike(has_vectors=True)

    def rows(self) -> Rows:
        return self._collection.rows()

    def differing(self, rows: Rows, vectors: Vector) -> Rows:
        stored = np.full(vectors.shape, np.nan, dtype=np.float32)
        for point in self._collection.points(rows):
            vector = point.vector.get(TEXT) if isinstance(point.vector, dict) else None
            if isinstance(vector, list):
                stored[np.searchsorted(rows, int(point.id))] = vector
        return rows[unlike(stored, vectors)]


def build(context: StoreContext) -> QdrantVectors:
    """Return the store of a version."""
    settings = context.services.qdrant
    names = CollectionNames(context.version, "qdrant", settings.collection, context.shelf)
    seconds = context.services.engine_seconds
    return QdrantVectors(settings, names, context.dimensions, exact_limit=context.exact_limit, seconds=seconds)
