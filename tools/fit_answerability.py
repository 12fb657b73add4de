"""Fit the coefficients and thresholds of `ragstone.respond.answerability`.

    RAGSTONE_TEST_DATA=... python -m tools.fit_answerability [--keep DIR]

The cases come from `benchmarks.cases`. Coefficients are fitted to half of each set and thresholds to a quarter;
`python -m benchmarks.answers` measures on the rest.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, fields
from math import exp, lgamma, log
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.cases import LITHUANIAN, SOURCES, Case, cases
from ragstone.respond.answerability import FITTED, Features

RIDGE = 1.0
"""The ridge on coefficients of features with a standard deviation of 1."""
SIZE = 300
"""The size of a set with weight 1; other sets have the square root of their share of it."""
RISKS = (0.05, 0.1, 0.15, 0.2, 0.3)
DOUBT = 0.1
"""The largest probability that a threshold promises too much."""
FIRST = 8
"""The first threshold tried allows this many wrong answers, so that it can pass."""


def fit(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return bias and coefficients of a weighted logistic regression with a ridge, by Newton's method.

    A feature that hardly varies, such as the familiarity of a model that knows all languages, gets no weight.
    """
    mean, spread = x.mean(axis=0), x.std(axis=0)
    varies = spread > 0.02
    scale = np.where(varies, spread, 1)
    z, b = np.column_stack([np.ones(len(x)), (x - mean) / scale * varies]), np.zeros(x.shape[1] + 1)
    ridge = RIDGE * np.diag([1e-9, *[1.0] * x.shape[1]])
    for _ in range(100):
        p = 1 / (1 + np.exp(-z @ b))
        hessian = (z * (weights * p * (1 - p))[:, None]).T @ z + ridge
        b -= np.linalg.solve(hessian, z.T @ (weights * (p - y)) + ridge @ b)
    coefficients = b[1:] * varies / scale
    return np.array([b[0] - coefficients @ mean, *coefficients])


def fitted(some: Sequence[Case], right: Sequence[bool]) -> np.ndarray:
    """Return bias and coefficients, rounded as shipped."""
    sizes = Counter(one.source for one in some)
    weights = np.array([np.sqrt(SIZE / sizes[one.source]) for one in some])
    return fit(np.array([astuple(one.features) for one in some]), np.array(right, dtype=float), weights).round(2)


def named(b: np.ndarray) -> str:
    values = zip(("bias", *(one.name for one in fields(Features))), b, strict=True)
    return ", ".join(f"{name}={value:.2f}" for name, value in values)


def probabilities(b: np.ndarray, some: Sequence[Case]) -> np.ndarray:
    return 1 / (1 + np.exp(-b[0] - np.array([astuple(one.features) for one in some]) @ b[1:]))


def once(some: Sequence[Case]) -> list[Case]:
    """Return one case of each question, alternating between the one with and the one without the answering evidence.

    The two are not independent: a question that is answered well with the right evidence is surer without it too.
    """
    chosen: dict[tuple[str, int], Case] = {}
    for one in some:
        key = (one.source, one.number)
        if key not in chosen or one.answerable == (one.number // 4 % 2 == 0):
            chosen[key] = one
    return list(chosen.values())


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
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the knowledge bases in DIR for the next run")
    given, data = parser.parse_args(), Path(os.environ["RAGSTONE_TEST_DATA"])
    with TemporaryDirectory() as folder:
        keep = given.keep or Path(folder)
        for embedder in FITTED:
            found = [one for name in SOURCES for one in asyncio.run(cases(data, keep, name, embedder))]
            used = [one for one in found if embedder in SOURCES[one.source].fitted and one.part == "fit"]
            b = fitted(used, [one.answerable for one in used])
            print(f"{embedder}: {named(b)}")
            law = [one for name in LITHUANIAN for one in asyncio.run(cases(data, keep, name, embedder))]
            print(f"{embedder}, lt: {named(fitted(law, [not one.wrong for one in law]))}", flush=True)
            kept = once([one for one in found if SOURCES[one.source].judged and one.part == "risk"])
            p, wrong = probabilities(b, kept), np.array([one.wrong for one in kept])
            print(f"{embedder}: {', '.join(f'{risk}: {threshold(p, wrong, risk)}' for risk in RISKS)}", flush=True)


if __name__ == "__main__":
    main()
