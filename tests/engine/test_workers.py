"""Several workers on one knowledge base: killed in the middle, in each other's way, stopped in an orderly manner."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hash_embedder import HashEmbedder
from kb import check_whole, embedder_of, look, open_fast, parts

from ragstone.catalog.lock import indexing
from ragstone.core.access import OWNER
from ragstone.core.errors import Conflict, SourceError, UsageError
from ragstone.core.records import Document
from ragstone.core.request import Request
from ragstone.engine.ingest import Share
from ragstone.engine.jobs.queue import Job, JobCounts, Work
from ragstone.engine.jobs.worker import Worker, run_job
from ragstone.engine.knowledge_base import KnowledgeBase
from servers.postgres_server import PostgresServer

ROOT = Path(__file__).parent.parent.parent
NURSERY = """
import asyncio, os, signal, sys
import ragstone.index.keyword.bm25, ragstone.index.vectors.embedded, ragstone.engine.jobs.postgres
from kb import open_fast
from ragstone.catalog.lock import Patience
from ragstone.engine.jobs.worker import Worker

def work(folder, settings):
    engine = open_fast(folder, *settings, patience=Patience(float("inf")))
    asyncio.run(Worker(engine, print, print).run(until_empty=True))

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.default_int_handler)
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        sys.stdout = sys.stderr
        try:
            work(sys.argv[1], sys.argv[2:])
        finally:
            os._exit(0)
    print(pid, flush=True)
"""


class Nursery:
    """Gives workers of one knowledge base quickly: a process that has loaded everything and forks."""

    def __init__(self, folder: Path, *settings: str) -> None:
        paths = os.pathsep.join(map(str, [ROOT, ROOT / "tests"]))
        command = [sys.executable, "-c", NURSERY, str(folder), *settings]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": paths}
        )

    def worker(self) -> int:
        """The process id of a new worker."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate(timeout=60)


def ended(pid: int, seconds: float = 120.0) -> None:
    """Wait until a worker is gone."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for i in range(80):
        text = "\n\n".join(f"document {i} paragraph {part} " + f"word{i} " * 20 for part in range(4))
        (folder / f"d{i:03}.txt").write_text(text)
    return folder


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with closing(open_fast(tmp_path / "kb")) as engine:
        yield engine


def work(engine: KnowledgeBase) -> list[Job]:
    """Do all there is to do, here; gives the jobs as they ended."""
    done: list[Job] = []
    asyncio.run(Worker(engine, done.append, print).run(until_empty=True))
    return done


@pytest.mark.parametrize("where", ["journal", "postgres"])
def test_workers_killed_at_random_lose_nothing_and_have_nothing_twice(
    where: str, request: pytest.FixtureRequest, docs: Path, tmp_path: Path
) -> None:
    settings, server = ["jobs.files=4", "jobs.lease_seconds=1", "jobs.tries=20"], None
    if where == "postgres":
        server: PostgresServer | None = request.getfixturevalue("postgres")
        assert server is not None
        address = server.address(server.database("workers"))
        settings += ["jobs.queue=postgres", f"services.postgres.dsn={address}", "services.engine_seconds=3"]
    folder, rng = tmp_path / "kb", random.Random(3)
    with closing(open_fast(folder, *settings)) as engine, closing(Nursery(folder, *settings)) as nursery:
        assert len(engine.documents.queue_sync([str(docs)])) == 21
        workers = [nursery.worker() for _ in range(2)]
        for i in range(5):
            time.sleep(rng.random() * 0.4)
            with suppress(ProcessLookupError):  # it may have ended already
                os.kill(workers.pop(0), signal.SIGKILL)
            if server and i == 1:
                server.kill()
                time.sleep(0.2)
                server.start()
            workers.append(nursery.worker())
        for worker in workers:
            ended(worker)
        assert engine.documents.jobs.counts() == JobCounts(done=21)
        assert all(job.state == "done" for job in engine.documents.jobs.last(99))
        catalog = parts(engine).source.path / "catalog.db"
        expected = {f"docs/{file.name}" for file in docs.iterdir()}
        assert {id for (id,) in look(catalog, "SELECT id FROM documents")} == expected
        check_whole(catalog)
        again = asyncio.run(engine.documents.sync([str(docs)]))
        assert (again.added, again.updated, again.unchanged, again.embedded) == (0, 0, 80, 0)
        assert len(asyncio.run(engine.search("word17", 1, reader=OWNER))) == 1


def test_two_workers_add_while_the_other_embeds(engine: KnowledgeBase, docs: Path) -> None:
    """The lock is held for commits alone: while a text is embedded, somebody else can index."""
    held: list[bool] = []

    class Watching(HashEmbedder):
        async def embed(self, texts, *, role, request: Request):
            if role == "passage":
                with indexing(engine.folder):
                    held.append(True)
            return await super().embed(texts, role=role, request=request)

    files = sorted(docs.iterdir())
    with closing(open_fast(engine.folder, embedder=Watching())) as watched:
        report = asyncio.run(watched.documents.add_files(files, share=Share()))
        assert (report.added, report.unchanged) == (80, 0)
        assert len(held) >= 2
        assert watched.status().behind == 0


def test_a_job_says_what_it_waits_for(engine: KnowledgeBase, docs: Path) -> None:
    async def waiting_for() -> str:
        adding = asyncio.create_task(engine.documents.add_files(sorted(docs.iterdir())[:3], share=Share()))
        with indexing(engine.folder):
            while not (running := [one.progress.waiting for one in engine.status().running]):
                assert not adding.done()
                await asyncio.sleep(0.02)
        assert (await adding).added == 3
        return running[0]

    assert str(os.getpid()) in asyncio.run(asyncio.wait_for(waiting_for(), 60))
    assert not engine.status().running


def test_what_another_process_stored_meanwhile_is_noticed_and_done_again(tmp_path: Path, docs: Path) -> None:
    file = docs / "d001.txt"
    with closing(open_fast(tmp_path / "kb")) as other:

        class Slow(HashEmbedder):
            async def embed(self, texts, *, role, request: Request):
                vectors = await super().embed(texts, role=role, request=request)
                if role == "passage" and not stored:
                    stored.append(1)
                    file.write_text("The second text, which came later.")
                    await other.documents.add([str(file)])
                return vectors

        stored: list[int] = []
        with closing(open_fast(tmp_path / "kb", embedder=Slow())) as one:
            report = asyncio.run(one.documents.add_files([file, docs / "d002.txt"], share=Share()))
            assert (report.added, report.unchanged) == (1, 1)
            assert one.documents.get("docs/d001.txt", reader=OWNER).text == "The second text, which came later."
            check_whole(parts(one).source.path / "catalog.db")


def test_groups_given_meanwhile_are_not_taken_away(tmp_path: Path, docs: Path) -> None:
    file = docs / "d001.txt"
    with closing(open_fast(tmp_path / "kb")) as other:
        asyncio.run(other.documents.add([str(file)]))
        id, source = "docs/d001.txt", other.documents.get("docs/d001.txt", reader=OWNER).source
        closed = Document(id=id, text="for a few", source=source, metadata={"readers": ("board",)})

        class Slow(HashEmbedder):
            async def embed(self, texts, *, role, request: Request):
                if role == "passage" and not other.documents.groups([id]):
                    await other.documents.add([closed])
                return await super().embed(texts, role=role, request=request)

        with closing(open_fast(tmp_path / "kb", embedder=Slow())) as one:
            file.write_text("A text that says nothing of groups.")
            asyncio.run(one.documents.add_files([file], share=Share()))
            assert one.documents.get(id, reader=OWNER).text == "A text that says nothing of groups."
            assert one.documents.groups([id]) == {id: ("board",)}


def test_a_job_that_was_taken_over_stores_nothing_more(engine: KnowledgeBase, docs: Path) -> None:
    mine: Iterator[bool] = iter([True, False, False])
    with pytest.raises(Conflict, match="another worker"):
        asyncio.run(engine.documents.add_files(sorted(docs.iterdir()), share=Share(is_ours=lambda: next(mine))))
    assert engine.status().documents == 0


def test_a_vector_that_went_meanwhile_is_made_again(tmp_path: Path, docs: Path) -> None:
    shared = (docs / "d001.txt").read_text()
    with closing(open_fast(tmp_path / "kb")) as other:
        asyncio.run(other.documents.add([Document(id="same", text=shared)]))
        removed: list[str] = []

        class Slow(HashEmbedder):
            async def embed(self, texts, *, role, request: Request):
                if role == "passage" and not removed:
                    removed.extend(other.documents.remove(["same"], reader=OWNER))
                return await super().embed(texts, role=role, request=request)

        with closing(open_fast(tmp_path / "kb", embedder=Slow())) as one:
            # The first has vectors already, and the second keeps the embedder busy.
            asyncio.run(one.documents.add_files([docs / "d001.txt", docs / "d002.txt"], share=Share()))
            assert removed == ["same"]
            check_whole(parts(one).source.path / "catalog.db")


def test_whatever_is_wrong_with_one_file_stops_no_other(engine: KnowledgeBase, docs: Path) -> None:
    (docs / "bad.csv").write_text("only,names\n")
    (docs / "gone.txt").write_text("soon gone")
    (docs / "x.unknown").write_bytes(bytes(range(32)) * 8)
    engine.documents.queue_add([str(docs)])
    (docs / "gone.txt").unlink()
    reports = [job.report for job in work(engine) if job.report]
    assert sum(one.added for one in reports) == 80
    skipped = {Path(one.source).name for report in reports for one in report.skipped}
    assert {"bad.csv", "gone.txt", "x.unknown"} == skipped


def test_jobs_are_as_large_as_the_settings_say(tmp_path: Path, docs: Path) -> None:
    with closing(open_fast(tmp_path / "kb", "jobs.files=30")) as engine:
        assert [len(job.work.files) for job in engine.documents.queue_add([str(docs), str(docs)])] == [30, 30, 20]
    with closing(open_fast(tmp_path / "kb")) as engine:
        large = [tmp_path / "large1.txt", tmp_path / "large2.txt"]
        for path in large:
            path.write_bytes(b"x" * 10_000_000)
        assert len(engine.documents.queue_add([str(path) for path in large])) == 2
        with pytest.raises(SourceError, match="no file or folder"):
            engine.documents.queue_add(["nowhere"])
    assert look(tmp_path / "kb" / "journal.db", "SELECT count(*) FROM jobs") == [(5,)]


def test_a_job_of_an_unknown_kind_is_refused(engine: KnowledgeBase, docs: Path) -> None:
    (job,) = engine.documents.jobs.put("sync", [Work(sources=(str(docs),))])
    unknown = replace(job, kind=cast("Any", "of a later release"))
    with pytest.raises(UsageError, match="of a later release"):
        asyncio.run(run_job(engine, unknown, lambda _: None))
    assert engine.status().documents == 0


def test_what_is_gone_is_removed_at_the_end(engine: KnowledgeBase, docs: Path) -> None:
    engine.documents.queue_sync([str(docs)])
    work(engine)
    for file in sorted(docs.iterdir())[:7]:
        file.unlink()
    (docs / "new.txt").write_text("The canteen opens at eleven.")
    engine.documents.queue_sync([str(docs)])
    last = work(engine)[-1]
    assert (last.kind, last.report and last.report.removed) == ("sync", 7)
    assert engine.status().documents == 74
    assert len(embedder_of(engine).seen) == 321


def test_an_error_is_tried_again_and_then_told(tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(open_fast(tmp_path / "kb", "jobs.tries=2")) as engine:
        monkeypatch.setattr("ragstone.engine.jobs.worker.LONGEST_PAUSE", 0.1)
        engine.documents.jobs.put("sync", [Work(sources=(str(tmp_path / "unmounted"),))])
        engine.documents.queue_add([str(docs / "d001.txt")])
        first, second, third = work(engine)
        assert (first.state, first.kind, "unmounted" in first.error) == ("waiting", "sync", True)
        assert (second.state, second.kind) == ("done", "add")
        assert (third.state, third.tries) == ("failed", 2)
        assert engine.status().jobs == JobCounts(done=1, failed=1)


def test_a_worker_that_is_told_to_end_gives_its_job_back(engine: KnowledgeBase, docs: Path) -> None:
    engine.documents.queue_add([str(docs)])
    with closing(Nursery(engine.folder)) as nursery, indexing(engine.folder):
        worker = nursery.worker()
        deadline = time.monotonic() + 30
        while not engine.documents.jobs.counts().running:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        os.kill(worker, signal.SIGINT)
        ended(worker)
    assert engine.documents.jobs.counts().running == 0
    jobs = engine.documents.jobs.last(9)
    assert [(job.state, job.tries) for job in jobs] == [("waiting", 0)] * len(jobs)


def test_a_worker_that_is_told_to_end_while_it_takes_a_job_gives_it_back(
    engine: KnowledgeBase, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.documents.queue_add([str(docs)])
    told: list[str] = []
    worker = Worker(engine, lambda job: told.append(job.id), told.append)
    taken, go_on = threading.Event(), threading.Event()
    real = engine.documents.jobs.take

    def take(name: str, lease: float) -> Job | None:
        job = real(name, lease)
        taken.set()
        go_on.wait(30)
        return job

    async def told_to_end() -> None:
        running = asyncio.ensure_future(worker.run())
        await asyncio.to_thread(taken.wait, 30)
        running.cancel()
        asyncio.get_running_loop().call_later(0.05, go_on.set)
        with pytest.raises(asyncio.CancelledError):
            await running

    monkeypatch.setattr(engine.documents.jobs, "take", take)
    asyncio.run(told_to_end())
    jobs = engine.documents.jobs.last(9)
    assert [(job.state, job.tries) for job in jobs] == [("waiting", 0)] * len(jobs)
    assert told == []


def test_uploads_keep_their_groups(engine: KnowledgeBase) -> None:
    folder = engine.folder / "uploads"
    folder.mkdir()
    (folder / "plan.txt").write_text("The plan is secret.")
    engine.documents.jobs.put("upload", [Work(files=("uploads/plan.txt",), groups=("board",))], "key")
    (job,) = work(engine)
    assert (job.reader, job.documents) == ("key", ("uploads/plan.txt",))
    assert engine.documents.groups(["uploads/plan.txt"]) == {"uploads/plan.txt": ("board",)}


def test_a_lease_that_was_lost_stops_the_work(
    engine: KnowledgeBase, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that was asleep for longer than its lease finds its job with another, and leaves it there."""
    engine.documents.queue_add([str(docs)])
    told: list[str] = []
    worker = Worker(engine, lambda job: told.append(job.id), told.append)
    real: Callable[..., bool] = engine.documents.jobs.hold

    def hold(job: Job, lease: float) -> bool:
        real(job, 0.0)
        taken = engine.documents.jobs.take("thief", 60.0)
        assert taken is not None
        assert engine.documents.jobs.end(replace(taken, state="done"))
        return real(job, lease)

    monkeypatch.setattr(engine.documents.jobs, "hold", hold)
    asyncio.run(worker.run(until_empty=True))
    assert any("another worker" in line for line in told)
    assert engine.documents.jobs.counts() == JobCounts(done=2)
