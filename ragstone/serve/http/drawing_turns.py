"""The requests that wait for a page to be drawn, or for rows of a table: one is served at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from ragstone.serve.http.errors import Refused

Drawn = TypeVar("Drawn")
MOST_WAITING = 32
"""Requests that may wait, each a tenth of a second for most of those before it."""


class DrawingTurns:
    """Lets one request after the other have a page drawn, so that they do not take up the threads of all others."""

    def __init__(self) -> None:
        self._lock, self._waiting = asyncio.Lock(), 0
        self._under_way = set[asyncio.Task[Any]]()

    async def draw(self, draw: Callable[[], Drawn]) -> Drawn:
        """Wait for a turn, and return what a function draws in a thread.

        A request that is cancelled no longer waits, but its turn ends only when its thread does: otherwise each slow
        page would keep one more thread from all other requests.

        Raises:
            Refused: too many are waiting.
        """
        if self._waiting >= MOST_WAITING:
            raise Refused("too_many", "too many pages are being drawn at once", 1)
        self._waiting += 1
        try:
            await self._lock.acquire()
        finally:
            self._waiting -= 1
        drawing = asyncio.create_task(asyncio.to_thread(draw))
        self._under_way.add(drawing)
        drawing.add_done_callback(self._end)
        return await asyncio.shield(drawing)

    def _end(self, drawing: asyncio.Task[Any]) -> None:
        self._lock.release()
        self._under_way.discard(drawing)
        if not drawing.cancelled():
            drawing.exception()  # so that an error that nobody waits for is not reported as lost
