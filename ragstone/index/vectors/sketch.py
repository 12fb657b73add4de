"""Vectors made small: one bit a dimension to find the near ones, one byte a dimension to put them in order.

Vectors are centred and turned by a random rotation, which spreads what they tell evenly over the dimensions.

1. The signs alone, compared with the signs of the query: the number of equal bits estimates the angle (Charikar
   2002, "Similarity estimation techniques from rounding algorithms"). Half of them are compared for all, the others
   for a tenth or so; of a million, for one in thirty.
2. The same signs, weighted by the query's values in sixteen steps, and each vector by one number that makes the
   estimate unbiased (Gao and Long 2024, "RaBitQ"). Done for one in a hundred or so.
3. The values in 255 steps: within a thousandth of the similarity. Done for what is wanted and some more.

Nothing is trained and nothing is a graph: adding a vector is adding a row. Codes are kept word by word, not vector
by vector, so that each step is a few operations on long arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.frozen import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.records import Vector

    Positions = NDArray[np.intp]

STEPS = 4
"""Bits of the query's values in the second comparison."""
HALF_MORE = 5
"""After half of the signs were compared, so many times what stays after all of them."""
NEAR, NEAR_SHARE = 2500, 250
"""After all signs were compared so many stay, and one in so many of all; measured with 200 wanted: .997 of the true ten
are among those found on 29,000 vectors of real passages, .993 on a million."""
CLOSE = 300
"""After the second comparison as many stay as are wanted, and so many more."""
MEASURED_ON = 384
"""Dimensions for which these numbers were chosen. With fewer, signs tell less, and more stay: the work is the same."""
FEW = 1500
"""With at most this many vectors, only the last comparison is made."""
_BLOCK, _SAMPLE = 16_384, 4096
_WORD = 64
_PLACES = (1 << np.arange(STEPS, dtype=np.uint8))[:, None]


@frozen
class Codes:
    """What is kept of n vectors. The n-th number of each is that of the n-th vector.

    ``bits`` (words, n) are the signs, 64 a word; ``norms`` (n,) scale the estimate from them; ``cells``
    (n, dimensions) are the values from -127 to 127 and ``scales`` (n,) the width of a step.
    """

    bits: NDArray[np.uint64]
    norms: Vector
    cells: NDArray[np.int8]
    scales: Vector

    def __len__(self) -> int:
        return len(self.norms)


@frozen
class Query:
    """A query as the comparisons need it."""

    signs: NDArray[np.uint64]
    steps: NDArray[np.uint64]
    low: float
    width: float
    total: float
    turned: Vector
    offset: float


@dataclass(frozen=True, kw_only=True)
class Sketcher:
    """Makes codes of the vectors of one knowledge base, around their mean (dimensions,).

    The rotation (dimensions, dimensions) is kept with the codes: another machine's linear algebra may draw another.
    """

    mean: Vector
    rotation: Vector

    @classmethod
    def of(cls, vectors: Vector) -> Sketcher:
        """For vectors like these (n, dimensions)."""
        dimensions = vectors.shape[1]
        noise = np.random.default_rng(dimensions).normal(size=(dimensions, dimensions))
        return cls(mean=vectors.mean(axis=0), rotation=np.linalg.qr(noise)[0].astype(np.float32))

    def codes(self, vectors: Vector) -> Codes:
        """Codes of vectors (n, dimensions)."""
        turned = (vectors - self.mean) @ self.rotation
        sizes = np.abs(turned)
        scales = np.maximum(sizes.max(axis=1, initial=0), 1e-30) / 127
        return Codes(
            bits=_packed(turned > 0),
            norms=(turned * turned).sum(axis=1) / np.maximum(sizes.sum(axis=1), 1e-30),
            cells=np.rint(turned / scales[:, None]).astype(np.int8),
            scales=scales,
        )

    def query(self, vector: Vector) -> Query:
        """A query vector (dimensions,), ready to be compared."""
        turned = vector @ self.rotation
        low, high = float(turned.min()), float(turned.max())
        width = max(high - low, 1e-30) / (2**STEPS - 1)
        steps = np.rint((turned - low) / width).astype(np.uint8)
        bits = np.empty((1 + STEPS, len(turned)), dtype=np.bool_)
        # The signs are those of the centred query, for they estimate an angle; the values are the query's own.
        np.greater(turned, self._turned_mean, out=bits[0])
        np.not_equal(steps & _PLACES, 0, out=bits[1:])
        words = _packed(bits).T
        return Query(
            signs=words[0],
            steps=words[1:],
            low=low,
            width=width,
            total=float(turned.sum()),
            turned=turned,
            offset=float(self.mean @ vector),
        )

    @cached_property
    def _turned_mean(self) -> Vector:
        return self.mean @ self.rotation


def nearest(
    codes: Codes,
    query: Query,
    k: int,
    *,
    part: Positions | None = None,
    passes: NDArray[np.bool_] | None = None,
) -> tuple[Positions, Vector]:
    """The ``k`` nearest, in no order, and more: positions, and similarities within a thousandth or so.

    Args:
        codes: of all vectors.
        query: what they are compared with.
        k: how many are wanted; fewer come back only where fewer may.
        part: positions of those that may come back; all where None.
        passes: the same, as a truth value for each vector; only one of the two is given.
    """
    count = len(codes) if part is None else len(part)
    more = max(1, MEASURED_ON // len(query.turned))
    close = (k + CLOSE) * more
    if count > max(FEW, close):
        positions = _near(codes.bits, query.signs, part, passes, (max(NEAR, 5 * k) + count // NEAR_SHARE) * more)
        if len(positions) > close:
            estimate = _estimated(codes, query, positions)
            positions = positions[np.argpartition(-estimate, close - 1)[:close]]
            positions.sort()  # in the order of the file, or of memory, they are read faster
    elif part is not None:
        positions = part
    else:
        positions = np.arange(count) if passes is None else np.flatnonzero(passes)
    similarity = (codes.cells[positions].astype(np.float32) @ query.turned) * codes.scales[positions] + query.offset
    # What a damaged file makes of one number must not spoil the others.
    return positions, np.nan_to_num(similarity, nan=-1).clip(-1, 1)


def _near(
    bits: NDArray[np.uint64],
    signs: NDArray[np.uint64],
    part: Positions | None,
    passes: NDArray[np.bool_] | None,
    count: int,
) -> Positions:
    """Return about this many positions whose signs differ least from the query's; all if no more are allowed.

    Half of the signs tell which the others need to be compared for.
    """
    if part is not None:
        bits = np.take(bits, part, axis=1)
    half = -(-len(bits) // 2)
    distance = _differing(bits[:half], signs[:half])
    positions = _least(distance, passes, HALF_MORE * count)
    if len(bits) > half:
        rest = np.take(bits[half:], positions, axis=1)
        total = distance[positions] + _differing(rest, signs[half:])
        positions = positions[_least(total, None, count)]
    return positions if part is None else part[positions]


def _least(distance: NDArray[np.uint16], passes: NDArray[np.bool_] | None, count: int) -> Positions:
    """Return the positions of about this many of the least distances, ascending; all that pass if no more do.

    A sample tells how great they may be. Finding them so takes a tenth of sorting.
    """
    step = max(1, len(distance) // _SAMPLE)
    sample = distance[::step] if passes is None else distance[::step][passes[::step]]
    most = limit = distance.max(initial=0)
    share = count / max(1, len(distance) if passes is None else np.count_nonzero(passes))
    if share < 1 and len(sample):
        limit = np.partition(sample, int(share * len(sample)))[int(share * len(sample))]
    while True:
        positions = np.flatnonzero(distance <= limit)
        if passes is not None:
            positions = positions[passes[positions]]
        if limit >= most or len(positions) * 2 >= count:
            return positions
        limit = min(most, limit + distance.dtype.type(4))


def _differing(bits: NDArray[np.uint64], signs: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """In how many signs each vector differs from the query. In blocks that stay in the processor's cache."""
    count = bits.shape[1]
    out = np.empty(count, dtype=np.uint16)
    words = np.empty(min(_BLOCK, count), dtype=np.uint64)
    ones, more = np.empty((2, len(words)), dtype=np.uint8)
    for start in range(0, count, _BLOCK):
        block = bits[:, start : start + _BLOCK]
        size = block.shape[1]
        total, word, three, partial = out[start : start + size], words[:size], ones[:size], more[:size]
        for first in range(0, len(bits), 3):  # three words differ in at most 192 signs, which a byte holds
            np.bitwise_count(np.bitwise_xor(block[first], signs[first], out=word), out=three)
            for i in range(first + 1, min(first + 3, len(bits))):
                np.add(three, np.bitwise_count(np.bitwise_xor(block[i], signs[i], out=word), out=partial), out=three)
            if first:
                np.add(total, three, out=total)
            else:
                total[:] = three
    return out


def _estimated(codes: Codes, query: Query, positions: Positions) -> Vector:
    """The similarity of some vectors with the query, without its constant part, estimated from signs."""
    bits = np.take(codes.bits, positions, axis=1)
    set_bits = np.bitwise_count(bits).sum(axis=0, dtype=np.uint16)
    # Sixteen bits hold the sum of up to 4,000 dimensions.
    weighted = np.zeros(len(positions), dtype=np.uint16 if len(query.turned) <= 4000 else np.uint32)
    for step, ours in enumerate(query.steps):
        weighted += np.bitwise_count(bits & ours[:, None]).sum(axis=0, dtype=weighted.dtype) << step
    # The query's values are about low + width * step, and a sign counts them once or takes them off once.
    product = 2 * (query.low * set_bits.astype(np.float32) + query.width * weighted.astype(np.float32)) - query.total
    return (product * codes.norms[positions]).astype(np.float32, copy=False)


def _packed(signs: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Truth values (n, dimensions) as words (words, n); what is left of the last word is zero."""
    words = -(-signs.shape[1] // _WORD)
    padded = np.zeros((len(signs), words * _WORD // 8), dtype=np.uint8)
    bits = np.packbits(signs, axis=1)
    padded[:, : bits.shape[1]] = bits
    return np.ascontiguousarray(padded.view(np.uint64).T)
