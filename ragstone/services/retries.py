"""Retry failed calls to a service, within a limit of attempts and of time.

Only failures that may pass are retried. A wait requested by the service is respected within limits. Otherwise the wait
doubles with each attempt and has a random part, so that clients that failed together do not retry together.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from ragstone.core.request import Deadline
from ragstone.settings.services import ServiceSettings

T = TypeVar("T")
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""HTTP status codes of failures that may pass; some services send 529 when they are overloaded."""
_FIXED_SHARE = 0.5
"""Share of a wait that is not random."""


class Setback(Exception):
    """A failed call; the text says why, and what to do.

    ``passing``: another attempt may succeed. ``wait``: seconds that the service asks to wait before it, if any.
    """

    def __init__(self, reason: str, *, passing: bool = False, wait: float | None = None) -> None:
        super().__init__(reason)
        self.passing, self.wait = passing, wait


class Attempts:
    """Counts the attempts at one call and limits their total time, also by the deadline of the request.

    Settings that allow more time than the request has in total are not limited by the deadline: they belong to a model
    in this process, which is slow but does not fail.
    """

    def __init__(self, settings: ServiceSettings, deadline: Deadline | None) -> None:
        self._settings = settings
        self._ends = time.monotonic() + settings.deadline_seconds
        if deadline and settings.deadline_seconds <= deadline.seconds:
            self._ends = min(self._ends, deadline.ends)
        self.made = 1

    @property
    def seconds_left(self) -> float:
        """Seconds until all attempts must be over."""
        return max(0.0, self._ends - time.monotonic())

    def patience(self) -> float:
        """Return how many seconds the next reply, or the next piece of one, may take."""
        return min(self._settings.timeout_seconds, self.seconds_left)

    async def after(self, setback: Setback) -> None:
        """Wait until the next attempt.

        Raises:
            Setback: there is no further attempt; the text adds why.
        """
        if not setback.passing:
            raise setback
        limits = self._settings
        first, longest = limits.backoff_seconds
        if setback.wait is not None and setback.wait > longest:
            raise Setback(
                f"{setback} (it asks to wait {setback.wait:.0f} s, longer than"
                f" {longest:g} s of services.backoff_seconds)"
            ) from setback
        if self.made > limits.retries:
            tries = f"{self.made} attempts" if self.made > 1 else "1 attempt"
            raise Setback(f"{setback} (after {tries}; services.retries={limits.retries})") from setback
        wait = setback.wait
        if wait is None:
            doubled = first * 2 ** (self.made - 1)
            wait = min(doubled, longest) * random.uniform(_FIXED_SHARE, 1)
        if wait >= self.seconds_left:
            raise Setback(f"{setback} (no time left: services.deadline_seconds={limits.deadline_seconds:g})")
        await asyncio.sleep(wait)
        self.made += 1


async def persist(call: Callable[[Attempts], Awaitable[T]], settings: ServiceSettings, deadline: Deadline | None) -> T:
    """Call until an attempt succeeds, and return its result.

    Args:
        call: makes one attempt, raises `Setback` if it fails, and respects `Attempts.patience`.
        settings: number of retries, time-outs and waits.
        deadline: of the request, if it has one.

    Raises:
        Setback: the last attempt failed.
    """
    attempts = Attempts(settings, deadline)
    while True:
        try:
            return await call(attempts)
        except Setback as setback:
            await attempts.after(setback)


def retry_after(text: str) -> float | None:
    """Parse a Retry-After header, a number of seconds or a date; return seconds, or None if it is neither."""
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
