"""Fit the coefficients and thresholds of `ragstone.respond.quoting.answerability`.

    RAGSTONE_TEST_DATA=... python -m tools.fit_answerability [--keep DIR] [--embedders minilm,e5-small]

Coefficients are fitted to all sets of `benchmarks.cases` together. What they are worth elsewhere is measured on each
set with coefficients fitted to the others, and so are the thresholds for `respond.risk` and the costs of the outcomes.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import exp, lgamma, log
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.calibration import calibration_error, fitted, left_out, usual_similarity
from benchmarks.cases import ACROSS, FITTED, MARKED, SMALL, Case, cases
from benchmarks.judge import auc
from benchmarks.question_sets import is_there
from ragstone.respond.quoting.answerability import Coefficients

RISKS = (0.05, 0.1, 0.15, 0.2, 0.3)
DOUBT = 0.1
"""The largest probability that a threshold promises too much."""
FIRST = 8
"""The first threshold tried allows this many wrong answers, so that it can pass."""
NAMES = tuple(one.name for one in fields(Coefficients))[1:-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What each outcome costs if the quotes are right, and if they are wrong; a wrong answer costs 1."""

    closest_right: float = 0.3
    closest_wrong: float = 0.4
    refused_right: float = 0.8

    def mean(self, p: np.ndarray, right: np.ndarray, answer_from: float, closest_from: float) -> float:
        answered, shown = p >= answer_from, (p < answer_from) & (p >= closest_from)
        refused = ~answered & ~shown
        closest = np.where(right, self.closest_right, self.closest_wrong)
        return float((answered * ~right + shown * closest + refused * right * self.refused_right).mean())


def once(some: Sequence[Case]) -> np.ndarray:
    """Return the places of one case of each question, alternating between that with and without its evidence.

    The two are not independent: a question that is answered well with the right evidence is surer without it too.
    """
    chosen: dict[int, int] = {}
    for place, one in enumerate(some):
        if one.number not in chosen or one.answerable == (one.number % 2 == 0):
            chosen[one.number] = place
    return np.array(list(chosen.values()))


def threshold(p: np.ndarray, wrong: np.ndarray, risk: float) -> float | None:
    """Return the lowest threshold whose test, and all tests above it, pass; None if the first one fails."""
    passed = None
    for candidate in np.round(np.arange(0.99, 0, -0.01), 2):
        answered = p >= candidate
        if risk * answered.sum() < FIRST:
            continue
        if _at_most(int(wrong[answered].sum()), int(answered.sum()), risk) > DOUBT:
            break
        passed = float(candidate)
    return passed


def _at_most(wrong: int, answered: int, risk: float) -> float:
    """Return the probability of at most this many wrong answers at this risk: the lower tail of the binomial."""
    whole = lgamma(answered + 1)
    return sum(
        exp(whole - lgamma(k + 1) - lgamma(answered - k + 1) + k * log(risk) + (answered - k) * log(1 - risk))
        for k in range(wrong + 1)
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what was read in DIR for the next run")
    parser.add_argument("--embedders", default="minilm,e5-small")
    given, data = parser.parse_args(), Path(os.environ["RAGSTONE_TEST_DATA"])
    with TemporaryDirectory() as folder:
        keep = given.keep or Path(folder)
        for embedder in given.embedders.split(","):
            fitted_to = (*FITTED, ACROSS) if embedder == "e5-small" else FITTED
            there = [name for name in fitted_to if is_there(data, name)]
            sets = {name: asyncio.run(cases(data, keep, name, embedder)) for name in there}
            for way in next(iter(sets.values())):
                report(f"{embedder}, {way}", {name: some[way] for name, some in sets.items() if some[way]})


def report(embedder: str, sets: Mapping[str, Sequence[Case]]) -> None:
    usual = usual_similarity([one for some in sets.values() for one in some])
    apart = left_out(sets, usual)
    print(f"{embedder}: each set by coefficients fitted to the others")
    for name, p in apart.items():
        right = np.array([one.right for one in sets[name]], dtype=float)
        small = " (small)" if len(right) < SMALL else ""
        area = auc(p.tolist(), [bool(one) for one in right])
        print(
            f"  {name:16} cases {len(right):4} right {right.mean():.3f} stated {p.mean():.3f}"
            f" error {calibration_error(p, right):.3f} AUC {area or 0:.3f}{small}"
        )
    for costs in (Costs(), Costs(refused_right=0.6), Costs(closest_right=0.2, closest_wrong=0.5)):
        print(f"  {costs}: {_cheapest(costs, sets, apart)}")
    judged = {name: some for name, some in sets.items() if name in MARKED}
    p = np.concatenate([apart[name][once(some)] for name, some in judged.items()])
    wrong = np.concatenate([np.array([not one.right for one in some])[once(some)] for some in judged.values()])
    print(f"{embedder}: {', '.join(f'{risk}: {threshold(p, wrong, risk)}' for risk in RISKS)}")
    values = zip(NAMES, fitted(sets, list(sets), usual), strict=True)
    print(f"{embedder}: usual={usual}, {', '.join(f'{name}={value:.2f}' for name, value in values)}", flush=True)


def _cheapest(costs: Costs, sets: Mapping[str, Sequence[Case]], apart: Mapping[str, np.ndarray]) -> str:
    """Return the thresholds of least cost over all sets, and in how many sets showing closest passages costs less."""
    right = {name: np.array([one.right for one in some]) for name, some in sets.items()}
    steps = np.round(np.arange(0.05, 0.96, 0.05), 2)

    def cost(name: str, answer_from: float, closest_from: float) -> float:
        return costs.mean(apart[name], right[name], answer_from, closest_from)

    best, answer_from, closest_from = min(
        (float(np.mean([cost(name, a, c) for name in sets])), a, c) for a in steps for c in steps if c <= a
    )
    gains = [cost(name, 0.5, 0.3) - cost(name, 0.5, 0.5) for name in sets if len(sets[name]) >= SMALL]
    return (
        f"answer from {answer_from:.2f}, closest from {closest_from:.2f} costs {best:.3f};"
        f" with .5 and .3 instead of .5 alone less in {sum(gain < 0 for gain in gains)} of {len(gains)} sets,"
        f" {np.mean(gains):+.3f} on average"
    )


if __name__ == "__main__":
    main()
