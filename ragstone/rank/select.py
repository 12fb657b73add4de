"""Select the hits an answer may use: diverse in source or content, within a token budget, neighbours joined.

All functions are pure and take hits best first. Only `unit_scaled` changes scores. Each selection adds its rank to the
history of a hit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from ragstone.core.records import WEAK, Chunk, Hit, Step
from ragstone.rank.history import with_steps


def round_robin(hits: Sequence[Hit], k: int) -> list[Hit]:
    """Return at most ``k`` hits, taking one from each document in turn.

    Documents take turns in the order of their best score. Equal scores keep their order.
    """
    by_document = _by_document(hits)
    rounds = zip_longest(*by_document)
    picked = [(n, hit) for n, turn in enumerate(rounds, start=1) for hit in turn if hit is not None]
    return with_steps("round_robin", [(hit, hit.score, f"round {n}") for n, hit in picked[: max(k, 0)]])


def one_per_document(hits: Sequence[Hit]) -> list[Hit]:
    """Return the best hit of each document, best first."""
    by_document = _by_document(hits)
    return with_steps("one_per_document", [(own[0], own[0].score, f"best of {len(own)}") for own in by_document])


def mmr(hits: Sequence[Hit], k: int, lambda_: float) -> list[Hit]:
    """Return at most ``k`` hits by maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998).

    Each step picks the hit with the greatest lambda * relevance - (1 - lambda) * similarity. Similarity is the greatest
    cosine to a hit already picked, 0 before the first. Relevance is the score scaled to 0..1 over ``hits``, so that it
    can be compared with a cosine; equal scores are all 1. Ties go to the better score.

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
    return with_steps("mmr", picked)


def weak(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits, each with the step that says that no hit is similar to the question."""
    return with_steps(WEAK, [(hit, hit.score, "no hit is similar to the question") for hit in hits])


def unit_scaled(ranked: Sequence[Hit], rest: Sequence[Hit] = ()) -> list[Hit]:
    """Scale the scores of reranked hits to 0..1, because each model has its own scale; the rest follows with 0."""
    if not ranked:
        return list(rest)
    scores = _unit_scale(np.array([hit.score for hit in ranked], dtype=np.float64))
    scaled = [replace(hit, score=float(score)) for hit, score in zip(ranked, scores, strict=True)]
    return [*scaled, *(replace(hit, score=0.0) for hit in rest)]


def within_budget(hits: Sequence[Hit], k: int, tokens: int, length: Callable[[str], int]) -> list[Hit]:
    """Return at most ``k`` hits within a token budget, in order; a hit that would exceed it is skipped.

    Args:
        hits: best first.
        k: most hits to return.
        tokens: the budget.
        length: counts the tokens of a text.
    """
    chosen: list[Hit] = []
    left = tokens
    for hit in hits:
        if len(chosen) == k:
            break
        cost = length(hit.chunk.text)
        if cost <= left:
            left -= cost
            chosen.append(hit)
    return chosen


def join_neighbours(hits: Sequence[Hit]) -> list[Hit]:
    """Join chunks of a document that overlap or touch into one hit, with the rank and id of the best.

    Shared text appears once. The id remains that of a stored chunk; the span covers all of them. Rows of a table are
    joined only with rows of the same one, because the facts of a chunk have the headings of one table.
    """
    groups: dict[str, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(hit.chunk.document_id, []).append(hit)
    joined: dict[str, Hit] = {}
    for group in groups.values():
        for run in _runs(group):
            best = min(run, key=group.index)
            joined[best.chunk.id] = best if len(run) == 1 else _joined(best, run)
    return [joined[hit.chunk.id] for hit in hits if hit.chunk.id in joined]


def _best_first(hits: Iterable[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: -hit.score)


def _by_document(hits: Iterable[Hit]) -> list[list[Hit]]:
    """Group hits by document, best first, and sort the documents by their best hit."""
    groups: dict[str, list[Hit]] = {}
    for hit in _best_first(hits):
        groups.setdefault(hit.chunk.document_id, []).append(hit)
    return list(groups.values())


def _unit_scale(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.ones_like(scores)


def _runs(group: Sequence[Hit]) -> list[list[Hit]]:
    """Group the hits of one document, in text order, into runs that overlap or touch."""
    runs: list[list[Hit]] = []
    end = -1
    for hit in sorted(group, key=lambda hit: (hit.chunk.start, hit.chunk.end)):
        if runs and hit.chunk.start <= end and _table(hit.chunk) == _table(runs[-1][-1].chunk):
            runs[-1].append(hit)
        else:
            runs.append([hit])
        end = max(end, hit.chunk.end)
    return runs


def _table(chunk: Chunk) -> tuple[object, ...]:
    """Return what tells the table of a chunk from others nearby; the same for all chunks that are none."""
    return tuple(chunk.facts.get(key) for key in ("is_table", "table_caption", "table_header") if chunk.facts.get(key))


def _joined(best: Hit, run: Sequence[Hit]) -> Hit:
    first: Chunk = run[0].chunk
    text, end = first.text, first.end
    for hit in run[1:]:
        if hit.chunk.end > end:
            text += hit.chunk.text[end - hit.chunk.start :]
            end = hit.chunk.end
    above = {key: first.facts[key] for key in ("header_rows", "table_sections") if key in first.facts}
    facts = {**best.chunk.facts, **above}
    chunk = replace(
        best.chunk, start=first.start, end=end, text=text, index=first.index, context=first.context, facts=facts
    )
    rank = best.why[-1].rank if best.why else 1
    step = Step(stage="join", score=best.score, rank=rank, note=f"{len(run)} neighbouring chunks")
    return replace(best, chunk=chunk, why=(*best.why, step))
