"""The request limits of keys: token buckets, and requests in progress."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from ragstone.core.frozen import frozen
from ragstone.history.counts import Count, Counts, OwnCounts, OwnRunning, Running


@frozen
class Quota:
    """The requests a key may make: a rate and a burst, and how many at once; 0 sets no limit."""

    per_minute: int = 0
    burst: int = 1
    concurrent: int = 0

    @property
    def is_unlimited(self) -> bool:
        return not self.per_minute and not self.concurrent


@frozen
class Exceeded:
    """The limit that a request would exceed, and the seconds after which it is worth trying again, if known."""

    limit: Literal["rate", "concurrent"]
    seconds: float = 0.0


class Limits:
    """Counts the requests of all keys. A request that `begin` admits is followed by one `end`."""

    def __init__(
        self, counts: Counts | None = None, running: Running | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        """Take what counts, by default this process alone, and a clock of seconds since 1970."""
        self._counts, self._running, self._clock = counts or OwnCounts(), running or OwnRunning(), clock

    def begin(self, key: str, quota: Quota) -> Exceeded | None:
        """Count a request, or return the limit that it would exceed."""
        if quota.concurrent and not self._running.begin(key, quota.concurrent):
            return Exceeded(limit="concurrent")
        if quota.per_minute and (wait := self._take(key, quota)):
            if quota.concurrent:
                self._running.end(key)
            return Exceeded(limit="rate", seconds=wait)
        return None

    def end(self, key: str) -> None:
        """Count an admitted request as over."""
        self._running.end(key)

    def close(self) -> None:
        """Close what counts."""
        self._counts.close()
        self._running.close()

    def _take(self, key: str, quota: Quota) -> float:
        """Take a token from the bucket of a key, and return 0, or the seconds until there is one.

        Tokens come back at the rate of the quota, up to its burst.
        """
        now, rate, wait = self._clock(), quota.per_minute / 60, 0.0

        def taken(bucket: Count | None) -> Count:
            nonlocal wait
            tokens = float(quota.burst)
            if bucket:  # a clock that was set back must not stop requests, so time never runs backwards here
                tokens = min(tokens, bucket.value + max(0.0, now - bucket.at) * rate)
            wait = 0.0 if tokens >= 1 else (1 - tokens) / rate
            return Count(tokens - 1 if tokens >= 1 else tokens, now)

        self._counts.change(("rate", key), taken)
        return wait
