"""How far a mean can be trusted: bootstrap intervals and paired comparisons.

Values are resampled with replacement (Efron and Tibshirani, An Introduction to the Bootstrap, 1993).
No distribution is assumed, which suits measures that are mostly 0 or 1. Equal seeds give equal results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
_BLOCK = 500
"""Resamples drawn at once: bounds the memory to this times the number of values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean, and the interval that holds the true one with the confidence asked for."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Mean of ``a - b`` with its interval, and ``p``: how often chance alone would give one as large."""

    mean: float
    low: float
    high: float
    p: float


def bootstrap(
    values: Sequence[float], *, confidence: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """Percentile bootstrap interval of the mean.

    Raises:
        ValueError: there are no values.
    """
    means = _resampled_means(values, resamples, seed)
    low, high = _percentiles(means, confidence)
    return Interval(mean=float(np.mean(values)), low=low, high=high)


def paired_difference(
    a: Sequence[float],
    b: Sequence[float],
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Difference:
    """Whether ``a`` differs from ``b``, which hold the values of the same queries in the same order.

    ``p`` is two-sided: the share of resamples, moved so that their mean difference is 0, that lie at
    least as far out as what was measured. It is never 0, because the measured value counts as one.

    Raises:
        ValueError: there are no values, or not as many in ``a`` as in ``b``.
    """
    if len(a) != len(b):
        raise ValueError(f"paired values are needed: a has {len(a)}, b has {len(b)}")
    differences = np.subtract(a, b)
    means = _resampled_means(differences, resamples, seed)
    mean = float(differences.mean())
    low, high = _percentiles(means, confidence)
    # The margin makes sums that are equal but for rounding count as equal.
    as_far = np.count_nonzero(np.abs(means - mean) >= abs(mean) - 1e-12)
    return Difference(mean=mean, low=low, high=high, p=(as_far + 1) / (resamples + 1))


def _resampled_means(values: Sequence[float] | NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    data = np.asarray(values, dtype=np.float64)
    if not data.size:
        raise ValueError("a mean of no values is asked for")
    random = np.random.default_rng(seed)
    blocks = [min(_BLOCK, resamples - done) for done in range(0, resamples, _BLOCK)]
    return np.concatenate([data[random.integers(data.size, size=(n, data.size))].mean(axis=1) for n in blocks])


def _percentiles(means: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)
