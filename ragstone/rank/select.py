"""Which of the ranked hits an answer rests on: spread over sources, or over content.

Pure functions over hits, best first. None but `unit_scaled` changes a hit's score; each adds the rank it gave to the
hit's history.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from ragstone.contracts import Hit, Step


def round_robin(hits: Sequence[Hit], k: int) -> list[Hit]:
    """At most ``k`` hits, one from each document in turn.

    The turn goes round the documents in order of the best score each has; within a document the better
    hit comes first. Equal scores keep the order in which they are given.
    """
    by_document = _by_document(hits)
    rounds = zip_longest(*by_document)
    picked = [(n, hit) for n, turn in enumerate(rounds, start=1) for hit in turn if hit is not None]
    return _with_steps("round_robin", [(hit, hit.score, f"round {n}") for n, hit in picked[: max(k, 0)]])


def one_per_document(hits: Sequence[Hit]) -> list[Hit]:
    """The best hit of each document, best first."""
    by_document = _by_document(hits)
    return _with_steps("one_per_document", [(own[0], own[0].score, f"best of {len(own)}") for own in by_document])


def mmr(hits: Sequence[Hit], k: int, lambda_: float) -> list[Hit]:
    """At most ``k`` hits by maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998).

    Picks, one after another, the hit with the greatest lambda * relevance - (1 - lambda) * similarity,
    where similarity is the greatest cosine to a hit already picked (0 before the first). Relevance is
    the score stretched to 0..1 over ``hits``, because scores of other scales cannot be weighed against
    a cosine; equal scores are all 1. Of equal hits the one with the better score comes first.

    Args:
        hits: with L2-normalised vectors of one length.
        k: how many to pick.
        lambda_: 1 is relevance alone, 0 is novelty alone.

    Raises:
        ValueError: a hit has no vector, or ``lambda_`` lies outside 0..1.
    """
    if not 0 <= lambda_ <= 1:
        raise ValueError(f"lambda_ must lie in 0..1, not {lambda_}")
    pool = _best_first(hits)
    vectors = [hit.vector for hit in pool if hit.vector is not None]
    if len(vectors) < len(pool):
        raise ValueError("mmr needs the vector of every hit")
    if not pool:
        return []
    matrix = np.stack(vectors)
    relevance = _unit_scale(np.array([hit.score for hit in pool], dtype=np.float64))
    similarity = np.zeros(len(pool))
    left = np.ones(len(pool), dtype=bool)
    picked: list[tuple[Hit, float, str]] = []
    while left.any() and len(picked) < k:
        marginal = lambda_ * relevance - (1 - lambda_) * similarity
        best = int(np.where(left, marginal, -np.inf).argmax())
        note = f"relevance {relevance[best]:.3f}, similarity {similarity[best]:.3f}, lambda {lambda_:g}"
        picked.append((pool[best], float(marginal[best]), note))
        left[best] = False
        cosine = matrix @ matrix[best]
        similarity = cosine if len(picked) == 1 else np.maximum(similarity, cosine)
    return _with_steps("mmr", picked)


def unit_scaled(ranked: Sequence[Hit], rest: Sequence[Hit] = ()) -> list[Hit]:
    """Hits with scores stretched to 0..1, for each model has a scale of its own; the rest stays below them, at 0."""
    if not ranked:
        return list(rest)
    scores = _unit_scale(np.array([hit.score for hit in ranked], dtype=np.float64))
    told = [replace(hit, score=float(score)) for hit, score in zip(ranked, scores, strict=True)]
    return [*told, *(replace(hit, score=0.0) for hit in rest)]


def _best_first(hits: Iterable[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: -hit.score)


def _by_document(hits: Iterable[Hit]) -> list[list[Hit]]:
    """The hits of each document, best first, and the documents by their best hit."""
    groups: dict[str, list[Hit]] = {}
    for hit in _best_first(hits):
        groups.setdefault(hit.chunk.document_id, []).append(hit)
    return list(groups.values())


def _unit_scale(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.ones_like(scores)


def _with_steps(stage: str, picked: Iterable[tuple[Hit, float, str]]) -> list[Hit]:
    return [
        replace(hit, why=(*hit.why, Step(stage=stage, score=score, rank=rank, note=note)))
        for rank, (hit, score, note) in enumerate(picked, start=1)
    ]
