"""The probability that a written answer is right, from what is known when it has been read.

A logistic model over the proofs of its sentences. ``tools/fit_rightness.py`` fits it on replies written to real
passages, each with a false twin that counts a quarter, because most are right, and on replies that have nothing to do
with the question, such as those of a server that plays a model. Whether only a part is answered, the number of
sentences, the share of claims without a citation, how many of their words stand in a passage, and the answerability add
nothing. The check finds few falsehoods, so the probability is true on average and tells right answers from wrong ones
only weakly (AUC .59 with each collection left out in turn, .57 on others). It tells them well from replies about
something else (.92 and .85), unless the check finds support for these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ragstone.respond.proof.records import Proof

BIAS = 1.15
WEIGHTS = (-1.24, 0.40, -1.89)
"""Coefficients of `features`, in order."""


def features(proofs: Sequence[Proof]) -> tuple[float, ...]:
    """Return the input of the model: a claim is flagged or not, the support of the weakest, and no claim is cited."""
    wrong, uncited = any(one.flagged for one in proofs), bool(proofs) and not any(one.quotes for one in proofs)
    return float(wrong), min((one.support for one in proofs), default=1.0), float(uncited)


def probability(known: Sequence[float]) -> float:
    """Return the probability, 0 to 1, that an answer with these `features` is right."""
    return 1 / (1 + math.exp(-(BIAS + sum(w * x for w, x in zip(WEIGHTS, known, strict=True)))))
