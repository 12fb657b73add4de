"""A vector store that keeps everything in memory, as somebody outside Ragstone could write one."""

from __future__ import annotations

import numpy as np

from ragstone.core.catalog import Stamp
from ragstone.core.errors import EngineError
from ragstone.index.follow.protocol import StoreContext, unlike


class Memory:
    """A store that holds everything in memory, may be away, and counts how often it was asked."""

    name, least, refine, worn = "memory", 0, 1, False

    def __init__(self) -> None:
        self.held: dict[int, np.ndarray] = {}
        self.sealed, self.away, self.asked = Stamp(), False, 0

    def _reached(self) -> None:
        self.asked += 1
        if self.away:
            raise EngineError("memory cannot be reached")

    def stamp(self) -> Stamp:
        self._reached()
        return self.sealed

    def begin(self, sample: np.ndarray) -> None:
        del sample
        self.held, self.sealed = {}, Stamp()

    def drop(self, rows: np.ndarray) -> None:
        self._reached()
        for row in rows.tolist():
            self.held.pop(row, None)

    def put(self, rows: np.ndarray, vectors: np.ndarray) -> None:
        self._reached()
        self.held |= dict(zip(rows.tolist(), vectors, strict=True))

    def seal(self, stamp: Stamp) -> None:
        self.sealed = stamp

    def publish(self) -> None:
        pass

    def nearest(self, vector: np.ndarray, k: int, allowed: np.ndarray | None) -> np.ndarray:
        self._reached()
        found = [row for row in self.held if allowed is None or row in allowed]
        return np.array(sorted(found, key=lambda row: -float(self.held[row] @ vector))[:k], dtype=np.int64)

    def rows(self) -> np.ndarray:
        self._reached()
        return np.array(sorted(self.held), dtype=np.int64)

    def differing(self, rows: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        held = np.stack([self.held[row] for row in rows.tolist()])
        return rows[unlike(held, vectors)]


def build(context: StoreContext) -> Memory:
    """Return an empty store, whatever the context."""
    del context
    return Memory()
