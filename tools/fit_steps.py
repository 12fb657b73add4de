"""Fit `ragstone.query.steps.joining`: which passage belongs to those that were chosen before it.

    RAGSTONE_TEST_DATA=... python -m tools.fit_steps [--keep DIR]

The questions are the training parts of HotpotQA and 2WikiMultihopQA, over all their passages. Places are filled as the
product fills them; at each, a right passage that is missing should come before all others (softmax over the
candidates). Each set is measured with coefficients fitted to the other; the last line has those fitted to both. The
sets of ``benchmarks.hops`` are not used.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benchmarks.bases import NO_CACHE, filled
from benchmarks.common import Options, progress
from benchmarks.question_sets import question_set
from ragstone.core.records import Hit, Trace
from ragstone.core.request import Request
from ragstone.core.timing import Timings
from ragstone.engine.search import Search
from ragstone.engine.steps import CANDIDATES, JOINED, FirstSearch, Steps
from ragstone.query.steps.joining import FITTED, Chosen, Coefficients, Joining
from ragstone.question import read

SETS = ("hotpotqa", "2wikimultihop")
EMBEDDER = "minilm"
PASSES = 3
"""Times that the places are filled with the coefficients found last."""
ROUNDS, RATE, PENALTY = 200, 0.1, 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question's candidates, the document of each, which are right, and the documents wanted."""

    joining: Joining
    right: Sequence[bool]
    documents: Sequence[str]
    wanted: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A place to fill: the features of the candidates (candidates, features), which are right, and its weight."""

    features: NDArray[np.float64]
    right: NDArray[np.bool_]
    weight: float


async def cases(data: Path, keep: Path, name: str) -> list[Case]:
    """Return the questions of a set that several documents answer together."""
    questions = question_set(data, name)
    out = list[Case]()
    options, chosen = Options(keep=keep, data=data), [*NO_CACHE, f"index.embedder={EMBEDDER}"]
    async with filled(options, questions.dataset, chosen) as kb:
        with kb.current() as version:
            search, steps, request = Search(version), Steps(version), Request.by_owner()
            for one in questions.asked:
                if len(one.documents) > 1:
                    trace = await search.trace(read(one.text), None, JOINED, request, Timings(), shown=CANDIDATES)
                    out.append(await _case(trace, one.documents, steps, request))
    progress(f"{name}: {len(out)} questions")
    return out


async def _case(trace: Trace, right: frozenset[str], steps: Steps, request: Request) -> Case:
    async def none(text: str) -> Sequence[Hit]:
        del text
        return ()

    first = FirstSearch(
        asked=trace.evidence.question,
        hits=trace.fused[:JOINED],
        k=JOINED,
        more=lambda count: trace.fused[:count],
        also=none,
        where=None,
    )
    joining, hits = await steps.candidates(first, request)
    documents = [hit.chunk.document_id for hit in hits]
    return Case(joining=joining, right=[one in right for one in documents], documents=documents, wanted=right)


def fit(sets: Sequence[Sequence[Case]]) -> Coefficients:
    """Return the coefficients that fit these sets, each with the same weight."""
    found = np.array(FITTED)
    for _ in range(PASSES):
        choices = [one for cases in sets for case in cases for one in _choices(case, found, 1 / len(cases))]
        found = _fitted(choices, found)
    return Coefficients(*found.tolist())


def _choices(case: Case, weights: NDArray[np.float64], weight: float) -> list[Choice]:
    """Return the places that are filled with these coefficients, as long as a right document is missing."""
    chosen, out = [Chosen(place=0)], list[Choice]()
    while len(chosen) < min(JOINED, len(case.documents)):
        taken, there = {one.place for one in chosen}, {case.documents[one.place] for one in chosen}
        rest = [place for place in range(len(case.documents)) if place not in taken]
        right = np.array([case.right[place] and case.documents[place] not in there for place in rest])
        if not right.any():
            break
        covered, leads = case.joining.covered(chosen), case.joining.leads(chosen)
        features = np.array([case.joining.features(place, leads, covered) for place in rest])
        out.append(Choice(features=features, right=right, weight=weight))
        chosen.append(Chosen(place=rest[int((features @ weights).argmax())]))
    return out


def _fitted(choices: Sequence[Choice], start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the coefficients with the least loss, by Adam."""
    total = sum(one.weight for one in choices)
    found, mean_, square = start.copy(), np.zeros_like(start), np.zeros_like(start)
    for step in range(1, ROUNDS + 1):
        slope = 2 * PENALTY * found
        for one in choices:
            value = one.features @ found
            share = np.exp(value - value.max())
            share /= share.sum()
            own = share * one.right
            own /= max(own.sum(), 1e-12)
            slope -= one.weight / total * (one.features.T @ (own - share))
        mean_, square = 0.9 * mean_ + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        found = found - RATE * (mean_ / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return found


def recall(cases: Sequence[Case], coefficients: Coefficients | None) -> float:
    """Return the mean share of right documents among the joined ones; of the first search without coefficients."""

    def found(case: Case) -> set[str]:
        places = range(min(JOINED, len(case.documents)))
        if coefficients:
            places = [one.place for one in case.joining.under(coefficients).choose(JOINED)]
        return {case.documents[place] for place in places}

    return mean(len(case.wanted & found(case)) / len(case.wanted) for case in cases)


def main() -> None:
    """Measure each set with the others' coefficients, then print those of all."""
    parser = argparse.ArgumentParser(prog="python -m tools.fit_steps")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the knowledge bases in DIR for the next run")
    given = parser.parse_args()
    data = Path(os.environ["RAGSTONE_TEST_DATA"])
    with TemporaryDirectory() as temporary:
        keep = given.keep or Path(temporary)
        found = {name: asyncio.run(cases(data, keep, name)) for name in SETS}
    for name, own in found.items():
        others = fit([some for other, some in found.items() if other != name])
        print(f"{name}: recall@{JOINED} {recall(own, None):.3f}, joined {recall(own, others):.3f}")
    fitted = fit(list(found.values()))
    print(", ".join(f"{name}={value:.1f}" for name, value in fitted._asdict().items()))


if __name__ == "__main__":
    main()
