"""Passages that Ragstone's own search finds for the questions of reading sets: those that answer, and that mislead.

    python -m training.mined --data DATA --out FOLDER      # writes FOLDER/mined.jsonl.gz

Passages that people paired with questions are too easy: real ones come from a search, and are cut and headed as chunks.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.bases import filled
from benchmarks.common import Options
from ragstone.chunk import sentences
from ragstone.core.access import OWNER
from ragstone.core.records import Chunk, Document
from ragstone.review.dataset import Dataset
from training.claims import rows
from training.pairs import Pair

ASKED = {
    "squad2_dev_half": 3600, "squadshifts_wiki": 3000, "tydiqa_en": 3000, "selqa": 1800, "squad1_train_part": 1500,
    "squad1_dev": 1000, "boolq_dev": 600, "condaqa": 600, "tatqa_text": 700, "pubmedqa": 200,
}  # fmt: skip
"""Questions of the training split of each set; a tenth as many, but 50, of the other split."""
PASSAGES = {
    "squadshifts_wiki": 3000, "tydiqa_en": 3000, "selqa": 1500, "squad1_train_part": 1500, "squad1_dev": 1000,
    "boolq_dev": 700, "condaqa": 500, "pubmedqa": 250,
}  # fmt: skip
"""Passages that are searched, of the sets of which not all are: whole articles up to about this number."""
FOUND, NEAR, EACH = 8, 4, 2
"""Chunks found for a question; those among which misleading ones are drawn; and how many are."""
_WORD = re.compile(r"\w+")


def mined(path: Path, split: str) -> list[Pair]:
    """Return the pairs of a split that were mined before."""
    return [_pair(row) for row in rows(path) if row["split"] == split]


def _pair(row: dict[str, Any]) -> Pair:
    return Pair(
        first=row["question"],
        second=row["passage"],
        source=row["source"],
        answers=float(row["answers"]),
        evidence=tuple((start, end) for start, end in row["evidence"]),
        sentences=tuple((start, end) for start, end in row["sentences"]),
        answer=None if row.get("answer") is None else (row["answer"][0], row["answer"][1]),
    )


def _some_rows(data: Path, name: str, chance: random.Random) -> list[dict[str, Any]]:
    """Return the rows of the passages that are searched."""
    every = list(rows(data / "reader" / f"{name}.jsonl.gz"))
    if name not in PASSAGES:
        return every
    articles: dict[str, set[str]] = defaultdict(set)
    for row in every:
        articles[row["title"] or row["passage"]].add(row["passage"])
    titles = sorted(articles)
    chance.shuffle(titles)
    kept = set[str]()
    for title in titles:
        if len(kept) < PASSAGES[name]:
            kept |= articles[title]
    return [row for row in every if row["passage"] in kept]


def _id(passage: str) -> str:
    return sha256(passage.encode()).hexdigest()[:16]


def pairs_of(
    row: dict[str, Any], chunks: Sequence[Chunk], document: str, chance: random.Random
) -> Iterator[dict[str, Any]]:
    """Yield a question with the chunks of its own document, and with some of others that do not hold the answer."""
    own = [one for one in chunks if one.document_id == document]
    told = [_words(one["text"]) for one in row["answers"] if one["text"]]
    others = [one for one in chunks if one not in own and not any(a in _words(one.text) for a in told)]
    if row["evidence"] is not None:
        for one in own[:2]:
            spans = [
                (max(0, start - one.start), end - one.start)
                for start, end in row["evidence"]
                if end > one.start and start < one.start + len(one.text)
            ]
            if spans or not row["answerable"] or row["source"] != "selqa":
                yield _row(row, one, spans if row["answerable"] else [], "mined own")
    near = others[:NEAR]
    for one in chance.sample(near, min(EACH if row["answerable"] else 1, len(near))):
        yield _row(row, one, [], "mined other")


def _row(row: dict[str, Any], chunk: Chunk, evidence: Sequence[tuple[int, int]], source: str) -> dict[str, Any]:
    at = len(chunk.headed) - len(chunk.text)
    return {
        "question": row["question"],
        "passage": chunk.headed,
        "answers": bool(evidence),
        "evidence": [(start + at, end + at) for start, end in evidence],
        "sentences": [(span.start + at, span.end + at) for span in sentences(chunk.text)],
        "source": source,
        "split": row["split"],
    }


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


async def mine(data: Path, out: Path) -> None:
    """Search for the questions and write the pairs."""
    chance = random.Random(3)
    documents: dict[str, Document] = {}
    asked: list[dict[str, Any]] = []
    for name, most in ASKED.items():
        some = _some_rows(data, name, chance)
        for row in some:
            one = row["passage"]
            documents.setdefault(_id(one), Document(id=_id(one), title=row["title"] or "", text=one, source=name))
        for split, number in (("train", most), ("valid", max(most // 10, 50))):
            of_split = [row for row in some if row["split"] == split]
            asked += chance.sample(of_split, min(number, len(of_split)))
    dataset = Dataset(name="mined", queries=(), qrels={}, documents=lambda: iter(documents.values()))
    options = Options(keep=out, data=data)
    out.mkdir(parents=True, exist_ok=True)
    async with filled(options, dataset, ("index.embedder=minilm", "query.steps=false")) as kb:
        with gzip.open(out / "mined.jsonl.gz", "wt", encoding="utf-8") as file:
            for row in asked:
                hits = await kb.search(row["question"], FOUND, reader=OWNER)
                for pair in pairs_of(row, [hit.chunk for hit in hits], _id(row["passage"]), chance):
                    file.write(json.dumps(pair, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    asyncio.run(mine(given.data, given.out))
