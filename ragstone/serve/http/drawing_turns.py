"""The requests that wait for a page to be drawn: one is drawn at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from ragstone.serve.http.errors import Refused

MOST_WAITING = 32
"""Requests that may wait, each a tenth of a second for most of those before it."""


class DrawingTurns:
    """Lets one request after the other have a page drawn, so that they do not take up the threads of all others."""

    def __init__(self) -> None:
        self._lock, self._waiting = asyncio.Lock(), 0

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Wait for a turn, and hold it.

        Raises:
            Refused: too many are waiting.
        """
        if self._waiting >= MOST_WAITING:
            raise Refused("too_many", "too many pages are being drawn at once", 1)
        self._waiting += 1
        try:
            async with self._lock:
                yield
        finally:
            self._waiting -= 1
