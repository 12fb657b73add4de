"""Sets of row numbers as arrays in ascending order, each number once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def contained(rows: NDArray[np.int64], among: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each of some rows, in any order, whether it is among others, which are in ascending order.

    NumPy's own functions for sets sort all of the others each time.
    """
    if not len(among):
        return np.zeros(len(rows), dtype=np.bool_)
    return among[np.minimum(np.searchsorted(among, rows), len(among) - 1)] == rows


def intersection(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows that both have."""
    fewer, more = sorted((first, second), key=len)
    return fewer[contained(fewer, more)]


def difference(rows: NDArray[np.int64], gone: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows that are not among those that are gone."""
    kept = np.ones(len(rows), dtype=np.bool_)
    kept[np.searchsorted(rows, gone[contained(gone, rows)])] = False
    return rows[kept]


def ascending(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return rows, in any order and some of them several times, as a set; unlike `np.unique` without masked arrays."""
    rows = np.sort(rows)
    return rows[np.append(True, rows[1:] != rows[:-1])] if len(rows) else rows
