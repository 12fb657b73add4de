"""The nearest of chunks that are known by their rows: exact, whatever index there is over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragstone.conditions import Filter
from ragstone.contracts import Matches
from ragstone.index.catalog.any_catalog import AnyCatalog
from ragstone.index.records import NO_MATCHES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.contracts import Vector

    Part = tuple[NDArray[np.int64], Vector]

AT_ONCE = 10_000
"""Vectors in memory at a time."""


def nearest_among(catalog: AnyCatalog, rows: Sequence[int], vector: Vector, k: int) -> Matches:
    """The ``k`` of these rows with the greatest cosine similarity, best first; rows that are gone are left out."""
    return nearest_of(_read(catalog, rows), vector, k)


def nearest_stored(catalog: AnyCatalog, vector: Vector, k: int, where: Filter | None) -> Matches:
    """The ``k`` nearest of all that is stored and that ``where`` lets through, compared one by one."""
    if where is not None:
        return nearest_among(catalog, catalog.select(where).tolist(), vector, k)
    with catalog.snapshot():
        return nearest_of(catalog.vectors_since(0, len(vector)), vector, k)


def nearest_of(parts: Iterator[Part], vector: Vector, k: int) -> Matches:
    """The ``k`` nearest of vectors that come part by part, with their rows; no more than a part is held at once."""
    best = NO_MATCHES
    for rows, vectors in parts:
        known = np.concatenate([best.rows, rows])
        scores = np.concatenate([best.scores, vectors @ vector])
        order = np.lexsort((known, -scores))[:k]
        best = Matches(rows=known[order], scores=scores[order])
    return best


def _read(catalog: AnyCatalog, rows: Sequence[int]) -> Iterator[Part]:
    for start in range(0, len(rows), AT_ONCE):
        found = catalog.vectors(rows[start : start + AT_ONCE])
        if found:
            yield np.fromiter(found, dtype=np.int64, count=len(found)), np.stack(list(found.values()))
