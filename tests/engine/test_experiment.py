"""A data set of three documents, measured from end to end with the real engine."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from ragstone.core.errors import UsageError
from ragstone.engine.experiments import evaluate_dataset
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.review.report import EvalReport

TEXTS = {
    "cats": "Cats sleep for most of the day. They hunt at dusk.",
    "tides": "Tides rise and fall because of the pull of the moon.",
    "bread": "Bread rises because yeast makes gas. Salt slows the yeast down.",
}
QUERIES = [
    {"id": "q1", "text": "Why do tides rise and fall?", "evidence_sentences": [TEXTS["tides"]]},
    {"id": "q2", "text": "What makes bread rise?", "evidence_sentences": ["Bread rises because yeast makes gas."]},
    {"id": "q3", "text": "How much is a ticket to Vilnius?", "answerable": False},
]


@pytest.fixture
def folder(workdir: Path) -> Path:
    return write(workdir / "set", QUERIES)


def write(folder: Path, queries: list[dict[str, object]]) -> Path:
    folder.mkdir()
    corpus = [json.dumps({"id": name, "text": text}) for name, text in TEXTS.items()]
    (folder / "corpus.jsonl").write_text("\n".join(corpus))
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (folder / "qrels.tsv").write_text("q1\ttides\t1\nq2\tbread\t1\n")
    return folder


def measured(report: EvalReport) -> dict[str, float]:
    return {name: interval.mean for name, interval in report.measures.items()}


def test_search_and_answers_are_measured(folder: Path) -> None:
    told: list[str] = []
    report = asyncio.run(evaluate_dataset(folder, on_progress=told.append))
    assert (report.dataset, report.queries, report.judged) == ("set", 3, 2)
    assert measured(report)["mrr@10"] == 1.0
    assert report.answers is not None
    assert report.answers.questions == 3
    assert report.answers.quotes_exact.value in (None, 1.0)
    assert told[0] == "3 documents added"
    assert told[-1] == "3 of 3 questions asked"


def test_measures_look_beyond_the_limit_of_results(folder: Path) -> None:
    limited = ["rank.top_k=1", "rank.top_k_limit=1"]
    assert measured(asyncio.run(evaluate_dataset(folder, limited, answers=False)))["recall@5"] == 1.0


def test_a_knowledge_base_that_is_kept_embeds_nothing_again(folder: Path, workdir: Path) -> None:
    kb, told = workdir / "kb", list[str]()
    first = asyncio.run(evaluate_dataset(folder, kb=kb, answers=False))
    second = asyncio.run(evaluate_dataset(folder, ["query.method=bm25"], kb=kb, answers=False, on_progress=told.append))
    assert first.answers is None
    assert measured(second)["recall@5"] == 1.0
    assert not any("added" in line for line in told)


def test_nothing_is_left_of_a_temporary_one(folder: Path, workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = workdir / "tmp"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    report = asyncio.run(evaluate_dataset(folder, answers=False, limit=1))
    assert report.queries == 1
    assert not list(place.iterdir())


def test_only_sets_that_judge_answers_are_asked(workdir: Path) -> None:
    folder = write(workdir / "plain", [{"id": query["id"], "text": query["text"]} for query in QUERIES])
    assert asyncio.run(evaluate_dataset(folder)).answers is None


def test_other_documents_in_the_knowledge_base_are_refused(folder: Path, workdir: Path) -> None:
    (workdir / "note.md").write_text("Something else.")
    engine = KnowledgeBase.open(workdir / "kb", create=True)
    asyncio.run(engine.documents.add([str(workdir / "note.md")]))
    engine.close()
    with pytest.raises(UsageError, match="has 4 documents"):
        asyncio.run(evaluate_dataset(folder, kb=workdir / "kb"))
