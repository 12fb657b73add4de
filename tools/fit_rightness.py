"""Fit the probability that a written answer is right (``ragstone/respond/writing/rightness.py``).

    python -m tools.fit_rightness --keep DIR

Needs RAGSTONE_TEST_DATA. Replays all replies, as the shipped coefficients were fitted, and replies that have nothing
to do with the question. Prints the coefficients fitted on the collections for fitting, the area under the curve and the
calibration error with each of them left out in turn, and the same on the collections for tests. The figures are those
of true replies beside false ones, and the area also that beside replies that have nothing to do with the question.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Options, data_folder
from benchmarks.logistic import fit
from benchmarks.written_replies import FALSE_WEIGHT, auc, calibration_error, replayed

RIDGE = 1.0
STRAY_WEIGHT = 0.025
"""Weight of a reply that has nothing to do with the question: models rarely write one, broken servers always do."""
Case = tuple[str, tuple[float, ...], bool]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.fit_rightness")
    parser.add_argument("--keep", type=Path, required=True, help="folder of the knowledge bases")
    options = Options(keep=parser.parse_args().keep.absolute(), data=data_folder())
    counted, _ = asyncio.run(replayed(options, strays=True))
    own, strays = counted["fit"].inputs, counted["fit"].strays
    print("left out in turn:", *_figures(own, _left_out(own, strays)))
    coefficients = _fitted(own, strays)
    print("coefficients:", np.round(coefficients, 2).tolist())
    tests, others = counted["test"].inputs, counted["test"].strays
    print("tests:", *_figures(tests, _stated(coefficients, [*tests, *others])))


def _left_out(cases: Sequence[Case], strays: Sequence[Case]) -> NDArray[np.float64]:
    """Return the probability of each case, the strays last, by coefficients fitted without its collection."""
    every = [*cases, *strays]
    stated = np.zeros(len(every))
    for name in {one[0] for one in every}:
        coefficients = _fitted(*([one for one in some if one[0] != name] for some in (cases, strays)))
        places = [place for place, one in enumerate(every) if one[0] == name]
        stated[places] = _stated(coefficients, [every[place] for place in places])
    return stated


def _fitted(cases: Sequence[Case], strays: Sequence[Case]) -> NDArray[np.float64]:
    right = _right([*cases, *strays])
    weights = np.where(right, 1.0, FALSE_WEIGHT)
    weights[len(cases) :] = STRAY_WEIGHT
    return fit(np.array([one[1] for one in (*cases, *strays)]), right, weights, RIDGE)


def _stated(coefficients: NDArray[np.float64], cases: Sequence[Case]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-(coefficients[0] + np.array([one[1] for one in cases]) @ coefficients[1:])))


def _figures(cases: Sequence[Case], stated: NDArray[np.float64]) -> tuple[str, ...]:
    """Return the figures of what is stated of the cases and, behind them, of the strays."""
    right, own, others = _right(cases), stated[: len(cases)], stated[len(cases) :]
    beside = np.concatenate([own[right], others])
    return (
        f"AUC {auc(own, right):.3f}",
        f"calibration error {calibration_error(own, right):.3f}",
        f"AUC beside strays {auc(beside, np.arange(len(beside)) < right.sum()):.3f}",
    )


def _right(cases: Sequence[Case]) -> NDArray[np.bool_]:
    return np.array([one[2] for one in cases], dtype=bool)


if __name__ == "__main__":
    main()
