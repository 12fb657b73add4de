"""The learner on a real journal: what the votes lead to, without questions."""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from voting import cast_into

from ragstone.core.errors import NotFound, UsageError
from ragstone.history.journal import NAME, Journal, findings, row_crc
from ragstone.learning import log as logs
from ragstone.learning.decisions import current_result, decide, rules_of
from ragstone.learning.learner import Learner
from ragstone.learning.log import Decision
from ragstone.learning.observation import Observation
from ragstone.learning.policy import Choices, choices_of
from ragstone.learning.report import report
from ragstone.settings import Settings

SHORT = {"": Choices(top_k=2)}


def settings(mode: str) -> Settings:
    return Settings.model_validate({"learning": {"mode": mode}, "query": {"vector_weight": 0.5}})


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A learner and its journal."""

    learner: Learner
    journal: Journal

    @property
    def actions(self) -> list[str]:
        return [one.action for one in self.learner.log.decisions()]

    def vote(
        self, count: int, likes: Callable[[int], bool], *, names: int = 40, seen: Observation | None = None
    ) -> None:
        """Cast votes and evaluate after every five of them."""
        for _ in range(count // 5):
            cast_into(self.learner, self.journal, 5, likes, names=names, seen=seen or Observation(abstained=True))
            self.learner.evaluate()


def made(folder: Path, mode: str = "gated") -> Case:
    journal = Journal(folder)
    return Case(learner=Learner(journal, settings(mode)), journal=journal)


@pytest.fixture
def case(tmp_path: Path) -> Iterator[Case]:
    one = made(tmp_path)
    yield one
    assert one.learner.replay().different == ()
    one.journal.close()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return the rows read from the log from now on."""
    rows: list[object] = []
    monkeypatch.setattr(logs, "row_crc", lambda *row: rows.append(row) or row_crc(*row))
    return rows


def test_keeps_a_doubted_version_that_is_better(case: Case) -> None:
    """All votes are worse than before, and worst on version 0."""
    chance = random.Random(4)
    case.learner.start_trial(SHORT)
    case.vote(250, lambda version: version == 1)
    assert "promoted" in case.actions
    while "doubted" not in case.actions:
        case.vote(5, lambda version: version == 1 and chance.random() < 0.4)
    while "kept" not in case.actions and len(case.actions) < 150:
        case.vote(5, lambda version: version == 1 and chance.random() < 0.6)
    assert case.learner.current().version == 1
    assert "rolled back" not in case.actions
    case.vote(300, lambda version: version == 0)
    assert "rolled back" in case.actions
    assert case.learner.current().version == 0


def test_promotes_nothing_without_evidence(case: Case) -> None:
    chance = random.Random(5)
    case.learner.start_trial(SHORT)
    case.vote(120, lambda _: chance.random() < 0.6)
    now = report(case.learner)
    assert (now.champion, now.trial) == (0, "trial 1")
    assert "prove nothing yet" in now.why
    (arm,) = [one.arm for one in now.arms if one.role == "challenger"]
    assert arm.evidence is not None
    assert arm.bar is not None
    assert arm.evidence < arm.bar
    assert len(now.moments) == 1 + 120 // 5


def test_four_voices_promote_nothing_among_forty(case: Case) -> None:
    """Forty vote before the trial; then four vote alone, always for the challenger."""
    case.vote(80, lambda _: True)
    case.learner.start_trial(SHORT)
    case.vote(300, lambda version: version == 1, names=4)
    trial = case.learner.log.trial(1)
    assert trial is not None
    assert trial.prior_voices == 40
    assert case.learner.current().version == 0


def test_one_of_several_processes_decides(case: Case, tmp_path: Path) -> None:
    cast_into(case.learner, case.journal, 4, lambda _: True)
    assert case.learner.evaluate() is None
    cast_into(case.learner, case.journal, 1, lambda _: True)
    others = [made(tmp_path) for _ in range(3)]
    with ThreadPoolExecutor(4) as pool:
        decided = list(pool.map(lambda one: one.learner.evaluate(), [case, *others]))
    for one in others:
        one.journal.close()
    assert len([one for one in decided if one]) == len(case.actions) == 1


def test_evaluates_in_the_background(case: Case) -> None:
    cast_into(case.learner, case.journal, 5, lambda _: True)
    case.learner.evaluate_soon()
    case.learner.close()
    assert case.actions == ["waited"]
    assert case.learner.last_error is None
    assert all(one.name != "ragstone-learning" for one in threading.enumerate())


@pytest.mark.parametrize("mode", ["gated", "eager"])
def test_evaluation_reads_only_new_votes(case: Case, mode: str, read: list[object]) -> None:
    """Otherwise every fifth vote takes seconds once there are tens of thousands."""
    cast_into(case.learner, case.journal, 200, lambda version: version == 0)
    case.learner.evaluate()  # reads all, and next when there are twice as many
    case.learner.start_trial(SHORT)
    cast_into(case.learner, case.journal, 10, lambda version: version > 0)
    read.clear()
    log, rules = case.learner.log, rules_of(mode, choices_of(case.learner.settings))
    decide(log, log.latest(), log.position(), rules, at=time.time())
    result = current_result(log, log.latest(), log.position())
    assert result
    assert result.votes == 10
    assert len(read) < 60


def test_searches_again_after_a_tenth_more_votes(case: Case, read: list[object]) -> None:
    """Otherwise every fifth vote reads all votes."""
    learner = case.learner
    cast_into(learner, case.journal, 150, lambda _: True)
    first = learner.evaluate()
    assert first
    assert (first.action, first.searched_at) == ("waited", 150)
    cast_into(learner, case.journal, 5, lambda _: True)
    read.clear()
    second = learner.evaluate()
    assert second
    assert second.searched_at == 150
    assert len(read) < 20
    cast_into(learner, case.journal, 50, lambda _: True)
    third = learner.evaluate()
    assert third
    assert third.searched_at == 205


def test_shadow_answers_under_the_version_in_use(tmp_path: Path) -> None:
    with closing((case := made(tmp_path, "shadow")).journal):
        case.learner.start_trial(SHORT)
        case.vote(30, lambda version: version == 0)
        drawn = case.learner.log.assignments(case.learner.log.position())
        assert {one.version for one in drawn} == {0, 1}
        assert {one.acted for one in drawn} == {0}
        assert case.learner.replay().different == ()


def test_eager_steps_after_every_five_votes(tmp_path: Path) -> None:
    with closing((case := made(tmp_path, "eager")).journal):
        case.vote(15, lambda _: True, seen=Observation())
        log = case.learner.log
        steps = [one for one in log.decisions() if one.action == "stepped"]
        assert len(steps) >= 2
        assert [log.policy(one.champion).parent for one in steps] == [one.champion - 1 for one in steps]
        for one in steps:
            weight = log.policy(one.champion).choices().vector_weight
            assert weight is not None
            assert abs(weight - 0.5) <= 0.05 * one.champion + 1e-9
        assert "55 of 100" in report(case.learner).cautions[0]
        assert case.learner.replay().different == ()


def test_replay_finds_a_changed_vote(tmp_path: Path) -> None:
    with closing((case := made(tmp_path)).journal):
        case.learner.start_trial(SHORT)
        case.vote(10, lambda version: version == 1)
        assert case.learner.replay().different == ()
        with closing(sqlite3.connect(tmp_path / NAME)) as db:
            db.execute("UPDATE votes SET vote = -vote WHERE number = 2")
            db.commit()
        assert case.learner.replay().different
        assert "1 of its votes" in findings(tmp_path)[0].what


def test_one_trial_at_a_time(case: Case) -> None:
    learner = case.learner
    learner.start_trial(SHORT)
    with pytest.raises(UsageError, match="a trial is running"):
        learner.start_trial({"": Choices(top_k=3)})
    assert learner.rollback().action == "stopped by hand"
    with pytest.raises(UsageError, match="no earlier version"):
        learner.rollback()
    with pytest.raises(UsageError, match="top_k must be"):
        learner.start_trial({"": Choices(top_k=50)})
    with pytest.raises(UsageError, match="there is nothing to try"):
        learner.start_trial({"how_to": Choices(top_k=learner.settings.rank.top_k)})
    with pytest.raises(NotFound, match="there is no policy 9"):
        learner.promote(9)
    assert len(learner.log.policies()) == 2


def test_refuses_concurrent_decision(tmp_path: Path) -> None:
    with closing((case := made(tmp_path)).journal):
        before = case.learner.log.latest()
        assert case.learner.log.add_decision(before, Decision(action="one"))
        assert case.learner.log.add_decision(before, Decision(action="two")) is None
        assert case.actions == ["one"]
