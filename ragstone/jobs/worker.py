"""A worker: takes jobs, one after the other, and does them beside other workers.

While it works it renews its lease; one that is killed does not, and its job is taken by another. What stops it in an
orderly way gives the job back at once. Where the queue is away for a while, the job at hand is done all the same.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from ragstone.engine import Engine
from ragstone.errors import Damaged, EngineError, KnowledgeBaseError, MissingExtra, Outrun, RagstoneError, UsageError
from ragstone.jobs.queue import Job, JobQueue
from ragstone.keeping.sharing import Still
from ragstone.reports import AddReport, Progress

PAUSE = 0.5
"""Seconds between two looks for a job, where there is none, or the queue is away."""
BEATS = 4
"""So often a lease is renewed before it would run out."""
LONGEST = 300.0
"""Seconds that a job which failed waits at most before it is tried again."""
NAMED = 100
"""Documents that a job names."""
_AWAY = (EngineError, KnowledgeBaseError)
_T = TypeVar("_T")

OnJob = Callable[[Job], None]
"""Told of each job when it is over, or failed and will be tried again."""


class Worker:
    """One worker of one knowledge base."""

    def __init__(self, engine: Engine, on_job: OnJob, complain: Callable[[str], None]) -> None:
        """Take the engine, and what is told of jobs, and of a queue that is away."""
        self._engine, self._on_job, self._complain = engine, on_job, complain
        self._queue: JobQueue = engine.jobs
        self._lease, self._tries = engine.settings.jobs.lease_seconds, engine.settings.jobs.tries
        self.name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._trouble = ""

    async def go(self, *, until_empty: bool = False) -> None:
        """Take jobs and do them, for ever, or until none is left that anybody does.

        Raises:
            UsageError, MissingExtra: this process cannot do the job as it was started; the job is given back.
        """
        while True:
            job = await self._asked(lambda: self._queue.take(self.name, self._lease))
            if job is not None:
                await self._do(job)
            elif until_empty and not (await self._asked(self._queue.counts)).unfinished:
                return
            else:
                await asyncio.sleep(PAUSE)

    async def _do(self, job: Job) -> None:
        told: list[str] = []
        working = asyncio.ensure_future(work_on(self._engine, job, told, lambda: self._is_mine(job)))
        beating = asyncio.ensure_future(self._beat(job, working))
        try:
            report = await working
        except asyncio.CancelledError:
            me = asyncio.current_task()
            if me is not None and not me.cancelling():  # the lease was lost
                self._complain(f"job {job.id} was taken over by another worker")
                return
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            await self._given_back(job)
            raise
        except Outrun as error:  # what another worker does need not be done here
            self._complain(f"job {job.id}: {error}")
        except (UsageError, MissingExtra):
            await self._given_back(job)
            raise
        except RagstoneError as error:
            await self._over(self._failed(job, str(error)))
        except Exception as error:  # whatever one job does, the next is done
            await self._over(self._failed(job, f"{type(error).__name__}: {error}"))
        else:
            over = replace(job, state="done", ended=time.time(), report=report, error="", documents=tuple(told[:NAMED]))
            await self._over(over)
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)

    def _failed(self, job: Job, error: str) -> Job:
        """The job as it is after an error, which may pass: it waits, a little longer each time, or has failed."""
        now = time.time()
        if job.tries >= self._tries:
            return replace(job, state="failed", ended=now, error=error)
        return replace(job, state="waiting", due=now + min(LONGEST, 2.0**job.tries), error=error)

    async def _over(self, job: Job) -> None:
        if await self._asked(lambda: self._queue.end(job)):
            self._on_job(job)
        else:
            self._complain(f"job {job.id} was taken over by another worker")

    async def _given_back(self, job: Job) -> None:
        """It is free for others at once, and this try does not count; if that cannot be told, its lease runs out."""
        back = replace(job, state="waiting", due=0.0)
        try:
            await asyncio.shield(asyncio.to_thread(self._queue.end, back, counted=False))
        except _AWAY as error:
            self._complain(str(error))

    async def _beat(self, job: Job, working: asyncio.Future[AddReport]) -> None:
        while True:
            await asyncio.sleep(self._lease / BEATS)
            if not await asyncio.to_thread(self._is_mine, job):
                working.cancel()
                return

    def _is_mine(self, job: Job) -> bool:
        """Whether the job is still ours, for a lease from now on. A queue that is away takes nothing away."""
        try:
            return self._queue.hold(job, self._lease)
        except _AWAY:
            return True

    async def _asked(self, what: Callable[[], _T]) -> _T:
        """What the queue says; where it is away, when it is back."""
        while True:
            try:
                found = await asyncio.to_thread(what)
            except Damaged:
                raise
            except _AWAY as error:
                if str(error) != self._trouble:
                    self._trouble = str(error)
                    self._complain(f"{error}; going on when it is back")
                await asyncio.sleep(PAUSE)
            else:
                self._trouble = ""
                return found


async def work_on(engine: Engine, job: Job, documents: list[str], still: Still) -> AddReport:
    """Do a job beside others.

    Args:
        engine: of the knowledge base.
        job: what is to be done.
        documents: gets the ids of those that were stored.
        still: whether the job is still ours.
    """

    def told(now: Progress) -> None:
        documents.extend(now.committed)

    files = [engine.folder / Path(file) for file in job.work.files]
    if job.kind == "add":
        return await engine.add_shared(files, told, still=still)
    if job.kind == "upload":
        return await engine.take_in_shared(files, told, groups=job.work.groups, still=still)
    report = AddReport()
    for source in job.work.sources:
        if "://" in source or source in engine.settings.acquire.sites:
            report = report.plus(await engine.crawl(source))
        else:
            report = report.plus(await engine.sync_shared([source], told, still=still))
    return report
