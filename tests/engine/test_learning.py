"""Learning in a real engine: the drawn version answers, and only evidence changes the version in use."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kb import add, look, open_fast
from voting import cast, learner_of

from ragstone.core.access import OWNER, Reader
from ragstone.core.answers import Answer
from ragstone.core.errors import RateLimited, UsageError
from ragstone.core.records import Document
from ragstone.engine.experiments.golden import suggest
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.history.journal import findings
from ragstone.learning.log import Position
from ragstone.learning.policy import Choices
from ragstone.learning.trial import draw

ROOT = Path(__file__).parent.parent.parent
GATED = ("learning.mode=gated", "review.judge=heuristic")
QUESTION = "When does canteen 3 open?"
SHORT = {"": Choices(top_k=2)}
"""Under this, an answer uses two chunks instead of five."""
Votes = Callable[[Answer], bool]


def documents() -> list[Document]:
    return [Document(id=f"canteen{n}.md", text=f"Canteen {n} opens at noon. " + "Soup. " * n) for n in range(8)]


def make(folder: Path, *settings: str) -> KnowledgeBase:
    engine = open_fast(folder, *settings)
    add(engine, *documents())
    return engine


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[KnowledgeBase]:
    engine = make(tmp_path / "kb", *GATED)
    yield engine
    engine.close()


def ask(engine: KnowledgeBase, user: int = 0) -> Answer:
    return asyncio.run(engine.ask(QUESTION, reader=Reader(name=f"user{user}")))


def use(engine: KnowledgeBase, count: int, likes: Votes, users: int = 40) -> list[Answer]:
    """Ask questions of several users in turn, each with a vote."""
    answers = []
    for number in range(count):
        reader = Reader(name=f"user{number % users}")
        answer = asyncio.run(engine.ask(QUESTION, reader=reader))
        engine.history.rate(answer.response_id, vote="up" if likes(answer) else "down", reader=reader)
        answers.append(answer)
    with learner_of(engine):
        return answers


def prove(engine: KnowledgeBase) -> None:
    """Start a trial in which everybody likes the challenger only, and vote until it is decided."""
    engine.learning.start_trial(SHORT)
    cast(engine, 150, lambda version: version == 1, decide=False)
    use(engine, 60, lambda answer: answer.policy == 1)


def actions(engine: KnowledgeBase) -> list[str]:
    with learner_of(engine) as learner:
        return [one.action for one in learner.log.decisions()]


def test_drawn_version_answers(engine: KnowledgeBase) -> None:
    engine.learning.start_trial(SHORT)
    answers = [ask(engine, n) for n in range(60)]
    with learner_of(engine) as learner:
        trial = learner.log.trial(1)
        written = learner.log.assignments(learner.log.position())
    assert trial is not None
    assert [one.response_id for one in written] == [one.response_id for one in answers]
    for one, answer in zip(written, answers, strict=True):
        drawn = draw(trial, answer.response_id)
        assert (one.version, one.acted, one.probability) == (drawn, answer.policy, trial.shares[drawn])
        assert len(answer.hits) == (2 if answer.policy else 5)
        assert engine.history.response(answer.response_id, reader=OWNER).answer["policy"] == answer.policy
    assert 15 < sum(one.policy for one in answers) < 40


def test_promotes_and_rolls_back(engine: KnowledgeBase) -> None:
    prove(engine)
    assert engine.learning.report().champion == 1
    assert "promoted" in actions(engine)
    assert engine.learning.report().trial.startswith("watch")
    checked = engine.learning.replay()
    assert (checked.different, checked.decisions) == ((), len(actions(engine)))
    begun = time.perf_counter()
    engine.learning.rollback()
    assert time.perf_counter() - begun < 10
    assert {ask(engine).policy for _ in range(5)} == {0}
    assert engine.learning.replay().different == ()


def test_calibrates_confidence_from_votes(tmp_path: Path) -> None:
    with closing(make(tmp_path / "kb", *GATED, "respond.abstain_below=0")) as engine:
        before = ask(engine)
        chance = random.Random(6)
        use(engine, 100, lambda _: chance.random() < 0.15)
        assert "weighed" in actions(engine)
        after = next(one for one in (ask(engine) for _ in range(40)) if one.policy)  # some are answered as before
        assert (after.answer, after.citations) == (before.answer, before.citations)
        assert after.confidence < before.confidence - 0.2
        assert after.confidence == pytest.approx(0.15, abs=0.15)
        assert engine.learning.replay().different == ()


def _origin(engine: KnowledgeBase, version: int) -> int:
    """Return the arm that a version stands in for, perhaps as the second one."""
    while version > 1:
        version = engine.learning.policies()[version].parent
    return version


def test_calibrates_confidence_during_a_trial(tmp_path: Path) -> None:
    with closing(make(tmp_path / "kb", *GATED, "respond.abstain_below=0")) as engine:
        engine.learning.start_trial(SHORT)
        before, chance = ask(engine), random.Random(6)
        use(engine, 100, lambda _: chance.random() < 0.15)
        now = engine.learning.report()
        assert (now.trial, now.votes, sum(one.arm.votes for one in now.arms)) == ("trial 1", 100, 100)
        assert actions(engine).count("began") == 1
        assert "weighed" in actions(engine)
        assert now.champion > 1
        assert f"version {now.champion} stands in for version 0" in now.cautions[-1]
        after = [ask(engine) for _ in range(12)]
        assert {one.policy for one in after} == {now.champion, now.champion + 1}, "each arm has a stand-in"
        assert {len(one.hits) for one in after} == {2, 5}
        assert all(one.confidence < before.confidence - 0.2 for one in after)
        assert _origin(engine, now.champion) == 0
        assert _origin(engine, now.champion + 1) == 1
        use(engine, 200, lambda answer: len(answer.hits) == 2)
        assert "promoted" in actions(engine)
        in_use = engine.learning.policies()[engine.learning.report().champion].choices()
        assert in_use.top_k == 2
        assert in_use.slope is not None or in_use.shift is not None
        assert ask(engine).policy in (0, engine.learning.report().champion)
        assert engine.learning.replay().different == ()


def test_decides_after_five_votes(engine: KnowledgeBase) -> None:
    use(engine, 4, lambda _: True)
    assert actions(engine) == []
    answer = ask(engine, 9)
    for _ in range(3):  # repeated votes count once
        engine.history.rate(answer.response_id, vote="up", reader=Reader(name="user9"))
    assert len(actions(engine)) == 1


KILLED = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, "tests")
from kb import open_fast
from ragstone.core.access import Reader
engine = open_fast(Path(sys.argv[1]), *sys.argv[2:], create=False)
for n in range(10_000):
    reader = Reader(name=f"user{n % 40}")
    answer = asyncio.run(engine.ask("When does canteen 3 open?", reader=reader))
    engine.history.rate(answer.response_id, vote="up" if answer.policy else "down", reader=reader)
    print(answer.response_id, answer.policy, flush=True)
"""


def test_kill_loses_no_vote(engine: KnowledgeBase, tmp_path: Path) -> None:
    engine.learning.start_trial(SHORT)
    told: list[list[str]] = []
    for life in range(1):
        command = [sys.executable, "-c", KILLED, str(tmp_path / "kb"), *GATED]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as one:
            assert one.stdout
            told += [one.stdout.readline().split() for _ in range(9 + 5 * life)]
            one.send_signal(signal.SIGKILL)
            told += [line.split() for line in one.stdout.read().splitlines() if len(line.split()) == 2]
    with learner_of(engine) as learner:
        log, upto = learner.log, learner.log.position()
        votes, written = log.votes(upto), {one.response_id: one for one in log.assignments(upto)}
    for response, policy in told:
        assert written[response].acted == int(policy)
        assert [one.vote for one in votes[response]] == [1 if int(policy) else -1]
    use(engine, 5, lambda answer: answer.policy == 1)
    with learner_of(engine) as learner:
        read = [one.position.votes for one in learner.log.decisions()]
    assert len(read) == len(set(read))
    assert engine.learning.replay().different == ()
    assert findings(tmp_path / "kb") == []


def test_log_holds_no_text_and_no_names(engine: KnowledgeBase, tmp_path: Path) -> None:
    secret = Document(id="salaries-of-the-board.md", text="Canteen 3 serves gold.", metadata={"readers": "board"})
    add(engine, secret)
    reader = Reader.of("board", name="margarethe")
    answer = asyncio.run(engine.ask("Does canteen 3 serve gold?", reader=reader))
    engine.history.rate(
        answer.response_id, vote="up", reader=reader, reason="precious", correction="salaries-of-the-board.md"
    )
    with learner_of(engine) as learner:
        learner.evaluate(force=True)
    rows = []
    for table in ("policies", "trials", "assignments", "votes", "decisions"):
        rows += look(tmp_path / "kb" / "journal.db", f"SELECT * FROM {table}")  # noqa: S608
    told = repr(rows)
    assert answer.response_id in told
    for word in ("salaries", "gold", "margarethe", "board", "precious"):
        assert word not in told
    shown = repr((engine.learning.report(), engine.learning.policies()))
    assert answer.response_id not in shown


def test_policy_never_widens_access(engine: KnowledgeBase) -> None:
    add(engine, Document(id="secret.md", text="Canteen 3 opens at noon.", metadata={"readers": "board"}))
    engine.learning.start_trial({"": Choices(top_k=8, vector_weight=1.0)})
    engine.learning.promote(1)
    for _ in range(6):
        hits = asyncio.run(engine.search(QUESTION, reader=Reader.of("staff")))
        assert len(hits) == 8
        assert all(hit.chunk.document_id != "secret.md" for hit in hits)


def test_overridden_settings_turn_learning_off(tmp_path: Path, engine: KnowledgeBase) -> None:
    engine.learning.start_trial(SHORT)
    engine.learning.promote(1)
    named = open_fast(tmp_path / "kb", *GATED, "rank.top_k=4", create=False)
    try:
        assert named.learning.report().mode == "off"
        assert "rank.top_k" in named.learning.report().cautions[0]
        answer = ask(named)
        assert (answer.policy, len(answer.hits)) == (0, 4)
    finally:
        named.close()
    other = engine.under(lambda _: engine.settings)
    assert ask(other).policy == 0
    with learner_of(engine) as learner:
        assert learner.log.position() == Position()


def test_off_logs_nothing(tmp_path: Path) -> None:
    engine = make(tmp_path / "kb")
    try:
        answers = use(engine, 6, lambda _: True)
        assert {one.policy for one in answers} == {0}
        for table in ("policies", "assignments", "votes", "decisions"):
            assert look(tmp_path / "kb" / "journal.db", f"SELECT * FROM {table}") == []  # noqa: S608
    finally:
        engine.close()


def test_limits_votes_per_hour(tmp_path: Path) -> None:
    engine = make(tmp_path / "kb", "learning.per_hour=2")
    try:
        ids = [ask(engine).response_id for _ in range(3)]
        for id in ids[:2]:
            engine.history.rate(id, vote="up", reader=Reader(name="user0"))
        with pytest.raises(RateLimited, match="more than 2") as refused:
            engine.history.rate(ids[2], vote="up", reader=Reader(name="user0"))
        assert 3590 < refused.value.retry_after <= 3600
        engine.history.rate(ids[2], voice="another", vote="up", reader=Reader(name="user0"))
    finally:
        engine.close()


def test_choices_apply_to_their_kind(engine: KnowledgeBase) -> None:
    engine.learning.start_trial({"how_to": Choices(top_k=3)})
    engine.learning.promote(1)
    assert len(asyncio.run(engine.search("How do I find a canteen?", reader=OWNER))) == 3
    assert len(asyncio.run(engine.search(QUESTION, reader=OWNER))) == 5
    with pytest.raises(UsageError, match=r"kind of question 'howto'; kinds are .*how_to"):
        engine.learning.start_trial({"howto": Choices(top_k=2)})


DISHES = [f"{first}{second}" for first in ("bean", "onion", "turnip") for second in ("soup", "pie", "stew", "rice")]


@pytest.fixture
def menu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KnowledgeBase]:
    """Vector search dominates and does not favour the rare word that matters.

    The environment sets the weight, because overrides of a command would turn learning off.
    """
    monkeypatch.setenv("RAGSTONE_QUERY__VECTOR_WEIGHT", "0.9")
    engine = open_fast(tmp_path / "menu", *GATED, "query.adapt=false", "rank.pool=40")
    dishes = [Document(id=f"{dish}.md", text=f"When there is {dish} the canteen is full of guests.") for dish in DISHES]
    add(engine, *dishes, *(Document(id=f"usual{n}.md", text=f"When is there time {n}?") for n in range(4)))
    yield engine
    engine.close()


def test_starts_a_trial_after_100_votes(menu: KnowledgeBase) -> None:
    for number in range(100):
        dish, reader = DISHES[number % len(DISHES)], Reader(name=f"user{number % 40}")
        answer = asyncio.run(menu.ask(f"When is there {dish}?", reader=reader))
        menu.history.rate(answer.response_id, vote="down", correction=f"{dish}.md", reader=reader)
        assert number > 90 or "began" not in actions(menu)
    with learner_of(menu) as learner:
        learner.evaluate(force=True)
    assert actions(menu)[-1] == "began"
    assert menu.learning.policies()[-1].choices().vector_weight == pytest.approx(0.7)
    assert menu.learning.replay().different == ()


def test_suggests_a_change_from_labelled_questions(menu: KnowledgeBase, tmp_path: Path) -> None:
    written = "question,source\n" + "".join(f"When is there {dish}?,{dish}.md\n" for dish in DISHES)
    (tmp_path / "known.csv").write_text(written)
    found = asyncio.run(suggest(menu, tmp_path / "known.csv"))
    assert found.questions == len(DISHES)
    assert found.proposal is not None
    assert found.proposal.by_kind[""].vector_weight == pytest.approx(0.7)
    menu.learning.start_trial(found.proposal.by_kind, "known questions")
    assert menu.learning.replay().different == ()
    (tmp_path / "none.csv").write_text("question,source,answerable\nWho won?,,no\n")
    with pytest.raises(UsageError, match="no question with a source"):
        asyncio.run(suggest(menu, tmp_path / "none.csv"))
