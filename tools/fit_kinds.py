"""Fit the classifier of `ragstone.question.talk.classifier`, which decides where its rules do not.

    RAGSTONE_TEST_DATA=... python -m tools.fit_kinds [--write]

The questions are those of ``training/kinds``, written for this. One logistic regression for each kind tells it from
all others, on the vector of the question. Printed is what five folds of these questions say, and how many questions of
the data sets would be taken for talk. Nothing is fitted to these, but the ridge was chosen with 600 of them in sight.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.logistic import newton, probabilities
from ragstone import index
from ragstone.core.protocols import Embedder
from ragstone.core.request import Request
from ragstone.question.talk import talk_of
from ragstone.question.talk.classifier import FOLDER, KINDS, MAX_WORDS, THRESHOLD
from ragstone.settings.load import load
from ragstone.settings.yaml_text import read_yaml

QUESTIONS = Path(__file__).parent.parent / "training" / "kinds"
LANGUAGES = {"minilm": ("en",), "e5-small": ("en", "de", "lt", "ms")}
"""The languages that each embedder knows well enough."""
RIDGE, FOLDS, ELSEWHERE = 10.0, 5, 1200


def questions(languages: Sequence[str]) -> list[tuple[str, str]]:
    """Return the questions of these languages, each with its kind."""
    return [
        (text, kind)
        for language in languages
        for kind, texts in read_yaml((QUESTIONS / f"{language}.yaml").read_text(encoding="utf-8")).items()
        for text in texts
    ]


def fitted(x: np.ndarray, kinds: Sequence[str]) -> np.ndarray:
    """Return bias and coefficients of each kind, shape (kinds, 1 + dimensions)."""
    mean, scale = x.mean(axis=0), float(x.std())
    rows = list[np.ndarray]()
    for kind in KINDS:
        y = np.array([one == kind for one in kinds], dtype=float)
        of_kind = float(y.mean())
        weights = 0.25 * (y / of_kind + (1 - y) / (1 - of_kind))
        b = newton((x - mean) / scale, y, weights, RIDGE)
        rows.append(np.array([b[0] - b[1:] @ mean / scale, *(b[1:] / scale)]))
    return np.array(rows)


def told(b: np.ndarray, x: np.ndarray) -> list[str]:
    """Return the kind that the classifier gives each question, ``search`` if it is unsure."""
    p = np.array([probabilities(row, x) for row in b])
    return [KINDS[int(best)] if top >= THRESHOLD else "search" for best, top in zip(p.argmax(0), p.max(0), strict=True)]


def _outcome(got: str, kind: str) -> str:
    """Return what became of a question: its kind may be told, missed or mistaken, and a search taken for talk."""
    if kind == "search":
        return "searched for" if got == kind else "search taken for talk"
    return "told" if got == kind else "missed" if got == "search" else "mistaken"


def elsewhere(data: Path) -> list[str]:
    """Return questions of the data sets that are short enough, and that no rule recognises."""
    found = list[str]()
    for path in sorted(data.glob("*/dev/queries.jsonl")) + sorted(data.glob("*/dev/*/queries.jsonl")):
        found += [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
    short = [text for text in dict.fromkeys(found) if len(text.split()) <= MAX_WORDS and talk_of(text) is None]
    return random.Random(1).sample(short, min(ELSEWHERE, len(short)))


async def vectors(embedder: Embedder, texts: Sequence[str]) -> np.ndarray:
    """Return the vectors of questions (texts, dimensions), embedded one by one as a search does."""
    parts = [await embedder.embed([one], role="query", request=Request.by_owner()) for one in texts]
    return np.concatenate(parts).astype(float)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the coefficients into the package")
    options = parser.parse_args()
    others = elsewhere(Path(os.environ["RAGSTONE_TEST_DATA"]))
    for name, languages in LANGUAGES.items():
        embedder = index.build_embedder(load([f"index.embedder={name}"]).settings.index)

        known = questions(languages)
        random.Random(1).shuffle(known)
        x, kinds = await vectors(embedder, [text for text, _ in known]), [kind for _, kind in known]
        outcomes = Counter[str]()
        for fold in range(FOLDS):
            inside = np.arange(len(known)) % FOLDS == fold
            b = fitted(x[~inside], [kind for kind, held in zip(kinds, inside, strict=True) if not held])
            guesses = told(b, x[inside])
            held = [one for one, out in zip(kinds, inside, strict=True) if out]
            outcomes.update(_outcome(got, kind) for got, kind in zip(guesses, held, strict=True))
        print(f"{name}: {len(known)} questions in five folds: {dict(outcomes)}")
        b = fitted(x, kinds)
        guesses = told(b, await vectors(embedder, others))
        taken = [(got, text) for got, text in zip(guesses, others, strict=True) if got != "search"]
        print(f"{name}: of {len(others)} questions of the data sets {len(taken)} would be taken for talk: {taken[:30]}")
        if options.write:
            np.save(FOLDER / f"{name}.npy", b.astype(np.float16))


if __name__ == "__main__":
    asyncio.run(main())
