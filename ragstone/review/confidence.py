"""One number for an answer, from what was estimated before it was written and what was marked after.

Weighted means, and a curve that makes a probability of them (Platt 1999): all rise with each of their parts and never
leave 0 to 1.
"""

from __future__ import annotations

import math

from ragstone.answers import JudgeScores
from ragstone.sections import ConfidenceWeights, MarkWeights

FULL = 10.0
"""The best mark."""


def overall(scores: JudgeScores, weights: MarkWeights) -> float:
    """A judge's three marks as one, 0 to 1."""
    parts = (
        (scores.relevance, weights.relevance),
        (scores.factuality, weights.factuality),
        (scores.completeness, weights.completeness),
    )
    return _mean([(mark / FULL, weight) for mark, weight in parts])


def confidence(
    answerability: float,
    support: float,
    scores: JudgeScores | None,
    marks: MarkWeights,
    weights: ConfidenceWeights,
) -> float:
    """How far an answer can be relied on, 0 to 1.

    Without a judge it is the answerability, and with one the mean of that and of the judge's marks; either is taken
    in the share of the sentences that citations prove, for no judge makes good what nothing proves.

    Args:
        answerability: the probability, before answering, that the evidence answers.
        support: share of the answer's sentences that citations prove.
        scores: a judge's marks, where there was one.
        marks: what each of the marks counts.
        weights: what the search and what the answer counts, and how far the number they give is to be trusted.
    """
    said = [(answerability, weights.retrieval if scores else 1.0)]
    if scores:
        said.append((overall(scores, marks), weights.answer))
    return calibrated(_clamped(support) * _mean(said), weights.slope, weights.shift)


def calibrated(sure: float, slope: float, shift: float) -> float:
    """A number as the probability that votes show it to be: the logarithm of its odds times ``slope``, plus ``shift``.

    What was impossible or certain remains so.
    """
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
