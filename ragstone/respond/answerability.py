"""Estimate the probability that the evidence answers the question, and the threshold below which to abstain.

The probability comes from a logistic model of a few features. Each embedder has its own coefficients, because a high
score of one embedder is a low score of another. ``tools/fit_answerability.py`` fits them on questions of CLAP NQ that
people judged answerable or not, on XQuAD, on frequent questions in Lithuanian, and on questions about an illness in
five languages, each with and without the passage that answers it. Half of each set is used for fitting, half for
measuring.

Lithuanian has coefficients of its own, because those above were far too sure there. They are the probability that the
answer is right, fitted on headings of Lithuanian laws and on the questions about an illness; no question and no
document of the frequent questions in Lithuanian was used, so that these measure what is promised to others: there the
calibration error fell from .33 to .16 (minilm) and from .19 to .03 (e5-small). The thresholds below are for the general
coefficients.

A threshold keeps the share of wrong answers below an accepted risk. An answer is wrong if none of its quotes touches
what people marked as evidence; every answer to an unanswerable question is wrong. The thresholds come from questions
that the probability was not fitted to: CLAP NQ, and XQuAD in English and German with the answering passage removed for
every other question. They follow Learn then Test with fixed sequence testing (Angelopoulos et al. 2021, arXiv
2110.01052): lower the threshold while a binomial test at 10% says that the risk is below the accepted one. The promise
therefore holds with a probability of 90% for questions like these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ragstone.core.protocols import Weigher
from ragstone.core.records import Chunk
from ragstone.core.request import Request
from ragstone.respond.facts import Vocabulary, Word, form, words
from ragstone.respond.words import lexicon, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionMatch:
    """How well a chunk and its best sentences match a question.

    ``coverage`` is the share of the question's words, by weight, that the chunk contains in any form. ``mistyped`` is
    1 if the question asks for a number or a name and the sentences contain none beyond those in the question.
    ``words`` counts the content words of the question.
    """

    coverage: float
    mistyped: float
    words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Input of the estimate.

    ``best_sentence`` is the score of the best sentence, about 0 to 1. ``familiarity`` is the share of the question's
    words that the embedder knows; scores are lower if it knows few. ``known_words`` is the share of the question's
    words that any document contains; if it is small, the question is in another language than the documents and
    answering sentences score less. The other features are those of `QuestionMatch`.
    """

    best_sentence: float
    familiarity: float
    known_words: float
    coverage: float
    mistyped: float
    words: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """What each feature adds to the log odds; ``bias`` is the value without any."""

    bias: float
    best_sentence: float
    familiarity: float
    known_words: float
    coverage: float
    mistyped: float
    words: float

    def probability(self, features: Features) -> float:
        """Return the probability, 0 to 1."""
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
"""Coefficients by embedder family, the beginning of the fingerprint."""

FITTED_TO_LANGUAGE: Mapping[tuple[str, str], Coefficients] = {
    ("minilm", "lt"): Coefficients(
        bias=-7.82, best_sentence=12.59, familiarity=1.08, known_words=-3.04, coverage=1.36, mistyped=-0.46, words=0.05
    ),
    ("e5-small", "lt"): Coefficients(
        bias=-7.44, best_sentence=13.02, familiarity=0, known_words=-3.36, coverage=1.71, mistyped=-0.21, words=0.07
    ),
}
"""Coefficients by embedder family and language, in place of those of the family."""

THRESHOLDS: Mapping[str, Mapping[float, float | None]] = {
    "minilm": {0.05: None, 0.1: None, 0.15: 0.87, 0.2: 0.55, 0.3: 0.3},
    "e5-small": {0.05: None, 0.1: None, 0.15: 0.89, 0.2: 0.4, 0.3: 0.19},
}
"""Thresholds by embedder family and risk; None if no threshold keeps the risk."""
NEVER = 2.0
"""A threshold that no probability reaches."""

Estimate = Callable[[Features, str], float]
"""Maps features and the language of the question, an ISO 639-1 code, to a probability."""


def match_question(
    question: str, chunk: Chunk, sentences: Sequence[str], weigh: Weigher, request: Request
) -> QuestionMatch:
    """Match a question with the best chunk and its best sentences."""
    all_words = words(question)
    content = [word for word in all_words if not word.stop] or all_words
    vocabulary = Vocabulary([*words(chunk.text), *words(f"{chunk.context} {chunk.title}")])
    forms = [vocabulary.forms(word) for word in content]
    weights = [weight + 1e-6 for weight in weigh([word.lower for word in content], request)]
    covered = sum(weight for weight, found in zip(weights, forms, strict=True) if found)
    in_question = set[str]().union(*forms)
    new = [word for sentence in sentences for word in words(sentence) if form(word) not in in_question]
    return QuestionMatch(
        coverage=covered / sum(weights) if weights else 0.0,
        mistyped=float(_mistyped(plain(question), new)),
        words=len(content),
    )


def estimate_for(fingerprint: str) -> Estimate:
    """Return the estimate for the token vectors of this embedder.

    For an embedder without fitted coefficients it is the lowest estimate of all others, which refuses more often.
    """

    def estimate(features: Features, language: str) -> float:
        known = [family for family in FITTED if fingerprint.startswith(family)]
        return min(
            FITTED_TO_LANGUAGE.get((family, language), FITTED[family]).probability(features)
            for family in known or FITTED
        )

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


def _mistyped(question: str, new: Sequence[Word]) -> bool:
    if lexicon().asks_number.search(question):
        return not any(word.value for word in new)
    return bool(lexicon().asks_name.search(question)) and not any(word.named for word in new)
