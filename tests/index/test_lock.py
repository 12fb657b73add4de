"""Who finds the lock held is told by whom, at once, or waits as long as they said."""

import threading
import time
from pathlib import Path

import pytest
from kb import add, open_fast

from ragstone.catalog.lock import Patience, indexing
from ragstone.core.access import OWNER
from ragstone.core.errors import Locked
from ragstone.core.records import Document


def hold(folder: Path, seconds: float, *, asking: bool = False) -> threading.Thread:
    held = threading.Event()

    def work() -> None:
        with indexing(folder, asking=asking):
            held.set()
            time.sleep(seconds)

    thread = threading.Thread(target=work)
    thread.start()
    held.wait()
    return thread


def test_without_patience_nobody_waits(tmp_path: Path):
    thread = hold(tmp_path, 1)
    with pytest.raises(Locked, match=r"indexed by process \d+.*--wait") as refused, indexing(tmp_path):
        pass
    assert refused.value.holder.startswith("process ")
    thread.join()


def test_with_patience_one_is_told_once_and_waits(tmp_path: Path):
    told: list[str] = []
    thread = hold(tmp_path, 1)
    with indexing(tmp_path, Patience(60, told.append)):
        assert len(told) == 1
        assert told[0].startswith("waiting for process ")
    thread.join()


def test_a_question_that_catches_up_keeps_no_indexer_away(tmp_path: Path):
    thread = hold(tmp_path, 1, asking=True)
    with indexing(tmp_path):
        pass
    thread.join()


def test_patience_ends(tmp_path: Path):
    thread = hold(tmp_path, 2)
    with pytest.raises(Locked), indexing(tmp_path, Patience(0.3)):
        pass
    thread.join()


def test_an_engine_waits_as_it_was_told_when_opened(tmp_path: Path):
    told: list[str] = []
    engine = open_fast(tmp_path / "kb", patience=Patience(60, told.append))
    thread = hold(tmp_path / "kb", 1)
    assert add(engine, Document(id="a", text="apple")).added == 1
    thread.join()
    thread = hold(tmp_path / "kb", 1)
    assert engine.documents.remove(["a"], reader=OWNER) == ["a"]
    thread.join()
    assert len(told) == 2
    engine.close()
