"""Fit the coefficients of `ragstone.respond.support` and `ragstone.respond.proof`.

    RAGSTONE_TEST_DATA=... python -m tools.fit_support [--keep DIR]

True sentences are those of answers and evidence in CLAP NQ, and sentences of XQuAD. False sentences are the same with
one thing changed (`benchmarks.proof.planted`). Every kind of change has the same weight, and all of them together as
much as the true sentences. Half of the questions are used; ``python -m benchmarks.proof`` measures on the others, and
on claims written by hand that nothing is fitted to. The features do not depend on an embedder's scale, so one model
serves all embedders; it is fitted to both that are shipped.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.common import Options
from benchmarks.proof.__main__ import SETS, planted
from benchmarks.proof.checked import Checked
from ragstone.respond.agreement import Agreement
from ragstone.respond.proof import features

EMBEDDERS = ("minilm", "e5-small")
ENGLISH = ("clapnq", "xquad/dev/en")
"""Sets whose language the trained model knows."""
RIDGE = 0.5


def fit(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return bias and coefficients of a weighted logistic regression, by Newton's method with a ridge."""
    z, b = np.column_stack([np.ones(len(x)), x]), np.zeros(x.shape[1] + 1)
    ridge = RIDGE * np.diag([0.0, *[1.0] * x.shape[1]])
    for _ in range(100):
        p = 1 / (1 + np.exp(-z @ b))
        hessian = (z * (weights * p * (1 - p))[:, None]).T @ z + ridge
        b -= np.linalg.solve(hessian, z.T @ (weights * (p - y)) + ridge @ b)
    return b


def weights(some: Sequence[Checked]) -> np.ndarray:
    """Return weights: half for true sentences, quoted and not, half for false ones, the same for each kind."""
    group = [one.claim.kind or str(one.claim.quoted) for one in some]
    counts = Counter(group)
    kinds = {one.claim.kind for one in some} - {""}
    shares = {name: 0.5 / (len(kinds) if name in kinds else len(counts) - len(kinds)) for name in counts}
    return np.array([len(some) * shares[name] / counts[name] for name in group])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the knowledge bases in DIR for the next run")
    given, data = parser.parse_args(), Path(os.environ["RAGSTONE_TEST_DATA"])
    found: dict[str, list[Checked]] = {name: [] for name in SETS}
    with TemporaryDirectory() as folder:
        options = Options(keep=(given.keep or Path(folder)).absolute(), data=data)
        for embedder in EMBEDDERS:
            for name in SETS:
                found[name] += asyncio.run(planted(options, name, embedder, fitted=True))
    some = [one for of_set in found.values() for one in of_set]
    rows = [(one, one.alignment) for one in some if one.alignment]
    b = fit(np.array([a.agreement.row() for _, a in rows]), _true([o for o, _ in rows]), weights([o for o, _ in rows]))
    print(f"words: BIAS = {b[0]:.2f}")
    for field, weight in zip(fields(Agreement), b[1:], strict=True):
        print(f"{field.name}={weight:.2f}")
    english = [one for name in ENGLISH for one in found[name] if one.alignment and one.judgement]
    x = np.array([features(one.alignment, one.judgement) for one in english if one.alignment and one.judgement])
    b = fit(x, _true(english), weights(english))
    print(f"proof: BIAS = {b[0]:.2f}; WEIGHTS = ({', '.join(f'{weight:.2f}' for weight in b[1:])})")


def _true(some: Sequence[Checked]) -> np.ndarray:
    return np.array([not one.claim.kind for one in some], dtype=float)


if __name__ == "__main__":
    main()
