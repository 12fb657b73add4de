"""The journal: made once, whole after kills and power cuts, told of where it is damaged, copied with the rest."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from crash import power
from crash.power import Log
from crash.story import watched
from crash.vfs import Shim
from kb import add, open_fast, parts

from ragstone.core.answers import Turn
from ragstone.core.errors import Damaged, KnowledgeBaseError
from ragstone.core.records import Document
from ragstone.engine.backup import backup, restore
from ragstone.engine.doctor import doctor
from ragstone.history.conversations import Conversations
from ragstone.history.journal import NAME, Journal, findings
from ragstone.history.journal_tables import FORMAT

ROOT = Path(__file__).parent.parent.parent


def conversations(home: Path, **limits: float) -> Conversations:
    return Conversations(Journal(home), tokens=int(limits.get("tokens", 10**6)), days=limits.get("days", 30))


def questions(home: Path, session: str = "s") -> list[str]:
    return [turn.question for turn in conversations(home).before(session, len)]


def note(home: Path, *asked: str, session: str = "s") -> None:
    kept = conversations(home)
    for question in asked:
        kept.note(session, Turn(question=question, answer=f"answer to {question}"))


def test_reading_makes_no_file(tmp_path: Path) -> None:
    assert questions(tmp_path) == []
    assert conversations(tmp_path).forget("s") == 0
    assert list(tmp_path.iterdir()) == []


def test_what_was_noted_is_there_for_every_process(tmp_path: Path) -> None:
    note(tmp_path, "one", "two")
    assert questions(tmp_path) == ["one", "two"]
    assert not list(tmp_path.glob(".*"))


WRITER = """
import sys
from pathlib import Path
from ragstone.core.answers import Turn
from ragstone.history.journal import Journal
from ragstone.history.conversations import Conversations
kept = Conversations(Journal(Path(sys.argv[1])), tokens=1, days=30)
for n in range(int(sys.argv[3])):
    kept.note(sys.argv[2], Turn(question=str(n), answer="a" * 200))
    print(n, flush=True)
"""


def writer(home: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(home), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def test_two_processes_make_one_and_lose_nothing(tmp_path: Path) -> None:
    writers = [writer(tmp_path, name, 40) for name in ("a", "b")]
    assert [len(one.communicate()[0].split()) for one in writers] == [40, 40]
    for name in ("a", "b"):
        assert questions(tmp_path, name) == [str(n) for n in range(40)]
    assert findings(tmp_path) == []


def test_a_killed_process_loses_nothing_that_it_was_told_is_kept(tmp_path: Path) -> None:
    for life in range(3):
        with writer(tmp_path, f"life{life}", 10_000) as one:
            assert one.stdout
            told = [one.stdout.readline() for _ in range(5 + life)]
            one.send_signal(signal.SIGKILL)
            told += one.stdout.read().splitlines()
        kept = questions(tmp_path, f"life{life}")
        last = len([line for line in told if line.strip()])
        assert last <= len(kept) <= last + 1
    assert findings(tmp_path) == []


def test_power_cuts_leave_what_was_acknowledged(tmp_path: Path, shim: Shim) -> None:
    home = tmp_path / "life"
    home.mkdir()
    log, chance = Log(home), random.Random(3)
    with watched(shim, log):
        kept, done = conversations(home), list[str]()
        for n in range(4):
            kept.note("s", Turn(question=f"q{n}", answer="word " * 300))
            done.append(f"q{n}")
            log.ack(tuple(done))
        kept.forget("s")
        log.ack(())
        kept.note("s", Turn(question="last", answer="word"))
        log.ack(("last",))
        kept._journal.close()
    left = list(power.images(log, chance, 2))
    assert len(left) > 40
    for image, acknowledged, following in left:
        power.lay_out(image, home, tmp_path / "image")
        found = tuple(questions(tmp_path / "image"))
        assert found in (tuple(acknowledged or ()), tuple(following or ()))
        note(tmp_path / "image", "more")
        assert questions(tmp_path / "image")[-1] == "more"
        assert findings(tmp_path / "image") == []


@pytest.fixture
def shim() -> Shim:
    from crash.vfs import library

    if library() is None:
        pytest.skip("Python's sqlite3 has no shared library of its own here")
    return Shim()


@pytest.mark.parametrize("other", ["application_id = 0", f"user_version = {FORMAT + 1}"])
def test_refuses_another_format_unchanged(tmp_path: Path, other: str) -> None:
    note(tmp_path, "kept")
    with closing(sqlite3.connect(tmp_path / NAME)) as db:
        db.execute(f"PRAGMA {other}")
    content = (tmp_path / NAME).read_bytes()
    with pytest.raises(KnowledgeBaseError, match="ragstone add SOURCE --kb FOLDER"):
        questions(tmp_path)
    with pytest.raises(KnowledgeBaseError, match="ragstone add SOURCE --kb FOLDER"):
        note(tmp_path, "lost")
    assert "reads format" in findings(tmp_path)[0].what
    assert (tmp_path / NAME).read_bytes() == content


@pytest.mark.parametrize("content", [b"no database at all" * 100, b""], ids=["other", "empty"])
def test_a_file_that_is_none_is_told_of(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(Damaged, match=r"journal\.db"):
        questions(tmp_path)
    with pytest.raises(Damaged, match=r"journal\.db"):
        note(tmp_path, "x")
    assert findings(tmp_path)
    assert (tmp_path / NAME).read_bytes() == content


def test_a_row_that_is_not_what_was_written_is_not_given_back(tmp_path: Path) -> None:
    note(tmp_path, "one", "two")
    with closing(sqlite3.connect(tmp_path / NAME)) as db:
        db.execute("UPDATE turns SET answer = 'other' WHERE question = 'one'")
        db.commit()
    assert questions(tmp_path) == ["two"]
    (found,) = findings(tmp_path)
    assert "1 of its turns" in found.what
    assert "backup" in found.remedy


def test_one_that_was_taken_away_is_made_anew(tmp_path: Path) -> None:
    kept = conversations(tmp_path)
    kept.note("s", Turn(question="one", answer="a"))
    for file in tmp_path.glob(f"{NAME}*"):
        file.unlink()
    kept.note("s", Turn(question="two", answer="a"))
    assert questions(tmp_path) == ["two"]


def test_what_is_forgotten_is_not_in_the_files(tmp_path: Path) -> None:
    kept = conversations(tmp_path)
    kept.note("s", Turn(question="confidential-question", answer="confidential-answer " * 500))
    kept.note("other", Turn(question="stays", answer="a"))
    assert kept.forget("s") == 1
    for file in tmp_path.iterdir():
        assert b"confidential" not in file.read_bytes()
    assert questions(tmp_path, "other") == ["stays"]


# ---------------------------------------------------------------- with the knowledge base


def test_a_rebuild_leaves_it_and_a_backup_takes_it_along(tmp_path: Path) -> None:
    import asyncio

    engine = open_fast(tmp_path / "kb")
    add(engine, Document(id="d", text="some words"))
    parts(engine).history.conversations().note("s", Turn(question="one", answer="a"))
    asyncio.run(engine.versions.rebuild(["chunk.size=120"]))
    assert questions(tmp_path / "kb") == ["one"]
    backup(tmp_path / "kb", tmp_path / "copy")
    parts(engine).history.conversations().note("s", Turn(question="two", answer="a"))
    engine.close()
    restore(tmp_path / "copy", tmp_path / "other")
    assert questions(tmp_path / "other") == ["one"]
    restore(tmp_path / "copy", tmp_path / "kb", replace=True)
    assert questions(tmp_path / "kb") == ["one", "two"], "what was said since then is nowhere else"
    assert not list((tmp_path / "kb").glob(".journal*"))


def test_the_doctor_looks_at_it_and_no_damaged_one_is_copied_unseen(tmp_path: Path) -> None:
    engine = open_fast(tmp_path / "kb")
    add(engine, Document(id="d", text="some words"))
    parts(engine).history.conversations().note("s", Turn(question="one", answer="a"))
    engine.close()
    assert doctor(tmp_path / "kb").well
    backup(tmp_path / "kb", tmp_path / "sound")
    for damaged in (tmp_path / "kb", tmp_path / "sound"):
        with closing(sqlite3.connect(damaged / NAME)) as db:
            db.execute("UPDATE turns SET question = 'other'")
            db.commit()
    (found,) = doctor(tmp_path / "kb").findings
    assert (found.part, found.mended) == ("journal", False)
    with pytest.raises(Damaged, match="journal"):
        backup(tmp_path / "kb", tmp_path / "copy")
    with pytest.raises(Damaged, match="journal"):
        restore(tmp_path / "sound", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_what_an_interrupted_start_left_is_cleared_away(tmp_path: Path) -> None:
    engine = open_fast(tmp_path / "kb")
    add(engine, Document(id="d", text="some words"))
    engine.close()
    for end in ("", "-wal", "-shm"):
        (tmp_path / "kb" / f".{NAME}.999{end}").write_bytes(b"")
    assert len(doctor(tmp_path / "kb", mend=True).findings) == 3
    assert not list((tmp_path / "kb").glob(f".{NAME}*"))


def test_writing_to_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeBaseError, match="cannot be written"):
        note(tmp_path / "nothing", "x")


def test_threads_share_one(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    kept = conversations(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: kept.note("s", Turn(question=str(n), answer="a")), range(40)))
    assert sorted(map(int, questions(tmp_path))) == list(range(40))
