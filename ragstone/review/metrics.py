"""Measures of a ranking against relevance judgements, as trec_eval computes them.

A ranking is a list of document ids, best first; judgements give the relevance of a document, and one
above 0 means relevant. Documents without a judgement count as not relevant. All values lie in 0..1.
Definitions: Manning, Raghavan and Schuetze, Introduction to Information Retrieval (2008), chapter 8;
nDCG with linear gains: Jarvelin and Kekalainen, ACM TOIS 20(4) (2002).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

Judgements = Mapping[str, int]
"""Document id to relevance, for one query."""
Qrels = Mapping[str, Judgements]
"""Query id to judgements."""
Ranking = Sequence[str]
"""Document ids, best first. A repeated document counts at its first rank only."""
Run = Mapping[str, Ranking] | Mapping[str, Mapping[str, float]]
"""Query id to ranking, or to the score of each document found."""
Measure = Callable[[Ranking, Judgements], float]


def ranked(scores: Mapping[str, float]) -> list[str]:
    """Return document ids by score, best first, in the order of trec_eval.

    trec_eval stores scores in single precision and breaks ties by document id, higher first.
    """
    with np.errstate(over="ignore"):
        single = np.array(list(scores.values()), dtype=np.float64).astype(np.float32)
    return [document for _, document in sorted(zip(single.tolist(), scores, strict=True), reverse=True)]


def precision(ranking: Ranking, judgements: Judgements, k: int) -> float:
    """Return the share of the first ``k`` ranks with a relevant document; empty ranks count as not relevant."""
    return sum(gain > 0 for gain in _gains(ranking, judgements)[:k]) / k


def recall(ranking: Ranking, judgements: Judgements, k: int) -> float:
    """Return the share of the relevant documents within the first ``k`` ranks; 0 if none is relevant."""
    relevant = _relevant(judgements)
    return sum(gain > 0 for gain in _gains(ranking, judgements)[:k]) / relevant if relevant else 0.0


def reciprocal_rank(ranking: Ranking, judgements: Judgements, k: int | None = None) -> float:
    """Return 1 / rank of the first relevant document (within the first ``k``, if given), or 0."""
    for rank, gain in enumerate(_gains(ranking, judgements)[:k], start=1):
        if gain > 0:
            return 1 / rank
    return 0.0


def ndcg(ranking: Ranking, judgements: Judgements, k: int | None = None) -> float:
    """Return the discounted gain of the first ``k`` ranks (default: all) divided by the ideal one.

    The gain is the relevance divided by log2(rank + 1). The result is 0 if no document is relevant.
    """
    ideal = _discounted(sorted((gain for gain in judgements.values() if gain > 0), reverse=True)[:k])
    return _discounted(_gains(ranking, judgements)[:k]) / ideal if ideal else 0.0


def per_query(measure: Measure, run: Run, qrels: Qrels) -> dict[str, float]:
    """Return the measure of every judged query, in the order of ``qrels``.

    A judged query missing from the run gets 0, as with ``trec_eval -c``; queries without judgements are ignored.
    """
    values: dict[str, float] = {}
    for query, judgements in qrels.items():
        found = run.get(query, ())
        values[query] = measure(ranked(found) if isinstance(found, Mapping) else found, judgements)
    return values


def _gains(ranking: Ranking, judgements: Judgements) -> list[int]:
    return [max(judgements.get(document, 0), 0) for document in dict.fromkeys(ranking)]


def _relevant(judgements: Judgements) -> int:
    return sum(gain > 0 for gain in judgements.values())


def _discounted(gains: Iterable[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
