"""How the results of several search legs become one list.

The legs score on different scales: cosine similarity lies between -1 and 1, BM25 has no upper end.
Each method brings the scores of a leg to a common scale and adds them up with the leg's weight.
All of them are pure, and none depends on the order in which the legs are given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ragstone.contracts import Candidate, Match, Step
from ragstone.sections import QuerySettings

Legs = Mapping[str, Sequence[Match]]
"""The name of a leg, and its matches: best first, each row once."""

_Scale = Callable[[NDArray[np.float64], int], tuple[NDArray[np.float64], float]]
"""From a leg's scores, best first and never empty, and how many candidates the leg did not find, to what
each score is worth and what a candidate the leg did not find is."""


def fuse(legs: Legs, weights: Mapping[str, float], settings: QuerySettings, fetched: int) -> list[Candidate]:
    """The candidates of all legs, best first, by the method that the settings name.

    Args:
        legs: matches of each leg, best first.
        weights: weight of each leg.
        settings: the method and its constants.
        fetched: how many matches each leg was asked for.

    Raises:
        KeyError: a leg that found something has no weight.
    """
    match settings.fusion:
        case "standardised":
            return standardised(legs, weights, fetched)
        case "min_max":
            return min_max(legs, weights)
        case "reciprocal_rank":
            return reciprocal_rank(legs, weights, settings.rrf_k)


def min_max(legs: Legs, weights: Mapping[str, float]) -> list[Candidate]:
    """Weighted sum of scores that are stretched, per leg, to 0 for its worst match and 1 for its best.

    Where all scores of a leg are equal each counts as 1: the leg found them, and found them equally
    good. A chunk that a leg did not find gets 0 from it.

    Args:
        legs: matches of each leg, best first.
        weights: weight of each leg; with weights that sum to 1 the fused scores lie in 0 to 1.
    """

    def scale(scores: NDArray[np.float64], _: int) -> tuple[NDArray[np.float64], float]:
        low, high = scores.min(), scores.max()
        return (scores - low) / (high - low) if high > low else np.ones_like(scores), 0.0

    return _weighted_sum(legs, weights, scale, "min_max")


def reciprocal_rank(legs: Legs, weights: Mapping[str, float], k: int = 60) -> list[Candidate]:
    """Sum of weight / (k + rank), with ranks from 1 (Cormack, Clarke and Buettcher, SIGIR 2009).

    Looks at ranks only, so it needs no trust in scores. With all weights 1 it is the formula as published.

    Args:
        legs: matches of each leg, best first.
        weights: weight of each leg.
        k: how little the first ranks stand out; 60 in the paper.
    """

    def scale(scores: NDArray[np.float64], _: int) -> tuple[NDArray[np.float64], float]:
        return 1 / (k + np.arange(1, len(scores) + 1)), 0.0

    return _weighted_sum(legs, weights, scale, f"reciprocal_rank, k={k}")


def standardised(legs: Legs, weights: Mapping[str, float], fetched: int) -> list[Candidate]:
    """Weighted sum of standard scores, (score - mean) / standard deviation over all candidates.

    A leg in which a few chunks stand out from the rest lifts them further than a leg that finds all
    about equally good. Legs are compared on the same candidates: one that a leg did not return counts, in
    mean and deviation too, with a guess of what it would have scored there: the leg's lowest score where the
    leg was cut off, for others were next; half of that where it returned all it found, for what it left out
    it found less like the question than anything. Whatever is found alone then still stands out.

    Args:
        legs: matches of each leg, best first.
        weights: weight of each leg.
        fetched: how many matches each leg was asked for.
    """

    def scale(scores: NDArray[np.float64], absent: int) -> tuple[NDArray[np.float64], float]:
        lowest = scores.min()
        missing = lowest if len(scores) >= fetched else min(lowest, lowest / 2)
        everyone = np.concatenate([scores, np.full(absent, missing)])
        # Rounding can give equal scores a tiny deviation, and tiny differences none; both mean no preference.
        spread = everyone.std() if everyone.max() > everyone.min() else 0.0
        if spread == 0:
            return np.zeros_like(scores), 0.0
        mean = everyone.mean()
        return (scores - mean) / spread, float((missing - mean) / spread)

    return _weighted_sum(legs, weights, scale, "standardised")


def _weighted_sum(legs: Legs, weights: Mapping[str, float], scale: _Scale, method: str) -> list[Candidate]:
    names = sorted(name for name, matches in legs.items() if matches)
    if len(names) == 1:
        rows = [match.row for match in legs[names[0]]]  # a stable sort keeps the order of the only leg, ties included
    else:
        rows = sorted({match.row for name in names for match in legs[name]})
    total = dict.fromkeys(rows, 0.0)
    found: dict[int, list[Step]] = {row: [] for row in rows}
    for name in names:
        scores = np.array([match.score for match in legs[name]], dtype=np.float64)
        worth, missing = scale(scores, len(rows) - len(scores))
        worth_of = {match.row: float(value) for match, value in zip(legs[name], worth, strict=True)}
        for row in rows:
            total[row] += weights[name] * worth_of.get(row, missing)
        for rank, match in enumerate(legs[name], start=1):
            found[match.row].append(Step(stage=name, score=match.score, rank=rank))
    note = f"{method}: " + " + ".join(f"{weights[name]:g} {name}" for name in names)
    best_first = sorted(rows, key=lambda row: -total[row])
    return [
        Candidate(
            row=row,
            score=float(total[row]),
            why=(*found[row], Step(stage="fusion", score=float(total[row]), rank=rank, note=note)),
        )
        for rank, row in enumerate(best_first, start=1)
    ]
