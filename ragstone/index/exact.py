"""Exact nearest-neighbour search over vectors of the catalog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.catalog import NO_MATCHES, IndexedCatalog
from ragstone.core.filters import Filter
from ragstone.core.records import Matches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.records import Vector

    Part = tuple[NDArray[np.int64], Vector]

AT_ONCE = 10_000
"""Vectors in memory at once."""


def nearest_rows(catalog: IndexedCatalog, rows: Sequence[int], vector: Vector, k: int) -> Matches:
    """Return the ``k`` of these rows with the greatest cosine similarity, best first, without rows that are gone."""
    return nearest_of(_read(catalog, rows), vector, k)


def nearest_matching(catalog: IndexedCatalog, vector: Vector, k: int, where: Filter | None) -> Matches:
    """Return the ``k`` nearest stored chunks that match ``where``, compared one by one."""
    if where is not None:
        return nearest_rows(catalog, catalog.select(where).tolist(), vector, k)
    with catalog.snapshot():
        return nearest_of(catalog.vectors_since(0, len(vector)), vector, k)


def nearest_of(parts: Iterator[Part], vector: Vector, k: int) -> Matches:
    """Return the ``k`` nearest of vectors that come in parts, with their rows; holds one part at a time."""
    best = NO_MATCHES
    for rows, vectors in parts:
        candidates = np.concatenate([best.rows, rows])
        scores = np.concatenate([best.scores, vectors @ vector])
        order = np.lexsort((candidates, -scores))[:k]
        best = Matches(rows=candidates[order], scores=scores[order])
    return best


def _read(catalog: IndexedCatalog, rows: Sequence[int]) -> Iterator[Part]:
    for start in range(0, len(rows), AT_ONCE):
        vectors = catalog.vectors(rows[start : start + AT_ONCE])
        if vectors:
            yield np.fromiter(vectors, dtype=np.int64, count=len(vectors)), np.stack(list(vectors.values()))
