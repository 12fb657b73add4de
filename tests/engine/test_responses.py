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

from ragstone.access import OWNER, Reader
from ragstone.answers import Answer
from ragstone.contracts import Document
from ragstone.engine import Engine
from ragstone.errors import NotFound, UsageError
from ragstone.index import Journal
from ragstone.index.journal import findings
from ragstone.usage.responses import LONGEST, Responses, answer_json

ANN, BOB = Reader.of("staff", name="ann"), Reader.of("staff", name="bob")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = open_fast(tmp_path / "kb")
    add(engine, Document(id="lunch.md", text="The canteen opens at noon."), Document(id="lift.md", text="A red lift."))
    yield engine
    engine.close()


def ask(engine: Engine, reader: Reader = OWNER) -> Answer:
    return asyncio.run(engine.ask("When does the canteen open?", reader=reader))


def test_an_answer_is_given_back_as_it_was(engine: Engine) -> None:
    answer = ask(engine)
    kept = engine.response(answer.response_id)
    assert kept.answer == json.loads(json.dumps(answer_json(answer)))
    assert (kept.question, kept.feedback) == (answer.question, ())
    assert kept.evidence == tuple(dict.fromkeys(hit.chunk.document_id for hit in answer.hits))


def test_its_evidence_is_given_back_as_far_as_it_is_stored_and_may_be_read(engine: Engine) -> None:
    answer = ask(engine, ANN)
    kept = engine.response(answer.response_id, reader=ANN)
    assert [(hit.chunk, hit.score, hit.why) for hit in kept.hits] == [
        (hit.chunk, hit.score, hit.why) for hit in answer.hits
    ]
    assert len(kept.hits) == 2
    engine.remove(["lift.md"])
    left = engine.response(answer.response_id, reader=ANN)
    assert [hit.chunk.document_id for hit in left.hits] == ["lunch.md"]
    assert left.evidence == kept.evidence


def test_it_is_kept_before_it_is_told(engine: Engine, tmp_path: Path) -> None:
    answer = ask(engine)
    with closing(sqlite3.connect(tmp_path / "kb" / "journal.db")) as other:
        assert other.execute("SELECT id FROM responses").fetchall() == [(answer.response_id,)]


def test_one_voice_counts_once_and_the_last_word_counts(engine: Engine, tmp_path: Path) -> None:
    id = ask(engine).response_id
    first = engine.feedback(id, voice="ann", vote="up")
    assert engine.feedback(id, voice="ann", vote="up") == first
    changed = engine.feedback(id, voice="ann", vote="down", reason="it closed", correction="lift.md")
    other = engine.feedback(id, voice="bob", vote="up")
    assert set(engine.response(id).feedback) == {changed, other}
    with closing(sqlite3.connect(tmp_path / "kb" / "journal.db")) as db:
        assert db.execute("SELECT voice, vote FROM feedback ORDER BY number").fetchall() == [
            ("ann", 1), ("ann", -1), ("bob", 1),
        ]  # fmt: skip


def test_a_correction_is_the_document_it_names_or_what_was_said(engine: Engine) -> None:
    id = ask(engine, ANN).response_id
    assert engine.feedback(id, vote="down", correction="/lift.md", reader=ANN).correction == "/lift.md"
    add(engine, Document(id="house/lift.md", text="It is red."))
    assert engine.feedback(id, vote="down", correction="/lift.md", reader=ANN).correction == "house/lift.md"


@pytest.mark.parametrize("reader", [BOB, Reader.of("staff"), Reader(groups=frozenset())], ids=["bob", "staff", "any"])
def test_answers_of_others_are_not_there(engine: Engine, reader: Reader) -> None:
    id = ask(engine, ANN).response_id
    for look in (lambda: engine.response(id, reader=reader), lambda: engine.feedback(id, vote="up", reader=reader)):
        with pytest.raises(NotFound, match="there is no answer"):
            look()
    assert engine.response(id, reader=ANN).response_id == engine.response(id).response_id
    assert engine.feedback(id, vote="up", reader=ANN).voice == "ann"


def test_an_answer_goes_with_the_right_to_read_what_it_rests_on(engine: Engine) -> None:
    id = ask(engine, ANN).response_id
    hidden = Document(id="lunch.md", text="The canteen opens at noon.", metadata={"readers": "hr"})
    add(engine, hidden)
    with pytest.raises(NotFound):
        engine.response(id, reader=ANN)
    assert engine.response(id).evidence[0] == "lunch.md"


@pytest.mark.parametrize(
    ("vote", "reason", "message"), [("sideways", "", "up or down"), ("up", "x" * (LONGEST + 1), "at most")]
)
def test_what_is_no_opinion_is_refused(engine: Engine, vote: str, reason: str, message: str) -> None:
    id = ask(engine).response_id
    with pytest.raises(UsageError, match=message):
        engine.feedback(id, vote=vote, reason=reason)  # pyright: ignore[reportArgumentType]
    assert engine.response(id).feedback == ()


def test_old_ones_go_with_what_was_said_of_them(engine: Engine, tmp_path: Path) -> None:
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


def test_old_ones_go_and_none_of_the_others_is_read(tmp_path: Path, engine: Engine) -> None:
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
            engine.response(answer.response_id)
    finally:
        engine.close()
    assert not (tmp_path / "kb" / "journal.db").exists()


def test_an_answer_that_cannot_be_kept_is_told_all_the_same(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "kb" / "journal.db").write_bytes(b"no database at all, but long enough to be looked at" * 40)
    answer = ask(engine)
    assert answer.hits
    assert any("cannot be rated later" in notice for notice in answer.notices)


def test_a_damaged_row_is_not_given_back_and_the_doctor_tells(engine: Engine, tmp_path: Path) -> None:
    id = ask(engine).response_id
    engine.feedback(id, vote="up")
    with closing(sqlite3.connect(tmp_path / "kb" / "journal.db")) as db:
        db.execute("UPDATE feedback SET vote = -1")
        db.commit()
    assert engine.response(id).feedback == ()
    assert "1 of its feedback" in findings(tmp_path / "kb")[0].what
    with closing(sqlite3.connect(tmp_path / "kb" / "journal.db")) as db:
        db.execute("UPDATE responses SET question = 'another'")
        db.commit()
    with pytest.raises(NotFound):
        engine.response(id)


def test_keeping_does_not_stop_the_event_loop(engine: Engine, tmp_path: Path) -> None:
    """Another process holds the journal for a while; meanwhile everything else goes on."""
    ask(engine)  # the journal is made

    async def both() -> int:
        asking = asyncio.ensure_future(engine.ask("Is there a lift?"))
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
