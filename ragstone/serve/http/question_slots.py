"""How many questions run at once, and in which order the others wait."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ragstone.core.answers import EXTRACTIVE
from ragstone.core.processors import processors
from ragstone.serve.http.errors import Refused
from ragstone.settings import Settings

MAX_WAITING = 512
"""Questions that may wait for a slot. Beyond that, only a caller with less than an equal share may send more."""
RETRY_SECONDS = 2.0
"""When to try again if too many questions wait."""
LEAST = 2
"""Questions to run at once at least: one computes while another writes its answer down."""
HALF_LIFE = 10.0
"""Seconds after which half of what a caller had of the slots is forgotten."""
HEAVY = 1.0
"""Seconds of slots that a caller may have had lately and still take the last free one beside their own."""
RECENT = 60.0
"""Seconds for which a caller counts as one who asks."""
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
        settings.respond.model.name == EXTRACTIVE
        and not settings.respond.cheap
        and settings.review.judge != "model"
        and settings.query.web.engine == "none"
        and own.embedder.startswith(_COMPUTING)
        and {own.vectors, own.keywords, own.catalog} == {"embedded"}
    )
    most = -(-most // processes)
    return min(most, max(LEAST, -(-processors() // processes))) if computes else most


@dataclass(slots=True)
class _Account:
    """What a caller has had lately: seconds of slots, which are forgotten by and by, and questions that run now."""

    work: float = 0.0
    at: float = 0.0
    seen: float = 0.0
    running: int = 0

    def bring_to(self, now: float) -> None:
        """Count the time until now."""
        elapsed = now - self.at
        self.work = self.work * 0.5 ** (elapsed / HALF_LIFE) + self.running * elapsed
        self.at = now

    @property
    def share(self) -> float:
        """What decides whose turn is next; a question that begins counts as a second."""
        return self.running + round(self.work, 1)


class QuestionSlots:
    """Limits how many questions run at once. Others wait, and the callers take turns by work, not by question.

    The next slot goes to the caller who had the least of the slots lately, and among equals to the one whose last turn
    is longest ago. So a caller who asks many questions at once, or long ones, mostly waits for their own. While others
    ask, too, a caller of long questions leaves the last free slot to them.
    """

    def __init__(self, count: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the number of slots, and a clock of seconds."""
        self._count, self._free, self._clock = count, count, clock
        self._accounts = dict[str, _Account]()
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
        self._note(caller)
        if self._may_start(caller):
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

    def _note(self, caller: str) -> _Account:
        """Return the account of a caller who is here now, and forget who has been away for long."""
        now = self._clock()
        account = self._accounts.pop(caller, None) or _Account(at=now)
        account.seen = now
        self._accounts[caller] = account  # the most recent stands last
        gone = [name for name, one in self._accounts.items() if one.seen < now - RECENT and not one.running]
        for name in gone:
            if name not in self._waiting:
                del self._accounts[name]
        for one in self._accounts.values():
            one.bring_to(now)
        return account

    def _may_start(self, caller: str) -> bool:
        if self._free != 1 or self._count == 1:
            return self._free > 0
        own = self._accounts[caller]
        is_heavy = own.running and own.work > HEAVY
        return not (is_heavy and any(one is not own and one.work < own.work for one in self._accounts.values()))

    def _start(self, caller: str) -> None:
        self._free -= 1
        self._accounts[caller].running += 1

    def _release(self, caller: str) -> None:
        self._free += 1
        self._note(caller).running -= 1
        while ready := [one for one in self._waiting if self._may_start(one)]:
            following = min(ready, key=lambda one: self._accounts[one].share)
            turns = self._waiting.pop(following)
            turn = turns.popleft()
            if turns:
                self._waiting[following] = turns  # behind all others
            self._start(following)
            turn.set_result(None)
