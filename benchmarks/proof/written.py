"""Claims that were written by hand, to measure and never to fit: see SOURCE.md beside this file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.proof.planted import Claim
from ragstone.core.records import Document
from ragstone.review.dataset import Dataset, Query

FOLDER = Path(__file__).parent
CLAUSE = "clause"
"""The kind of an invented clause added to a true sentence; its words are known."""


def sets() -> list[str]:
    """Return the data sets that claims were written about."""
    return sorted({row["set"] for row in _rows("claims.jsonl")})


def written(name: str, dataset: Dataset) -> list[tuple[Claim, Document]]:
    """Return the claims about a data set, each with the part of a document that it was written about."""
    places = {row["document"]: (row["start"], row["end"]) for row in _rows("passages.jsonl") if row["set"] == name}
    texts = {one.id: one for one in dataset.documents() if one.id in places}
    passages = {key: replace(one, text=one.text[slice(*places[key])]) for key, one in texts.items()}
    out: list[tuple[Claim, Document]] = []
    for number, row in enumerate(row for row in _rows("claims.jsonl") if row["set"] == name):
        claim = Claim(
            query=Query(id=f"claim {number}", text=row["claim"], lang="en"),
            text=row["claim"],
            kind="" if row["label"] == "supported" else row["kind"],
            quoted=False,
            unsupported=tuple(row["unsupported"]),
        )
        out.append((claim, passages[row["document"]]))
    return out


def _rows(name: str) -> Iterator[dict[str, Any]]:
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        yield json.loads(line)
