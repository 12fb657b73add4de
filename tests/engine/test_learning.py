"""Learning in a real engine: what was drawn is what answered, and only evidence changes what is in use."""

from __future__ import annotations

import asyncio
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from kb import add, look, open_fast
from voting import cast

from ragstone.access import Reader
from ragstone.answers import Answer
from ragstone.contracts import Document
from ragstone.engine import Engine
from ragstone.errors import TooOften, UsageError
from ragstone.experiment.golden import suggest
from ragstone.index.journal import findings, row_crc
from ragstone.learning.policy import Choices
from ragstone.learning.trial import assign
from ragstone.policies import log as logs
from ragstone.policies.deciding import decide, rules_of, verdict_now
from ragstone.policies.governed import as_set
from ragstone.policies.log import Decision, Position

ROOT = Path(__file__).parent.parent.parent
GATED = ("learning.mode=gated", "review.judge=heuristic")
QUESTION = "When does canteen 3 open?"
SHORT = {"": Choices(top_k=2)}
"""Under it an answer rests on two chunks and not on five."""
Votes = Callable[[Answer], bool]


def documents() -> list[Document]:
    return [Document(id=f"canteen{n}.md", text=f"Canteen {n} opens at noon. " + "Soup. " * n) for n in range(8)]


def make(folder: Path, *settings: str) -> Engine:
    engine = open_fast(folder, *settings)
    add(engine, *documents())
    return engine


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = make(tmp_path / "kb", *GATED)
    yield engine
    engine.close()


def ask(engine: Engine, user: int = 0) -> Answer:
    return asyncio.run(engine.ask(QUESTION, reader=Reader(name=f"user{user}")))


def use(engine: Engine, count: int, likes: Votes, users: int = 40) -> list[Answer]:
    """So many questions of several users, each with a vote."""
    answers = []
    for number in range(count):
        reader = Reader(name=f"user{number % users}")
        answer = asyncio.run(engine.ask(QUESTION, reader=reader))
        engine.feedback(answer.response_id, vote="up" if likes(answer) else "down", reader=reader)
        answers.append(answer)
    engine._learner.close()
    return answers


def prove(engine: Engine) -> None:
    """Everybody likes what is on trial, and only that: 200 votes, before which nothing is decided, and some more."""
    engine.try_out(SHORT)
    cast(engine, 150, lambda version: version == 1, decide=False)
    use(engine, 60, lambda answer: answer.policy == 1)


def actions(engine: Engine) -> list[str]:
    return [one.action for one in engine._learner.log.decisions()]


def test_what_was_drawn_is_what_answered(engine: Engine) -> None:
    engine.try_out(SHORT)
    answers = [ask(engine, n) for n in range(60)]
    log = engine._learner.log
    trial = log.trial(1)
    assert trial is not None
    written = log.assigned(log.position())
    assert [one.response_id for one in written] == [one.response_id for one in answers]
    for one, answer in zip(written, answers, strict=True):
        drawn = assign(trial, answer.response_id)
        assert (one.version, one.acted, one.probability) == (drawn.version, answer.policy, drawn.probability)
        assert len(answer.hits) == (2 if answer.policy else 5)
        assert engine.response(answer.response_id).answer["policy"] == answer.policy
    assert 15 < sum(one.policy for one in answers) < 40


def test_what_is_better_is_promoted_and_can_be_taken_back(engine: Engine) -> None:
    prove(engine)
    assert engine.learned().champion == 1
    assert "promoted" in actions(engine)
    assert engine.learned().trial.startswith("watch")
    checked = engine.check_decisions()
    assert (checked.different, checked.decisions) == ((), len(actions(engine)))
    begun = time.perf_counter()
    engine.rollback()
    assert time.perf_counter() - begun < 1
    assert {ask(engine).policy for _ in range(5)} == {0}
    assert engine.check_decisions().different == ()


def test_a_version_that_turns_bad_is_doubted_and_taken_back(engine: Engine) -> None:
    prove(engine)
    assert engine.learned().champion == 1
    use(engine, 120, lambda answer: answer.policy == 0)
    done = actions(engine)
    assert done.index("promoted") < done.index("doubted") < done.index("rolled back")
    assert engine.learned().champion == 0
    assert {ask(engine).policy for _ in range(5)} == {0}
    assert engine.check_decisions().different == ()


def test_in_doubt_half_are_answered_as_before_and_what_is_still_better_stays(engine: Engine) -> None:
    """All are less content than before, and most so with version 0."""
    prove(engine)
    chance = random.Random(4)
    while "doubted" not in actions(engine):
        use(engine, 5, lambda answer: answer.policy == 1 and chance.random() < 0.4)
    shares = [one.policy for one in use(engine, 40, lambda answer: answer.policy == 1 and chance.random() < 0.6)]
    assert 8 < shares.count(0) < 32
    while "kept" not in actions(engine) and len(actions(engine)) < 100:
        use(engine, 5, lambda answer: answer.policy == 1 and chance.random() < 0.6)
    assert engine.learned().champion == 1
    assert "rolled back" not in actions(engine)
    assert engine.check_decisions().different == ()


def test_people_teach_how_sure_answers_may_be_said_to_be(tmp_path: Path) -> None:
    with closing(make(tmp_path / "kb", *GATED, "respond.abstain_below=0")) as engine:
        before = ask(engine)
        chance = random.Random(6)
        use(engine, 100, lambda _: chance.random() < 0.15)
        assert "weighed" in actions(engine)
        after = next(one for one in (ask(engine) for _ in range(40)) if one.policy)  # some are answered as before
        assert (after.answer, after.citations) == (before.answer, before.citations)
        assert after.confidence < before.confidence - 0.2
        assert after.confidence == pytest.approx(0.15, abs=0.15)
        assert engine.check_decisions().different == ()


def test_people_teach_it_during_a_trial_which_goes_on(tmp_path: Path) -> None:
    with closing(make(tmp_path / "kb", *GATED, "respond.abstain_below=0")) as engine:
        engine.try_out(SHORT)
        before, chance = ask(engine), random.Random(6)
        use(engine, 100, lambda _: chance.random() < 0.15)
        now = engine.learned()
        assert (now.trial, now.votes, sum(one.arm.votes for one in now.arms)) == ("trial 1", 100, 100)
        assert actions(engine).count("began") == 1
        assert "weighed" in actions(engine)
        assert now.champion > 1
        assert f"version {now.champion} answers in place of version 0" in now.cautions[-1]
        after = [ask(engine) for _ in range(12)]
        assert {one.policy for one in after} == {now.champion, now.champion + 1}, "one in place of each that is tried"
        assert {len(one.hits) for one in after} == {2, 5}
        assert all(one.confidence < before.confidence - 0.2 for one in after)
        assert engine.policies()[now.champion].parent == 0
        assert engine.policies()[now.champion + 1].parent == 1
        use(engine, 200, lambda answer: len(answer.hits) == 2)
        assert "promoted" in actions(engine)
        in_use = engine._learner.current().choices()
        assert in_use.top_k == 2
        assert in_use.slope is not None or in_use.shift is not None
        assert ask(engine).policy in (0, engine.learned().champion)
        assert engine.check_decisions().different == ()


def test_what_is_not_better_is_not(engine: Engine) -> None:
    chance = random.Random(5)
    engine.try_out(SHORT)
    use(engine, 120, lambda _: chance.random() < 0.6)
    now = engine.learned()
    assert (now.champion, now.trial) == (0, "trial 1")
    assert "prove nothing yet" in now.why
    (arm,) = [one.arm for one in now.arms if one.role == "challenger"]
    assert arm.evidence is not None
    assert arm.bar is not None
    assert arm.evidence < arm.bar
    assert 2 < len(now.moments) <= 1 + 120 // 5, "what came while it was evaluated is for the next time"


def test_a_few_who_agree_promote_nothing(engine: Engine) -> None:
    """One of many users votes for one side in every third answer; without that one there is no difference."""
    engine.try_out(SHORT)
    for number in range(90):
        own = number % 3 == 0
        reader = Reader(name="liar" if own else f"user{number % 40}")
        answer = asyncio.run(engine.ask(QUESTION, reader=reader))
        vote = (answer.policy == 1) if own else True
        engine.feedback(answer.response_id, vote="up" if vote else "down", reader=reader)
    engine._learner.close()
    assert engine.learned().champion == 0


def test_who_voted_before_a_trial_counts_among_the_users_in_it(engine: Engine) -> None:
    """Four of forty rush into a new trial, and vote for whatever is new, before anybody else is back."""
    cast(engine, 80, lambda _: True)
    engine.try_out(SHORT)
    for number in range(60):
        answer = ask(engine, number % 4)
        vote = "up" if answer.policy == 1 else "down"
        engine.feedback(answer.response_id, vote=vote, reader=Reader(name=f"user{number % 4}"))
    engine._learner.close()
    trial = engine._learner.log.trial(1)
    assert trial is not None
    assert trial.voices == 40
    assert engine.learned().champion == 0
    assert engine.check_decisions().different == ()


def test_it_is_decided_after_every_few_votes_and_once(engine: Engine, tmp_path: Path) -> None:
    others = [open_fast(tmp_path / "kb", *GATED, create=False) for _ in range(3)]
    try:
        use(engine, 4, lambda _: True)
        assert actions(engine) == []
        answer = ask(engine, 9)
        for _ in range(3):  # said again, it counts once
            engine.feedback(answer.response_id, vote="up", reader=Reader(name="user9"))
        engine._learner.close()
        assert len(actions(engine)) == 1
        for n in range(5):
            answer = ask(engine, n)
            with engine._journal.writing() as db:  # as a process that is killed before it can evaluate
                log = engine._learner.log
                rated = engine._responses.get(answer.response_id, Reader())
                engine._learner.noting(rated, f"user{n}", "up", "")(db, time.time()) if log.position() else None
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda one: one._learner.evaluate(), [engine, *others]))
        assert len(actions(engine)) == 2
        assert engine.check_decisions().different == ()
    finally:
        for one in others:
            one.close()


KILLED = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, "tests")
from kb import open_fast
from ragstone.access import Reader
engine = open_fast(Path(sys.argv[1]), *sys.argv[2:], create=False)
for n in range(10_000):
    reader = Reader(name=f"user{n % 40}")
    answer = asyncio.run(engine.ask("When does canteen 3 open?", reader=reader))
    engine.feedback(answer.response_id, vote="up" if answer.policy else "down", reader=reader)
    print(answer.response_id, answer.policy, flush=True)
"""


@pytest.mark.parametrize("mode", ["gated", "eager"])
def test_an_evaluation_reads_what_is_new_and_not_years_of_votes(
    engine: Engine, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise every fifth vote costs seconds, once there are tens of thousands."""
    cast(engine, 200, likes=lambda version: version == 0)  # all are read here, and next when there are twice as many
    log = engine._learner.log
    engine.try_out(SHORT)
    cast(engine, 10, likes=lambda version: version > 0, decide=False)
    read: list[object] = []
    monkeypatch.setattr(logs, "row_crc", lambda *row: read.append(row) or row_crc(*row))
    rules = rules_of(engine.settings.learning.model_copy(update={"mode": mode}), as_set(engine.settings))
    decide(log, log.last(), log.position(), rules, at=time.time())
    verdict = verdict_now(log, log.last(), log.position())
    assert verdict
    assert verdict.votes == 10
    assert len(read) < 60


def test_where_nothing_deserved_a_trial_it_is_looked_again_when_a_tenth_more_was_said(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise all votes there ever were are read after every fifth of them."""
    cast(engine, 150, likes=lambda _: True, decide=False)
    log = engine._learner.log
    first = engine._learner.evaluate()
    assert first
    assert (first.action, first.looked) == ("waited", log.position().votes)
    cast(engine, 5, likes=lambda _: True, decide=False)
    read: list[object] = []
    monkeypatch.setattr(logs, "row_crc", lambda *row: read.append(row) or row_crc(*row))
    second = engine._learner.evaluate()
    assert second
    assert second.looked == first.looked
    assert len(read) < 20
    cast(engine, 50, likes=lambda _: True, decide=False)
    third = engine._learner.evaluate()
    assert third
    assert third.looked == log.position().votes
    assert engine.check_decisions().different == ()


def test_a_kill_loses_nothing_and_decides_nothing_twice(engine: Engine, tmp_path: Path) -> None:
    engine.try_out(SHORT)
    told: list[list[str]] = []
    for life in range(1):
        command = [sys.executable, "-c", KILLED, str(tmp_path / "kb"), *GATED]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as one:
            assert one.stdout
            told += [one.stdout.readline().split() for _ in range(9 + 5 * life)]
            one.send_signal(signal.SIGKILL)
            told += [line.split() for line in one.stdout.read().splitlines() if len(line.split()) == 2]
    log = engine._learner.log
    votes, written = log.votes(log.position()), {one.response_id: one for one in log.assigned(log.position())}
    for response, policy in told:
        assert written[response].acted == int(policy)
        assert [one.vote for one in votes[response]] == [1 if int(policy) else -1]
    use(engine, 5, lambda answer: answer.policy == 1)
    read = [one.log.votes for one in log.decisions()]
    assert len(read) == len(set(read))
    assert engine.check_decisions().different == ()
    assert findings(tmp_path / "kb") == []


def test_the_log_tells_of_no_question_no_name_and_no_document(engine: Engine, tmp_path: Path) -> None:
    secret = Document(id="salaries-of-the-board.md", text="Canteen 3 serves gold.", metadata={"readers": "board"})
    add(engine, secret)
    reader = Reader.of("board", name="margarethe")
    answer = asyncio.run(engine.ask("Does canteen 3 serve gold?", reader=reader))
    engine.feedback(
        answer.response_id, vote="up", reader=reader, reason="precious", correction="salaries-of-the-board.md"
    )
    engine._learner.evaluate(anyway=True)
    rows = []
    for table in ("policies", "trials", "assignments", "votes", "decisions"):
        rows += look(tmp_path / "kb" / "journal.db", f"SELECT * FROM {table}")  # noqa: S608
    told = repr(rows)
    assert answer.response_id in told
    for word in ("salaries", "gold", "margarethe", "board", "precious"):
        assert word not in told
    shown = repr((engine.learned(), engine.policies()))
    assert answer.response_id not in shown


def test_the_search_of_a_reader_is_no_wider_under_a_policy(engine: Engine) -> None:
    add(engine, Document(id="secret.md", text="Canteen 3 opens at noon.", metadata={"readers": "board"}))
    engine.try_out({"": Choices(top_k=8, vector_weight=1.0)})
    engine.promote(1)
    for _ in range(6):
        hits = asyncio.run(engine.search(QUESTION, reader=Reader.of("staff")))
        assert len(hits) == 8
        assert all(hit.chunk.document_id != "secret.md" for hit in hits)


def test_settings_of_its_own_keep_a_question_out(tmp_path: Path, engine: Engine) -> None:
    engine.try_out(SHORT)
    engine.promote(1)
    named = open_fast(tmp_path / "kb", *GATED, "rank.top_k=4", create=False)
    try:
        assert named.learned().mode == "off"
        assert "rank.top_k" in named.learned().cautions[0]
        answer = ask(named)
        assert (answer.policy, len(answer.hits)) == (0, 4)
    finally:
        named.close()
    other = engine.with_settings(engine.settings)
    assert ask(other).policy == 0
    assert engine._learner.log.position() == Position()


def test_off_logs_and_changes_nothing(tmp_path: Path) -> None:
    engine = make(tmp_path / "kb")
    try:
        answers = use(engine, 6, lambda _: True)
        assert {one.policy for one in answers} == {0}
        for table in ("policies", "assignments", "votes", "decisions"):
            assert look(tmp_path / "kb" / "journal.db", f"SELECT * FROM {table}") == []  # noqa: S608
    finally:
        engine.close()


def test_in_shadow_what_is_drawn_is_written_down_and_not_done(tmp_path: Path) -> None:
    engine = make(tmp_path / "kb", "learning.mode=shadow")
    try:
        engine.try_out(SHORT)
        answers = use(engine, 30, lambda answer: answer.policy == 1)
        assert {(one.policy, len(one.hits)) for one in answers} == {(0, 5)}
        log = engine._learner.log
        assert {one.version for one in log.assigned(log.position())} == {0, 1}
        assert log.last().champion == 0
        assert engine.check_decisions().different == ()
    finally:
        engine.close()


def test_eager_takes_a_small_step_after_every_few_votes(tmp_path: Path) -> None:
    settings = ("learning.mode=eager", "review.judge=heuristic", "query.vector_weight=0.5")
    tree = tmp_path / "preset.yaml"
    tree.write_text(
        "query: {vector_weight: 0.5}\nreview: {judge: heuristic}\nlearning: {mode: eager}\n", encoding="utf-8"
    )
    engine = Engine.open(tmp_path / "kb", ("index.embedder=hash_embedder:HashEmbedder",), preset=str(tree), create=True)
    assert settings
    try:
        add(engine, *documents())
        use(engine, 15, lambda answer: len(answer.response_id) % 2 == 0)
        log = engine._learner.log
        steps = [one for one in log.decisions() if one.action == "stepped"]
        assert len(steps) >= 2
        assert [log.policy(one.champion).parent for one in steps] == [one.champion - 1 for one in steps]
        for one in steps:
            weight = log.policy(one.champion).choices().vector_weight
            assert weight is not None
            assert abs(weight - 0.5) <= 0.05 * one.champion + 1e-9
        assert any("simulated" in one for one in engine.learned().cautions)
        assert engine.check_decisions().different == ()
    finally:
        engine.close()


def test_no_voice_counts_more_often_than_it_may(tmp_path: Path) -> None:
    engine = make(tmp_path / "kb", "learning.per_hour=2")
    try:
        ids = [ask(engine).response_id for _ in range(3)]
        for id in ids[:2]:
            engine.feedback(id, vote="up", reader=Reader(name="user0"))
        with pytest.raises(TooOften, match="more than 2") as refused:
            engine.feedback(ids[2], vote="up", reader=Reader(name="user0"))
        assert 3590 < refused.value.retry_after <= 3600
        engine.feedback(ids[2], voice="another", vote="up", reader=Reader(name="user0"))
    finally:
        engine.close()


def test_a_changed_log_is_told_by_the_replay(engine: Engine, tmp_path: Path) -> None:
    engine.try_out(SHORT)
    use(engine, 10, lambda answer: answer.policy == 1)
    assert engine.check_decisions().different == ()
    with closing(sqlite3.connect(tmp_path / "kb" / "journal.db")) as db:
        db.execute("UPDATE votes SET vote = -vote WHERE number = 2")
        db.commit()
    assert engine.check_decisions().different
    assert "1 of its votes" in findings(tmp_path / "kb")[0].what


def test_one_thing_is_tried_at_a_time(engine: Engine) -> None:
    engine.try_out(SHORT)
    with pytest.raises(UsageError, match="a trial is under way"):
        engine.try_out({"": Choices(top_k=3)})
    assert engine.rollback().action == "stopped by hand"
    with pytest.raises(UsageError, match="none before it"):
        engine.rollback()
    with pytest.raises(UsageError, match="top_k must be"):
        engine.try_out({"": Choices(top_k=50)})
    engine.try_out({"how_to": Choices(top_k=3)})
    engine.promote(2)
    assert len(asyncio.run(engine.search("How do I find a canteen?"))) == 3
    assert len(asyncio.run(engine.search(QUESTION))) == 5


def test_what_would_change_nothing_spends_no_trial(engine: Engine) -> None:
    """A trial takes thousands of votes, and half of what may ever err: not for a slip of the pen."""
    with pytest.raises(UsageError, match=r"kind 'howto'; kinds are .*how_to"):
        engine.try_out({"howto": Choices(top_k=2)})
    for kind in ("", "how_to"):
        with pytest.raises(UsageError, match="chosen already, by version 0: there is nothing to try"):
            engine.try_out({kind: Choices(top_k=engine.settings.rank.top_k)})
    assert (len(engine.policies()), actions(engine)) == (1, [])


def test_a_decision_that_comes_second_is_refused(engine: Engine) -> None:
    log = engine._learner.log
    before = log.last()
    assert log.decide(before, Decision(action="one"))
    assert log.decide(before, Decision(action="two")) is None
    assert actions(engine) == ["one"]


DISHES = [f"{first}{second}" for first in ("bean", "onion", "turnip") for second in ("soup", "pie", "stew", "rice")]


@pytest.fixture
def menu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """Vectors count nine tenths, and know the usual words of a question as well as the rare one that matters.

    Of what a command names nothing would be learned.
    """
    monkeypatch.setenv("RAGSTONE_QUERY__VECTOR_WEIGHT", "0.9")
    engine = open_fast(tmp_path / "menu", *GATED, "query.adapt=false", "rank.pool=40")
    dishes = [Document(id=f"{dish}.md", text=f"When there is {dish} the canteen is full of guests.") for dish in DISHES]
    add(engine, *dishes, *(Document(id=f"usual{n}.md", text=f"When is there time {n}?") for n in range(4)))
    yield engine
    engine.close()


def test_a_trial_begins_by_itself_when_enough_was_said(menu: Engine) -> None:
    for number in range(100):
        dish, reader = DISHES[number % len(DISHES)], Reader(name=f"user{number % 40}")
        answer = asyncio.run(menu.ask(f"When is there {dish}?", reader=reader))
        menu.feedback(answer.response_id, vote="down", correction=f"{dish}.md", reader=reader)
        assert number > 90 or "began" not in actions(menu)
    menu._learner.close()
    menu._learner.evaluate(anyway=True)
    assert actions(menu)[-1] == "began"
    assert menu.policies()[-1].choices().vector_weight == pytest.approx(0.7)
    assert menu.check_decisions().different == ()


def test_questions_with_known_answers_speak_for_a_change(menu: Engine, tmp_path: Path) -> None:
    written = "question,source\n" + "".join(f"When is there {dish}?,{dish}.md\n" for dish in DISHES)
    (tmp_path / "known.csv").write_text(written)
    found = asyncio.run(suggest(menu, tmp_path / "known.csv"))
    assert found.questions == len(DISHES)
    assert found.proposal is not None
    assert found.proposal.by_kind[""].vector_weight == pytest.approx(0.7)
    menu.try_out(found.proposal.by_kind, "known questions")
    assert menu.check_decisions().different == ()
    (tmp_path / "none.csv").write_text("question,source,answerable\nWho won?,,no\n")
    with pytest.raises(UsageError, match="no question with a document"):
        asyncio.run(suggest(menu, tmp_path / "none.csv"))
