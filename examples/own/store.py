"""A vector store of your own: index.vectors=own.store:build. It keeps everything in memory."""

import numpy as np
from numpy.typing import NDArray

from ragstone.core.catalog import Stamp
from ragstone.index.follow.protocol import StoreContext, unlike

Rows = NDArray[np.int64]
Vectors = NDArray[np.float32]


class Memory:
    """Holds vectors by their rows. A process that starts again is filled from the catalog."""

    name, least, refine, worn = "memory", 0, 1, False

    def __init__(self) -> None:
        self._held: dict[int, Vectors] = {}
        self._stamp = Stamp()

    def stamp(self) -> Stamp:
        return self._stamp

    def begin(self, sample: Vectors) -> None:
        self._held, self._stamp = {}, Stamp()

    def put(self, rows: Rows, vectors: Vectors) -> None:
        self._held |= dict(zip(rows.tolist(), vectors, strict=True))

    def drop(self, rows: Rows) -> None:
        for row in rows.tolist():
            self._held.pop(row, None)

    def seal(self, stamp: Stamp) -> None:
        self._stamp = stamp

    def publish(self) -> None:
        """Nothing to show: no other program looks into this memory."""

    def nearest(self, vector: Vectors, k: int, allowed: Rows | None) -> Rows:
        rows = self.rows() if allowed is None else np.intersect1d(self.rows(), allowed)
        if not len(rows):
            return rows
        scores = np.stack([self._held[row] for row in rows.tolist()]) @ vector
        return rows[np.argsort(-scores, kind="stable")[:k]]

    def rows(self) -> Rows:
        return np.array(sorted(self._held), dtype=np.int64)

    def differing(self, rows: Rows, vectors: Vectors) -> Rows:
        return rows[unlike(np.stack([self._held[row] for row in rows.tolist()]), vectors)]


def build(context: StoreContext) -> Memory:
    """Return an empty store."""
    return Memory()
