"""Every strategy on real texts: news, press releases, abstracts, questions and answers, documentation."""

import csv
import json
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path

import pytest

from ragstone.chunk import split
from ragstone.core.records import Document
from ragstone.settings import ChunkSettings

SETS = {
    "covid_faq_kb/dev/kb.csv": "text",
    "malaysian_news/dev/news.csv": "article_content",
    "scifact/dev/corpus.jsonl": "text",
    "lt_faq/dev/corpus.jsonl": "text",
    "clapnq/dev/corpus.jsonl": "text",
    "telekom_press/dev/txt": "",
    "cudaq_docs/raw": "",
}


def read_texts(path: Path, column: str) -> Iterator[str]:
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file():
                yield file.read_text(encoding="utf-8", errors="replace")
    elif path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as rows:
            yield from (row[column] for row in csv.DictReader(rows))
    else:
        with path.open(encoding="utf-8") as lines:
            yield from (json.loads(line)[column] for line in lines)


@pytest.mark.parametrize("name", SETS)
def test_spans_of_real_documents_are_exact(data_dir: Path, name: str):
    path = data_dir / name
    if not path.exists():
        pytest.skip(f"no {path}")
    seen = 0
    for text in islice(read_texts(path, SETS[name]), 300):
        for strategy in ("sliding_window", "sentence", "paragraph", "recursive"):
            wanted = ChunkSettings(strategy=strategy, size=800, overlap=150)
            chunks = split(Document(id=name, text=text), wanted, lambda _: [])
            assert all(chunk.text == text[chunk.start : chunk.end] and len(chunk.text) <= 800 for chunk in chunks)
            assert all(before.end - after.start <= 150 for before, after in pairwise(chunks))
            edges = [0, *(edge for chunk in chunks for edge in (chunk.start, chunk.end)), len(text)]
            gaps = pairwise(edges)
            assert not any(text[start:end].strip() for start, end in islice(gaps, 0, None, 2))
            seen += len(chunks)
    assert seen
