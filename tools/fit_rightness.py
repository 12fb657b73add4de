"""Fit the probability that a written answer is right (``ragstone/respond/writing/rightness.py``).

    python -m tools.fit_rightness --keep DIR

Needs RAGSTONE_TEST_DATA. Replays all replies, as the shipped coefficients were fitted. Prints the coefficients
fitted on the collections for fitting, the area under the curve and the calibration error with each of them left out
in turn, and the same on the collections for tests.
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
Case = tuple[str, tuple[float, ...], bool]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.fit_rightness")
    parser.add_argument("--keep", type=Path, required=True, help="folder of the knowledge bases")
    options = Options(keep=parser.parse_args().keep.absolute(), data=data_folder())
    counted, _ = asyncio.run(replayed(options))
    own = counted["fit"].inputs
    print("left out in turn:", *_figures(own, _left_out(own)))
    coefficients = _fitted(own)
    print("coefficients:", np.round(coefficients, 2).tolist())
    tests = counted["test"].inputs
    print("tests:", *_figures(tests, _stated(coefficients, tests)))


def _left_out(cases: Sequence[Case]) -> NDArray[np.float64]:
    """Return the probability of each case by coefficients that were fitted without its collection."""
    stated = np.zeros(len(cases))
    for name in {one[0] for one in cases}:
        coefficients = _fitted([one for one in cases if one[0] != name])
        places = [place for place, one in enumerate(cases) if one[0] == name]
        stated[places] = _stated(coefficients, [cases[place] for place in places])
    return stated


def _fitted(cases: Sequence[Case]) -> NDArray[np.float64]:
    right = _right(cases)
    return fit(np.array([one[1] for one in cases]), right, np.where(right, 1.0, FALSE_WEIGHT), RIDGE)


def _stated(coefficients: NDArray[np.float64], cases: Sequence[Case]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-(coefficients[0] + np.array([one[1] for one in cases]) @ coefficients[1:])))


def _figures(cases: Sequence[Case], stated: NDArray[np.float64]) -> tuple[str, str]:
    right = _right(cases)
    return f"AUC {auc(stated, right):.3f}", f"calibration error {calibration_error(stated, right):.3f}"


def _right(cases: Sequence[Case]) -> NDArray[np.bool_]:
    return np.array([one[2] for one in cases], dtype=bool)


if __name__ == "__main__":
    main()
