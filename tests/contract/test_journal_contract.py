"""What every journal does, in the folder of a host or in PostgreSQL, seen through the modules that use it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from ragstone.core.access import OWNER, Reader
from ragstone.core.answers import Answer, Turn, Usage
from ragstone.core.errors import KnowledgeBaseError, NotFound, RateLimited, UsageError
from ragstone.core.request import BILLION
from ragstone.engine.jobs.journal import JournalJobs
from ragstone.engine.jobs.queue import Work
from ragstone.history.conversations import Conversations
from ragstone.history.journal import NAME, Journal
from ragstone.history.journal_tables import FORMAT
from ragstone.history.keys import KeyLimits, Keys
from ragstone.history.postgres_journal import MOVED, PostgresJournal
from ragstone.history.responses import HOUR, Responses
from ragstone.history.shares import Shares
from ragstone.history.spending import DETAILED_DAYS, Spending
from ragstone.history.statistics import Statistics
from ragstone.history.store import JournalStore
from ragstone.history.tokens import Tokens
from ragstone.history.users import Users
from ragstone.learning.learner import Learner
from ragstone.learning.policy import Choices
from ragstone.services.cost import Call
from ragstone.services.postgres import Server
from ragstone.settings import Settings
from ragstone.settings.services import PostgresSettings
from servers.postgres_server import PostgresServer

OpenJournal = Callable[..., JournalStore]
ODD = "a\0b \x1a0 % ? ?1 'c' \\ é \U0001f600"
"""A text that one of the databases, or a placeholder, might mistake for something else."""
CALL = Call(job="j", purpose="question", model="m", prompt_tokens=4, completion_tokens=2, cost=30)
_SCHEMAS = (f"j{n}_journal" for n in count())


class Clock:
    """Seconds since 1970, which a test moves."""

    def __init__(self) -> None:
        self.now = 1_790_000_000.123456

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def database(postgres: PostgresServer) -> PostgresSettings:
    return postgres.settings(postgres.database("journals"))


@pytest.fixture
def on_server(database: PostgresSettings, tmp_path: Path) -> Iterator[OpenJournal]:
    """Opens a journal in PostgreSQL, as another host would if it is given another folder."""
    schema, opened = next(_SCHEMAS), list[PostgresJournal]()

    def make(folder: Path = tmp_path) -> JournalStore:
        server = Server(database, schema=schema)
        opened.append(PostgresJournal(server, schema, folder))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


@pytest.fixture(params=["file", "postgres"])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[JournalStore]:
    one = Journal(tmp_path) if request.param == "file" else request.getfixturevalue("on_server")()
    with closing(one):
        yield one


def answer(id: str, question: str = "q", text: str = "It is tall.") -> Answer:
    return Answer(
        response_id=id, question=question, answer=text, outcome="answer", citations=(), sources=(), confidence=0.5,
        retrieval_method="hybrid", timestamp="", timings_ms={}, usage=Usage(),
    )  # fmt: skip


def test_nothing_is_there_before_the_first_write(journal: JournalStore) -> None:
    assert not journal.exists
    with journal.reading() as db:
        assert db is None
    assert Conversations(journal, tokens=9, days=1).sessions() == []
    assert not Keys(journal).ring()
    assert journal.findings() == []
    with journal.writing():
        pass
    assert journal.exists


def test_conversations_come_back_word_for_word(journal: JournalStore) -> None:
    clock = Clock()
    kept = Conversations(journal, tokens=10**6, days=1, clock=clock)
    answers = Responses(journal, days=1, clock=clock)
    for n in range(3):
        clock.now += 30
        kept.note("s", Turn(question=f"{ODD} {n}", answer=ODD))
        clock.now += 0.01
        answers.keep(answer(f"r{n}", f"{ODD} {n}", ODD), OWNER)
    kept.note("other", Turn(question="x", answer="y"))
    assert kept.before("s", len)[-1] == Turn(question=f"{ODD} 2", answer=ODD)
    assert [(one.question, one.response_id) for one in kept.turns("s")] == [(f"{ODD} {n}", f"r{n}") for n in range(3)]
    assert kept.name("s", title=ODD)
    assert kept.name("s", pinned=True)
    assert [(one.name, one.turns, one.title) for one in kept.sessions()] == [("s", 3, ODD), ("other", 1, "")]
    assert kept.forget("s") == 3
    clock.now += 90_000
    assert kept.prune() == 1
    assert kept.sessions() == []
    assert journal.findings() == []


def test_an_opinion_counts_once_and_is_limited(journal: JournalStore) -> None:
    clock = Clock()
    answers = Responses(journal, days=1, clock=clock)
    for n in range(4):
        answers.keep(answer(f"r{n}"), Reader.of("staff"))
    for _ in range(2):
        answers.rate("r0", voice=ODD, vote="up", reason=ODD, per_hour=2)
    answers.rate("r0", voice=ODD, vote="down", per_hour=2)
    (said,) = answers.get("r0", OWNER).feedback
    assert (said.vote, said.reason) == ("down", "")
    with pytest.raises(RateLimited):
        answers.rate("r1", voice=ODD, vote="up", per_hour=2)
    answers.rate("r1", voice="another", vote="up", per_hour=2)
    clock.now += HOUR
    answers.rate("r1", voice=ODD, vote="up", per_hour=2)
    with pytest.raises(NotFound):
        answers.rate("gone", voice="v", vote="up")


def test_keys_are_found_and_revoked(journal: JournalStore) -> None:
    keys = Keys(journal)
    key, secret = keys.make("Ann's", ["read"], ["staff"], KeyLimits(burst=3))
    assert keys.ring().find(secret) == key
    keys.spend(key.id, 5)
    keys.spend(key.id, 6)
    assert keys.spent(key.id) == 11
    keys.revoke("Ann's")
    assert keys.ring().find(secret) is None
    assert bool(keys.ring())


def test_a_name_given_again_begins_anew(journal: JournalStore) -> None:
    users, shares, conversations = Users(journal), Shares(journal), Conversations(journal, tokens=99, days=7)
    own, other = (Reader(name=name, groups=frozenset()).session("s") for name in ("ada", "ada2"))
    users.add("ada", "correct horse battery", ["read"])
    for session in (own, other):
        conversations.note(session, Turn(question="Why?", answer="So."))
    (_, secret), (_, others) = shares.make(own), shares.make(other)
    users.remove("ada")
    assert (shares.find(secret) is None, shares.find(others) is None) == (True, False)
    assert len(conversations.turns(own)) == 1
    users.add("ada", "correct horse battery", ["read"])
    assert [len(conversations.turns(session)) for session in (own, other)] == [0, 1]


def test_tokens_are_found_until_they_are_over(journal: JournalStore) -> None:
    clock = Clock()
    key, _ = Keys(journal, clock).make("shop", ["tokens"], ["hr", "staff"])
    tokens = Tokens(journal, clock)
    assert tokens.find("rgt_" + "a" * 43) is None
    text = tokens.make(key, ODD.replace("\0", ""), ["staff"], 60)
    clock.now += 59
    found = tokens.find(text)
    assert found is not None
    assert found.reader == Reader(name=f"visitor:{key.id}:{ODD.replace(chr(0), '')}", groups=frozenset({"staff"}))
    with pytest.raises(UsageError, match="board"):
        tokens.make(key, "ann", ["staff", "board"], 60)
    clock.now += 1
    assert tokens.find(text) is None
    clock.now += 1
    tokens.make(key, "ann", [], 60)
    with journal.reading() as db:
        assert db is not None
        assert db.execute("SELECT count(*) FROM tokens").fetchone() == (1,), "the other one was removed"


def test_writers_at_once_neither_overspend_nor_lose_counts(journal: JournalStore) -> None:
    taken = list[int | None]()

    def work(one: JournalStore) -> None:
        spending, counts = Spending(one), Statistics(one, days=7)
        for _ in range(4):
            number, _ = spending.reserve(CALL, limit=5 * 30)
            taken.append(number)
            counts.note_answer(answer("r"), degraded=False, cached=False)
            counts.save()
        one.close()

    threads = [threading.Thread(target=work, args=(journal.another(),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    numbers = [one for one in taken if one is not None]
    assert len(numbers) == len(set(numbers)) == 5
    assert Spending(journal).costs().today.cost == 150 / BILLION
    assert Statistics(journal, days=7).report(1).total.questions == 12


def test_every_store_follows_the_clock_of_the_journal(journal: JournalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    clock.now = 86_400.0 * 365
    monkeypatch.setattr(journal, "clock", clock)
    keys, spending, tokens = Keys(journal), Spending(journal), Tokens(journal)
    key, _ = keys.make("shop", ["tokens"])
    keys.spend(key.id, 7)
    spending.settle(None, CALL)
    token = tokens.make(key, "ann", [], 60)
    learner = Learner(journal, Settings())
    learner.start_trial({"": Choices(top_k=2)})
    assert (keys.spent(key.id), [one.day for one in spending.days()]) == (7, ["1971-01-01"])
    assert (learner.log.latest().at, keys.seconds_of_day()) == (clock.now, 86_400)
    assert tokens.find(token) is not None
    clock.now += 61
    assert tokens.find(token) is None


def test_costs_of_past_days_are_summed(journal: JournalStore) -> None:
    clock = Clock()
    spending = Spending(journal, clock)
    for _ in range(2):
        for cost in (7, None):
            spending.settle(None, replace(CALL, cost=cost))
        clock.now += (DETAILED_DAYS + 1) * 86_400
    spending.settle(None, CALL)
    total = spending.costs().total
    assert (total.calls, total.unpriced, total.prompt_tokens, round(total.cost * BILLION)) == (5, 2, 20, 44)


def test_what_is_learned_is_logged_in_order(journal: JournalStore) -> None:
    clock = Clock()
    learner = Learner(journal, Settings(), clock=clock)
    learner.start_trial({"": Choices(top_k=2)})
    answers = Responses(journal, days=1, clock=clock)
    for n in range(4):
        learner.assign(f"r{n}", kind="k", asker="a")
        answers.keep(answer(f"r{n}"), OWNER)
        write = learner.vote_writer(answers.get(f"r{n}", OWNER), voice="a", vote="up")
        answers.rate(f"r{n}", voice="a", vote="up", also=write)
    log = learner.log
    position, latest = log.position(), log.latest()
    assert (position.assignments, position.votes) == (4, 4)
    assert [one.vote for one in log.outcomes(position)] == [1] * 4
    assert log.outcomes(position, trial=99) == []
    promoted = learner.promote(1)
    assert promoted.number == latest.number + 1
    assert log.add_decision(latest, promoted) is None, "another decision came first"
    assert learner.replay().different == ()


def test_jobs_follow_one_clock(journal: JournalStore) -> None:
    one, other = JournalJobs(journal), JournalJobs(journal.another())
    (job,) = one.put("sync", [Work(sources=("a",))])
    taken = other.take("w", 60.0)
    assert taken is not None
    assert (taken.id, one.take("v", 60.0)) == (job.id, None)
    assert one.counts().unfinished == 1


def test_jobs_of_another_host_stay_there(journal: JournalStore) -> None:
    jobs = JournalJobs(journal)
    for server in ("here-1", "there-1"):
        jobs.new("sync", Work(sources=(server,)), "", server)
    assert [job.work.sources for job in jobs.take_over("here-2", {"here-2"})] == [("here-1",)]


def test_a_damaged_row_is_reported_and_left_out(journal: JournalStore) -> None:
    kept = Conversations(journal, tokens=10**6, days=1)
    for n in range(2):
        kept.note("s", Turn(question=f"q{n}", answer="a"))
    with journal.writing() as db:
        db.execute("UPDATE turns SET answer = 'b' WHERE question = ?", ["q0"])
    assert [one.question for one in kept.turns("s")] == ["q1"]
    (found,) = journal.findings()
    assert "1 of its turns is damaged" in found.what


def test_a_failed_write_leaves_nothing(journal: JournalStore) -> None:
    kept = Conversations(journal, tokens=9, days=1)

    def fail() -> None:
        with journal.writing() as db:
            db.execute("INSERT INTO names VALUES ('s', 't', 0, 0)")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with journal.reading() as db:
        assert db is not None
        assert db.execute("SELECT count(*) FROM names").fetchone() == (0,)
    assert kept.sessions() == []


def test_a_journal_moves_in_and_out_with_all_its_rows(on_server: OpenJournal, tmp_path: Path) -> None:
    with closing(Journal(tmp_path)) as own:
        kept = Conversations(own, tokens=10**6, days=1)
        for n in range(3):
            kept.note("s", Turn(question=ODD, answer=str(n)))
        Spending(own).settle(None, CALL)
        _, secret = Keys(own).make("Ann", ["read"])
    shared = on_server()
    assert shared.exists
    kept = Conversations(shared, tokens=10**6, days=1)
    kept.note("s", Turn(question=ODD, answer="3"))
    assert [one.answer for one in kept.turns("s")] == ["0", "1", "2", "3"]
    assert Keys(shared).ring().find(secret) is not None
    assert not (tmp_path / NAME).exists()
    assert (tmp_path / MOVED).is_file()
    with closing(Journal(tmp_path / "out")) as copy, shared.snapshot() as rows:
        (tmp_path / "out").mkdir()
        assert rows is not None
        copy.fill(rows)
        assert Conversations(copy, tokens=10**6, days=1).turns("s") == kept.turns("s")
        assert Spending(copy).costs() == Spending(shared).costs()
        assert copy.findings() == []


def test_refuses_another_format(on_server: OpenJournal) -> None:
    with on_server().writing() as db:
        db.execute("UPDATE about SET format = ?", [FORMAT + 1])
    with pytest.raises(KnowledgeBaseError, match="this Ragstone reads format 1"):
        Keys(on_server()).all()


def test_a_server_that_is_away_is_reported_and_found_again(
    on_server: OpenJournal, postgres: PostgresServer, tmp_path: Path
) -> None:
    keys = Keys(on_server(tmp_path / "host"))
    key, _ = keys.make("Ann", ["read"])
    postgres.kill()
    try:
        with pytest.raises(KnowledgeBaseError, match="the journal cannot be read"):
            keys.all()
        with pytest.raises(KnowledgeBaseError, match=r"the journal cannot be (read|written)"):
            keys.spend(key.id, 1)
    finally:
        postgres.start()
    assert keys.all() == [key]
