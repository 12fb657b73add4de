"""Estimate the probability that the quoted answer is right, and the threshold below which to abstain.

The probability comes from a logistic model of a few features. An answer is right if a quote touches what people marked
as evidence, contains the words that answer, or, where a set marks neither, comes from the document that answers; every
answer to an unanswerable question is wrong. ``tools/fit_answerability.py`` fits the coefficients, for each embedder,
to unlike sets of questions together, each set with the same weight; where a set has no unanswerable questions, each is
asked a second time without the documents that answer it. What the probability is worth elsewhere is measured by leaving
each set out whole: ``docs/benchmarks.md`` has the figures.

The features compare what was found with the rest of what was read. The score of a sentence says little by itself: a
high score of one embedder, or in one language, is a low one in another. The lead over other documents, the ranks of the
two searches and the embedder's familiarity with the words were tried: they help on the sets they are fitted to, and
mislead on others, where several documents answer.

A threshold keeps the share of wrong answers below an accepted risk. They follow Learn then Test with fixed sequence
testing (Angelopoulos et al. 2021, arXiv 2110.01052), on questions that the coefficients did not see: lower the
threshold while a binomial test at 10% says that the risk is below the accepted one. The promise therefore holds with a
probability of 90% for questions like these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

STEADY = 4
"""Sentences with the usual similarity that are added to those read, so that a few of them suffice for a comparison."""
HALF = 0.5
"""Share of known words below which a question is taken to be in another language than the documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Input of the estimate.

    ``best`` is the similarity of the most similar sentence, ``others`` the mean of the other ``sentences - 1``.
    ``covered`` is the share of the question's words, by weight, in the quotes of the best document or their title, in
    any form. ``mistyped`` is 1 if the question asks for a number or a name and these quotes have none beyond those in
    the question. ``words`` is the logarithm of the content words. ``foreign`` is 0 if the documents have half
    of the question's words, and 1 if they have none.
    """

    best: float
    others: float
    sentences: int
    covered: float
    mistyped: float
    words: float
    foreign: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """What each feature adds to the log odds; ``bias`` is the value without any.

    ``usual`` is the usual similarity of sentences that do not answer; ``above`` multiplies how far the most similar
    sentence exceeds the others.
    """

    usual: float
    bias: float
    above: float
    covered: float
    mistyped: float
    words: float
    foreign: float

    def probability(self, features: Features) -> float:
        """Return the probability, 0 to 1."""
        logit = (
            self.bias
            + self.above * above(features, self.usual)
            + self.covered * features.covered
            + self.mistyped * features.mistyped
            + self.words * features.words
            + self.foreign * features.foreign
        )
        return 1 / (1 + math.exp(-logit))


def above(features: Features, usual: float) -> float:
    """Return how far the most similar sentence exceeds the others, `STEADY` usual ones among them."""
    others = features.sentences - 1
    return features.best - (others * features.others + STEADY * usual) / (others + STEADY)


FITTED = {
    "minilm": Coefficients(usual=0.37, bias=-5.54, above=9.41, covered=2.71, mistyped=-0.43, words=0.87, foreign=-1.71),
    "e5-small": Coefficients(
        usual=0.46, bias=-4.45, above=16.03, covered=1.79, mistyped=-0.73, words=0.51, foreign=2.46
    ),
}
"""Coefficients by embedder family, the beginning of the fingerprint."""

THRESHOLDS: Mapping[str, Mapping[float, float | None]] = {
    "minilm": {0.05: None, 0.1: None, 0.15: 0.85, 0.2: 0.7, 0.3: 0.38},
    "e5-small": {0.05: None, 0.1: None, 0.15: 0.92, 0.2: 0.72, 0.3: 0.38},
}
"""Thresholds by embedder family and risk; None if no threshold keeps the risk."""
NEVER = 2.0
"""A threshold that no probability reaches."""

Estimate = Callable[[Features], float]
"""Maps features to a probability."""


def estimate_for(fingerprint: str) -> Estimate:
    """Return the estimate for the token vectors of this embedder.

    For an embedder without fitted coefficients it is the lowest estimate of all others, which refuses more often.
    """

    known = [family for family in FITTED if fingerprint.startswith(family)]

    def estimate(features: Features) -> float:
        return min(FITTED[family].probability(features) for family in known or FITTED)

    return estimate


def threshold_for(fingerprint: str, risk: float) -> float:
    """Return the threshold that keeps a risk with the token vectors of this embedder, or `NEVER` if none does.

    Args:
        fingerprint: of the embedder.
        risk: accepted share of wrong answers; the next smaller risk of the table is used.
    """
    none: Mapping[float, float | None] = {}
    table = next((table for family, table in THRESHOLDS.items() if fingerprint.startswith(family)), none)
    kept = [threshold for share, threshold in table.items() if share <= risk and threshold is not None]
    return min(kept, default=NEVER)
