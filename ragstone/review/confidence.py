"""Combine the estimate before an answer and the ratings after it into one confidence.

The confidence is a weighted mean, turned into a probability by a curve (Platt 1999). It rises with each input and stays
within 0..1.
"""

from __future__ import annotations

import math

from ragstone.core.answers import JudgeScores
from ragstone.settings import ConfidenceWeights, MarkWeights

FULL = 10.0
"""The best rating."""


def overall(scores: JudgeScores, weights: MarkWeights) -> float:
    """Combine a judge's three ratings into one, 0 to 1."""
    parts = (
        (scores.relevance, weights.relevance),
        (scores.factuality, weights.factuality),
        (scores.completeness, weights.completeness),
    )
    return _mean([(mark / FULL, weight) for mark, weight in parts])


def confidence(
    sure: float,
    scores: JudgeScores | None,
    marks: MarkWeights,
    weights: ConfidenceWeights,
) -> float:
    """Return how far an answer can be relied on, 0 to 1.

    It is the probability that the answer is right, averaged with the judge's ratings if there is a judge.

    Args:
        sure: that probability.
        scores: the judge's ratings, if there is a judge.
        marks: weight of each rating.
        weights: weights of search and answer, and the calibration curve.
    """
    parts = [(sure, weights.retrieval if scores else 1.0)]
    if scores:
        parts.append((overall(scores, marks), weights.answer))
    return calibrated(_mean(parts), weights.slope, weights.shift)


def calibrated(sure: float, slope: float, shift: float) -> float:
    """Calibrate a confidence: multiply its log odds by ``slope`` and add ``shift``. 0 and 1 are kept."""
    if (slope, shift) == (1.0, 0.0):
        return sure
    for_it, against = sure**slope * math.exp(shift), (1 - sure) ** slope
    return _clamped(for_it / (for_it + against))


def _mean(parts: list[tuple[float, float]]) -> float:
    # Weights are divided first: their sum may be too large for a float, their shares are not.
    most = max(weight for _, weight in parts)
    shares = [weight / most for _, weight in parts]
    total = sum(shares)
    return _clamped(sum(_clamped(value) * share for (value, _), share in zip(parts, shares, strict=True)) / total)


def _clamped(value: float) -> float:
    return min(1.0, max(0.0, value))
