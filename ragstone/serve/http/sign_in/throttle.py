"""Slows down those who guess: after some free attempts each further one has to wait twice as long as the last."""

from __future__ import annotations

import time
from collections.abc import Callable

from ragstone.history.counts import Count, Counts, OwnCounts
from ragstone.serve.http.errors import Refused

LONGEST_SECONDS = 900.0
"""The longest wait; a quiet time of this length makes all attempts free again."""


class Throttle:
    """Counts the attempts of names and addresses."""

    def __init__(self, counts: Counts | None = None, clock: Callable[[], float] = time.time) -> None:
        """Take what remembers the attempts, by default this process alone, and a clock of seconds since 1970."""
        self._counts, self._clock = counts or OwnCounts(), clock

    def attempt(self, who: tuple[str, ...], free: int, wait: float = 1.0) -> None:
        """Count an attempt as a failure until `succeed` says otherwise, so that many at once gain nothing.

        Args:
            who: makes it: an address, a name, or both.
            free: attempts without a wait.
            wait: seconds before the first attempt that is not free.

        Raises:
            Refused: it comes too soon.
        """
        now = self._clock()

        def counted(failures: Count | None) -> Count:
            last = min(failures.at, now) if failures else now  # a clock that was set back must keep nobody out
            count = 0.0 if failures is None or now - last > LONGEST_SECONDS else failures.value
            needed = min(LONGEST_SECONDS, wait * 2.0 ** min(count - free, 20)) if count >= free else 0.0
            if now < last + needed:
                raise Refused("too_many", "too many attempts to sign in", last + needed - now)
            return Count(count + 1, now)

        self._counts.change(("attempts", *who), counted)

    def succeed(self, who: tuple[str, ...], *, forget: bool = True) -> None:
        """Forget the failures, or only count this attempt as none."""

        def counted(failures: Count | None) -> Count | None:
            if forget or failures is None or failures.value <= 1:
                return None
            return Count(failures.value - 1, failures.at)

        self._counts.change(("attempts", *who), counted)

    def close(self) -> None:
        """Close what remembers the attempts."""
        self._counts.close()
