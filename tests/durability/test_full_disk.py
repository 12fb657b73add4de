"""A disk that is full: nothing acknowledged is lost, and everything works again when there is room.

The disk is a small file system in memory, which only root may mount; without it, nothing is tested here.
"""

import asyncio
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from kb import READY, open_fast

from ragstone.core.access import OWNER
from ragstone.core.errors import Damaged, KnowledgeBaseError
from ragstone.core.records import Document
from ragstone.engine.doctor import doctor
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.history.journal import Journal

ROOM = 64_000
Mount = Callable[[int], Path]
"""Mounts a disk of so many kilobytes; a mounted one gets another size."""


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Mount]:
    def run(*command: str) -> bool:
        try:
            return subprocess.run(command, capture_output=True, timeout=20).returncode == 0
        except OSError:
            return False

    def mounted(kilobytes: int) -> Path:
        folder = tmp_path / "disk"
        again = folder.is_dir()
        folder.mkdir(exist_ok=True)
        options = f"{'remount,' if again else ''}size={kilobytes}k"
        if not run("mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)):
            pytest.skip("this account may not mount a file system")
        return folder

    yield mounted
    run("umount", "-l", str(tmp_path / "disk"))


def document(number: int) -> Document:
    words = " ".join(f"w{(number * 31 + i) % 997}" for i in range(60))
    return Document(id=f"d{number}", text=f"The code of place {number} is {number * 7919}. {words}")


def ask(engine: KnowledgeBase, session: str) -> None:
    asyncio.run(engine.ask("What is the code of place 1?", reader=OWNER, session=session))


def fill(engine: KnowledgeBase) -> tuple[set[str], set[str]]:
    """Add and ask until the disk is full, and a little longer; return the documents and sessions acknowledged."""
    documents, sessions, failures = set[str](), set[str](), 0
    for number in range(100):
        try:
            asyncio.run(engine.documents.add([document(number)]))
            documents.add(f"d{number}")
        except KnowledgeBaseError:
            failures += 1
        for turn in range(3):
            try:
                ask(engine, f"{number}-{turn}")
                sessions.add(f"{number}-{turn}")
            except KnowledgeBaseError:
                failures += 1
        if failures > 10:
            break
    assert failures
    return documents, sessions


# From a disk on which the journal cannot be made, by way of one that fails while it is, to one that holds some answers.
@pytest.mark.parametrize("kilobytes", [300, 520, 600, 640, 700, 760, 780, 800, 820, 860, 1200, 2000])
def test_recovers_when_there_is_room(mount: Mount, kilobytes: int):
    folder = mount(kilobytes) / "kb"
    with closing(open_fast(folder, READY)) as engine:
        documents, sessions = fill(engine)
        mount(ROOM)
        asyncio.run(engine.documents.add([document(1000)]))  # in the process that met the full disk
        ask(engine, "later")
    with closing(open_fast(folder, READY)) as engine:
        ask(engine, "afterwards")
        with engine.current() as version:
            assert {one.id for one in version.catalog.documents()} >= {*documents, "d1000"}
            turns = version.history.conversations().turns
            assert all(turns(session) for session in (*sessions, "later", "afterwards"))
    assert [one for one in doctor(folder).findings if one.part != "permissions"] == []


@pytest.mark.parametrize("kilobytes", [40, 120, 250])  # SQLite fails to open, or to write, or what follows it does
def test_a_knowledge_base_that_could_not_be_made_is_made_later(mount: Mount, kilobytes: int):
    folder = mount(kilobytes) / "kb"
    with pytest.raises(KnowledgeBaseError, match="could not"):
        open_fast(folder, READY)
    mount(ROOM)
    with closing(open_fast(folder, READY)) as engine:
        assert asyncio.run(engine.documents.add([document(1)])).added == 1
    assert [one for one in doctor(folder).findings if one.part != "permissions"] == []


@pytest.mark.parametrize("kilobytes", range(20, 240, 16))
def test_a_journal_is_made_whole_or_not_at_all(mount: Mount, kilobytes: int):
    folder = mount(kilobytes)
    journal = Journal(folder)
    try:
        with journal.writing():
            pass
    except KnowledgeBaseError:
        assert list(folder.iterdir()) == [] or (folder / "journal.db").is_file()
    journal.close()
    mount(ROOM)
    journal = Journal(folder)
    with journal.writing() as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    journal.close()


def test_full_disk_is_not_called_damage(mount: Mount):
    folder = mount(ROOM) / "kb"
    with closing(open_fast(folder, READY)) as engine:
        asyncio.run(engine.documents.add([document(1)]))
    with suppress(OSError), (folder.parent / "fill").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 16))
    with pytest.raises(KnowledgeBaseError, match="the disk is full; nothing stored is lost") as refused:
        open_fast(folder, READY, create=False)
    assert not isinstance(refused.value, Damaged)
    findings = [one for one in doctor(folder).findings if one.part == "catalog"]
    assert [("disk is full" in one.what, "restore" in one.remedy) for one in findings] == [(True, False)]
    (folder.parent / "fill").unlink()
    mount(ROOM)
    with closing(open_fast(folder, READY, create=False)) as engine:
        assert "7919" in asyncio.run(engine.ask("What is the code of place 1?", reader=OWNER)).answer
