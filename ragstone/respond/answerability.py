"""The probability that the evidence answers the question.

A logistic model of a few features, with coefficients for each embedder, for what is a high score for one is a low
one for another. They come from `tools/fit_answerability.py`: questions of CLAP NQ that people judged answerable or
not, and questions of XQuAD, of frequent questions in Lithuanian and of some on an illness in five languages, with and
without what answers them among the evidence, half of each; on the other halves it is measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What the estimate rests on.

    ``best_sentence``: score of the best sentence, about 0 to 1. ``familiarity``: share of the question's words that
    the embedder knows; where it knows few, words that differ look alike to it less, and scores are lower.
    ``known_words``: share of the question's words that any document has; where that is small, the question is in
    another language than the documents, and sentences that answer it score less. The rest is what
    `ragstone.respond.asked.Fit` says of the best chunk and its sentences.
    """

    best_sentence: float
    familiarity: float
    known_words: float
    coverage: float
    mistyped: float
    words: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """What each feature adds to the logarithm of the odds; ``bias`` is there without any."""

    bias: float
    best_sentence: float
    familiarity: float
    known_words: float
    coverage: float
    mistyped: float
    words: float

    def probability(self, features: Features) -> float:
        """0 to 1."""
        logit = (
            self.bias
            + self.best_sentence * features.best_sentence
            + self.familiarity * features.familiarity
            + self.known_words * features.known_words
            + self.coverage * features.coverage
            + self.mistyped * features.mistyped
            + self.words * features.words
        )
        return 1 / (1 + math.exp(-logit))


FITTED = {
    "minilm": Coefficients(
        bias=-4.95, best_sentence=8.29, familiarity=0.34, known_words=-2.22, coverage=2.82, mistyped=-1.1, words=0.06
    ),
    "e5-small": Coefficients(
        bias=-6.78, best_sentence=15.28, familiarity=0, known_words=-4.46, coverage=2.34, mistyped=-1.23, words=0.04
    ),
}
"""By the family of the embedder: what its fingerprint begins with."""

Estimate = Callable[[Features], float]
"""From features to a probability."""


def estimate_for(fingerprint: str) -> Estimate:
    """How probable an answer is with the token vectors of this embedder.

    Of an embedder for which nothing was fitted the least is believed that any other would say: it rather refuses.
    """
    for family, coefficients in FITTED.items():
        if fingerprint.startswith(family):
            return coefficients.probability
    return lambda features: min(one.probability(features) for one in FITTED.values())
