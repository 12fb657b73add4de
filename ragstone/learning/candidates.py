"""Which policies deserve a trial: votes are scarce, so only what did no worse on questions already answered goes live.

A candidate is a neighbour of the champion: one choice moved by a step. Each is replayed on questions whose right
documents are known, from a labelled set or from votes and corrections. What was voted for was found by the champion,
so a replay on votes rather favours the champion; that costs a chance, and never harms.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ragstone.learning.eprocess import Floats
from ragstone.learning.policy import BOUNDS, Bound, Choices

FEWEST = 10
"""Questions below which nothing passes: of so few, a spread says nothing."""
MARGIN = 0.02
"""Of the measure: a loss that is let pass."""
_ONE_SIDED = 1.645
"""Standard errors below which a mean truly lies in one case of twenty."""
_USUAL = 0.05
"""By how much policies typically differ; differences are drawn towards 0 as far as chance alone would give as large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A document that a search found, with its score in each leg, on one scale; None: the leg did not find it."""

    document_id: str
    vector: float | None = None
    keyword: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """What was found for a question, and which of it is known to be right.

    ``weight`` is the vectors' share of the fusion where the settings leave it to the question.
    """

    kind: str
    found: tuple[Found, ...]
    right: Collection[str]
    weight: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Choices that did no worse on so many questions.

    ``promise`` is the difference, drawn towards 0 as far as it is unsure.
    """

    choices: Choices
    questions: int
    difference: float
    low: float
    promise: float


def neighbours(
    now: Choices, names: Collection[str] | None = None, bounds: Mapping[str, Bound] = BOUNDS
) -> tuple[Choices, ...]:
    """All choices that differ in one, by one step up or down; reranking the other way.

    Args:
        now: those in force; what they leave open is left so.
        names: of the choices that may differ; all, if not given.
        bounds: of each number.
    """
    out = []
    for name, bound in bounds.items():
        value = getattr(now, name)
        if value is None or (names is not None and name not in names):
            continue
        for wanted in (value - bound.step, value + bound.step):
            moved = bound.moved(value, wanted)
            moved = round(moved) if name == "top_k" else round(moved, 6)
            if moved != value:
                out.append(replace(now, **{name: moved}))
    if now.rerank is not None and (names is None or "rerank" in names):
        out.append(replace(now, rerank=not now.rerank))
    return tuple(out)


def replayed(logged: Sequence[Logged], choices: Choices) -> Floats:
    """How good a fusion would have been on each question (questions,): one by the rank of the first right document.

    Only documents that were found then can be found now; 0 where none of the first ``top_k`` is right.
    """
    weight = choices.vector_weight
    return np.array(
        [_quality(one, one.weight if weight is None else weight, choices.top_k) for one in logged], dtype=np.float64
    )


def _quality(logged: Logged, vector: float, top_k: int | None) -> float:
    least = [
        min((leg for leg in legs if leg is not None), default=0.0)
        for legs in zip(*((one.vector, one.keyword) for one in logged.found), strict=True)
    ] or [0.0, 0.0]

    def score(one: Found) -> float:
        by_vector = least[0] if one.vector is None else one.vector
        by_keyword = least[1] if one.keyword is None else one.keyword
        return vector * by_vector + (1 - vector) * by_keyword

    ranking = sorted(logged.found, key=lambda one: (-score(one), one.document_id))[:top_k]
    ranks = (rank for rank, one in enumerate(ranking, start=1) if one.document_id in logged.right)
    return 1 / next(ranks, np.inf)


def screened(base: Floats, tried: Sequence[tuple[Choices, Floats]], margin: float = MARGIN) -> tuple[Candidate, ...]:
    """The candidates that are not inferior, the most promising first.

    Args:
        base: the champion's quality on each question (questions,).
        tried: each candidate with its own.
        margin: one passes if it is, with a confidence of 95%, not worse by more than this. So too few questions let
            nothing pass.
    """
    out = []
    for choices, quality in tried:
        differences = quality - base
        if len(differences) < FEWEST:
            continue
        mean = float(differences.mean())
        error = float(differences.std(ddof=1) / np.sqrt(len(differences)))
        low = mean - _ONE_SIDED * error
        if low > -margin and differences.any():
            promise = mean * _USUAL**2 / (_USUAL**2 + error**2)
            out.append(
                Candidate(
                    choices=choices,
                    questions=len(differences),
                    difference=round(mean, 6),
                    low=round(low, 6),
                    promise=round(promise, 6),
                )
            )
    return tuple(sorted(out, key=lambda one: -one.promise))
