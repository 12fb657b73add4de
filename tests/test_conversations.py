"""Conversations: as much of them as fits, for as long as they are kept."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kb import add, open_fast

from ragstone.core.access import OWNER, Reader
from ragstone.core.answers import Turn
from ragstone.core.records import Document
from ragstone.history.conversations import LONGEST_SESSION, Conversations
from ragstone.history.journal import Journal
from ragstone.history.store import DAY


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000_000.0

    def __call__(self) -> float:
        return self.now


def words(text: str) -> int:
    return len(text.split())


def turn(n: int, length: int = 1) -> Turn:
    return Turn(question=f"q{n}", answer=" ".join(["word"] * length))


def asked(kept: Conversations, session: str = "s") -> list[str]:
    return [one.question for one in kept.before(session, words)]


def test_sessions_are_apart_and_in_order(tmp_path: Path) -> None:
    clock = Clock()
    kept = Conversations(Journal(tmp_path), tokens=100, days=30, clock=clock)
    for n in range(3):
        clock.now += 60
        kept.note("a", turn(n))
        kept.note("b", turn(n + 10))
    assert asked(kept, "a") == ["q0", "q1", "q2"]
    assert asked(kept, "b") == ["q10", "q11", "q12"]
    assert [(one.name, one.turns, one.last) for one in kept.sessions()] == [("b", 3, clock.now), ("a", 3, clock.now)]
    assert kept.forget("a") == 3
    assert asked(kept, "a") == []
    assert asked(kept, "nobody") == []


def test_sessions_have_names_and_pins_until_they_are_forgotten(tmp_path: Path) -> None:
    clock = Clock()
    kept = Conversations(Journal(tmp_path), tokens=100, days=30, clock=clock)
    for session in ("a", "b", "c"):
        clock.now += 60
        kept.note(session, turn(1))
    assert kept.name("a", title="My trip")
    assert kept.name("a", pinned=True)
    assert kept.name("b", title="Other")
    assert not kept.name("nobody", title="x")
    assert [(one.name, one.title, one.pinned) for one in kept.sessions()] == [
        ("a", "My trip", True), ("c", "", False), ("b", "Other", False),
    ]  # fmt: skip
    kept.forget("a")
    clock.now += 31 * DAY
    kept.note("b", turn(2))
    kept.note("a", turn(2))
    assert [(one.name, one.title, one.pinned) for one in kept.sessions()] == [("a", "", False), ("b", "Other", False)]
    kept.forget("b")
    kept.note("b", turn(3))
    assert kept.sessions()[0].title == ""


def test_words_of_answers_find_sessions(tmp_path: Path) -> None:
    kept = Conversations(Journal(tmp_path), tokens=100, days=30)
    kept.note("a", Turn(question="Who built it?", answer="The brothers Hale dug Älvdalen's well."))
    kept.note("b", Turn(question="When?", answer="In 1820."))
    kept.note(Reader(name="ann").session("c"), Turn(question="Why?", answer="The well ran dry."))
    kept.name("b", title="The forge")

    def found(q: str, namespace: str = "") -> list[str]:
        return [one.name for one in kept.sessions(namespace, q)]

    assert found("well ÄLVDALEN") == ["a"]
    assert found("FORGE 1820") == ["b"]
    assert found("well 1820") == []
    assert found(" ") == ["b", "a"]
    assert found("well", Reader(name="ann").namespace) == ["c"]


def test_the_last_turns_that_fit_are_given(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    kept = Conversations(journal, tokens=12, days=30)
    for n, length in enumerate([1, 3, 5, 4]):
        kept.note("s", turn(n, length))
    assert asked(kept) == ["q2", "q3"], "five and six tokens; four more would be too many"
    assert asked(Conversations(journal, tokens=4, days=30)) == []
    assert asked(Conversations(journal, tokens=0, days=30)) == []


def test_turns_expire(tmp_path: Path) -> None:
    clock, journal = Clock(), Journal(tmp_path)
    kept = Conversations(journal, tokens=100, days=2, clock=clock)
    kept.note("s", turn(0))
    clock.now += 1.5 * DAY
    kept.note("s", turn(1))
    assert asked(kept) == ["q0", "q1"]
    clock.now += DAY
    assert asked(kept) == ["q1"], "not given back, though it is still there"
    assert kept.prune() == 1
    clock.now += 10 * DAY
    kept.note("other", turn(2))
    with journal.reading() as db:
        assert db
        assert db.execute("SELECT session FROM turns").fetchall() == [("other",)], "a note prunes, too"


def test_nothing_is_kept_where_that_is_not_wanted(tmp_path: Path) -> None:
    kept = Conversations(Journal(tmp_path), tokens=100, days=0)
    kept.note("s", turn(0))
    assert asked(kept) == []
    assert list(tmp_path.iterdir()) == []


def test_a_session_without_end_does_not_grow_without_end(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    kept = Conversations(journal, tokens=10**6, days=30)
    for n in range(LONGEST_SESSION + 5):
        kept.note("s", turn(n))
    assert asked(kept) == [f"q{n}" for n in range(5, LONGEST_SESSION + 5)]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=6), st.integers(0, 40))
def test_never_more_than_may_be_and_always_the_last(
    tmp_path_factory: pytest.TempPathFactory, turns: list[tuple[str, str]], tokens: int
) -> None:
    kept = Conversations(Journal(tmp_path_factory.mktemp("journal")), tokens=tokens, days=30)
    given_turns = [Turn(question=question, answer=answer) for question, answer in turns]
    for one in given_turns:
        kept.note("s", one)
    back = list(kept.before("s", len))
    assert sum(len(one.question) + len(one.answer) for one in back) <= tokens
    assert back == given_turns[len(given_turns) - len(back) :]


def test_a_turn_leads_to_its_whole_answer_and_a_session_to_its_first_question(tmp_path: Path) -> None:
    other = Reader(name="other", groups=frozenset())
    with closing(open_fast(tmp_path / "kb")) as engine:
        add(engine, Document(id="d", text="Ragstone is a limestone. It is quarried in Kent."))
        answers = [
            asyncio.run(engine.ask(one, session="s", reader=OWNER))
            for one in ("What is ragstone?", "Where is it quarried?")
        ]
        theirs = asyncio.run(engine.ask("What is ragstone?", session="s", reader=other))
        assert [one.response_id for one in engine.history.turns("s", reader=OWNER)] == [
            one.response_id for one in answers
        ]
        assert [one.response_id for one in engine.history.turns("s", reader=other)] == [theirs.response_id]
        assert [(one.name, one.first) for one in engine.history.conversations(reader=OWNER)] == [
            ("s", "What is ragstone?")
        ]
