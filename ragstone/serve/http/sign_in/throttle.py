"""Slows down those who guess: after some free attempts each further one has to wait twice as long."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from ragstone.serve.http.errors import Refused

LONGEST_SECONDS = 900.0
"""The longest wait; a quiet time of this length makes all attempts free again."""
MOST_KNOWN = 50_000
"""Names and addresses that are remembered; the quietest are forgotten first."""


@dataclass(slots=True)
class _Failures:
    count: int = 0
    last: float = 0.0


class Throttle:
    """Counts the attempts of names and addresses in this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Take a clock that returns seconds."""
        self._clock = clock
        self._known: dict[tuple[str, ...], _Failures] = {}

    def attempt(self, who: tuple[str, ...], free: int) -> None:
        """Count an attempt as a failure until `succeed` says otherwise, so that many at once gain nothing.

        Args:
            who: makes it: an address, a name, or both.
            free: attempts without a wait.

        Raises:
            Refused: it comes too soon.
        """
        now = self._clock()
        known = self._known.pop(who, None) or _Failures()
        if now - known.last > LONGEST_SECONDS:
            known.count = 0
        wait = min(LONGEST_SECONDS, 2.0 ** min(known.count - free, 20)) if known.count >= free else 0.0
        self._known[who] = known  # the most recent stands last
        if len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]
        if now < known.last + wait:
            raise Refused("too_many", "too many attempts to sign in", known.last + wait - now)
        known.count, known.last = known.count + 1, now

    def succeed(self, who: tuple[str, ...], *, forget: bool = True) -> None:
        """Forget the failures, or only count this attempt as none."""
        if forget:
            self._known.pop(who, None)
        elif known := self._known.get(who):
            known.count = max(0, known.count - 1)
