"""The threshold below which to abstain, so that at most a given share of the answers is wrong.

An answer is wrong where none of its quotes touches what people marked as the evidence; every answer to a question that
the documents do not answer is. The thresholds come from `tools/fit_answerability.py` and from questions to which the
probability was not fitted: of CLAP NQ and of XQuAD in English and German, where every other one is asked without what
answers it. The rule is that of Learn then Test with fixed sequence testing (Angelopoulos et al. 2021, arXiv
2110.01052): from the highest threshold down, as long as a binomial test at 10% says that the risk is below the one
accepted. So with a probability of 90% the promise holds, for questions that are like those.
"""

from __future__ import annotations

from collections.abc import Mapping

THRESHOLDS: Mapping[str, Mapping[float, float | None]] = {
    "minilm": {0.05: None, 0.1: None, 0.15: 0.87, 0.2: 0.55, 0.3: 0.3},
    "e5-small": {0.05: None, 0.1: None, 0.15: 0.89, 0.2: 0.4, 0.3: 0.19},
}
"""By the family of the embedder and the risk; None where nothing can be promised."""
NEVER = 2.0
"""A threshold that no probability reaches."""


def threshold_for(fingerprint: str, risk: float) -> float:
    """The threshold that keeps a risk with the token vectors of this embedder; `NEVER` where none does.

    Args:
        fingerprint: of the embedder.
        risk: the share of answers that may be wrong; what is promised is the next smaller share of the table.
    """
    table = next((table for family, table in THRESHOLDS.items() if fingerprint.startswith(family)), {})
    promised = [threshold for share, threshold in table.items() if share <= risk and threshold is not None]
    return min(promised, default=NEVER)
