"""The probability that a written answer is right, from what is known when it has been read.

A logistic model over the proofs of its sentences. ``tools/fit_rightness.py`` fits it on replies written to real
passages, each with a false twin that counts a quarter, because most are right. Whether only a part is answered, the
number of sentences and the answerability add nothing. The check finds few falsehoods, so the probability is true on
average and tells right answers from wrong ones only weakly (AUC .59 with each collection left out in turn).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ragstone.respond.proof.records import Proof

BIAS = 1.15
WEIGHTS = (-1.09, 0.43)
"""Coefficients of `features`, in order."""


def features(proofs: Sequence[Proof]) -> tuple[float, ...]:
    """Return the input of the model: whether a claim is flagged, and the support of the weakest one."""
    wrong = any(one.flagged for one in proofs)
    return float(wrong), min((one.support for one in proofs), default=1.0)


def probability(known: Sequence[float]) -> float:
    """Return the probability, 0 to 1, that an answer with these `features` is right."""
    return 1 / (1 + math.exp(-(BIAS + sum(w * x for w, x in zip(WEIGHTS, known, strict=True)))))
