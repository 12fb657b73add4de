"""Fit the coefficients of `ragstone.respond.support`, and measure them on the other half of the questions.

    RAGSTONE_TEST_DATA=... python -m tools.fit_support [--keep DIR]

True sentences are those of answers and evidence in CLAP NQ, and sentences of XQuAD. False sentences are the same with
one thing changed (`benchmarks.planted`). Every kind of change has the same weight, and all of them together as much as
the true sentences. The features do not depend on an embedder's scale, so one model serves all embedders; it is fitted
to both that are shipped.
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

from benchmarks.support import SETS, Checked, checked
from ragstone.respond.agreement import Agreement

EMBEDDERS = ("minilm", "e5-small")
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
    with TemporaryDirectory() as folder:
        found = {
            (embedder, name): asyncio.run(checked(data, given.keep or Path(folder), name, embedder))
            for embedder in EMBEDDERS
            for name in SETS
        }
    some = [one for of_set in found.values() for one in of_set if one.fitted and one.agreement is not None]
    x = np.array([one.agreement.row() for one in some if one.agreement])
    b = fit(x, np.array([not one.claim.kind for one in some], dtype=float), weights(some))
    print(f"BIAS = {b[0]:.2f}")
    for field, weight in zip(fields(Agreement), b[1:], strict=True):
        print(f"{field.name}={weight:.2f}")
    for (embedder, name), of_set in found.items():
        rest = [one for one in of_set if not one.fitted]
        p = [0.0 if one.agreement is None else 1 / (1 + np.exp(-b[0] - one.agreement.row() @ b[1:])) for one in rest]
        flagged, true = np.array(p) < 0.5, np.array([not one.claim.kind for one in rest])
        print(f"{embedder} {name}: false flagged {flagged[~true].mean():.3f}, true flagged {flagged[true].mean():.3f}")


if __name__ == "__main__":
    main()
