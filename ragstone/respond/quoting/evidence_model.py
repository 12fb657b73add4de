"""The probability of each sentence that it belongs to the evidence for an answer.

A logistic model of a few features, fitted by ``tools/fit_evidence.py`` on sentences that people marked in sets of
questions. Similarities are standardised over the sentences of the best chunks, so the same coefficients serve every
embedder, and what is quoted does not depend on which chunk is found last. Where the trained reader has read the
passages, what it says of a sentence comes on top, with coefficients of their own that are fitted to sets which the
reader was not trained on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from ragstone.core.frozen import frozen
from ragstone.core.protocols import Weigher
from ragstone.core.question import Question
from ragstone.core.request import Request
from ragstone.language.facts import Word, words
from ragstone.respond.passage_structure import heading_above
from ragstone.respond.quoting.question_words import QuestionWords
from ragstone.respond.quoting.scored import Sentence, Told, language_at_start, refers_back

_LEAST_SPREAD = 1e-3
_STANDARD = 3
"""Chunks over whose sentences similarities are standardised.

The last of the chunks read often have nothing to do with the question, and must not decide what is quoted from the
first ones.
"""


@frozen
class SentenceFeatures:
    """What is known of a sentence; similarities are in standard deviations of those in the best chunks.

    ``behind`` is how far it is less similar to the question than the most similar sentence, ``similar`` how far above
    the mean; ``before`` and ``after`` are those of its neighbours, 0 without. ``place`` counts the chunks before its
    own. ``covered`` is the share of the question's words, by weight, in the sentence, ``covered_titled`` that with the
    title and headings. ``number`` and ``name`` are 1 if the question asks for one and the sentence has one beyond those
    of the question, -1 if it has none. ``refers`` is 1 if it refers to the sentence before, ``opens`` if it begins its
    document. ``length`` is the logarithm of its words. ``answers``, ``evidence`` and ``short`` are what the reader says
    of it (`Told`), less the largest of all sentences; 0 without a reader.
    """

    behind: float
    similar: float
    before: float
    after: float
    place: float
    covered: float
    covered_titled: float
    number: float
    name: float
    refers: float
    opens: float
    length: float
    answers: float = 0.0
    evidence: float = 0.0
    short: float = 0.0


_NAMES = [one.name for one in fields(SentenceFeatures)]
_values, _said = attrgetter(*_NAMES), attrgetter(*(one.name for one in fields(Told)))
"""Return the fields of a record; ``astuple`` copies each value, which takes ten times as long."""


class EvidenceModel:
    """Bias and coefficients; a feature without a coefficient has no effect."""

    def __init__(self, bias: float, coefficients: Mapping[str, float]) -> None:
        self._bias = bias
        self._coefficients = np.array([coefficients.get(name, 0.0) for name in _NAMES])

    def probabilities(self, features: Sequence[SentenceFeatures]) -> NDArray[np.float64]:
        """Return the probability of each sentence, shape (sentences,)."""
        table = np.array([*map(_values, features)]).reshape(len(features), len(self._coefficients))
        return 1 / (1 + np.exp(-self._bias - table @ self._coefficients))


def features_of(
    question: Question, sentences: Sequence[Sentence], weigh: Weigher, request: Request
) -> list[SentenceFeatures]:
    """Return the features of all sentences read for a question."""
    if not sentences:
        return []
    asked = QuestionWords(question, weigh, request)
    own = np.array([one.own for one in sentences])
    best = own[[one.place < _STANDARD for one in sentences]]
    best = best if len(best) else own
    # The best chunks may all say the same, which makes no other sentence infinitely unlike them.
    top, mean, spread = own.max(), best.mean(), max(float(best.std()), float(own.std()) / 2, _LEAST_SPREAD)
    at = {(one.place, one.number): (one.own - mean) / spread for one in sentences}
    told = [one.told for one in sentences if one.told]
    surest = [max(values) for values in zip(*map(_said, told), strict=True)]
    titles: dict[int, tuple[list[Word], str]] = {}
    out: list[SentenceFeatures] = []
    for sentence in sentences:
        chunk = sentence.hit.chunk
        if sentence.place not in titles:
            titles[sentence.place] = (words(f"{chunk.context} {chunk.title}"), language_at_start(chunk.text))
        title, language = titles[sentence.place]
        heading = heading_above(chunk.text, sentence.span.start)
        sentence_words = words(sentence.text)
        match = asked.match(sentence_words)
        answers, evidence, short = _behind(sentence.told, surest)
        out.append(
            SentenceFeatures(
                behind=float(top - sentence.own) / spread,
                similar=float(sentence.own - mean) / spread,
                before=at.get((sentence.place, sentence.number - 1), 0.0),
                after=at.get((sentence.place, sentence.number + 1), 0.0),
                place=float(sentence.place),
                covered=match.covered,
                covered_titled=asked.match(sentence_words, [*title, *words(heading)]).covered,
                number=match.number,
                name=match.name,
                refers=float(refers_back(sentence.text, sentence_words, language)),
                opens=float(chunk.index == 0 and sentence.number == 0),
                length=math.log(1 + len(sentence_words)),
                answers=answers,
                evidence=evidence,
                short=short,
            )
        )
    return out


def _behind(told: Told | None, surest: Sequence[float]) -> Sequence[float]:
    """Return how far a sentence falls behind the largest of all sentences by what the reader says; 0 without one."""
    return [one - best for one, best in zip(_said(told), surest, strict=True)] if told else (0.0, 0.0, 0.0)


EVIDENCE = EvidenceModel(
    -0.74,
    {
        "behind": -0.65,
        "similar": 0.51,
        "before": 0.15,
        "after": -0.1,
        "place": -0.46,
        "covered": -0.42,
        "covered_titled": 1.68,
        "number": 0.35,
        "name": -0.02,
        "refers": 0.38,
        "opens": 1.27,
        "length": -0.31,
    },
)
READ_EVIDENCE = EvidenceModel(
    -0.95,
    {
        "behind": -0.17,
        "similar": 0.79,
        "before": 0.22,
        "after": 0.04,
        "place": -0.94,
        "covered": -0.91,
        "covered_titled": 1.62,
        "number": 0.26,
        "name": -0.02,
        "refers": 0.34,
        "opens": 0.61,
        "length": -0.12,
        "answers": 0.31,
        "evidence": 0.11,
        "short": 0.11,
    },
)
"""The same where the reader has read the passages.

Both were fitted to similarities standardised over five chunks, and converted by least squares over eight sets of
questions to those of the first three, without any label: so the probabilities keep the level to which
`answerability` is fitted. Fitted to today's features (2026-11-30), `READ_EVIDENCE` gets nearly the same coefficients at
a lower level: over these sets 688 right answers instead of 699, and 93 wrong ones instead of 98, or 156 instead of 169
to questions that nothing answers. So these stay.
"""


def evidence_model(sentences: Sequence[Sentence]) -> EvidenceModel:
    """Return the model for sentences that the reader has read, or has not."""
    return READ_EVIDENCE if any(one.told for one in sentences) else EVIDENCE
