"""Runs the jobs of a server one after another while it answers questions, or leaves them to workers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import closing, suppress
from dataclasses import asdict, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ragstone.core.errors import EngineError, KnowledgeBaseError, Locked, NotFound, RagstoneError, UsageError
from ragstone.core.frozen import frozen
from ragstone.core.reports import AddReport, Progress
from ragstone.engine.jobs.journal import JournalJobs
from ragstone.engine.jobs.queue import Job, JobQueue, Kind, Work
from ragstone.engine.jobs.worker import run_job
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.progress import FOLDER as NOTES
from ragstone.engine.progress import Reporter
from ragstone.engine.roots import UPLOADS
from ragstone.serve.http.instance import InstanceLock
from ragstone.serve.http.telemetry import log_error
from ragstone.serve.http.uploads import clear_leftovers
from ragstone.settings import ServeSettings
from ragstone.storage.disk import drop
from ragstone.storage.files import note_json, read_json

COUNT_SECONDS = 2.0
"""How long counting the jobs of workers may take."""
RETRY_SECONDS = 1.0
"""Pause between two attempts while another process is indexing."""
ADOPT_SECONDS = 2.0
"""Pause between two looks for jobs of servers that ended, if several processes serve."""
NOTE_SECONDS = 0.5
"""Pause between two notes of the progress of a job for other processes."""
MAX_NAMED = 100
"""Documents that a job lists."""
T = TypeVar("T")


@frozen
class JobStatus:
    """A job and its progress, since it last began."""

    job: Job
    progress: Progress = field(default_factory=Progress)

    def to_json(self) -> dict[str, Any]:
        """Return what changes while the job runs."""
        return {"documents": self.job.documents, "progress": asdict(replace(self.progress, committed=()))}

    def noted(self, stored: dict[str, Any]) -> JobStatus:
        """Return the job with the progress that another process noted; unchanged if there is none."""
        if not stored:
            return self
        progress = replace(Progress(**stored["progress"]), committed=())
        return JobStatus(job=replace(self.job, documents=tuple(stored["documents"])), progress=progress)


class JobRunner:
    """The jobs of one server."""

    def __init__(self, engine: KnowledgeBase, settings: ServeSettings) -> None:
        self._engine, self._for_workers = engine, settings.jobs == "workers"
        self._is_alone = settings.workers == 1
        self._upload_root = engine.folder / UPLOADS
        self._journal = engine.history.journal()
        self._book = JournalJobs(self._journal)
        self._instance: InstanceLock | None = None
        self._queue: asyncio.Queue[Job] = asyncio.Queue()
        self._unfinished: dict[str, JobStatus] = {}
        self._changed = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []
        self._notifications: set[asyncio.Task[None]] = set()
        self._noted_at = 0.0
        self._attempting: asyncio.Task[AddReport] | None = None
        self._to_stop: set[str] = set()
        self.indexing = asyncio.Lock()
        """Held by whatever changes the knowledge base in this server."""

    @property
    def server(self) -> str:
        """The id of this server; empty before it starts, and if it runs no jobs."""
        return self._instance.id if self._instance else ""

    def servers(self) -> set[str]:
        """Return the ids of all servers of the knowledge base that run, this one included once it has started."""
        return self._instance.running() if self._instance else set()

    async def start(self) -> None:
        """Clean up after killed servers, take over their jobs, and begin; in a read-only folder there are no jobs."""
        if self._engine.is_read_only:
            return
        instance = self._instance = InstanceLock(self._engine.folder)
        await asyncio.to_thread(clear_leftovers, self._upload_root, instance.running)
        await self._adopt()
        self._tasks = [asyncio.create_task(self._run())]
        if not self._is_alone:
            self._tasks.append(asyncio.create_task(self._adopt_again()))

    async def stop(self) -> None:
        """Interrupt the running job; another server takes it over."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._instance:
            self._instance.close()
        self._journal.close()

    async def submit(self, kind: Kind, work: Work, reader: str) -> JobStatus:
        """Record a job, which then runs in its turn.

        Raises:
            KnowledgeBaseError: it cannot be recorded.
        """
        if self._for_workers:
            jobs = await asyncio.to_thread(self._engine.documents.jobs.put, kind, [work], reader)
            return JobStatus(job=jobs[0])
        return self._enqueue(await asyncio.to_thread(self._book.new, kind, work, reader, self.server))

    @property
    def _store(self) -> JournalJobs | JobQueue:
        return self._engine.documents.jobs if self._for_workers else self._book

    async def get(self, id: str) -> JobStatus:
        """Return a job with its progress.

        Raises:
            NotFound: there is no job of this id.
        """
        if id in self._unfinished:
            return self._unfinished[id]
        job = await asyncio.to_thread(self._store.get, id)
        if job is None:
            raise NotFound(f"there is no job '{id}'")
        return self._as_noted(job)

    async def last(self, count: int) -> list[JobStatus]:
        """Return the last jobs, newest first."""
        jobs = await asyncio.to_thread(self._store.last, count)
        return [self._unfinished.get(job.id) or self._as_noted(job) for job in jobs]

    async def waiting_files(self) -> set[str]:
        """Return the uploaded files that jobs have yet to read, below the folder of the knowledge base."""
        return {file for one in await self.last(500) if not one.job.is_over for file in one.job.work.files}

    def cancel(self, id: str) -> bool:
        """Stop a job of this server that waits or runs; return whether there is one. What it has stored stays."""
        status = self._unfinished.get(id)
        if status is None or status.job.is_over:
            return False
        self._to_stop.add(id)
        if self._attempting and status.job.state == "running":
            self._attempting.cancel()
        return True

    async def unfinished(self) -> int | None:
        """Return how many jobs wait or run; None if the queue of the workers does not answer."""
        if self._is_alone and not self._for_workers:
            return len(self._unfinished)
        try:
            async with asyncio.timeout(COUNT_SECONDS):
                if not self._for_workers:
                    return await asyncio.to_thread(self._book.unfinished)
                return (await asyncio.to_thread(self._engine.documents.jobs.counts)).unfinished
        except (EngineError, KnowledgeBaseError, TimeoutError):
            return None

    async def watch(self, id: str) -> AsyncGenerator[JobStatus]:
        """Yield a job whenever its progress changes, until it has ended."""
        last = None
        while True:
            now = await self.get(id)
            if now != last:
                yield now
                last = now
            if now.job.is_over:
                return
            async with self._changed:
                known = self._unfinished.get(id)
                if known == last or (known is None and now.job.server != self.server):
                    with suppress(TimeoutError):  # a job of another server changes without a notification
                        await asyncio.wait_for(self._changed.wait(), RETRY_SECONDS)

    async def _adopt(self) -> None:
        """Take over the jobs of servers that ended."""
        for job in await asyncio.to_thread(self._book.take_over, self.server, self.servers()):
            self._enqueue(job)

    async def _adopt_again(self) -> None:
        while True:
            await asyncio.sleep(ADOPT_SECONDS)
            try:
                await self._adopt()
            except KnowledgeBaseError as error:  # the journal is busy or the disk full; the next round tries again
                log_error(error, {"during": "taking over jobs"})

    def _note_path(self, id: str) -> Path:
        return self._engine.folder / NOTES / f"job-{id}.json"

    def _as_noted(self, job: Job) -> JobStatus:
        """Return a job of another process, with its progress if it runs."""
        status = JobStatus(job=job)
        return status.noted(read_json(self._note_path(job.id))) if job.state == "running" else status

    def _note_progress(self, status: JobStatus) -> None:
        if not self._is_alone and time.monotonic() - self._noted_at > NOTE_SECONDS:
            self._noted_at = time.monotonic()
            with suppress(OSError):  # a full disk must not stop the job before a commit fails
                note_json(self._note_path(status.job.id), status.to_json())

    def _enqueue(self, job: Job) -> JobStatus:
        status = self._unfinished[job.id] = JobStatus(job=job)
        self._queue.put_nowait(job)
        return status

    async def _run(self) -> None:
        while True:
            job = await self._queue.get()
            try:
                await self._run_one(job)
            except Exception as error:  # the next job runs in any case
                log_error(error, {"job": job.id})
            finally:
                self._unfinished.pop(job.id, None)
                self._to_stop.discard(job.id)
                if not self._is_alone:
                    with suppress(OSError):
                        drop(self._note_path(job.id))
                await self._notify()

    async def _run_one(self, job: Job) -> None:
        job = replace(job, state="running", tries=job.tries + 1)
        await self._record(job)
        report, why = None, ""
        try:
            report = await self._unless_stopped(job)
        except RagstoneError as error:
            why = str(error)
        except Exception as error:
            log_error(error, {"job": job.id})
            why = "the job failed; the server's log has details"
        except asyncio.CancelledError:  # the server stops; this attempt does not count
            self._book.note(replace(self._unfinished[job.id].job, state="waiting", tries=job.tries - 1))
            raise
        ended = partial(self._book.ended, self._unfinished[job.id].job, report=report, error=why)
        await self._record(await asyncio.to_thread(ended))  # it may ask PostgreSQL for the time

    async def _unless_stopped(self, job: Job) -> AddReport:
        if job.id not in self._to_stop:  # it was stopped while it waited
            self._attempting = asyncio.create_task(self._attempt(job))
            try:
                return await self._attempting
            except asyncio.CancelledError:
                me = asyncio.current_task()
                if job.id not in self._to_stop or (me and me.cancelling()):  # the server stops
                    raise
            finally:
                self._attempting = None
        raise UsageError("an administrator stopped it; what it had stored until then stays")

    async def _attempt(self, job: Job) -> AddReport:
        with closing(Reporter(partial(self._show, job.id), folder=self._engine.folder, doing=job.kind)) as waiting:
            while True:
                try:
                    async with self.indexing:
                        return await self._ingest(job, waiting)
                except Locked as refusal:
                    waiting.waits(refusal.holder)
                    await asyncio.sleep(RETRY_SECONDS)

    async def exclusively(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return what work returns that changes the knowledge base, once no job of this host does.

        Raises:
            Locked: a program that is no server is indexing.
        """
        async with self.indexing:
            while True:
                try:
                    return await work()
                except Locked:
                    if self._is_alone:
                        raise
                    await asyncio.sleep(RETRY_SECONDS)

    def _show(self, id: str, now: Progress) -> None:
        before = self._unfinished[id].job
        named = (*before.documents, *now.committed)[:MAX_NAMED]
        status = self._unfinished[id] = JobStatus(job=replace(before, documents=named), progress=now)
        self._note_progress(status)
        notification = asyncio.create_task(self._notify())
        self._notifications.add(notification)
        notification.add_done_callback(self._notifications.discard)

    async def _ingest(self, job: Job, waiting: Reporter) -> AddReport:
        def on_progress(now: Progress) -> None:
            if self._unfinished[job.id].progress.waiting:
                waiting.close()
            self._show(job.id, now)

        return await run_job(self._engine, job, on_progress)

    async def _record(self, job: Job) -> None:
        self._unfinished[job.id] = replace(self._unfinished[job.id], job=job)
        with suppress(KnowledgeBaseError):  # the job runs in any case, and clients are answered from memory
            await asyncio.to_thread(self._book.note, job)
        await self._notify()

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()
