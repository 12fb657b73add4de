"""Slows down those who guess: after some free attempts each further one has to wait twice as long as the last."""

from __future__ import annotations

import time
from collections.abc import Callable

from ragstone.history.attempts import Attempts, Failures, OwnAttempts
from ragstone.serve.http.errors import Refused

LONGEST_SECONDS = 900.0
"""The longest wait; a quiet time of this length makes all attempts free again."""


class Throttle:
    """Counts the attempts of names and addresses."""

    def __init__(self, attempts: Attempts | None = None, clock: Callable[[], float] = time.time) -> None:
        """Take what remembers the attempts, by default this process alone, and a clock of seconds since 1970."""
        self._attempts, self._clock = attempts or OwnAttempts(), clock

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

        def counted(known: Failures) -> Failures:
            last = min(known.last, now)  # a clock that was set back must keep nobody out
            count = 0 if now - last > LONGEST_SECONDS else known.count
            needed = min(LONGEST_SECONDS, wait * 2.0 ** min(count - free, 20)) if count >= free else 0.0
            if now < last + needed:
                raise Refused("too_many", "too many attempts to sign in", last + needed - now)
            return Failures(count + 1, now)

        self._attempts.change(who, counted)

    def succeed(self, who: tuple[str, ...], *, forget: bool = True) -> None:
        """Forget the failures, or only count this attempt as none."""
        self._attempts.change(who, lambda known: Failures(0 if forget else max(0, known.count - 1), known.last))

    def close(self) -> None:
        """Close what remembers the attempts."""
        self._attempts.close()
