"""How evidence came about is what the search did, not something like it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from kb import add, open_fast

from ragstone.core.access import OWNER, READERS, Reader
from ragstone.core.errors import UsageError
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.settings.load import changed

QUESTION = "Where do visitors park?"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[KnowledgeBase]:
    engine = open_fast(tmp_path / "kb")
    texts = [f"Visitors of house {i} park behind mill {i}. Gate {i} closes at nine." for i in range(40)]
    add(engine, *(Document(id=f"d{i}", text=text, title=f"House {i}") for i, text in enumerate(texts)))
    add(engine, Document(id="secret", text="Visitors park in the vault.", metadata={READERS: ("board",)}))
    yield engine
    engine.close()


@pytest.mark.parametrize(
    "rank",
    [
        {},
        {"reranker": "maxsim"},
        {"reranker": "maxsim", "diversify": "mmr", "pool": 20},
        {"boosts": {"keywords": 0.3, "title": 1.2}, "diversify": "round_robin"},
        {"diversify": "one_per_document", "top_k": 3},
        {"join": True, "max_tokens": 60},
    ],
)
def test_a_trace_ends_with_the_evidence_of_the_answer(engine: KnowledgeBase, rank: dict) -> None:
    own = engine.under(lambda _: changed(engine.settings, {"rank": rank, "cache": {"enabled": False}}))
    trace = asyncio.run(own.trace(QUESTION, shown=30, reader=OWNER))
    answer = asyncio.run(own.ask(QUESTION, reader=OWNER))
    assert [(hit.chunk, hit.score) for hit in trace.evidence.hits] == [(hit.chunk, hit.score) for hit in answer.hits]
    assert trace.evidence.method == answer.retrieval_method
    assert len(trace.fused) == 30
    assert len(trace.ranked) == max(own.settings.rank.pool, own.settings.rank.top_k)
    assert {hit.chunk.id for hit in trace.ranked} <= {hit.chunk.id for hit in trace.fused}
    assert sum(trace.weights.values()) == pytest.approx(1)
    assert set(trace.found) == {"vector", "bm25"}
    for place, hit in enumerate(trace.fused, start=1):
        (fusion,) = [step for step in hit.why if step.stage == "fusion"]
        assert fusion.rank >= place, "texts that are alike count once"


def test_more_shown_changes_nothing_that_is_chosen(engine: KnowledgeBase) -> None:
    few, many = (asyncio.run(engine.trace(QUESTION, shown=shown, reader=OWNER)) for shown in (0, 40))
    assert few.evidence == many.evidence
    assert few.ranked == many.ranked
    assert many.fused[: len(few.fused)] == few.fused


def test_a_trace_shows_a_reader_nothing_of_others(engine: KnowledgeBase) -> None:
    board, guest = (
        asyncio.run(engine.trace(QUESTION, reader=Reader(groups=g))) for g in (frozenset({"board"}), frozenset())
    )
    assert "secret" in {hit.chunk.document_id for hit in board.fused}
    assert "secret" not in {hit.chunk.document_id for hit in (*guest.fused, *guest.ranked, *guest.evidence.hits)}
    assert guest.found["vector"] == board.found["vector"] - 1


def test_a_blank_question_is_refused(engine: KnowledgeBase) -> None:
    with pytest.raises(UsageError, match="empty"):
        asyncio.run(engine.trace("  ", reader=OWNER))
