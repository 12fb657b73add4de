"""Journals that earlier versions wrote: they are opened with all that is in them, and gone on with."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ragstone.core.access import OWNER
from ragstone.engine.jobs.journal import JournalJobs
from ragstone.history.conversations import Conversations
from ragstone.history.journal import NAME, Journal, findings
from ragstone.history.journal_tables import FORMAT
from ragstone.history.keys import Keys
from ragstone.history.responses import Responses

SAMPLES = Path(__file__).parent / "journals"
ANSWER = "c2e3b0e99b6946f197c993e63aa2f0f2"
LONG = 36_500.0


@pytest.fixture(params=sorted(path.name for path in SAMPLES.iterdir()))
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    shutil.copy(SAMPLES / request.param, tmp_path / NAME)
    with closing(Journal(tmp_path)) as opened:
        yield opened


def tables(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as db:
        return dict(db.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name"))


def test_an_older_one_holds_what_was_written_and_is_gone_on_with(journal: Journal) -> None:
    responses = Responses(journal, days=LONG)
    kept = responses.get(ANSWER, OWNER)
    assert kept.question == "When does the canteen open?"
    assert [(one.voice, one.vote) for one in kept.feedback] == [("ann", "up")]
    responses.rate(ANSWER, voice="bob", vote="down")
    assert {one.voice for one in responses.get(ANSWER, OWNER).feedback} == {"ann", "bob"}
    talk = Conversations(journal, tokens=100, days=LONG)
    assert [one.turns for one in talk.sessions('\x1f"ann"\x1f')] == [1]
    assert [key.name for key in Keys(journal).all()] == ["ann"]
    assert [job.kind for job in JournalJobs(journal).last(9)] == ["sync"]
    assert findings(journal.path.parent) == []


def test_an_older_one_is_brought_to_the_same_tables_as_a_new_one(journal: Journal, tmp_path: Path) -> None:
    with journal.reading() as db:
        assert db is not None
        assert db.execute("PRAGMA user_version").fetchone() == (FORMAT,)
    (tmp_path / "new").mkdir()
    with closing(Journal(tmp_path / "new")) as new, new.writing():
        pass
    assert tables(journal.path) == tables(tmp_path / "new" / NAME)
