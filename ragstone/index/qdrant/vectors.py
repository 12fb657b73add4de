"""Vectors in Qdrant: a server or a cluster, by its address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragstone.index.following.collection_names import CollectionNames
from ragstone.index.qdrant.holding import ABOUT, Connect, Holding, among, connect, models
from ragstone.index.records import Stamp
from ragstone.services import QdrantSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.contracts import Vector

    Rows = NDArray[np.int64]

SENT = 512
"""Points in a request."""
EFFORT = 400
"""Candidates of the graph that are looked at."""
TEXT = "text"
"""Name of the vector of a point."""


class QdrantVectors:
    """Holds vectors, as a `VectorStore`."""

    def __init__(
        self,
        settings: QdrantSettings,
        names: CollectionNames,
        dimensions: int,
        *,
        exact_limit: int,
        connect: Connect = connect,
    ) -> None:
        """
        Args:
            settings: where it is.
            names: of the collections.
            dimensions: of the vectors.
            exact_limit: up to so many points every vector is compared, and no graph asked.
            connect: gives the client.
        """
        self._held = Holding(settings, names, settings.collection, connect)
        self._dimensions, self._exact_limit = dimensions, exact_limit
        self._is_exact = False
        self.name = self._held.name
        self.least, self.refine, self.worn = 0, 1, False

    def stamp(self) -> Stamp:
        name = self._held.current
        if not (about := self._held.about(name)):
            return Stamp()
        self._is_exact = 0 < self._held.count(name) <= self._exact_limit
        return Stamp(generation=about["generation"], mark=about["mark"])

    def begin(self, sample: Vector) -> None:
        del sample  # it learns nothing
        self._held.begin(
            vectors={TEXT: models.VectorParams(size=self._dimensions, distance=models.Distance.COSINE)},
        )

    def drop(self, rows: Rows) -> None:
        self._held.drop(rows)

    def put(self, rows: Rows, vectors: Vector) -> None:
        for start in range(0, len(rows), SENT):
            part = slice(start, start + SENT)
            self._held.put(models.Batch(ids=rows[part].tolist(), vectors={TEXT: vectors[part].tolist()}))

    def seal(self, stamp: Stamp) -> None:
        self._held.seal(stamp)

    def publish(self) -> None:
        self._held.publish()

    def nearest(self, vector: Vector, k: int, allowed: Rows | None) -> Rows:
        # A graph loses its way where few of its points are allowed; to compare those few is quick.
        exact = self._is_exact or allowed is not None
        effort = models.SearchParams(exact=True) if exact else models.SearchParams(hnsw_ef=EFFORT)
        with self._held.told():
            found = self._held.client.query_points(
                self._held.current,
                query=vector.tolist(),
                using=TEXT,
                limit=k,
                query_filter=among(allowed),
                search_params=effort,
                with_payload=False,
            )
        return np.array([point.id for point in found.points if point.id != ABOUT], dtype=np.int64)

    def rows(self) -> Rows:
        return self._held.rows()
