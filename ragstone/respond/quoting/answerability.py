"""Estimate the probability that the quoted answer is right, and the threshold below which to abstain.

The probability comes from a logistic model of a few features. An answer is right if a quote touches what people marked
as evidence, contains the words that answer, or, where a set marks neither, comes from the document that answers; every
answer to an unanswerable question is wrong. ``tools/fit_answerability.py`` fits the coefficients, for each embedder,
to unlike sets of questions together, each set with the same weight; where a set has no unanswerable questions, each is
asked a second time without the documents that answer it. What the probability is worth elsewhere is measured by leaving
each set out whole: ``docs/benchmarks.md`` has the figures.

Where the trained reader has read the passages, what it says of the best sentence is added, with coefficients fitted to
the questions that it reads. The other features compare what was found with the rest of what was read. The score of a
sentence says little by itself: a high score of one embedder, or in one language, is a low one in another. The lead over
other documents, the ranks of the two searches and the embedder's familiarity with the words were tried: they help on
the sets they are fitted to, and mislead on others, where several documents answer.

A threshold keeps the share of wrong answers below an accepted risk. They follow Learn then Test with fixed sequence
testing (Angelopoulos et al. 2021, arXiv 2110.01052), on questions that the coefficients did not see: lower the
threshold while a binomial test at 10% says that the risk is below the accepted one. The promise therefore holds with a
probability of 90% for questions like these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import astuple

from ragstone.core.frozen import frozen
from ragstone.respond.quoting.scored import Told

STEADY = 4
"""Sentences with the usual similarity that are added to those read, so that a few of them suffice for a comparison."""
HALF = 0.5
"""Share of known words below which a question is taken to be in another language than the documents."""


@frozen
class Features:
    """Input of the estimate.

    ``best`` is the similarity of the most similar sentence, ``others`` the mean of the other ``sentences - 1``.
    ``covered`` is the share of the question's words, by weight, in the quotes of the best document or their title, in
    any form. ``mistyped`` is 1 if the question asks for a number or a name and these quotes have none beyond those in
    the question. ``words`` is the logarithm of the content words. ``foreign`` is 0 if the documents have half
    of the question's words, and 1 if they have none. ``odds`` are the log odds of the best quoted sentence to be
    evidence, and ``total`` the sum of the probabilities of all that is quoted. ``told`` is what the reader says of the
    best quoted sentence, and ``behind`` by how much its passage answers less than another one; without a reader, None
    and 0.
    """

    best: float
    others: float
    sentences: int
    covered: float
    mistyped: float
    words: float
    foreign: float
    odds: float = 0.0
    total: float = 0.0
    told: Told | None = None
    behind: float = 0.0


@frozen
class Coefficients:
    """What each feature adds to the log odds; ``bias`` is the value without any.

    ``most`` is the probability of the surest answer, by which all are multiplied. ``usual`` is the usual similarity of
    sentences that do not answer; ``above`` multiplies how far the most similar sentence exceeds the others.
    ``answers``, ``evidence`` and ``short`` multiply what the reader says.
    """

    usual: float
    bias: float
    above: float
    covered: float
    mistyped: float
    words: float
    foreign: float
    odds: float = 0.0
    total: float = 0.0
    answers: float = 0.0
    behind: float = 0.0
    evidence: float = 0.0
    short: float = 0.0
    most: float = 1.0

    def probability(self, features: Features) -> float:
        """Return the probability, 0 to 1."""
        _, bias, *factors, most = astuple(self)
        logit = bias + sum(factor * value for factor, value in zip(factors, inputs(features, self.usual), strict=True))
        return most / (1 + math.exp(-logit))


def inputs(features: Features, usual: float) -> tuple[float, ...]:
    """Return what the coefficients from ``above`` on multiply, in their order."""
    reading = features.told or Told(answers=0.0, evidence=0.0, short=0.0)
    return (
        _above(features, usual),
        features.covered,
        features.mistyped,
        features.words,
        features.foreign,
        features.odds,
        features.total,
        reading.answers,
        features.behind,
        reading.evidence,
        reading.short,
    )


def _above(features: Features, usual: float) -> float:
    """Return how far the most similar sentence exceeds the others, `STEADY` usual ones among them."""
    others = features.sentences - 1
    return features.best - (others * features.others + STEADY * usual) / (others + STEADY)


FITTED = {
    "minilm": Coefficients(
        usual=0.36,
        bias=-6.02,
        above=7.64,
        covered=2.35,
        mistyped=-0.18,
        words=1.03,
        foreign=-1.25,
        odds=0.34,
        total=0.73,
    ),
    "e5-small": Coefficients(
        usual=0.47,
        bias=-5.74,
        above=15.20,
        covered=1.85,
        mistyped=-0.40,
        words=0.90,
        foreign=2.89,
        odds=0.21,
        total=0.61,
    ),
}
"""Coefficients by embedder family, the beginning of the fingerprint."""

READ = {
    "minilm": Coefficients(
        usual=0.35,
        bias=-5.24,
        above=6.85,
        covered=0.87,
        mistyped=0.38,
        words=1.19,
        foreign=0.0,
        odds=0.09,
        total=1.06,
        answers=0.2,
        behind=0.2,
        evidence=0.19,
        short=0.01,
        most=0.93,
    ),
    "e5-small": Coefficients(
        usual=0.47,
        bias=-4.21,
        above=11.36,
        covered=0.47,
        mistyped=0.11,
        words=0.87,
        foreign=0.0,
        odds=0.14,
        total=0.57,
        answers=0.23,
        behind=0.12,
        evidence=0.12,
        short=-0.01,
        most=0.93,
    ),
}
"""The same for passages that the reader has read. It reads nothing for other embedders.

With e5-small, the area under the curve rises on 9 of 10 sets, each left out, by .038 on average: from .848 to .901 on
CLAP NQ, from .660 to .788 on SQuAD 2.0.

All were fitted before similarities were standardised over three chunks, to which `evidence_model` is converted. Those
for MiniLM, fitted to today's features of eight sets (2026-11-30, half of the questions of most), do no better on three
sets that no fit has seen: 133 right answers instead of 131, 61 wrong ones instead of 60, and 63 instead of 67 to
questions that nothing answers. So these stay. Nor do those fitted after the reader's last training, with the pairs of
questions that differ in little: the mean AUC of 15 sets is .814 instead of .815.

``most`` is chosen, not fitted: 28 collections of manuals, filings, handbooks and news, which cannot be published, had
117 answers that were said to be .95 sure, and 88% were right. The rest had the right words and not the answer, which no
feature tells.
"""

THRESHOLDS: Mapping[str, Mapping[float, float | None]] = {
    "minilm": {0.05: None, 0.1: None, 0.15: 0.85, 0.2: 0.66, 0.3: 0.36},
    "e5-small": {0.05: None, 0.1: None, 0.15: 0.91, 0.2: 0.64, 0.3: 0.37},
}
"""Thresholds by embedder family and risk; None if no threshold keeps the risk. Those of MiniLM keep it whether passages
are read or only compared, but for 0.15, which was shown for passages that are read (from 0.75 on)."""
NEVER = 2.0
"""A threshold that no probability reaches."""

Estimate = Callable[[Features], float]
"""Maps features to a probability."""


def estimate_for(fingerprint: str) -> Estimate:
    """Return the estimate for the token vectors of this embedder.

    For an embedder without fitted coefficients it is the lowest estimate of all others, which refuses more often.
    """
    compared, read = _of(FITTED, fingerprint) or list(FITTED.values()), _of(READ, fingerprint)

    def estimate(features: Features) -> float:
        return min(one.probability(features) for one in (read if features.told and read else compared))

    return estimate


def is_read(fingerprint: str) -> bool:
    """Return whether there are coefficients for what the reader says next to the token vectors of this embedder."""
    return bool(_of(READ, fingerprint))


def _of(fitted: Mapping[str, Coefficients], fingerprint: str) -> list[Coefficients]:
    return [one for family, one in fitted.items() if fingerprint.startswith(family)]


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
