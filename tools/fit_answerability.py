"""Fits the coefficients of `ragstone.respond.answerability`, and measures them on the half not used.

    RAGSTONE_TEST_DATA=... python tools/fit_answerability.py

Labels: CLAP NQ questions are answerable or not, as people judged. XQuAD has no unanswerable questions; each of its
questions is asked twice, with the evidence found and with its own paragraph taken out of it.
"""

import asyncio
import os
import tempfile
from pathlib import Path

import numpy as np

from ragstone.contracts import Evidence
from ragstone.engine import Engine
from ragstone.respond import answerability
from ragstone.review.dataset import load

SETS = {"clapnq": 400, "xquad/dev/en": 200, "xquad/dev/de": 200}


async def examples(name: str, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, 2) and labels (n,) of a data set."""
    dataset = load(Path(os.environ["RAGSTONE_TEST_DATA"]) / name)
    rows, labels = [], []
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine.open(folder, ["rank.top_k=8"], create=True)
        await engine.add(list(dataset.documents()))
        for query in dataset.queries[:: max(1, len(dataset.queries) // limit)][:limit]:
            hits = tuple(await engine.search(query.text))
            gold = set(dataset.qrels.get(query.id, {}))
            found = gold & {hit.chunk.document_id for hit in hits}
            cases = [(hits, query.answerable)]
            if name.startswith("xquad"):
                without = tuple(hit for hit in hits if hit.chunk.document_id not in gold)
                cases = [(hits, True), (without, False)] if found else [(without, False)]
            for evidence, answerable in cases:
                rows.append(await features(engine, query.text, evidence))
                labels.append(answerable)
    return np.array(rows), np.array(labels, dtype=float)


async def features(engine: Engine, question: str, hits: tuple) -> tuple[float, float]:
    """The two features, as the answerer computes them: recovered from the probability it gives."""
    evidence = Evidence(question=question, hits=hits, method="fit")
    draft = await engine._answerer.answer(evidence)
    p = min(max(draft.answerability, 1e-12), 1 - 1e-12)
    familiarity = engine._embedder.familiarity(question)
    logit = np.log(p / (1 - p))
    best = (logit - answerability.BIAS - answerability.FAMILIARITY * familiarity) / answerability.BEST_SENTENCE
    return float(best), familiarity


def fit(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Bias and weights of a logistic regression, by Newton's method with a slight ridge."""
    z, b = np.column_stack([np.ones(len(x)), x]), np.zeros(x.shape[1] + 1)
    for _ in range(100):
        p = 1 / (1 + np.exp(-z @ b))
        step = np.linalg.solve((z * (p * (1 - p))[:, None]).T @ z + 1e-3 * np.eye(len(b)), z.T @ (p - y) + 1e-3 * b)
        b -= step
    return b


def report(name: str, p: np.ndarray, y: np.ndarray) -> None:
    refused, unanswerable = p < 0.5, y == 0
    both = (refused & unanswerable).sum()
    order = np.array_split(np.argsort(p), 10)
    ece = sum(abs(p[part].mean() - y[part].mean()) * len(part) for part in order) / len(p)
    precision, recall = both / max(refused.sum(), 1), both / max(unanswerable.sum(), 1)
    print(f"{name:14} n={len(y)}  refusal precision {precision:.2f} recall {recall:.2f}  calibration error {ece:.3f}")


def main() -> None:
    data = {name: asyncio.run(examples(name, limit)) for name, limit in SETS.items()}
    # Cases of one question stand side by side, so halves are taken in pairs.
    half = {name: (np.arange(len(y)) // 2) % 2 == 0 for name, (_, y) in data.items()}
    x = np.concatenate([data[name][0][half[name]] for name in data])
    y = np.concatenate([data[name][1][half[name]] for name in data])
    b = fit(x, y)
    print(f"BIAS, BEST_SENTENCE, FAMILIARITY = {b[0]:.2f}, {b[1]:.2f}, {b[2]:.2f}")
    for name, (features_, labels) in data.items():
        rest = ~half[name]
        report(name, 1 / (1 + np.exp(-(b[0] + features_[rest] @ b[1:]))), labels[rest])


if __name__ == "__main__":
    main()
