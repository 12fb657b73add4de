"""How the results of several search legs become one list.

The legs score on different scales: cosine similarity lies between -1 and 1, BM25 has no upper end.
Each method brings the scores of a leg to a common scale and adds them up with the leg's weight.
All of them are pure, and none depends on the order in which the legs are given. They work on arrays; the
history of a score is told for the few candidates that are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np
from numpy.typing import NDArray

from ragstone.contracts import Candidate, Matches, Step
from ragstone.sections import QuerySettings

Legs = Mapping[str, Matches]
"""The name of a leg, and its matches."""

_Scale = Callable[[str, NDArray[np.float64], int], tuple[NDArray[np.float64], float]]
"""From a leg, its scores, best first and never empty, and how many candidates the leg did not find, to what
each score is worth and what a candidate the leg did not find is."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fused:
    """The candidates of all legs: rows (n,) and scores (n,), best first.

    ``places`` has for each leg that found something where in it each candidate stands, and -1 where it does not.
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    legs: Legs
    places: Mapping[str, NDArray[np.intp]]
    note: str

    def __len__(self) -> int:
        return len(self.rows)

    def candidates(self, start: int = 0, stop: int | None = None) -> list[Candidate]:
        """Those from one rank (from 0) up to another, with the history of their scores."""
        return [
            Candidate(row=int(self.rows[i]), score=float(self.scores[i]), why=tuple(self._steps(i)))
            for i in range(*slice(start, stop).indices(len(self)))
        ]

    def _steps(self, i: int) -> Iterator[Step]:
        for name, places in self.places.items():
            if (place := int(places[i])) >= 0:
                yield Step(stage=name, score=float(self.legs[name].scores[place]), rank=place + 1)
        yield Step(stage="fusion", score=float(self.scores[i]), rank=i + 1, note=self.note)


def fuse(legs: Legs, weights: Mapping[str, float], settings: QuerySettings, room: Mapping[str, int]) -> Fused:
    """The candidates of all legs, best first, by the method that the settings name.

    Args:
        legs: matches of each leg, best first.
        weights: weight of each leg.
        settings: the method and its constants.
        room: how many matches each leg was asked for.

    Raises:
        KeyError: a leg that found something has no weight, or no room.
    """
    match settings.fusion:
        case "standardised":
            return standardised(legs, weights, room)
        case "min_max":
            return min_max(legs, weights)
        case "reciprocal_rank":
            return reciprocal_rank(legs, weights, settings.rrf_k)
        case "strongest":
            return strongest(legs, weights)


def min_max(legs: Legs, weights: Mapping[str, float]) -> Fused:
    """Weighted sum of scores that are stretched, per leg, to 0 for its worst match and 1 for its best.

    Where all scores of a leg are equal each counts as 1: the leg found them, and found them equally
    good. A chunk that a leg did not find gets 0 from it.

    Args:
        legs: matches of each leg, best first.
        weights: weight of each leg; with weights that sum to 1 the fused scores lie in 0 to 1.
    """

    def scale(_: str, scores: NDArray[np.float64], __: int) -> tuple[NDArray[np.float64], float]:
        low, high = scores.min(), scores.max()
        return (scores - low) / (high - low) if high > low else np.ones_like(scores), 0.0

    return _combined(legs, weights, scale, "min_max")


def reciprocal_rank(legs: Legs, weights: Mapping[str, float], k: int = 60) -> Fused:
    """Sum of weight / (k + rank), with ranks from 1 (Cormack, Clarke and Buettcher, SIGIR 2009).

    Looks at ranks only, so it needs no trust in scores. With all weights 1 it is the formula as published.

    Args:
        legs: matches of each leg, best first.
        weights: weight of each leg.
        k: how little the first ranks stand out; 60 in the paper.
    """

    def scale(_: str, scores: NDArray[np.float64], __: int) -> tuple[NDArray[np.float64], float]:
        return 1 / (k + np.arange(1, len(scores) + 1)), 0.0

    return _combined(legs, weights, scale, f"reciprocal_rank, k={k}")


def standardised(legs: Legs, weights: Mapping[str, float], room: Mapping[str, int]) -> Fused:
    """Weighted sum of standard scores, (score - mean) / standard deviation over all candidates.

    A leg in which a few chunks stand out from the rest lifts them further than a leg that finds all
    about equally good. Legs are compared on the same candidates: one that a leg did not return counts, in
    mean and deviation too, with a guess of what it would have scored there: the leg's lowest score where the
    leg was cut off, for others were next; half of that where it returned all it found, for what it left out
    it found less like the question than anything. Whatever is found alone then still stands out.

    Args:
        legs: matches of each leg, best first.
        weights: weight of each leg.
        room: how many matches each leg was asked for; with as many it was cut off.
    """

    def scale(name: str, scores: NDArray[np.float64], absent: int) -> tuple[NDArray[np.float64], float]:
        lowest = scores.min()
        missing = lowest if len(scores) >= room[name] else min(lowest, lowest / 2)
        everyone = np.concatenate([scores, np.full(absent, missing)])
        # Rounding can give equal scores a tiny deviation, and tiny differences none; both mean no preference.
        mean = everyone.sum() / len(everyone)
        apart = everyone - mean
        spread = sqrt(apart @ apart / len(everyone)) if everyone.max() > everyone.min() else 0.0
        if spread == 0:
            return np.zeros_like(scores), 0.0
        return (scores - mean) / spread, float((missing - mean) / spread)

    return _combined(legs, weights, scale, "standardised")


def strongest(legs: Legs, weights: Mapping[str, float]) -> Fused:
    """The best that any leg gives a chunk: cosines as they are, others as shares of their leg's best, times weight.

    Args:
        legs: matches of each leg, best first.
        weights: weight of each leg; the greatest counts as 1, the others in proportion.
    """
    greatest = max(weights.values(), default=1.0) or 1.0
    relative = {name: weight / greatest for name, weight in weights.items()}

    def scale(_: str, scores: NDArray[np.float64], __: int) -> tuple[NDArray[np.float64], float]:
        best = scores.max()
        return scores / best if best > 1 else scores, -np.inf

    return _combined(legs, relative, scale, "strongest", together=np.maximum)


def _combined(
    legs: Legs, weights: Mapping[str, float], scale: _Scale, method: str, together: np.ufunc = np.add
) -> Fused:
    names = sorted(name for name, matches in legs.items() if len(matches))
    if len(names) == 1:
        rows = legs[names[0]].rows  # a stable sort keeps the order of the only leg, ties included
    else:
        rows = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *(legs[name].rows for name in names)]))
        rows = rows[np.diff(rows, prepend=-1) > 0]
    total = np.full(len(rows), together.identity if together.identity is not None else -np.inf)
    places: dict[str, NDArray[np.intp]] = {}
    for name in names:
        found = legs[name]
        worth, missing = scale(name, found.scores.astype(np.float64), len(rows) - len(found))
        ranks = np.arange(len(found))
        at = ranks if len(names) == 1 else np.searchsorted(rows, found.rows)
        place = np.full(len(rows), -1, dtype=np.intp)
        place[at] = ranks
        part = np.full(len(rows), weights[name] * missing if isfinite(missing) else missing)
        part[at] = weights[name] * worth
        total = together(total, part)
        places[name] = place
    best_first = np.argsort(-total, kind="stable")
    return Fused(
        rows=rows[best_first],
        scores=total[best_first],
        legs=legs,
        places={name: place[best_first] for name, place in places.items()},
        note=f"{method}: " + " + ".join(f"{weights[name]:.4g} {name}" for name in names),
    )
