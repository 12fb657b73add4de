"""Fit the coefficients of `ragstone.respond.proof.by_words` and `ragstone.respond.proof.by_entailment`.

    RAGSTONE_TEST_DATA=... python -m tools.fit_support [--keep DIR]

True sentences are those of answers and evidence in CLAP NQ, and sentences of XQuAD. False sentences are the same with
one thing changed (`benchmarks.proof.planted`). Every kind of change has the same weight, and all of them together as
much as the true sentences. Half of the questions are used; ``python -m benchmarks.proof`` measures on the others, and
on claims written by hand that nothing is fitted to. The features do not depend on an embedder's scale, so one model
serves all embedders: that of the words is fitted to both that are shipped, the other to the first, in English.
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
from benchmarks.logistic import newton
from benchmarks.proof.__main__ import SETS, planted
from benchmarks.proof.checked import Checked
from ragstone.respond.proof.agreement import Agreement
from ragstone.respond.proof.by_entailment import features

EMBEDDERS = ("minilm", "e5-small")
ENGLISH = ("clapnq", "xquad/dev/en")
"""Sets whose language the trained model knows."""
RIDGE = 0.5


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
    found: dict[tuple[str, str], list[Checked]] = {}
    with TemporaryDirectory() as folder:
        options = Options(keep=(given.keep or Path(folder)).absolute(), data=data)
        for embedder in EMBEDDERS:
            for name in SETS:
                found[embedder, name] = asyncio.run(planted(options, name, embedder, fitted=True))
    aligned = [(one, one.alignment.agreement.row()) for some in found.values() for one in some if one.alignment]
    some = [one for one, _ in aligned]
    b = newton(np.array([row for _, row in aligned]), _true(some), weights(some), RIDGE)
    print(f"words: BIAS = {b[0]:.2f}")
    for field, weight in zip(fields(Agreement), b[1:], strict=True):
        print(f"{field.name}={weight:.2f}")
    judged = [
        (one, features(one.alignment, one.judgement))
        for name in ENGLISH
        for one in found[EMBEDDERS[0], name]
        if one.alignment and one.judgement
    ]
    some = [one for one, _ in judged]
    b = newton(np.array([row for _, row in judged]), _true(some), weights(some), RIDGE)
    print(f"proof: BIAS = {b[0]:.2f}; WEIGHTS = ({', '.join(f'{weight:.2f}' for weight in b[1:])})")


def _true(some: Sequence[Checked]) -> np.ndarray:
    return np.array([not one.claim.kind for one in some], dtype=float)


if __name__ == "__main__":
    main()
