"""The log: outcomes of questions, and a journal with decisions of every kind."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ragstone.core.errors import UsageError
from ragstone.history.journal import NAME, Journal, row_crc
from ragstone.learning.learner import Learner, ReplayReport
from ragstone.learning.log import AssignmentRecord, Decision, VoteRecord, outcome_of
from ragstone.learning.observation import Observation
from ragstone.learning.policy import Choices, Policy
from ragstone.learning.report import report
from ragstone.learning.trial import Trial
from ragstone.settings import Settings

ASKED = AssignmentRecord(
    response_id="r", trial=1, version=1, probability=0.45, acted=1, kind="question", voice="asker", at=1.0
)
JOURNAL = Path(__file__).parent / "journals" / "decisions.db.gz"


def vote(voice: str, value: int, at: float) -> VoteRecord:
    return VoteRecord(response_id="r", voice=voice, vote=value, at=at)


def test_vote_of_the_asker_counts() -> None:
    found = outcome_of(ASKED, [vote("liar", -1, 2), vote("other liar", -1, 3), vote("asker", 1, 4)])
    assert (found.voice, found.vote, found.at) == ("asker", 1, 4)


def test_first_other_voice_votes_under_its_name() -> None:
    """If a majority voted under the name of the first, two colluders could vote as somebody else."""
    found = outcome_of(ASKED, [vote("honest", 1, 2), vote("liar", -1, 3), vote("other liar", -1, 4)])
    assert (found.voice, found.vote, found.at) == ("honest", 1, 2)


def test_unvoted_question_has_vote_0() -> None:
    found = outcome_of(ASKED, [])
    assert (found.voice, found.vote, found.at, found.version, found.probability) == ("asker", 0, 1.0, 1, 0.45)


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    (tmp_path / NAME).write_bytes(gzip.decompress(JOURNAL.read_bytes()))
    return tmp_path


def test_replays_decisions_of_every_kind(recorded: Path) -> None:
    with closing(Journal(recorded)) as journal:
        learner = Learner(journal, Settings())
        actions = {one.action for one in learner.log.decisions()}
        assert {"began", "promoted", "doubted", "kept", "rolled back", "weighed", "stepped", "waited"} <= actions
        assert {"promoted by hand", "rolled back by hand", "stopped by hand", "watched", "went on"} <= actions
        assert learner.promote(1).number == 145
        assert learner.replay() == ReplayReport(decisions=145)
        assert report(learner).moments


def test_json_is_read_and_written_unchanged(recorded: Path) -> None:
    with closing(sqlite3.connect(recorded / NAME)) as db:
        for (text,) in db.execute("SELECT what FROM policies"):
            assert Policy.from_json(text).to_json() == text
        for (text,) in db.execute("SELECT what FROM trials"):
            assert Trial.from_json(text).to_json() == text
        for (text,) in db.execute("SELECT what FROM decisions"):
            assert Decision.from_json(1, 0, text).to_json() == text
        for (text,) in db.execute("SELECT seen FROM votes"):
            assert Observation.from_json(text).to_json() == text


def test_replay_finds_a_changed_decision(tmp_path: Path) -> None:
    with closing(Journal(tmp_path)) as journal:
        learner = Learner(journal, Settings())
        learner.start_trial({"": Choices(top_k=2)})
        number = learner.promote(1, "because").number
        assert learner.replay().different == ()
        with journal.writing() as db:
            ((at, text),) = db.execute("SELECT at, what FROM decisions WHERE number = ?", [number]).fetchall()
            text = text.replace('"why":"because"', '"why":"perhaps"', 1)
            db.execute("UPDATE decisions SET what = ?, crc = ? WHERE number = ?", [text, row_crc(at, text), number])
        assert learner.replay().different == (number,), "the wording counts"
        with pytest.raises(UsageError, match="version 1 is already in use"):
            learner.promote(1)
