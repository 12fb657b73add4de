"""Erases the files that were attached to conversations, once their time or their conversation is over."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from ragstone.core.access import Reader
from ragstone.core.errors import Locked, RagstoneError
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.serve.http.job_runner import RETRY_SECONDS, JobRunner
from ragstone.serve.http.telemetry import log_error

LOOK_SECONDS = 600.0
"""Pause between two looks for what has expired."""


class Sweeper:
    """Erases attached files in one server. What an interrupted server left is erased by the next look of any."""

    def __init__(self, engine: KnowledgeBase, jobs: JobRunner, days: float) -> None:
        """Take the knowledge base, its jobs, and the days that a file is kept at most."""
        self._engine, self._jobs, self._days = engine, jobs, days
        self._ended, self._wake = set[str](), asyncio.Event()

    def end(self, session: str, reader: Reader) -> None:
        """Erase what is attached to a conversation that was deleted, soon."""
        self._ended.add(reader.within(session).conversation)
        self._wake.set()

    async def detach(self, ids: Sequence[str], session: str, reader: Reader) -> list[str]:
        """Erase documents of a conversation now; see `Documents.detach`."""
        detach = partial(self._engine.documents.detach, ids, session=session, reader=reader)
        async with self._jobs.indexing:
            while True:
                try:
                    return await asyncio.to_thread(detach)
                except Locked:  # another process runs a job, or has another version open
                    await asyncio.sleep(RETRY_SECONDS)

    async def run(self) -> None:
        """Erase what has expired until the task is cancelled; a server that runs no jobs erases nothing."""
        while self._jobs.server:
            ended = frozenset(self._ended)
            self._wake.clear()
            try:
                async with self._jobs.indexing:
                    await asyncio.to_thread(self._engine.documents.erase_expired, self._days, ended)
                self._ended -= ended
            except Locked:  # a rebuild, or another process that indexes, may take hours
                pass
            except (RagstoneError, OSError) as error:  # the next look tries again
                log_error(error, {"during": "erasing attached files"})
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), LOOK_SECONDS)
