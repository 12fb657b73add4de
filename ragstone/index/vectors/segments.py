"""A part of the vector index: many chunks in the order of their rows, as vectors or as codes; never changed.

What is added goes into a new segment, and small ones are put together to larger ones as they come, each about twice
the next: so a change costs as much as it is large, and few segments are searched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.core.frozen import frozen
from ragstone.index.vectors.sketch import Codes, Query, Sketcher, nearest
from ragstone.storage.columns import Column, Described

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.records import Vector
    from ragstone.storage.columns import Arrays

    Rows = NDArray[np.int64]

_BLOCK = 65_536


@frozen(eq=False)
class Segment:
    """``rows`` (n,) ascend. There are either ``vectors`` (n, dimensions) or ``codes`` of them.

    ``alive`` (n,) tells which are still in the catalog; all where None. ``file`` is where it lies, if it does.
    """

    rows: Rows
    vectors: Vector | None = None
    codes: Codes | None = None
    alive: NDArray[np.bool_] | None = None
    file: Described | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def removed(self) -> Rows:
        """Rows in this segment that the catalog no longer has."""
        return self.rows[:0] if self.alive is None else self.rows[~self.alive]

    @property
    def living(self) -> int:
        return len(self) if self.alive is None else int(np.count_nonzero(self.alive))

    def without(self, removed: Rows) -> Segment:
        """Return the segment without these rows (ascending)."""
        gone = _positions(self.rows, removed)
        if not len(gone):
            return self
        alive = np.ones(len(self), dtype=np.bool_) if self.alive is None else self.alive.copy()
        alive[gone] = False
        return replace(self, alive=alive)

    def compact(self) -> Segment:
        """Return the vectors, in memory, without removed ones."""
        if self.alive is None or self.vectors is None:
            return self
        return Segment(rows=self.rows[self.alive], vectors=self.vectors[self.alive])

    def coded(self, sketcher: Sketcher) -> Segment:
        """Return the chunks as codes."""
        if self.vectors is None:
            return self
        parts = [sketcher.codes(self.vectors[i : i + _BLOCK]) for i in range(0, len(self), _BLOCK)]
        codes = Codes(
            bits=np.concatenate([part.bits for part in parts], axis=1),
            norms=np.concatenate([part.norms for part in parts]),
            cells=np.concatenate([part.cells for part in parts]),
            scales=np.concatenate([part.scales for part in parts]),
        )
        return Segment(rows=self.rows, codes=codes, alive=self.alive)

    def nearest(self, vector: Vector, query: Query | None, k: int, selected: Rows | None) -> tuple[Rows, Vector]:
        """Return rows and similarities of at least the ``k`` nearest, in no order.

        Args:
            vector: what they are compared with.
            query: the same, for codes.
            k: how many are wanted; fewer come back only where fewer are there.
            selected: rows (ascending) that may come back; all where None.
        """
        part, passes = None, self.alive
        if selected is not None:
            part = _positions(self.rows, selected)
            if self.alive is not None:
                part = part[self.alive[part]]
            passes = None
            if len(part) * 4 > len(self):  # picking many takes longer than skipping the rest
                passes = np.zeros(len(self), dtype=np.bool_)
                passes[part] = True
                part = None
        if self.codes is not None and query is not None:
            positions, similarity = nearest(self.codes, query, k, part=part, passes=passes)
            return self.rows[positions], similarity
        vectors = _vectors(self)
        if part is not None:
            return self.rows[part], vectors[part] @ vector
        similarity = vectors @ vector
        return (self.rows, similarity) if passes is None else (self.rows[passes], similarity[passes])


def nothing(dimensions: int) -> Segment:
    return Segment(rows=np.empty(0, dtype=np.int64), vectors=np.empty((0, dimensions), dtype=np.float32))


def mergeable(segments: Sequence[Segment], size: int) -> int:
    """Return how many of the last segments to merge with a new one of a size."""
    count = 0
    while count < len(segments) and len(segments[-1 - count]) < 2 * size:
        count += 1
        size += len(segments[-count])
    return count


def columns_of(parts: Sequence[Segment]) -> dict[str, Column]:
    """Return the content of segments of one kind without removed rows, read on demand."""
    count = sum(part.living for part in parts)

    def column(array_of: Callable[[Segment], NDArray[Any]], *more: int) -> Column:
        return Column(dtype=array_of(parts[0]).dtype.str, shape=(count, *more), pieces=_pieces(parts, array_of))

    columns = {"rows": column(lambda part: part.rows)}
    first = parts[0]
    if first.vectors is not None:
        return columns | {"vectors": column(_vectors, first.vectors.shape[1])}
    words, dimensions = len(_codes(first).bits), _codes(first).cells.shape[1]

    def bits() -> Iterator[NDArray[Any]]:
        for word in range(words):
            yield from _pieces(parts, lambda part, word=word: _codes(part).bits[word])

    return columns | {
        "bits": Column(dtype="<u8", shape=(words, count), pieces=bits()),
        "norms": column(lambda part: _codes(part).norms),
        "cells": column(lambda part: _codes(part).cells, dimensions),
        "scales": column(lambda part: _codes(part).scales),
    }


def merged(parts: Sequence[Segment], dimensions: int) -> Segment:
    """Return segments of one kind as one, in memory, without removed rows."""
    columns = columns_of(parts)
    arrays = {name: np.concatenate(list(column.pieces)).reshape(column.shape) for name, column in columns.items()}
    return segment_of(arrays, dimensions)


def segment_of(arrays: Arrays, dimensions: int, file: Described | None = None) -> Segment:
    """The segment that arrays are.

    Raises:
        KeyError: one is missing.
        ValueError: they do not fit together.
    """
    rows = arrays["rows"]
    count = len(rows)
    if "vectors" in arrays:
        expected = {"rows": ("<i8", (count,)), "vectors": ("<f4", (count, dimensions))}
    else:
        expected = {
            "rows": ("<i8", (count,)),
            "bits": ("<u8", (-(-dimensions // 64), count)),
            "norms": ("<f4", (count,)),
            "cells": ("|i1", (count, dimensions)),
            "scales": ("<f4", (count,)),
        }
    for name, (dtype, shape) in expected.items():
        if arrays[name].dtype.str != dtype or arrays[name].shape != shape:
            raise ValueError(f"'{name}' has another type or shape")
    if not count:
        raise ValueError("there is nothing in it")
    if "vectors" in arrays:
        return Segment(rows=rows, vectors=arrays["vectors"], file=file)
    codes = Codes(bits=arrays["bits"], norms=arrays["norms"], cells=arrays["cells"], scales=arrays["scales"])
    return Segment(rows=rows, codes=codes, file=file)


def _pieces(parts: Sequence[Segment], array_of: Callable[[Segment], NDArray[Any]]) -> Iterator[NDArray[Any]]:
    for part in parts:
        array = array_of(part)
        for start in range(0, len(part), _BLOCK):
            piece = array[start : start + _BLOCK]
            yield piece if part.alive is None else piece[part.alive[start : start + _BLOCK]]


def _positions(rows: Rows, wanted: Rows) -> NDArray[np.intp]:
    """Return the positions of the wanted rows that exist; both ascend."""
    if not len(rows):
        return np.empty(0, dtype=np.intp)
    first, end = np.searchsorted(wanted, [rows[0], rows[-1] + 1])
    wanted = wanted[first:end]
    if rows[-1] - rows[0] + 1 == len(rows):  # nothing was removed before it was written
        return wanted - rows[0]
    at = np.searchsorted(rows, wanted)
    return at[rows[at] == wanted]


def _vectors(part: Segment) -> Vector:
    assert part.vectors is not None
    return part.vectors


def _codes(part: Segment) -> Codes:
    assert part.codes is not None
    return part.codes
