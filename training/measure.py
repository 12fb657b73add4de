"""Figures of a trunk on rows of the validation split."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
import torch

from benchmarks.judge import auc
from training.pairs import Tokens
from training.trunk import CLASSES, Heads, Trunk

SMALL = {"claims": 1200, "questions": 500}
BATCH = 16
LONGEST_ANSWER = 24


def summary(
    model: Trunk, rows: Sequence[Tokens], run: Callable[[Trunk, Sequence[Tokens]], Heads], *, small: bool
) -> dict[str, object]:
    """Return figures of claims by set, and of questions."""
    chance = random.Random(5)
    model.eval()
    out: dict[str, object] = {}
    for name, some in (
        ("claims", [r for r in rows if r.pair.label]),
        ("questions", [r for r in rows if not r.pair.label]),
    ):
        if small:
            some = chance.sample(some, min(SMALL[name], len(some)))
        if some:
            with torch.no_grad():
                out[name] = _claims(model, some, run) if name == "claims" else _questions(model, some, run)
    model.train()
    return out


def _batches(rows: Sequence[Tokens]) -> list[list[Tokens]]:
    ordered = sorted(rows, key=lambda row: len(row.ids))
    return [ordered[i : i + BATCH] for i in range(0, len(ordered), BATCH)]


def _claims(model: Trunk, rows: Sequence[Tokens], run: Callable[..., Heads]) -> dict[str, object]:
    right: dict[str, list[bool]] = defaultdict(list)
    flagged: dict[str, list[bool]] = defaultdict(list)
    places: dict[str, tuple[list[float], list[bool]]] = {"all": ([], [])}
    for batch in _batches(rows):
        heads = run(model, batch)
        shares = heads.label.softmax(1).numpy()
        for number, row in enumerate(batch):
            label = row.pair.label
            two = shares[number, 0] >= 0.5
            if label in CLASSES and row.pair.source != "made":
                right[row.pair.source].append(CLASSES[int(shares[number].argmax())] == label)
            name = row.pair.kind if row.pair.source == "made" else row.pair.source
            flagged[f"{name}: {'true' if label == 'supported' else 'false'}"].append(not two)
            if row.unsupported is not None and row.unsupported.any():
                values = heads.unsupported[number, 1 : 1 + len(row.unsupported)].tolist()
                places["all"][0].extend(values)
                places["all"][1].extend((row.unsupported > 0).tolist())
    return {
        "right": {name: [round(float(np.mean(some)), 3), len(some)] for name, some in sorted(right.items())},
        "flagged": {name: [round(float(np.mean(some)), 3), len(some)] for name, some in sorted(flagged.items())},
        "words_auc": rounded(auc(*places["all"])),
    }


def _questions(model: Trunk, rows: Sequence[Tokens], run: Callable[..., Heads]) -> dict[str, object]:
    answers: dict[str, tuple[list[float], list[bool]]] = defaultdict(lambda: ([], []))
    first, exact = list[bool](), list[bool]()
    for batch in _batches(rows):
        heads = run(model, batch)
        for number, row in enumerate(batch):
            for name in ("all", row.pair.source):
                answers[name][0].append(float(heads.answers[number]))
                answers[name][1].append(row.pair.answers > 0)
            if row.evidence is not None and row.evidence.any():
                logits = [float(heads.evidence[number, a:b].mean()) for a, b in row.sentences]
                first.append(bool(row.evidence[int(np.argmax(logits))] > 0))
            if row.answer is not None:
                a, b = row.second, len(row.ids) - 1
                exact.append(
                    best_span(heads.start[number, a:b].numpy(), heads.end[number, a:b].numpy())
                    == (row.answer[0] - a, row.answer[1] - a)
                )
    return {
        "auc": {name: [rounded(auc(*some)), len(some[0])] for name, some in sorted(answers.items())},
        "first_sentence": round(float(np.mean(first)), 3),
        "exact": round(float(np.mean(exact)), 3),
    }


def rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 3)


def best_span(start: np.ndarray, end: np.ndarray) -> tuple[int, int]:
    """Return the first and last token of the best answer of at most `LONGEST_ANSWER` tokens."""
    joint = start[:, None] + end[None, :]
    allowed = np.triu(np.ones_like(joint, dtype=bool)) & ~np.triu(np.ones_like(joint, dtype=bool), LONGEST_ANSWER)
    place = int(np.where(allowed, joint, -np.inf).argmax())
    return place // joint.shape[1], place % joint.shape[1]
