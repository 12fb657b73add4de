"""Copies made while others write, and put back without harm to what is there."""

import asyncio
import threading
from pathlib import Path

import pytest
from kb import add, check_whole, open_fast, parts

from ragstone.core.access import OWNER
from ragstone.core.errors import Damaged, NotFound, UsageError
from ragstone.core.records import Document
from ragstone.engine.backup import backup, restore
from ragstone.engine.knowledge_base import KnowledgeBase


def document(number: int) -> Document:
    return Document(id=f"d{number}", text=f"number {number} " + "filler words " * 20)


def stored(folder: Path) -> set[str]:
    engine = open_fast(folder, create=False)
    try:
        check_whole(parts(engine).source.path / "catalog.db")
        return {one.id for one in parts(engine).catalog.documents()}
    finally:
        engine.close()


@pytest.fixture
def engine(tmp_path: Path):
    engine = open_fast(tmp_path / "kb")
    add(engine, document(0), document(1))
    yield engine
    engine.close()


def test_a_copy_is_a_knowledge_base(engine: KnowledgeBase, tmp_path: Path):
    copied = backup(tmp_path / "kb", tmp_path / "copy")
    assert (copied.documents, copied.chunks) == (2, 4)
    add(engine, document(2))
    assert stored(tmp_path / "copy") == {"d0", "d1"}
    with pytest.raises(UsageError, match="not empty"):
        backup(tmp_path / "kb", tmp_path / "copy")
    with pytest.raises(NotFound):
        backup(tmp_path / "nothing", tmp_path / "other")


def test_uploaded_files_are_copied_and_put_back(tmp_path: Path):
    open_fast(tmp_path / "kb").close()
    home = tmp_path / "kb" / "uploads"
    (home / "0a1b").mkdir(parents=True)
    (home / ".incoming-1").mkdir()
    (home / ".incoming-1" / "0").write_bytes(b"in part")
    (home / "room.txt").write_bytes(b"Room 9")
    (home / "0a1b" / "big.csv").write_bytes(b"row\n" * 700_000)
    copied = backup(tmp_path / "kb", tmp_path / "copy")
    assert copied.files == 2
    (home / "room.txt").write_bytes(b"Room 10")
    (home / "new.txt").write_bytes(b"later")
    restore(tmp_path / "copy", tmp_path / "kb", replace=True)
    restore(tmp_path / "copy", tmp_path / "elsewhere")
    for folder, names in (
        (home, ["0a1b", "new.txt", "room.txt"]),
        (tmp_path / "elsewhere" / "uploads", ["0a1b", "room.txt"]),
    ):
        assert sorted(one.name for one in folder.iterdir() if not one.name.startswith(".")) == names
        assert (folder / "room.txt").read_bytes() == b"Room 9"
        assert (folder / "0a1b" / "big.csv").read_bytes() == b"row\n" * 700_000


def test_nothing_is_replaced_unless_that_is_said(engine: KnowledgeBase, tmp_path: Path):
    backup(tmp_path / "kb", tmp_path / "copy")
    add(engine, document(2))
    with pytest.raises(UsageError, match="--replace"):
        restore(tmp_path / "copy", tmp_path / "kb")
    assert stored(tmp_path / "kb") == {"d0", "d1", "d2"}
    before = parts(engine).source.path
    restore(tmp_path / "copy", tmp_path / "kb", replace=True)
    assert parts(engine).source.path != before
    assert stored(tmp_path / "kb") == {"d0", "d1"}


def test_histories_do_not_mix(engine: KnowledgeBase, tmp_path: Path):
    """After a restore the same numbers mean other commits; no index takes the one for the other."""
    backup(tmp_path / "kb", tmp_path / "copy")
    add(engine, Document(id="later", text="zebra stripes"))
    before = parts(engine).catalog.stamp()
    restore(tmp_path / "copy", tmp_path / "kb", replace=True)
    again = open_fast(tmp_path / "kb", create=False)
    after = parts(again).catalog.stamp()
    assert (after.generation, after.mark != before.mark) == (before.generation, True)
    add(again, Document(id="other", text="giraffe neck"))
    found = {hit.chunk.document_id for hit in asyncio.run(again.search("zebra giraffe", 50, reader=OWNER))}
    again.close()
    assert found == {"d0", "d1", "other"}


def test_a_damaged_copy_is_refused_and_changes_nothing(engine: KnowledgeBase, tmp_path: Path):
    backup(tmp_path / "kb", tmp_path / "copy")
    file = tmp_path / "copy" / "v1" / "catalog.db"
    file.write_bytes(file.read_bytes().replace(b"number 1", b"number 7"))
    with pytest.raises(Damaged, match="documents"):
        restore(tmp_path / "copy", tmp_path / "kb", replace=True)
    assert parts(engine).source.path == tmp_path / "kb" / "v1"
    (tmp_path / "copy" / "CURRENT").unlink()
    with pytest.raises(NotFound, match="no complete backup"):
        restore(tmp_path / "copy", tmp_path / "new")


def test_copies_are_made_while_documents_are_added(engine: KnowledgeBase, tmp_path: Path):
    done = threading.Event()

    def write() -> None:
        for number in range(2, 40):
            add(engine, document(number))
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    counts = []
    while not done.is_set() or not counts:
        counts.append(backup(tmp_path / "kb", tmp_path / f"copy{len(counts)}").documents)
    thread.join()
    assert counts == sorted(counts)
    assert stored(tmp_path / f"copy{len(counts) - 1}") == {f"d{number}" for number in range(counts[-1])}
