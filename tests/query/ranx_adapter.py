"""A pytest plugin that puts our fusion behind the names of ranx, so that ranx's own tests judge it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType

import numpy as np

from ragstone.core.records import Matches
from ragstone.query.fuse import Fused, min_max, reciprocal_rank, standardised

Scores = dict[str, float]


class Run(dict[str, Scores]):
    """Scores of documents by query, as ranx has them."""

    name = ""

    @property
    def run(self) -> dict[str, Scores]:
        return self

    @property
    def size(self) -> int:
        return len(self)


def _leg(found: Scores) -> Matches:
    best_first = sorted(found.items(), key=lambda item: -item[1])
    return Matches(
        rows=np.array([int(document.removeprefix("d")) for document, _ in best_first]),
        scores=np.array([score for _, score in best_first]),
    )


def _scores(fused: Fused) -> Scores:
    return {f"d{row}": float(score) for row, score in zip(fused.rows, fused.scores, strict=True)}


def rrf(runs: Sequence[Run]) -> Run:
    legs = {query: {f"run {n}": _leg(run[query]) for n, run in enumerate(runs)} for query in runs[0]}
    fused = Run((query, _scores(reciprocal_rank(found, dict.fromkeys(found, 1.0)))) for query, found in legs.items())
    fused.name = "rrf"
    return fused


def min_max_norm(run: Run) -> Run:
    return Run((query, _scores(min_max({"run": _leg(found)}, {"run": 1.0}))) for query, found in run.items())


def zmuv_norm(run: Run) -> Run:
    room = {"run": 1}
    return Run((query, _scores(standardised({"run": _leg(found)}, {"run": 1.0}, room))) for query, found in run.items())


def _module(name: str, **members: object) -> None:
    sys.modules[name] = ModuleType(name)
    vars(sys.modules[name]).update(members)


_module("ranx", Run=Run)
_module("ranx.fusion", rrf=rrf)
_module("ranx.normalization", min_max_norm=min_max_norm, zmuv_norm=zmuv_norm, norm_switch=None)
