"""Check sentences with the trained model of entailment, beside the comparison of words.

The words find the quotes that a sentence rests on (`ragstone.respond.proof.by_words`); the model reads these quotes
with their neighbours and the sentence, and says whether they support it and which of its words nothing supports. Both
enter one logistic model. The words alone decide where the model knows too little of the language.

Training data, figures and limits: ``training/README.md``. ``tools/fit_support.py`` fits the coefficients.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ragstone.core.protocols import Entailment
from ragstone.core.readings import Judgement
from ragstone.core.records import Hit, Span
from ragstone.core.request import Request
from ragstone.respond.proof.by_words import Alignment, SupportChecker, probability
from ragstone.respond.proof.records import UNCHECKED, Proof

BIAS = -0.19
WEIGHTS = (1.08, 0.45)
"""Coefficients of the log odds by words and of those by the model."""
FAMILIAR = 0.7
"""Share of a sentence's words that the model must know."""
MARKED = 0.2
"""Probability from which nothing supports a word."""
_GAP = 1
"""Words between two unsupported ones that are marked with them."""
_LIMIT = 6.0
_WORD = re.compile(r"\w+")


class ProofChecker:
    """A checker that compares words and reads the evidence."""

    def __init__(self, *, by_words: SupportChecker, entailment: Entailment) -> None:
        """Take what finds the quotes and compares words, and what judges sentences."""
        self._by_words, self._entailment = by_words, entailment

    async def check(
        self, sentence: str, hits: Sequence[Hit], request: Request, before: str = "", named: int = 0
    ) -> Proof:
        """Return the proof of a sentence; see `Checker`."""
        if self._entailment.familiarity(sentence) < FAMILIAR:
            return await self._by_words.check(sentence, hits, request, before, named)
        alignment = await self._by_words.align(sentence, hits, request, before)
        if alignment is None:
            return UNCHECKED
        [judgement] = await self._entailment.judge([sentence], [self._by_words.around(alignment)], request)
        found = self._by_words.proof(sentence, hits, named, alignment, supported(alignment, judgement))
        if found.state != "contradicted":
            return found
        return replace(found, unsupported=tuple(span.of(sentence) for span in unsupported_words(sentence, judgement)))


def features(alignment: Alignment, judgement: Judgement) -> NDArray[np.float64]:
    """Return the input of the logistic model: the log odds of support by words and by the model."""
    return np.array([_log_odds(probability(alignment.agreement)), _log_odds(judgement.supported)])


def supported(alignment: Alignment, judgement: Judgement) -> float:
    """Return the probability, 0 to 1, that the evidence supports the sentence."""
    return float(1 / (1 + np.exp(-(BIAS + features(alignment, judgement) @ np.array(WEIGHTS)))))


def unsupported_words(sentence: str, judgement: Judgement) -> tuple[Span, ...]:
    """Return the parts of a sentence, of whole words, that nothing in the evidence says."""
    found: list[Span] = []
    for word in _WORD.finditer(sentence):
        shares = [
            share
            for span, share in zip(judgement.spans, judgement.unsupported, strict=True)
            if span.start < word.end() and word.start() < span.end
        ]
        if max(shares, default=0.0) < MARKED:
            continue
        if found and len(_WORD.findall(sentence[found[-1].end : word.start()])) <= _GAP:
            found[-1] = Span(start=found[-1].start, end=word.end())
        else:
            found.append(Span(start=word.start(), end=word.end()))
    return tuple(found)


def _log_odds(share: float) -> float:
    share = min(max(share, 1e-6), 1 - 1e-6)
    return max(-_LIMIT, min(_LIMIT, math.log(share / (1 - share))))
