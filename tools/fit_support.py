"""Fit the coefficients of `ragstone.respond.proof.checker`.

    RAGSTONE_TEST_DATA=... python -m tools.fit_support

The sentences are those that language models wrote about given texts: summaries with one edit (SummEdits), answers
checked against the web (Factcheck-GPT, ExpertQA). Rows kept back for measuring are not used.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.logistic import newton
from ragstone import chunk
from ragstone.core.records import Chunk, Hit
from ragstone.core.request import Request
from ragstone.index import build_claim_model
from ragstone.respond.proof.checker import ProofChecker, features

SETS = ("summedits", "factcheck_gpt", "expertqa")
MOST = 150
"""Rows of a set."""
TRUE = 0.9
"""Share of the sentences of an answer that are true, which the support takes for granted."""
RIDGE = 0.5


def even(words: Sequence[str], _request: Request) -> list[float]:
    """Weigh all words the same, because no knowledge base is there to weigh them."""
    return [1.0] * len(words)


def rows(path: Path) -> Iterator[tuple[str, str, bool]]:
    """Yield sentence, evidence, and whether the evidence supports the sentence."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        some = [row for row in map(json.loads, lines) if row["split"] == "train"]
    for row in some[:: max(1, len(some) // MOST)]:
        yield row["claim"], row["premise"], row["label"] == "supported"


def hit(text: str) -> Hit:
    """Return a text as a hit."""
    return Hit(
        chunk=Chunk(id=str(hash(text)), document_id="d", index=0, total=1, start=0, end=len(text), text=text), score=1.0
    )


async def main() -> None:
    """Print the coefficients."""
    checker = ProofChecker(sentences=chunk.sentences, weigh=even, entailment=build_claim_model())
    found: list[tuple[np.ndarray, bool]] = []
    for name in SETS:
        for claim, premise, true in rows(Path(os.environ["RAGSTONE_TEST_DATA"]) / "nli" / f"{name}.jsonl.gz"):
            reading = checker.read(claim, [hit(premise)], Request.by_owner(), 1)
            judgement = await checker.judged(claim, reading.best, Request.by_owner()) if reading else None
            if reading and judgement:
                found.append((features(reading.best.share, judgement), true))
    true = np.array([one for _, one in found], dtype=float)
    share = float(true.mean())
    weights = TRUE * true / share + (1 - TRUE) * (1 - true) / (1 - share)
    b = newton(np.array([row for row, _ in found]), true, weights, RIDGE)
    print(f"BIAS, BY_WORDS, BY_MODEL = {', '.join(f'{value:.2f}' for value in b)}")


if __name__ == "__main__":
    asyncio.run(main())
