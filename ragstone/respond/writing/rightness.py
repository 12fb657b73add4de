"""The probability that a written answer is right, from what is known when it has been read.

A logistic model over what the model said of the sources and the states of its sentences. ``tools/fit_rightness.py``
fits it on replies written to real passages, each with a false twin that counts a quarter, because most are right.
What the quoting reader makes of the same evidence adds nothing. The check finds few falsehoods, so the probability is
true on average and tells right answers from wrong ones only weakly (AUC .55 on other collections).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ragstone.core.answers import State
from ragstone.respond.writing.told import Told

BIAS = 0.35
WEIGHTS = (0.04, 1.18, -0.31)
"""Coefficients of `features`, in order."""


def features(told: Told, states: Sequence[State]) -> tuple[float, ...]:
    """Return the input of the model.

    Whether only a part is answered, the share of supported claims, and whether one is contradicted.
    """
    return float(told == "part"), states.count("supported") / max(len(states), 1), float("contradicted" in states)


def probability(known: Sequence[float]) -> float:
    """Return the probability, 0 to 1, that an answer with these `features` is right."""
    return 1 / (1 + math.exp(-(BIAS + sum(w * x for w, x in zip(WEIGHTS, known, strict=True)))))
