"""Fit the weights of `ragstone.respond.writing.absence`, which tells "the documents do not say" from an answer.

    python -m tools.fit_absence [--write]

The sentences are those of ``training/absence.jsonl``, written for this, and of the replies for fitting in
``benchmarks/replies.jsonl.gz`` with their false twins, which say something. Printed is what five folds say, with all
sentences of a question in one fold: the share of absences found, and of other sentences taken for one.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.logistic import newton
from benchmarks.replies import replies
from ragstone.language.facts import words
from ragstone.respond import markdown
from ragstone.respond.writing import absence

WRITTEN = Path(__file__).parent.parent / "training" / "absence.jsonl"
WEIGHTS = Path(absence.__file__).with_name("absence.json")
LEAST, RIDGE, FOLDS = 5, 6.0, 5
ABSENCE, HARD = 1.5, 1.5
"""Weights of an absence, and of a sentence written to be told apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """The features of a sentence, and whether it says that the documents do not tell something."""

    question: str
    text: str
    features: set[str]
    is_absence: bool
    is_hard: bool


def examples() -> list[Example]:
    """Return all sentences to fit to."""
    out = list[Example]()

    def add(question: str, text: str, *, cited: bool, is_absence: bool, is_hard: bool = False) -> None:
        text = markdown.bare(text)
        found = absence.features(text, words(question), cited=cited)
        out.append(Example(question=question, text=text, features=found, is_absence=is_absence, is_hard=is_hard))

    for line in WRITTEN.read_text(encoding="utf-8").splitlines():
        reply = json.loads(line)
        for one in reply["sentences"]:
            add(reply["question"], one["text"], cited=False, is_absence=one["absence"], is_hard=True)
    for reply in replies("fit"):
        for one in reply.sentences:
            add(reply.question, one.text, cited=bool(one.marks), is_absence=one.role == "absence")
        for twin in reply.falsehoods:
            cited = bool(reply.sentences[twin.sentence].marks)
            add(reply.question, twin.text, cited=cited, is_absence=False)
    return out


def fitted(some: Sequence[Example]) -> dict[str, float]:
    """Return the bias, and the weight of each feature that occurs often enough."""
    counts = Counter(name for one in some for name in one.features)
    names = sorted(name for name, count in counts.items() if count >= LEAST)
    x = np.array([[name in one.features for name in names] for one in some], dtype=float)
    y = np.array([one.is_absence for one in some], dtype=float)
    weight = np.array([(ABSENCE if one.is_absence else 1) * (HARD if one.is_hard else 1) for one in some])
    bias, *weights = newton(x, y, weight, RIDGE).tolist()
    return {"bias": round(bias, 2)} | {name: round(weight, 2) for name, weight in zip(names, weights, strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    parser.add_argument("--wrong", action="store_true", help="show the sentences that a fold gets wrong")
    given, some = parser.parse_args(), examples()
    questions = sorted({one.question for one in some})
    random.Random(0).shuffle(questions)
    fold = {question: place % FOLDS for place, question in enumerate(questions)}
    found = list[tuple[bool, Example]]()
    for left_out in range(FOLDS):
        weights = fitted([one for one in some if fold[one.question] != left_out])
        here = [one for one in some if fold[one.question] == left_out]
        found += [(absence.score(one.features, weights) > absence.THRESHOLD, one) for one in here]
    for name, hard in (("written for this", True), ("replies", False)):
        those = [(said, one) for said, one in found if one.is_hard == hard]
        told = [said for said, one in those if one.is_absence]
        rest = [said for said, one in those if not one.is_absence]
        print(f"{name}: {np.mean(told):.3f} of {len(told)} absences found", end="; ")
        print(f"{np.mean(rest):.3f} of {len(rest)} others taken for one")
    if given.wrong:
        for said, one in found:
            if said != one.is_absence:
                print("missed" if one.is_absence else "taken", "|", one.question, "|", one.text)
    if given.write:
        weights = {name: weight for name, weight in fitted(some).items() if weight or name == "bias"}
        WEIGHTS.write_text(json.dumps(weights, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
