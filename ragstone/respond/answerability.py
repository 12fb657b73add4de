"""The probability that the evidence answers the question.

A logistic model of two features. Its coefficients come from `tools/fit_answerability.py`: questions of CLAP NQ that
people judged answerable or not, and questions of XQuAD (English, German) with and without their own paragraph among
the evidence, half of each; on the other halves it is measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

BIAS, BEST_SENTENCE, FAMILIARITY = -8.74, 17.34, -1.71


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What the estimate rests on.

    ``best_sentence``: score of the best sentence, about 0 to 1. ``familiarity``: share of the question's words
    that the embedder knows; where it knows few, words that differ look alike to it less, and scores are lower.
    """

    best_sentence: float
    familiarity: float


def probability(features: Features) -> float:
    """0 to 1."""
    logit = BIAS + BEST_SENTENCE * features.best_sentence + FAMILIARITY * features.familiarity
    return 1 / (1 + math.exp(-logit))
