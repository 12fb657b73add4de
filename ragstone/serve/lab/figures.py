"""What a trial measured, as figures: calibration and latency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

BINS = 10
_Z = 1.96
"""Of a 95% interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was promised of an answer, 0 to 1, and whether it came true."""

    promised: float
    true: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Outcomes with about the same promise: their mean, the share that came true and its interval (Wilson's)."""

    promised: float
    share: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """How far promises hold. ``error`` is the mean distance between promise and share, ``brier`` the mean square."""

    bins: tuple[Bin, ...]
    error: float
    brier: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Milliseconds of a question: half took no longer than ``median``, 95 of 100 no longer than ``p95``."""

    median: float
    p95: float
    most: float


def reliability(outcomes: Sequence[Outcome], bins: int = BINS) -> Reliability | None:
    """Promises in bins of equal width against what came true; nothing where nothing was promised."""
    if not outcomes:
        return None
    groups: dict[int, list[Outcome]] = {}
    for one in outcomes:
        groups.setdefault(min(bins - 1, int(one.promised * bins)), []).append(one)
    found = tuple(_bin(groups[number]) for number in sorted(groups))
    return Reliability(
        bins=found,
        error=sum(abs(one.promised - one.share) * one.count for one in found) / len(outcomes),
        brier=sum((one.promised - one.true) ** 2 for one in outcomes) / len(outcomes),
    )


def latency(milliseconds: Sequence[float]) -> Latency | None:
    """Quantiles of what questions took; nothing where there are none."""
    if not milliseconds:
        return None
    median, p95 = np.quantile(milliseconds, [0.5, 0.95])
    return Latency(median=float(median), p95=float(p95), most=max(milliseconds))


def _bin(outcomes: Sequence[Outcome]) -> Bin:
    count = len(outcomes)
    share = sum(one.true for one in outcomes) / count
    low, high = wilson(share, count)
    return Bin(promised=sum(one.promised for one in outcomes) / count, share=share, low=low, high=high, count=count)


def wilson(share: float, count: int) -> tuple[float, float]:
    """The 95% interval of a share of so many (Wilson, JASA 22, 1927)."""
    middle = (share + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    reach = _Z / (1 + _Z**2 / count) * sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    return min(share, max(0.0, middle - reach)), max(
        share, min(1.0, middle + reach)
    )  # but for rounding, the share is within
