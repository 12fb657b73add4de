"""Add what a stage made of hits to their history."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ragstone.core.records import Hit, Step

Rated = tuple[Hit, float, str]
"""A hit, its score of a stage, and a note."""


def ranked(stage: str, rated: Iterable[Rated]) -> list[Hit]:
    """Return hits with the scores of a stage, best first."""
    best_first = sorted(rated, key=lambda one: -one[1])
    return with_steps(stage, ((replace(hit, score=score), score, note) for hit, score, note in best_first))


def with_steps(stage: str, picked: Iterable[Rated]) -> list[Hit]:
    """Return hits in their order, with their own scores; the history of each notes its rank and score of the stage."""
    return [
        replace(hit, why=(*hit.why, Step(stage=stage, score=score, rank=rank, note=note)))
        for rank, (hit, score, note) in enumerate(picked, start=1)
    ]
