"""Does the jobs of a server, one after the other, beside its questions; or leaves them to workers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ragstone.engine import Engine
from ragstone.errors import EngineError, KnowledgeBaseError, Locked, NotFound, RagstoneError
from ragstone.index import Journal
from ragstone.jobs.book import JobBook
from ragstone.jobs.queue import Job, JobQueue, Kind, Work
from ragstone.reports import AddReport, Progress
from ragstone.serve.http.log import note
from ragstone.serve.http.servers import Sign

LOOK = 2.0
"""Seconds that counting the jobs of workers may take."""
PAUSE = 1.0
"""Seconds between two tries while another process is indexing."""
NAMED = 100
"""Documents that a job names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A job, and how far it has come."""

    job: Job
    documents: int = 0
    chunks: int = 0
    share: float = 0.0


class Jobs:
    """The jobs of one server."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._for_workers = engine, engine.settings.serve.jobs == "workers"
        self._journal = Journal(engine.folder)
        self._book = JobBook(self._journal)
        self._sign: Sign | None = None
        self._queue: asyncio.Queue[Job] = asyncio.Queue()
        self._standing: dict[str, Standing] = {}
        self._moved = asyncio.Condition()
        self._doing: asyncio.Task[None] | None = None
        self.indexing = asyncio.Lock()
        """Held by whatever changes the knowledge base for this server."""

    async def start(self) -> None:
        """Take up what a stopped server left, and begin."""
        self._sign = Sign(self._engine.folder)
        for job in await asyncio.to_thread(self._book.take_over, self._sign.server, self._sign.alive()):
            self._enqueue(job)
        self._doing = asyncio.create_task(self._go())

    async def stop(self) -> None:
        """Stop what is under way; it is taken up again by the next server."""
        if self._doing:
            self._doing.cancel()
            await asyncio.gather(self._doing, return_exceptions=True)
        if self._sign:
            self._sign.close()
        self._journal.close()

    async def submit(self, kind: Kind, work: Work, reader: str) -> Standing:
        """Write down a job, which is done in its turn.

        Raises:
            KnowledgeBaseError: it could not be written down.
        """
        if self._for_workers:
            put = await asyncio.to_thread(self._engine.jobs.put, kind, [work], reader)
            return Standing(job=put[0])
        server = self._sign.server if self._sign else ""
        job = await asyncio.to_thread(self._book.new, kind, work, reader, server)
        return self._enqueue(job)

    @property
    def _known(self) -> JobBook | JobQueue:
        """Where jobs are looked up."""
        return self._engine.jobs if self._for_workers else self._book

    async def get(self, id: str) -> Standing:
        """How it stands with a job.

        Raises:
            NotFound: there is none of this id.
        """
        if id in self._standing:
            return self._standing[id]
        job = await asyncio.to_thread(self._known.get, id)
        if job is None:
            raise NotFound(f"there is no job '{id}'")
        return Standing(job=job)

    async def last(self, count: int) -> list[Standing]:
        """The jobs, the newest first."""
        jobs = await asyncio.to_thread(self._known.last, count)
        return [self._standing.get(job.id, Standing(job=job)) for job in jobs]

    async def unfinished(self) -> int | None:
        """How many jobs wait or are under way, here or, if they are theirs, with workers; nothing if none can tell."""
        if not self._for_workers:
            return len(self._standing)
        try:
            async with asyncio.timeout(LOOK):
                return (await asyncio.to_thread(self._engine.jobs.counts)).unfinished
        except (EngineError, KnowledgeBaseError, TimeoutError):  # the queue may be on a server that is away
            return None

    async def watch(self, id: str) -> AsyncGenerator[Standing]:
        """A job as it stands, whenever that changes, until it is over."""
        told = None
        while True:
            now = await self.get(id)
            if now is not told:
                yield now
                told = now
            if now.job.is_over:
                return
            async with self._moved:
                if self._standing.get(id) is told:
                    with suppress(TimeoutError):  # a job of another server moves without telling
                        await asyncio.wait_for(self._moved.wait(), PAUSE)

    def _enqueue(self, job: Job) -> Standing:
        standing = self._standing[job.id] = Standing(job=job)
        self._queue.put_nowait(job)
        return standing

    async def _go(self) -> None:
        while True:
            job = await self._queue.get()
            try:
                await self._do(job)
            except Exception as error:  # whatever one job does, the next is done
                note("error", {"job": job.id, "error": type(error).__name__})
            finally:
                self._standing.pop(job.id, None)
                await self._tell()

    async def _do(self, job: Job) -> None:
        job = replace(job, state="running", tries=job.tries + 1)
        await self._note(job)
        try:
            report = await self._worked(job)
        except RagstoneError as error:
            job = self._book.over(self._standing[job.id].job, error=str(error))
        except Exception as error:
            note("error", {"job": job.id, "error": type(error).__name__})
            job = self._book.over(self._standing[job.id].job, error="it failed; the server's log tells more")
        except asyncio.CancelledError:  # the server is stopped, for no fault of the job's
            self._book.note(replace(self._standing[job.id].job, state="waiting", tries=job.tries - 1))
            raise
        else:
            job = self._book.over(self._standing[job.id].job, report=report)
        await self._note(job)

    async def _worked(self, job: Job) -> AddReport:
        while True:
            try:
                async with self.indexing:
                    return await self._once(job)
            except Locked:  # by another process
                await asyncio.sleep(PAUSE)

    async def _once(self, job: Job) -> AddReport:
        def told(now: Progress) -> None:
            before = self._standing[job.id]
            named = (*before.job.documents, *now.committed)[:NAMED]
            self._standing[job.id] = Standing(
                job=replace(before.job, documents=named), documents=now.documents, chunks=now.chunks, share=now.share
            )
            telling.append(asyncio.create_task(self._tell()))

        telling: list[asyncio.Task[None]] = []
        if job.kind == "upload":
            files = [self._engine.folder / Path(file) for file in job.work.files]
            return await self._engine.take_in(files, told, groups=job.work.groups)
        report = AddReport()
        for source in job.work.sources:
            if "://" in source or source in self._engine.settings.acquire.sites:
                report = report.plus(await self._engine.crawl(source))
            else:
                report = report.plus(await self._engine.sync([source], told))
        return report

    async def _note(self, job: Job) -> None:
        self._standing[job.id] = replace(self._standing[job.id], job=job)
        with suppress(KnowledgeBaseError):  # it is done all the same; who asks now is told from memory
            await asyncio.to_thread(self._book.note, job)
        await self._tell()

    async def _tell(self) -> None:
        async with self._moved:
            self._moved.notify_all()
