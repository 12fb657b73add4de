"""One bit per dimension: a sketch of a vector, small enough to compare with all others.

Vectors are centred, turned by a random rotation, and only the signs are kept; the number of differing bits
estimates the angle (Charikar 2002, "Similarity estimation techniques from rounding algorithms"; the rotation
as in Gao and Long 2024, "RaBitQ"). The nearest by sketch are then compared exactly. Nothing is trained and
nothing is a graph, so adding a vector is adding a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.contracts import Vector

    Codes = NDArray[np.uint64]

_BLOCK = 65_536


class Sketcher:
    """Turns vectors of one knowledge base into sketches, around their mean.

    The rotation is kept with the sketches: another machine's linear algebra may draw another one.
    """

    def __init__(self, mean: Vector, rotation: Vector) -> None:
        self.mean, self.rotation = mean, rotation

    @classmethod
    def of(cls, vectors: Vector) -> Sketcher:
        """For vectors like these (n, dimensions)."""
        dimensions = vectors.shape[1]
        noise = np.random.default_rng(dimensions).normal(size=(dimensions, dimensions))
        return cls(vectors.mean(axis=0), np.linalg.qr(noise)[0].astype(np.float32))

    def codes(self, vectors: Vector) -> Codes:
        """Sketches of vectors (n, dimensions), word by word: shape (words, n), 64 bits a word."""
        words = -(-len(self.mean) // 64)
        out = np.zeros((words, len(vectors)), dtype=np.uint64)
        for start in range(0, len(vectors), _BLOCK):
            block = np.asarray(vectors[start : start + _BLOCK])
            bits = np.packbits((block - self.mean) @ self.rotation > 0, axis=1)
            padded = np.zeros((len(block), words * 8), dtype=np.uint8)
            padded[:, : bits.shape[1]] = bits
            out[:, start : start + len(block)] = padded.view(np.uint64).T
        return out


def nearest(codes: Codes, query: Codes, count: int) -> NDArray[np.intp]:
    """Positions of the ``count`` sketches that differ least from the query's (words, 1), in no order."""
    distance = np.zeros(codes.shape[1], dtype=np.uint16)
    for word, ours in zip(codes, query[:, 0], strict=True):
        distance += np.bitwise_count(word ^ ours)
    if count >= len(distance):
        return np.arange(len(distance))
    return np.argpartition(distance, count)[:count]
