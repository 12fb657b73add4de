"""Syncs sources by their schedules while a server runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from ragstone.engine.jobs.queue import Work
from ragstone.history.schedules import Schedules
from ragstone.history.store import DAY
from ragstone.serve.http.job_runner import JobRunner, JobStatus
from ragstone.serve.http.live_settings import LiveSettings
from ragstone.serve.http.telemetry import log_error

LOOK_SECONDS = 10.0
"""Pause between two looks for sources that are due."""
LOST_SECONDS = DAY
"""Age from which a sync that is not over no longer holds back the next one."""
LOOKED_AT = 500
"""Jobs that are searched for the last sync of a source."""


class Scheduler:
    """The schedules of the sources that a server may sync."""

    def __init__(self, jobs: JobRunner, schedules: Schedules, configured: Sequence[str], live: LiveSettings) -> None:
        """Take the jobs, the stored schedules, the sources of the setting ``serve.sources``, and the added ones."""
        self.schedules, self.configured = schedules, configured
        self._jobs, self._live = jobs, live

    async def sources(self) -> list[str]:
        """Return the sources that may be synced: those of the settings, and those that administrators added."""
        return list(dict.fromkeys((*self.configured, *await self._live.added_sources())))

    async def run(self) -> None:
        """Submit what is due until the task is cancelled."""
        while True:
            try:
                await self.submit_due()
            except Exception as error:  # whatever it is, the next look tries again
                log_error(error, {"during": "looking for sources to sync"})
            await asyncio.sleep(LOOK_SECONDS)

    async def submit_due(self) -> list[JobStatus]:
        """Submit a job for each source that is due, unless its last sync goes on, and return the jobs.

        If a job cannot be submitted, its source stays due.

        Raises:
            RagstoneError: the journal cannot be read or written, or a job cannot be submitted.
        """
        if not self._jobs.server or not (sources := await self.sources()):
            return []
        due = await asyncio.to_thread(self.schedules.take, sources)
        left = {one.source: one for one in due}
        try:
            last = await self.last_syncs() if due else {}
            jobs: list[JobStatus] = []
            for schedule in due:
                if schedule.source not in last or not _goes_on(last[schedule.source]):
                    jobs.append(await self._jobs.submit("sync", Work(sources=(schedule.source,)), ""))
                del left[schedule.source]
        finally:
            for schedule in left.values():
                await asyncio.to_thread(self.schedules.give_back, schedule)
        return jobs

    async def last_syncs(self) -> dict[str, JobStatus]:
        """Return the last job that synced each source; those that never were are missing."""
        jobs = await self._jobs.last(LOOKED_AT)
        return {source: one for one in reversed(jobs) if one.job.kind == "sync" for source in one.job.work.sources}


def _goes_on(status: JobStatus) -> bool:
    """Return whether a job is not over. One that began long ago is lost, such as with a host that does not return."""
    return not status.job.is_over and time.time() - status.job.at < LOST_SECONDS
