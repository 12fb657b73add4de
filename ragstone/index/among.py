"""The nearest of a few chunks that are known by their rows: exact, whatever index there is over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragstone.contracts import Matches
from ragstone.index.catalog import Catalog
from ragstone.index.records import NO_MATCHES

if TYPE_CHECKING:
    from ragstone.contracts import Vector


def nearest_among(catalog: Catalog, rows: Sequence[int], vector: Vector, k: int) -> Matches:
    """The ``k`` of these rows with the greatest cosine similarity, best first; rows that are gone are left out."""
    found = catalog.vectors(rows)
    if not found:
        return NO_MATCHES
    known = np.fromiter(found, dtype=np.int64, count=len(found))
    scores = np.stack(list(found.values())) @ vector
    best = np.lexsort((known, -scores))[:k]
    return Matches(rows=known[best], scores=scores[best])
