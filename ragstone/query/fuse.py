"""Fusion: combine the results of several search legs into one ranked list.

Legs score on different scales: a cosine similarity lies between -1 and 1, BM25 has no upper end. A fusion rule brings
the scores of each leg to a common scale and combines them with the weights of the legs. If only one leg was run, its
scores stay as they are. Every rule is a pure function of arrays and ignores the order of the legs. The history of a
score is built only for the candidates that are read.

To add a rule, write a function of the legs and whatever else it needs, enter it in `RULES`, and add its name to
``query.fusion`` in ``ragstone/settings/search.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import isfinite, sqrt

import numpy as np
from numpy.typing import NDArray

from ragstone.core.frozen import frozen
from ragstone.core.records import Candidate, Matches, Step
from ragstone.settings import QuerySettings

Legs = Mapping[str, Matches]
"""The matches of each leg by its name, best first."""
Weights = Mapping[str, float]
"""The weight of each leg."""
Limits = Mapping[str, int]
"""How many matches each leg was asked for."""

SIMILARITY = "vector"
"""The leg whose scores are cosine similarities."""

_Scale = Callable[[str, NDArray[np.float64], int], tuple[NDArray[np.float64], float]]
"""Scale the scores of a leg.

Takes the name of the leg, its scores (best first, at least one), and the number of candidates that only other legs
found. Returns the scaled scores, and the scaled score of a candidate that the leg did not find.
"""


@frozen(eq=False)
class Fused:
    """The candidates of all legs: rows (n,) and scores (n,), best first.

    ``places`` gives for each leg that found something the position of each candidate in it, or -1.
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    legs: Legs
    places: Mapping[str, NDArray[np.intp]]
    note: str

    def __len__(self) -> int:
        return len(self.rows)

    def candidates(self, start: int = 0, stop: int | None = None) -> list[Candidate]:
        """Return the candidates from one rank (counted from 0) up to another, with the history of their scores."""
        return [
            Candidate(row=int(self.rows[i]), score=float(self.scores[i]), why=tuple(self._steps(i)))
            for i in range(*slice(start, stop).indices(len(self)))
        ]

    def _steps(self, i: int) -> Iterator[Step]:
        for name, places in self.places.items():
            if (place := int(places[i])) >= 0:
                yield Step(stage=name, score=float(self.legs[name].scores[place]), rank=place + 1)
        yield Step(stage="fusion", score=float(self.scores[i]), rank=i + 1, note=self.note)


def fuse(legs: Legs, weights: Weights, settings: QuerySettings, limits: Limits) -> Fused:
    """Return the candidates of all legs, best first, by the rule that the settings name.

    A single leg needs no rule: its scores stay cosine similarities or BM25 scores, to which boosts can be added.

    Args:
        legs: matches of each leg that was run, best first.
        weights: weight of each leg.
        settings: the rule and its constants.
        limits: how many matches each leg was asked for.

    Raises:
        KeyError: a leg that found something has no weight, or no limit.
    """
    if len(legs) == 1:
        return _alone(legs)
    return RULES[settings.fusion](legs, weights, settings, limits)


def min_max(legs: Legs, weights: Weights) -> Fused:
    """Sum the weighted scores after stretching those of each leg to 0 for its worst match and 1 for its best.

    If all scores of a leg are equal, each counts as 1. A chunk that a leg did not find gets 0 from it. With weights
    that sum to 1 the fused scores lie in 0..1.
    """

    def scale(_: str, scores: NDArray[np.float64], __: int) -> tuple[NDArray[np.float64], float]:
        low, high = scores.min(), scores.max()
        return (scores - low) / (high - low) if high > low else np.ones_like(scores), 0.0

    return _combined(legs, weights, scale, "min_max")


def reciprocal_rank(legs: Legs, weights: Weights, k: int = 60) -> Fused:
    """Sum weight / (k + rank) over the legs, with ranks from 1 (Cormack, Clarke and Buettcher, SIGIR 2009).

    The rule uses ranks only and ignores scores. The greatest weight counts as 1 and the others in proportion, so that
    equal weights give the published formula.

    Args:
        legs: matches of each leg, best first.
        weights: weight of each leg.
        k: how little the first ranks stand out; 60 in the paper.
    """

    def scale(_: str, scores: NDArray[np.float64], __: int) -> tuple[NDArray[np.float64], float]:
        return 1 / (k + np.arange(1, len(scores) + 1)), 0.0

    return _combined(legs, _relative(weights), scale, f"reciprocal_rank, k={k}")


def standardised(legs: Legs, weights: Weights, limits: Limits) -> Fused:
    """Sum the weighted standard scores, (score - mean) / standard deviation over all candidates.

    A leg in which a few chunks stand out lifts them further than a leg whose matches are all about equally good. All
    legs are standardised over the same candidates. A candidate that a leg did not return enters its mean and deviation
    with an estimated score: the lowest score of the leg if the leg reached its limit, because the next match would
    score about that; half of the lowest score if it did not, because everything it left out is less similar.

    The mean of a single candidate is its own score, so its standard score says nothing. It gets its similarity to the
    question instead, or without one the weighted mean of its raw scores, each limited to 0..1.

    Args:
        legs: matches of each leg, best first.
        weights: weight of each leg.
        limits: how many matches each leg was asked for.
    """

    def scale(name: str, scores: NDArray[np.float64], absent: int) -> tuple[NDArray[np.float64], float]:
        lowest = scores.min()
        missing = lowest if len(scores) >= limits[name] else min(lowest, lowest / 2)
        everyone = np.concatenate([scores, np.full(absent, missing)])
        # Rounding can give equal scores a tiny deviation, and tiny differences none; both mean no preference.
        mean = everyone.sum() / len(everyone)
        apart = everyone - mean
        spread = sqrt(apart @ apart / len(everyone)) if everyone.max() > everyone.min() else 0.0
        if spread == 0:
            return np.zeros_like(scores), 0.0
        return (scores - mean) / spread, float((missing - mean) / spread)

    fused = _combined(legs, weights, scale, "standardised")
    return replace(fused, scores=np.array([_single_score(legs, weights)])) if len(fused) == 1 else fused


def strongest(legs: Legs, weights: Weights) -> Fused:
    """Take the best weighted score that any leg gives a chunk.

    Cosine similarities count as they are; scores above 1 are divided by the best of their leg. The greatest weight
    counts as 1 and the others in proportion.
    """

    def scale(_: str, scores: NDArray[np.float64], __: int) -> tuple[NDArray[np.float64], float]:
        best = scores.max()
        return scores / best if best > 1 else scores, -np.inf

    return _combined(legs, _relative(weights), scale, "strongest", combine=np.maximum)


Rule = Callable[[Legs, Weights, QuerySettings, Limits], Fused]
"""A fusion rule, of which each function above takes what it needs."""
RULES: Mapping[str, Rule] = {
    "standardised": lambda legs, weights, _settings, limits: standardised(legs, weights, limits),
    "min_max": lambda legs, weights, _settings, _limits: min_max(legs, weights),
    "reciprocal_rank": lambda legs, weights, settings, _limits: reciprocal_rank(legs, weights, settings.rrf_k),
    "strongest": lambda legs, weights, _settings, _limits: strongest(legs, weights),
}
"""Every fusion rule by its name in ``query.fusion``."""


def _relative(weights: Weights) -> Weights:
    """Return the weights with the greatest as 1 and the others in proportion."""
    greatest = max(weights.values(), default=1.0) or 1.0
    return {name: weight / greatest for name, weight in weights.items()}


def _alone(legs: Legs) -> Fused:
    """Return the matches of the only leg with their own scores."""
    ((name, matches),) = legs.items()
    places = {name: np.arange(len(matches))} if len(matches) else {}
    scores = matches.scores.astype(np.float64)
    return Fused(rows=matches.rows, scores=scores, legs=legs, places=places, note=f"{name} alone")


def _single_score(legs: Legs, weights: Weights) -> float:
    """Return the similarity, 0..1, of the only candidate, or the weighted mean of its scores if no vector found it."""
    total = sum(weights[name] for name in legs if name in weights)
    found = {name: float(np.clip(matches.scores[0], 0, 1)) for name, matches in legs.items() if len(matches)}
    if SIMILARITY in found:
        return found[SIMILARITY]
    return sum(weights[name] * score for name, score in found.items()) / total if total > 0 else 0.0


def _combined(legs: Legs, weights: Weights, scale: _Scale, rule: str, combine: np.ufunc = np.add) -> Fused:
    names = sorted(name for name, matches in legs.items() if len(matches))
    if len(names) == 1:
        rows = legs[names[0]].rows  # a stable sort keeps the order of a single leg, ties included
    else:
        rows = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *(legs[name].rows for name in names)]))
        rows = rows[np.append(True, rows[1:] > rows[:-1])] if len(rows) else rows
    total = np.full(len(rows), combine.identity if combine.identity is not None else -np.inf)
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
        total = combine(total, part)
        places[name] = place
    best_first = np.argsort(-total, kind="stable")
    return Fused(
        rows=rows[best_first],
        scores=total[best_first],
        legs=legs,
        places={name: place[best_first] for name, place in places.items()},
        note=f"{rule}: " + " + ".join(f"{weights[name]:.4g} {name}" for name in names),
    )
