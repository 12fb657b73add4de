"""A worker: takes jobs from the queue and runs them one by one, alongside other workers.

It renews the lease of a job while it works. The lease of a killed worker expires, and another worker takes the job. An
orderly stop releases the job at once. A job continues while the queue is unavailable.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from ragstone.core.errors import (
    Conflict,
    Damaged,
    EngineError,
    KnowledgeBaseError,
    MissingExtra,
    RagstoneError,
    UsageError,
)
from ragstone.core.reports import AddReport
from ragstone.engine.ingest import Share
from ragstone.engine.jobs.queue import LONGEST_PAUSE, Job, JobQueue
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.progress import OnProgress

POLL_SECONDS = 0.5
"""Seconds between polls of an empty or unavailable queue."""
RENEWALS_PER_LEASE = 4
"""Renewals of a lease within its duration."""
TAKE_SECONDS = 5.0
"""Longest wait for the queue when a worker is told to end while it takes a job."""
MAX_DOCUMENTS = 100
"""Maximum of document ids in the record of a job."""
_UNAVAILABLE = (EngineError, KnowledgeBaseError)
_T = TypeVar("_T")

OnJob = Callable[[Job], None]
"""Called with each job that ended, or that failed and will be tried again."""


class Worker:
    """One worker of one knowledge base."""

    def __init__(self, kb: KnowledgeBase, on_job: OnJob, warn: Callable[[str], None]) -> None:
        """Store the knowledge base, and callbacks for ended jobs and for warnings."""
        self._kb, self._on_job, self._warn = kb, on_job, warn
        self._queue: JobQueue = kb.documents.jobs
        self._lease, self._tries = kb.settings.jobs.lease_seconds, kb.settings.jobs.tries
        self.name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._trouble = ""

    async def run(self, *, until_empty: bool = False) -> None:
        """Run jobs, forever or until no worker has an unfinished one.

        Raises:
            UsageError: the configuration of this process cannot run the job; the job is released.
            MissingExtra: the job needs a package that is not installed; the job is released.
        """
        while True:
            job = await self._take()
            if job is not None:
                await self._do(job)
            elif until_empty and not (await self._call_queue(self._queue.counts)).unfinished:
                return
            else:
                await asyncio.sleep(POLL_SECONDS)

    async def _take(self) -> Job | None:
        """Take a job; one that is taken in the moment in which this is cancelled is released."""
        taking = asyncio.ensure_future(self._call_queue(lambda: self._queue.take(self.name, self._lease)))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            done, _ = await asyncio.wait([taking], timeout=TAKE_SECONDS)
            if done and not taking.exception() and (job := taking.result()):
                await self._give_back(job)
            taking.cancel()
            raise

    async def _do(self, job: Job) -> None:
        documents: list[str] = []
        share = Share(is_ours=lambda: self._is_mine(job))
        working = asyncio.ensure_future(run_job(self._kb, job, lambda now: documents.extend(now.committed), share))
        renewing = asyncio.ensure_future(self._renew_lease(job, working))
        try:
            report = await working
        except asyncio.CancelledError:
            me = asyncio.current_task()
            if me is not None and not me.cancelling():  # the lease was lost
                self._warn(f"job {job.id} was taken over by another worker")
                return
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            await self._give_back(job)
            raise
        except Conflict as error:  # another worker has the job
            self._warn(f"job {job.id}: {error}")
        except (UsageError, MissingExtra):
            await self._give_back(job)
            raise
        except RagstoneError as error:
            await self._fail(job, str(error))
        except Exception as error:  # the next job runs in any case
            await self._fail(job, f"{type(error).__name__}: {error}")
        else:
            stored = tuple(documents[:MAX_DOCUMENTS])
            await self._finish(replace(job, state="done", documents=stored, report=report, error=""))
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)

    async def _fail(self, job: Job, error: str) -> None:
        """Release the job with exponential backoff, or mark it as failed after its last try."""
        state = "failed" if job.tries >= self._tries else "waiting"
        await self._finish(replace(job, state=state, error=error), pause=min(LONGEST_PAUSE, 2.0**job.tries))

    async def _finish(self, job: Job, pause: float = 0.0) -> None:
        if await self._call_queue(lambda: self._queue.end(job, pause=pause)):
            self._on_job(job)
        else:
            self._warn(f"job {job.id} was taken over by another worker")

    async def _give_back(self, job: Job) -> None:
        """Release the job at once, without counting the try; if the queue is unavailable, the lease expires instead."""
        back = replace(job, state="waiting")
        try:
            await asyncio.shield(asyncio.to_thread(self._queue.end, back, counted=False))
        except _UNAVAILABLE as error:
            self._warn(str(error))

    async def _renew_lease(self, job: Job, working: asyncio.Future[AddReport]) -> None:
        while True:
            await asyncio.sleep(self._lease / RENEWALS_PER_LEASE)
            if not await asyncio.to_thread(self._is_mine, job):
                working.cancel()
                return

    def _is_mine(self, job: Job) -> bool:
        """Renew the lease and return whether the job is still ours; an unavailable queue counts as yes."""
        try:
            return self._queue.hold(job, self._lease)
        except _UNAVAILABLE:
            return True

    async def _call_queue(self, what: Callable[[], _T]) -> _T:
        """Call the queue and return its result; retry while the queue is unavailable."""
        while True:
            try:
                result = await asyncio.to_thread(what)
            except Damaged:
                raise
            except _UNAVAILABLE as error:
                if str(error) != self._trouble:
                    self._trouble = str(error)
                    self._warn(f"{error}; retrying until the queue is available")
                await asyncio.sleep(POLL_SECONDS)
            else:
                self._trouble = ""
                return result


async def run_job(kb: KnowledgeBase, job: Job, on_progress: OnProgress, share: Share | None = None) -> AddReport:
    """Run a job and return its report.

    Args:
        kb: the knowledge base.
        job: the job to run.
        on_progress: called after every commit.
        share: ingest while other processes do too.

    Raises:
        UsageError: there is no such kind of job here.
    """
    documents, work = kb.documents, job.work
    files = [kb.folder / Path(file) for file in work.files]
    match job.kind:
        case "add":
            return await documents.add_files(files, on_progress, roots=[*map(Path, work.sources)], share=share)
        case "upload":
            of_person = work.conversation
            return await documents.add_uploads(
                files, on_progress, groups=work.groups, writer=work.writer, conversation=of_person, share=share
            )
        case "page":
            return await documents.add_page(work.sources[0], on_progress)
        case "sync":
            report = AddReport()
            for source in work.sources:
                report = report.plus(await documents.follow(source, on_progress, share=share))
            return report
        case unknown:  # pyright: ignore[reportUnnecessaryComparison]  # of a later release
            raise UsageError(f"this release has no jobs of the kind '{unknown}'")
