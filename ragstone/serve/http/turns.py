"""So many questions are worked at at the same time; others wait for their turn, and some are sent away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ragstone.serve.http.problems import Refused

WAITING = 512
"""So many may wait."""
LATER = 2.0
"""Seconds after which whoever is sent away may try again."""


class Turns:
    """The turns of one server."""

    def __init__(self, most: int) -> None:
        """Take how many are worked at at once."""
        self._free, self._waiting = asyncio.Semaphore(most), 0
        self.begin = asyncio.Event()
        """Set once the models are loaded: until then a question would keep everything else from being answered."""

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and have it.

        Raises:
            Refused: too many wait already.
        """
        if self._waiting >= WAITING:
            raise Refused("unavailable", "too many questions wait already", LATER)
        self._waiting += 1
        try:
            await self.begin.wait()
            await self._free.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._free.release()
