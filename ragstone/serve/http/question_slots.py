"""How many questions run at once, and in which order the others wait."""

from __future__ import annotations

import asyncio
import os
from collections import Counter, deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from ragstone.serve.http.errors import Refused
from ragstone.settings import Settings

MAX_WAITING = 512
"""Questions that may wait for a slot. Beyond that, only a caller with less than an equal share may send more."""
RETRY_SECONDS = 2.0
"""When to try again if too many questions wait."""
LEAST = 2
"""Questions to run at once at least: one computes while another writes its answer down."""
_COMPUTING = ("auto", "minilm", "e5-small", "sentence-transformers:")
"""Embedders, or beginnings of their names, that run in this process."""


def slots_for(settings: Settings, most: int, processes: int = 1) -> int:
    """Return how many questions this process runs at once.

    All processes together run ``most`` if questions may wait for something else, such as the server of a model. If
    they only compute, it is one for each processor, but not more than ``most``: more would all take longer, and a
    caller who asks many at once would slow down everybody else.
    """
    own = settings.index
    computes = (
        settings.respond.model.name == "extractive"
        and not settings.respond.cheap
        and settings.review.judge != "model"
        and settings.query.web.engine == "none"
        and own.embedder.startswith(_COMPUTING)
        and {own.vectors, own.keywords, own.catalog} == {"embedded"}
    )
    most = -(-most // processes)
    return min(most, max(LEAST, -(-(os.cpu_count() or 1) // processes))) if computes else most


class QuestionSlots:
    """Limits how many questions run at once. Others wait, and the callers take turns.

    The next slot goes to the caller with the fewest running questions, and among equals to the one whose last turn is
    longest ago. So a caller who asks many questions at once mostly waits for their own.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._running = Counter[str]()
        self._waiting = dict[str, deque[asyncio.Future[None]]]()  # the caller whose last turn is longest ago is first
        self._opening = 0
        self.opened = asyncio.Event()
        """Set once the models are loaded; a question before that would block every other request."""

    @property
    def waiting(self) -> int:
        """The number of questions that wait."""
        return self._opening + sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def slot(self, caller: str) -> AsyncGenerator[None]:
        """Wait for a slot and hold it.

        Args:
            caller: whose turns these are: the id of a key, or an address.

        Raises:
            Refused: too many questions wait already.
        """
        if self.waiting >= MAX_WAITING and len(self._waiting.get(caller, ())) >= MAX_WAITING // (
            len(self._waiting.keys() | {caller})
        ):
            raise Refused("unavailable", "too many questions are waiting", RETRY_SECONDS)
        if not self.opened.is_set():
            self._opening += 1
            try:
                await self.opened.wait()
            finally:
                self._opening -= 1
        await self._acquire(caller)
        try:
            yield
        finally:
            self._release(caller)

    async def _acquire(self, caller: str) -> None:
        if self._free:
            self._start(caller)
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(caller, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the turn came in the moment in which the client left
                self._release(caller)
            else:
                self._waiting[caller].remove(turn)
                if not self._waiting[caller]:
                    del self._waiting[caller]
            raise

    def _start(self, caller: str) -> None:
        self._free -= 1
        self._running[caller] += 1

    def _release(self, caller: str) -> None:
        self._free += 1
        self._running[caller] -= 1
        if not self._running[caller]:
            del self._running[caller]
        if self._waiting:
            following = min(self._waiting, key=self._running.__getitem__)
            turns = self._waiting.pop(following)
            turn = turns.popleft()
            if turns:
                self._waiting[following] = turns  # behind all others
            self._start(following)
            turn.set_result(None)
