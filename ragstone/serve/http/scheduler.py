"""Syncs sources by their schedules while a server runs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ragstone.core.errors import RagstoneError
from ragstone.engine.jobs.queue import Work
from ragstone.history.schedules import Schedules
from ragstone.serve.http.job_runner import JobRunner, JobStatus
from ragstone.serve.http.telemetry import log_error

LOOK_SECONDS = 10.0
"""Pause between two looks for sources that are due."""
LOOKED_AT = 500
"""Jobs that are searched for the last sync of a source."""


class Scheduler:
    """The schedules of the sources that a server may sync."""

    def __init__(self, jobs: JobRunner, schedules: Schedules, sources: Sequence[str]) -> None:
        """Take the jobs, the stored schedules, and the sources of the setting ``serve.sources``."""
        self.schedules, self.sources = schedules, sources
        self._jobs = jobs

    async def run(self) -> None:
        """Submit what is due until the task is cancelled."""
        while True:
            try:
                await self.submit_due()
            except RagstoneError as error:  # the journal is busy or the disk full; the next look tries again
                log_error(error, {"during": "looking for sources to sync"})
            await asyncio.sleep(LOOK_SECONDS)

    async def submit_due(self) -> list[JobStatus]:
        """Submit a job for each source that is due, unless its last sync goes on, and return the jobs.

        Raises:
            KnowledgeBaseError: the journal cannot be read or written.
        """
        due = [one.source for one in await asyncio.to_thread(self.schedules.take) if one.source in self.sources]
        last = await self.last_syncs() if due else {}
        return [
            await self._jobs.submit("sync", Work(sources=(source,)), "")
            for source in due
            if source not in last or last[source].job.is_over
        ]

    async def last_syncs(self) -> dict[str, JobStatus]:
        """Return the last job that synced each source; those that never were are missing."""
        jobs = await self._jobs.last(LOOKED_AT)
        return {source: one for one in reversed(jobs) if one.job.kind == "sync" for source in one.job.work.sources}
