"""Erases files that were attached to conversations, once they are removed or their time or conversation is over."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from ragstone.core.access import Reader
from ragstone.core.errors import Locked, RagstoneError
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.serve.http.job_runner import JobRunner
from ragstone.serve.http.telemetry import log_error

LOOK_SECONDS = 600.0
"""Pause between two looks for what is to be erased."""


class Sweeper:
    """Erases attached files in one server. What an interrupted server left is erased by the next look of any."""

    def __init__(self, engine: KnowledgeBase, jobs: JobRunner, days: float) -> None:
        """Take the knowledge base, its jobs, and the days that a file is kept at most."""
        self._engine, self._jobs, self._days = engine, jobs, days
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Look now: a conversation was deleted, or a person was removed."""
        self._wake.set()

    async def detach(self, ids: Sequence[str], session: str, reader: Reader) -> list[str]:
        """Remove documents of a conversation now, to be erased at the next look; see `Documents.detach`."""
        waiting = await self._jobs.waiting_files()
        detach = partial(self._engine.documents.detach, ids, session=session, reader=reader, waiting=waiting)
        return await asyncio.to_thread(detach)

    async def run(self) -> None:
        """Erase what is due until the task is cancelled; a server that runs no jobs erases nothing.

        A removed file waits for the next look, so that several are erased at once and nobody waits to remove another.
        """
        while self._jobs.server:
            self._wake.clear()
            try:
                async with self._jobs.indexing:
                    waiting = await self._jobs.waiting_files()
                    await asyncio.to_thread(self._engine.documents.erase_attached, self._days, waiting)
            except Locked:  # a rebuild, or another process that indexes, may take hours
                pass
            except (RagstoneError, OSError) as error:  # the next look tries again
                log_error(error, {"during": "erasing attached files"})
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), LOOK_SECONDS)
