"""How much one key may take: requests in a minute, and at the same time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ragstone.sections import LimitSettings
from ragstone.serve.http.problems import Refused
from ragstone.usage.keys import Key

SOON = 1.0
"""Seconds after which to try again where it cannot be told."""


class _Allowance:
    """What is left to one key: a bucket of requests that fills again, and those under way."""

    def __init__(self, per_minute: int, burst: int, concurrent: int, now: float) -> None:
        self.per_minute, self.burst, self.concurrent = per_minute, burst, concurrent
        self._left, self._at = float(burst), now
        self.under_way = 0

    def take(self, now: float) -> float:
        """Take one request out of the bucket; gives the seconds until there is one, where there is none."""
        rate = self.per_minute / 60
        self._left = min(float(self.burst), self._left + (now - self._at) * rate)
        self._at = now
        if self._left >= 1:
            self._left -= 1
            return 0.0
        return (1 - self._left) / rate


class Limits:
    """The allowances of all keys, in this process."""

    def __init__(self, settings: LimitSettings, clock: Callable[[], float] = time.monotonic) -> None:
        """Take what holds for keys without limits of their own, and what tells seconds."""
        self._settings, self._clock = settings, clock
        self._of: dict[str, _Allowance] = {}

    @contextmanager
    def within(self, key: Key) -> Iterator[None]:
        """Run a request of this key.

        Raises:
            Refused: it has taken too much.
        """
        own = self._allowance(key)
        if own.concurrent and own.under_way >= own.concurrent:
            raise Refused("too_many", f"{own.concurrent} requests of this key are under way already", SOON)
        if own.per_minute and (wait := own.take(self._clock())):
            raise Refused("too_many", f"this key may make {own.per_minute} requests a minute", wait)
        own.under_way += 1
        try:
            yield
        finally:
            own.under_way -= 1

    def _allowance(self, key: Key) -> _Allowance:
        if key.id not in self._of:
            told, usual = key.limits, self._settings
            per_minute = usual.rate_per_minute if told.rate_per_minute is None else told.rate_per_minute
            self._of[key.id] = _Allowance(
                per_minute,
                min(usual.burst, per_minute or usual.burst) if told.burst is None else told.burst,
                usual.concurrent if told.concurrent is None else told.concurrent,
                self._clock(),
            )
        return self._of[key.id]
