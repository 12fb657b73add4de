"""New attempts at a call to a service that failed, for as long as they make sense: bounded in number and in time.

Only what may pass later is tried again. A service that says when is believed, within limits; otherwise the wait
doubles each time, and a part of it is chance, so that many who failed together do not come back together.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from ragstone.services import ServiceSettings

T = TypeVar("T")
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Status codes of HTTP that may pass; 529 is what some services say when they are overloaded."""
_SHORTEST = 0.5
"""Share of a wait that is not chance."""


class Setback(Exception):
    """A call that brought nothing; the text says why, and what to do where something can be done.

    ``passing``: another attempt may succeed. ``wait``: seconds the service asks for before that, if it does.
    """

    def __init__(self, reason: str, *, passing: bool = False, wait: float | None = None) -> None:
        super().__init__(reason)
        self.passing, self.wait = passing, wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """When all calls made for one question must be over; ``seconds`` are what they had together."""

    ends: float
    seconds: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(ends=time.monotonic() + seconds, seconds=seconds)


_DEADLINE: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def until(deadline: Deadline | None) -> Iterator[None]:
    """Let the calls made inside, in tasks that begin there too, end by then; nothing changes where there is none."""
    token = _DEADLINE.set(deadline or _DEADLINE.get())
    try:
        yield
    finally:
        _DEADLINE.reset(token)


class Attempts:
    """The attempts at one call, counted, and the time they have together: what is left of the question's, if any.

    Who has more patience than a question allows for services keeps it: that is a model in this process, which is slow
    and does not fail.
    """

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._ends = time.monotonic() + settings.deadline_seconds
        deadline = _DEADLINE.get()
        if deadline and settings.deadline_seconds <= deadline.seconds:
            self._ends = min(self._ends, deadline.ends)
        self.made = 1

    @property
    def seconds_left(self) -> float:
        return max(0.0, self._ends - time.monotonic())

    def patience(self) -> float:
        """Seconds that the next answer, or the next piece of it, may take."""
        return min(self._settings.timeout_seconds, self.seconds_left)

    async def after(self, setback: Setback) -> None:
        """Wait until the next attempt.

        Raises:
            Setback: there is none, and the text says why if that is not plain.
        """
        if not setback.passing:
            raise setback
        limits = self._settings
        if setback.wait is not None and setback.wait > limits.max_wait_seconds:
            raise Setback(
                f"{setback} (it asks to wait {setback.wait:.0f} s, longer than"
                f" services.max_wait_seconds={limits.max_wait_seconds:g})"
            ) from setback
        if self.made > limits.retries:
            tries = f"{self.made} attempts" if self.made > 1 else "one attempt"
            raise Setback(f"{setback} (after {tries}; services.retries={limits.retries})") from setback
        wait = setback.wait
        if wait is None:
            doubled = limits.first_wait_seconds * 2 ** (self.made - 1)
            wait = min(doubled, limits.max_wait_seconds) * random.uniform(_SHORTEST, 1)
        if wait >= self.seconds_left:
            raise Setback(f"{setback} (no time is left: services.deadline_seconds={limits.deadline_seconds:g})")
        await asyncio.sleep(wait)
        self.made += 1


async def persist(call: Callable[[Attempts], Awaitable[T]], settings: ServiceSettings) -> T:
    """What a call gives, at the first attempt or a later one.

    Args:
        call: makes one attempt, raises `Setback` where it fails, and keeps to `Attempts.patience` itself.
        settings: how often, how long, and with which waits.

    Raises:
        Setback: of the last attempt.
    """
    attempts = Attempts(settings)
    while True:
        try:
            return await call(attempts)
        except Setback as setback:
            await attempts.after(setback)


def retry_after(text: str) -> float | None:
    """Seconds that a Retry-After field asks for, written as a number or as a date; nothing where it is neither."""
    try:
        seconds = float(text)
    except ValueError:
        pass
    else:
        return seconds if 0 <= seconds < float("inf") else None
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
