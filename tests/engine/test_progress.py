"""Progress of an ingest: what it says, when, and to whom."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kb import open_fast

from ragstone.core.access import OWNER
from ragstone.core.records import Document
from ragstone.core.reports import Progress
from ragstone.engine import progress
from ragstone.engine.attached import folder_of as attached_folder
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.progress import Reporter, running, with_beats
from ragstone.serve.views.stored import progress_line


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[KnowledgeBase]:
    engine = open_fast(tmp_path / "kb")
    yield engine
    engine.close()


def folder_of(tmp_path: Path, count: int) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for i in range(count):
        (folder / f"{i}.md").write_text(f"# Part {i}\n\nThe pump number {i} is blue.\n", encoding="utf-8")
    return folder


def test_counts_files_and_names_the_last(engine: KnowledgeBase, tmp_path: Path) -> None:
    told: list[Progress] = []
    folder = folder_of(tmp_path, 5)
    asyncio.run(engine.documents.add([str(folder)], told.append))
    last = told[-1]
    assert (last.files, last.total, last.documents, last.share) == (5, 5, 5, 1.0)
    assert last.current == str(folder / "4.md")
    assert last.rate > 0
    assert last.seconds_left == 0


def test_rebuild_reports_documents_as_files(engine: KnowledgeBase, tmp_path: Path) -> None:
    told: list[Progress] = []
    asyncio.run(engine.documents.add([str(folder_of(tmp_path, 3))]))
    asyncio.run(engine.versions.rebuild(["chunk.size=90"], on_progress=told.append))
    assert (told[-1].files, told[-1].total, told[-1].share) == (3, 3, 1.0)


def test_slow_source_is_reported_between_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "BEAT_SECONDS", 0.01)
    told: list[Progress] = []
    reporter = Reporter(told.append)

    async def slow() -> AsyncGenerator[int]:
        reporter.reading("a.pdf")
        await asyncio.sleep(0.2)
        yield 1

    async def items() -> list[int]:
        return [item async for item in with_beats(slow(), reporter)]

    assert asyncio.run(items()) == [1]
    assert len(told) > 2
    assert {one.current for one in told} == {"a.pdf"}
    assert all(one.committed == () for one in told)


def test_failing_callback_stops_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "BEAT_SECONDS", 0.01)
    closed: list[bool] = []

    def refuse(_: Progress) -> None:
        raise ValueError("enough")

    async def endless() -> AsyncGenerator[int]:
        try:
            await asyncio.sleep(60)
            yield 1
        finally:
            closed.append(True)

    async def first() -> None:
        async for _ in with_beats(endless(), Reporter(refuse)):
            pass

    with pytest.raises(ValueError, match="enough"):
        asyncio.run(first())
    assert closed == [True]


def test_status_shows_what_runs(engine: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "NOTE_SECONDS", 0.0)
    seen: list[Progress] = []

    def look(_: Progress) -> None:
        [one] = engine.status().running
        assert (one.process, one.doing) == (os.getpid(), "add")
        seen.append(one.progress)

    asyncio.run(engine.documents.add([Document(id="a", text="The pump is blue.")], look))
    assert [one.documents for one in seen] == [1]
    assert engine.status().running == ()


def test_status_does_not_name_an_attached_file(engine: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "NOTE_SECONDS", 0.0)
    conversation = OWNER.within("s").conversation
    folder = engine.folder / attached_folder(conversation)
    folder.mkdir(parents=True)
    (folder / "broken.pdf").write_bytes(b"no pdf at all")
    (folder / "layoffs.txt").write_text("The pump is blue.", encoding="utf-8")
    own: list[str] = []

    def look(now: Progress) -> None:
        status = engine.status()
        own.append(now.current)
        assert [one.progress.current for one in status.running] == [""]
        assert status.skipped == ()

    report = asyncio.run(
        engine.documents.add_uploads([*sorted(folder.iterdir())], look, conversation=conversation),
    )
    assert own[-1].endswith("layoffs.txt")
    assert [Path(one.source).name for one in report.skipped] == ["broken.pdf"]
    assert engine.status().skipped == ()


def test_note_of_a_killed_process_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "NOTE_SECONDS", 0.0)
    Reporter(folder=tmp_path, doing="sync").beat()
    assert [one.doing for one in running(tmp_path)] == ["sync"]
    [note] = (tmp_path / "progress").iterdir()
    old = time.time() - 2 * progress.STALE_SECONDS
    os.utime(note, (old, old))
    assert running(tmp_path) == ()
    assert not note.exists()


@pytest.mark.parametrize("noted", ["", "[]", "{}", '{"doing": "add", "progress": {"nothing": 1}}'])
def test_damaged_note_is_left_out(tmp_path: Path, noted: str) -> None:
    (tmp_path / "progress").mkdir()
    (tmp_path / "progress" / "7-1.json").write_text(noted, encoding="utf-8")
    assert running(tmp_path) == ()


progresses = st.builds(
    Progress,
    documents=st.integers(0, 10**6),
    chunks=st.integers(0, 10**7),
    pages=st.integers(0, 10**6),
    files=st.integers(0, 10**6),
    total=st.integers(0, 10**6),
    growing=st.booleans(),
    current=st.text(max_size=300),
    seconds=st.floats(0, 10**6),
)


@given(progresses, st.integers(20, 300))
def test_progress_line_is_one_short_line(now: Progress, width: int) -> None:
    text = progress_line(now, width)
    assert "\n" not in text
    assert 0 <= now.share <= 1
    assert now.seconds_left is None or now.seconds_left >= 0
    assert len(text) <= max(width, len(progress_line(now, 0)))
