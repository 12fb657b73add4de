"""Bootstrap intervals and paired significance tests.

Values are resampled with replacement (Efron and Tibshirani, An Introduction to the Bootstrap, 1993).
No distribution is assumed, which suits measures that are mostly 0 or 1. Results are reproducible by their seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ragstone.core.frozen import frozen

RESAMPLES = 10_000
_CONFIDENCE = 0.95
_BLOCK = 500
"""Resamples drawn at once, which limits the memory."""


@frozen
class Interval:
    """A mean and its confidence interval."""

    mean: float
    low: float
    high: float


@frozen
class Difference:
    """Mean of ``a - b`` with its interval, and ``p``, the probability of so large a difference by chance."""

    mean: float
    low: float
    high: float
    p: float


def bootstraps(
    measures: Mapping[str, Sequence[float]], *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Interval]:
    """Return percentile bootstrap intervals of the means of several measures of the same queries.

    Raises:
        ValueError: there are no values.
    """
    columns = np.array(list(measures.values()), dtype=np.float64).T
    bounds = _percentiles(_resampled_means(columns, resamples, seed), _CONFIDENCE)
    means = columns.mean(axis=0)
    return {
        name: Interval(mean=float(mean), low=float(low), high=float(high))
        for name, mean, low, high in zip(measures, means, *bounds, strict=True)
    }


def paired_difference(
    a: Sequence[float],
    b: Sequence[float],
    *,
    confidence: float = _CONFIDENCE,
    resamples: int = RESAMPLES,
) -> Difference:
    """Test whether ``a`` differs from ``b``, the values of the same queries in the same order.

    ``p`` is two-sided: the share of resamples, shifted to a mean difference of 0, that are at least as extreme as the
    measured difference. It is never 0, because the measured difference counts as one resample.

    Raises:
        ValueError: there are no values, or not as many in ``a`` as in ``b``.
    """
    if len(a) != len(b):
        raise ValueError(f"paired values are needed: a has {len(a)}, b has {len(b)}")
    differences = np.subtract(a, b)
    means = _resampled_means(differences[:, np.newaxis], resamples, seed=0)[:, 0]
    mean = float(differences.mean())
    low, high = map(float, _percentiles(means, confidence))
    # The margin makes sums that are equal but for rounding count as equal.
    as_far = int(np.count_nonzero(np.abs(means - mean) >= abs(mean) - 1e-12))
    return Difference(mean=mean, low=low, high=high, p=(as_far + 1) / (resamples + 1))


def randomisation_p(a: Sequence[float], b: Sequence[float]) -> float:
    """Return p of Fisher's paired randomisation test, two-sided.

    If both were equally good, the two values of each query could be swapped, so the signs of the differences are drawn
    at random (Smucker, Allan and Carterette, CIKM 2007). p is never 0, because the measured difference counts.

    Raises:
        ValueError: there are no values, or not as many in ``a`` as in ``b``.
    """
    if len(a) != len(b) or not len(a):
        raise ValueError(f"paired values are needed: a has {len(a)}, b has {len(b)}")
    differences = np.subtract(a, b)
    random, as_far = np.random.default_rng(0), 0
    for done in range(0, RESAMPLES, _BLOCK):
        signs = random.choice((-1.0, 1.0), size=(min(_BLOCK, RESAMPLES - done), differences.size))
        as_far += int(np.count_nonzero(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-12))
    return (as_far + 1) / (RESAMPLES + 1)


def holm(ps: Sequence[float]) -> list[float]:
    """Correct p values for the number of comparisons (Holm, Scand. J. Statistics 6, 1979).

    With a probability of 95% no result below 0.05 is a false positive.
    """
    corrected, worst = [0.0] * len(ps), 0.0
    for place, one in enumerate(sorted(range(len(ps)), key=lambda index: ps[index])):
        worst = max(worst, min(1.0, ps[one] * (len(ps) - place)))
        corrected[one] = worst
    return corrected


def _resampled_means(data: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    """Resample the rows of ``data`` (values, measures) and return the means (resamples, measures)."""
    count = len(data)
    if not count:
        raise ValueError("a mean of no values is asked for")
    random, means = np.random.default_rng(seed), list[NDArray[np.float64]]()
    for done in range(0, resamples, _BLOCK):
        size = min(_BLOCK, resamples - done)
        drawn = random.integers(count, size=(size, count)) + np.arange(0, size * count, count)[:, np.newaxis]
        # Counting how often each value was drawn sums all measures in one product.
        times = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count)
        means.append(times @ data / count)
    return np.concatenate(means)


def _percentiles(means: NDArray[np.float64], confidence: float) -> NDArray[np.float64]:
    """Return the lower and upper percentile along the first axis."""
    tail = (1 - confidence) / 2
    return np.quantile(means, [tail, 1 - tail], axis=0)
