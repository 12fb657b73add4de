"""Data sets: what is read, and what is said of files that are not as they should be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragstone.core.errors import SourceError
from ragstone.core.records import Document
from ragstone.review.dataset import Query, load

CORPUS = [
    {
        "id": "d1",
        "title": "One",
        "text": "Line\u2028separator",
        "meta": {"url": "https://a.example", "tags": ["x", "y"]},
    },
    {"id": "d2", "text": "Two", "meta": {"year": 2024, "draft": None}},
]
QUERIES = [
    {
        "id": "q1",
        "text": "What?",
        "lang": "en",
        "answers": ["A"],
        "evidence_sentences": [["S", "T"], ["T"]],
        "kind": "x",
    },
    {"id": "q2", "text": "Why?", "answerable": False},
]


def write(folder: Path, corpus: str = "", queries: str = "", qrels: str = "q1\td1\t2\nq1\td2\t0\n") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "corpus.jsonl").write_text(corpus or "\n".join(map(json.dumps, CORPUS)), encoding="utf-8")
    (folder / "queries.jsonl").write_text(queries or "\n".join(map(json.dumps, QUERIES)) + "\n\n", encoding="utf-8")
    (folder / "qrels.tsv").write_text(qrels, encoding="utf-8")
    return folder


def test_reads_all_fields(tmp_path: Path) -> None:
    dataset = load(write(tmp_path / "small"))
    assert dataset.name == "small"
    assert dataset.qrels == {"q1": {"d1": 2, "d2": 0}}
    assert dataset.queries == (
        Query(id="q1", text="What?", lang="en", answers=("A",), evidence_sentences=("S", "T"), extras={"kind": "x"}),
        Query(id="q2", text="Why?", answerable=False),
    )
    source = str(tmp_path / "small" / "corpus.jsonl")
    assert list(dataset.documents()) == [
        Document(
            id="d1",
            text="Line\u2028separator",
            source=source,
            title="One",
            url="https://a.example",
            metadata={"url": "https://a.example", "tags": ("x", "y")},
        ),
        Document(id="d2", text="Two", source=source, metadata={"year": 2024}),
    ]


def test_finds_the_folder_below(tmp_path: Path) -> None:
    write(tmp_path / "set" / "dev")
    assert load(tmp_path / "set") == load(tmp_path / "set" / "dev")
    assert load(tmp_path / "set").name == "set"
    write(tmp_path / "pair" / "dev" / "en")
    assert load(tmp_path / "pair" / "dev" / "en").name == "pair/en"
    with pytest.raises(SourceError, match=r"no corpus\.jsonl in .*there is one in .*en"):
        load(tmp_path / "pair")


@pytest.mark.parametrize(
    ("part", "text", "problem"),
    [
        ("corpus", '{"id": "d1", "text": "x"}\n{"id": 5}', r"corpus\.jsonl, line 2: 'id' must be text"),
        ("corpus", '{"id": "d1", "text": "x"}\n\n{"text": "x"}', "line 3: an 'id' is missing"),
        ("corpus", '{"id": "d1"}\n{"id": "d1"}', "line 2: the id 'd1' is used a second time"),
        ("corpus", '{"id": "d1", "meta": {"a": {"b": 1}}}', r"line 1: 'meta\.a' must be text, a number"),
        ("corpus", '{"id": "d1", "meta": 3}', "line 1: 'meta' must be an object"),
        ("corpus", '{"id": "d1"', "line 1: not JSON"),
        ("corpus", "[" * 100_000, "line 1: not JSON"),
        ("queries", '["q1"]', r"queries\.jsonl, line 1: a JSON object"),
        ("queries", '{"id": "q1"}', "line 1: a 'text' is missing"),
        ("queries", '{"id": "q1", "text": "x"}\n{"id": "q1", "text": "x"}', "line 2: the id 'q1' is used a second"),
        ("queries", '{"id": "q1", "text": "x", "answerable": "no"}', "line 1: 'answerable' must be true or false"),
        ("queries", '{"id": "q1", "text": "x", "answers": "A"}', "line 1: 'answers' must be a list of texts"),
        ("queries", '{"id": "q1", "text": "x", "answers": [1]}', "line 1: 'answers' must be a list of texts"),
        ("qrels", "q1\td1\t1\nq1 d1 1\n", r"qrels\.tsv, line 2: expected query id, document id and relevance"),
        ("qrels", "q1\td1\thigh\n", "line 1: expected query id"),
        ("qrels", "q9\td1\t1\n", "line 1: there is no query 'q9'"),
    ],
)
def test_malformed_files_name_the_line(tmp_path: Path, part: str, text: str, problem: str) -> None:
    folder = write(tmp_path / "bad", **{part: text})
    with pytest.raises(SourceError, match=problem):
        list(load(folder).documents())


def test_refuses_bytes_that_are_not_text(tmp_path: Path) -> None:
    folder = write(tmp_path / "bad")
    (folder / "queries.jsonl").write_bytes(b'{"id": "q1", "text": "\xff"}')
    with pytest.raises(SourceError, match="line 1: not JSON in UTF-8"):
        load(folder)


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_names_missing_files(tmp_path: Path, name: str) -> None:
    (write(tmp_path / "gap") / name).unlink()
    with pytest.raises(SourceError, match=f"{name}"):
        load(tmp_path / "gap")


@pytest.mark.parametrize(
    ("folder", "documents", "queries", "unanswerable"),
    [
        ("clapnq", 305, 307, 147),
        ("covid_faq_kb", 997, 232, 0),
        ("cudaq_docs", 98, 68, 1),
        ("scifact", 5183, 809, 0),
        ("telekom_press", 111, 6, 0),
        ("xquad/dev/en", 120, 576, 0),
        ("xquad/dev/de", 120, 576, 0),
    ],
)
def test_reads_public_data_sets(data_dir: Path, folder: str, documents: int, queries: int, unanswerable: int) -> None:
    dataset = load(data_dir / folder)
    ids = {document.id for document in dataset.documents()}
    assert len(ids) == documents
    assert len(dataset.queries) == queries
    assert sum(not query.answerable for query in dataset.queries) == unanswerable
    assert all(document in ids for judged in dataset.qrels.values() for document in judged)
