"""Answers that are kept, and what people think of them: durable, each counted once, and nobody else's."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kb import add, open_fast
from plans import scanned

from ragstone.core.access import OWNER, Reader
from ragstone.core.answers import Answer
from ragstone.core.errors import NotFound, UsageError
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.history.journal import Journal, findings
from ragstone.history.responses import LONGEST, Responses

ANN, BOB = Reader.of("staff", name="ann"), Reader.of("staff", name="bob")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[KnowledgeBase]:
    engine = open_fast(tmp_path / "kb")
    add(engine, Document(id="lunch.md", text="The canteen opens at noon."), Document(id="lift.md", text="A red lift."))
    yield engine
    engine.close()


def ask(engine: KnowledgeBase, reader: Reader = OWNER) -> Answer:
    return asyncio.run(engine.ask("When does the canteen open?", reader=reader))


def test_an_answer_is_given_back_as_it_was(engine: KnowledgeBase) -> None:
    answer = ask(engine)
    kept = engine.history.response(answer.response_id, reader=OWNER)
    assert kept.answer == json.loads(json.dumps(answer.to_dict()))
    assert (kept.question, kept.feedback) == (answer.question, ())
    assert kept.evidence == tuple(dict.fromkeys(hit.chunk.document_id for hit in answer.hits))


def test_its_evidence_is_given_back_as_far_as_it_is_stored_and_may_be_read(engine: KnowledgeBase) -> None:
    answer = ask(engine, ANN)
    kept = engine.history.response(answer.response_id, reader=ANN)
    assert [(hit.chunk, hit.score, hit.why) for hit in kept.hits] == [
        (hit.chunk, hit.score, hit.why) for hit in answer.hits
    ]
    assert len(kept.hits) == 2
    engine.documents.remove(["lift.md"], reader=OWNER)
    left = engine.history.response(answer.response_id, reader=ANN)
    assert [hit.chunk.document_id for hit in left.hits] == ["lunch.md"]
    assert left.evidence == kept.evidence


def test_it_is_kept_before_it_is_told(engine: KnowledgeBase, tmp_path: Path) -> None:
    answer = ask(engine)
    with closing(sqlite3.connect(tmp_path / "kb" / "journal.db")) as other:
        assert other.execute("SELECT id FROM responses").fetchall() == [(answer.response_id,)]


def test_one_voice_counts_once_and_the_last_word_counts(engine: KnowledgeBase, tmp_path: Path) -> None:
    id = ask(engine).response_id
    first = engine.history.rate(id, voice="ann", vote="up", reader=OWNER)
    assert engine.history.rate(id, voice="ann", vote="up", reader=OWNER) == first
    changed = engine.history.rate(id, voice="ann", vote="down", reason="it closed", correction="lift.md", reader=OWNER)
    other = engine.history.rate(id, voice="bob", vote="up", reader=OWNER)
    assert set(engine.history.response(id, reader=OWNER).feedback) == {changed, other}
    with closing(sqlite3.connect(tmp_path / "kb" / "journal.db")) as db:
        assert db.execute("SELECT voice, vote FROM feedback ORDER BY number").fetchall() == [
            ("ann", 1), ("ann", -1), ("bob", 1),
        ]  # fmt: skip


def test_a_correction_is_the_document_it_names_or_what_was_said(engine: KnowledgeBase) -> None:
    id = ask(engine, ANN).response_id
    assert engine.history.rate(id, vote="down", correction="/lift.md", reader=ANN).correction == "/lift.md"
    add(engine, Document(id="house/lift.md", text="It is red."))
    assert engine.history.rate(id, vote="down", correction="/lift.md", reader=ANN).correction == "house/lift.md"


@pytest.mark.parametrize("reader", [BOB, Reader.of("staff"), Reader(groups=frozenset())], ids=["bob", "staff", "any"])
def test_answers_of_others_are_not_there(engine: KnowledgeBase, reader: Reader) -> None:
    id = ask(engine, ANN).response_id
    for look in (
        lambda: engine.history.response(id, reader=reader),
        lambda: engine.history.rate(id, vote="up", reader=reader),
    ):
        with pytest.raises(NotFound, match="there is no answer"):
            look()
    assert engine.history.response(id, reader=ANN).response_id == engine.history.response(id, reader=OWNER).response_id
    assert engine.history.rate(id, vote="up", reader=ANN).voice == "ann"


def test_an_answer_goes_with_the_right_to_read_what_it_rests_on(engine: KnowledgeBase) -> None:
    id = ask(engine, ANN).response_id
    hidden = Document(id="lunch.md", text="The canteen opens at noon.", metadata={"readers": "hr"})
    add(engine, hidden)
    with pytest.raises(NotFound):
        engine.history.response(id, reader=ANN)
    assert engine.history.response(id, reader=OWNER).evidence[0] == "lunch.md"


@pytest.mark.parametrize(
    ("vote", "reason", "message"), [("sideways", "", "up or down"), ("up", "x" * (LONGEST + 1), "at most")]
)
def test_what_is_no_opinion_is_refused(engine: KnowledgeBase, vote: str, reason: str, message: str) -> None:
    id = ask(engine).response_id
    with pytest.raises(UsageError, match=message):
        engine.history.rate(id, vote=vote, reason=reason, reader=OWNER)  # pyright: ignore[reportArgumentType]
    assert engine.history.response(id, reader=OWNER).feedback == ()


def test_old_ones_go_with_what_was_said_of_them(engine: KnowledgeBase, tmp_path: Path) -> None:
    answer, now = ask(engine), [1000.0]
    journal = Journal(tmp_path)
    kept = Responses(journal, days=1.0, clock=lambda: now[0])
    try:
        kept.keep(answer, OWNER)
        kept.rate(answer.response_id, voice="", vote="up")
        now[0] += 86_401
        with pytest.raises(NotFound):
            kept.get(answer.response_id, OWNER)
        kept.keep(ask(engine), OWNER)
        with pytest.raises(NotFound):  # by who looked at it a moment before
            kept.rate(answer.response_id, voice="", vote="down")
        with journal.reading() as db:
            assert db is not None
            assert db.execute("SELECT count(*), (SELECT count(*) FROM feedback) FROM responses").fetchone() == (1, 0)
    finally:
        journal.close()


def test_old_ones_go_and_none_of_the_others_is_read(tmp_path: Path, engine: KnowledgeBase) -> None:
    """Otherwise each answer, once the first are past their time, reads every opinion there is."""
    answer, now = ask(engine), [1000.0]
    with closing(Journal(tmp_path)) as journal:
        kept = Responses(journal, days=1.0, clock=lambda: now[0])
        kept.keep(answer, OWNER)
        kept.rate(answer.response_id, voice="", vote="up")
        now[0] += 86_401
        with journal.reading() as db:
            assert db is not None
            assert scanned(db, lambda: kept.keep(ask(engine), OWNER)) == []


def test_none_is_kept_where_that_is_the_setting(tmp_path: Path) -> None:
    engine = open_fast(tmp_path / "kb", "review.responses_days=0", "review.statistics_days=0")
    try:
        add(engine, Document(id="a", text="The canteen opens at noon."))
        answer = ask(engine)
        assert answer.notices == ()
        with pytest.raises(NotFound):
            engine.history.response(answer.response_id, reader=OWNER)
    finally:
        engine.close()
    assert not (tmp_path / "kb" / "journal.db").exists()


def test_an_answer_that_cannot_be_kept_is_told_all_the_same(engine: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "kb" / "journal.db").write_bytes(b"no database at all, but long enough to be looked at" * 40)
    answer = ask(engine)
    assert answer.hits
    assert any("was not stored and cannot be rated" in notice for notice in answer.notices)


def test_a_damaged_row_is_not_given_back_and_the_doctor_tells(engine: KnowledgeBase, tmp_path: Path) -> None:
    id = ask(engine).response_id
    engine.history.rate(id, vote="up", reader=OWNER)
    with closing(sqlite3.connect(tmp_path / "kb" / "journal.db")) as db:
        db.execute("UPDATE feedback SET vote = -1")
        db.commit()
    assert engine.history.response(id, reader=OWNER).feedback == ()
    assert "1 of its feedback" in findings(tmp_path / "kb")[0].what
    with closing(sqlite3.connect(tmp_path / "kb" / "journal.db")) as db:
        db.execute("UPDATE responses SET question = 'another'")
        db.commit()
    with pytest.raises(NotFound):
        engine.history.response(id, reader=OWNER)


def test_keeping_does_not_stop_the_event_loop(engine: KnowledgeBase, tmp_path: Path) -> None:
    """Another process holds the journal for a while; meanwhile everything else goes on."""
    ask(engine)  # the journal is made

    async def both() -> int:
        asking = asyncio.ensure_future(engine.ask("Is there a lift?", reader=OWNER))
        ticks = 0
        while not asking.done():
            await asyncio.sleep(0.01)
            ticks += 1
            if ticks == 30:
                other.execute("COMMIT")
        assert not (await asking).abstained or ticks
        return ticks

    with closing(sqlite3.connect(tmp_path / "kb" / "journal.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert asyncio.run(both()) >= 30
