"""A knowledge base in a folder that may be read and not written.

Permissions do not bind root, so root gives up its rights while a test looks at the folder.
"""

import asyncio
import logging
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from kb import READY, add, open_fast

from ragstone.core.access import OWNER
from ragstone.core.errors import KnowledgeBaseError
from ragstone.core.records import Document
from ragstone.engine.backup import backup
from ragstone.engine.doctor import doctor

NOBODY = 65534
PARIS = Document(id="paris", text="The capital of France is Paris.")
OSLO = Document(id="oslo", text="The capital of Norway is Oslo.")


@contextmanager
def as_another() -> Generator[None]:
    """Be an account that owns nothing."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def allow(folder: Path, *, folders: int, files: int) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(folders if path.is_dir() else files)


@pytest.fixture
def folder() -> Iterator[Path]:
    root = Path(tempfile.mkdtemp())
    root.chmod(0o755)
    with closing(open_fast(root / "kb", READY)) as engine:
        add(engine, PARIS)
        asyncio.run(engine.ask("What is the capital of France?", reader=OWNER, session="talk"))
    allow(root / "kb", folders=0o555, files=0o444)
    yield root / "kb"
    allow(root, folders=0o755, files=0o644)
    shutil.rmtree(root)


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def test_answers_and_writes_nothing(folder: Path, caplog: pytest.LogCaptureFixture):
    before = contents(folder)
    with as_another(), closing(open_fast(folder, READY, create=False)) as engine, caplog.at_level(logging.WARNING):
        for _ in range(2):
            answer = asyncio.run(engine.ask("What is the capital of France?", reader=OWNER, session="talk"))
            assert "Paris" in answer.answer
            assert answer.notices == ()
            assert {step.stage for hit in answer.hits for step in hit.why} >= {"bm25", "vector"}
        with pytest.raises(KnowledgeBaseError, match="cannot be written"):
            add(engine, OSLO)
    assert contents(folder) == before


def test_tells_once_that_nothing_is_kept(folder: Path, caplog: pytest.LogCaptureFixture):
    with as_another(), caplog.at_level(logging.WARNING), closing(open_fast(folder, READY, create=False)) as engine:
        for _ in range(2):
            asyncio.run(engine.ask("What is the capital of France?", reader=OWNER))
    (record,) = caplog.records
    assert "this account cannot write to" in record.message


def test_sees_what_the_owner_adds(folder: Path):
    with as_another():
        reading = open_fast(folder, READY, create=False)
        assert [hit.chunk.document_id for hit in asyncio.run(reading.search("capital", reader=OWNER))] == ["paris"]
    allow(folder, folders=0o755, files=0o644)
    with closing(open_fast(folder)) as engine:
        add(engine, OSLO)
        allow(folder, folders=0o555, files=0o444)
        with as_another():  # while the owner has it open, and its log is there
            found = asyncio.run(reading.search("capital", reader=OWNER))
            assert {hit.chunk.document_id for hit in found} == {"paris", "oslo"}
    with as_another():
        found = asyncio.run(reading.search("Oslo", reader=OWNER))
        assert found[0].chunk.document_id == "oslo"
        reading.close()


def test_says_which_log_stands_in_the_way(folder: Path):
    """A process died before its commits reached the file, and the log cannot be read without writing."""
    allow(folder, folders=0o755, files=0o644)
    (folder / "v1" / "catalog.db-wal").write_bytes(b"something")
    allow(folder, folders=0o555, files=0o444)
    with as_another(), pytest.raises(KnowledgeBaseError, match="open it once with an account that may write"):
        open_fast(folder, create=False)


def test_doctor_finds_nothing_wrong(folder: Path):
    before = contents(folder)
    with as_another():
        health = doctor(folder)
    assert [one for one in health.findings if one.part != "permissions"] == []
    assert (health.documents, health.chunks) == (1, 1)
    assert contents(folder) == before


@pytest.mark.parametrize("secret", ["CURRENT", "v1/catalog.db", "v1", "journal.db"])
def test_doctor_tells_permission_from_damage(folder: Path, secret: str):
    (folder / secret).chmod(0)
    with as_another():
        health = doctor(folder)
    (finding,) = health.findings
    assert (finding.part, finding.what) == ("permissions", f"this account may not read {folder / secret}")
    assert "backup" not in finding.remedy


def test_backs_up_without_writing_the_original(folder: Path):
    before = contents(folder)
    copy = Path(tempfile.mkdtemp())
    copy.chmod(0o777)
    with as_another():
        assert backup(folder, copy / "copy").documents == 1
    assert contents(folder) == before
    shutil.rmtree(copy)
