"""The probability that a written answer is right, from what is known when it has been read.

A logistic model over what the model said of the sources, the states of its sentences, and what the quoting reader makes
of the same evidence. ``tools/fit_rightness.py`` fits it on replies written to real passages, each with false twins.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ragstone.core.answers import Citation, Draft, State
from ragstone.respond.writing.told import Told

BIAS = 0.6
WEIGHTS = (-0.4, 1.2, -2.5, 0.15, 0.6)
"""Coefficients of `features`, in order."""
_MOST = 0.999
"""The largest probability whose odds are used."""


def features(told: Told, states: Sequence[State], quoted: Draft, citations: Iterable[Citation]) -> tuple[float, ...]:
    """Return the input of the model.

    Whether only a part is answered; the shares of supported and of contradicted claims; the log odds that the evidence
    answers, as the quoting reader sees it; whether the answer cites what that reader quotes.
    """
    count = max(len(states), 1)
    sure = min(max(quoted.answerability, 1 - _MOST), _MOST)
    return (
        float(told == "part"),
        states.count("supported") / count,
        float("contradicted" in states),
        math.log(sure / (1 - sure)),
        float(any(_overlap(one, other) for one in citations for other in quoted.citations)),
    )


def probability(known: Sequence[float]) -> float:
    """Return the probability, 0 to 1, that an answer with these `features` is right."""
    return 1 / (1 + math.exp(-(BIAS + sum(w * x for w, x in zip(WEIGHTS, known, strict=True)))))


def _overlap(one: Citation, other: Citation) -> bool:
    return one.document_id == other.document_id and one.start < other.end and other.start < one.end
