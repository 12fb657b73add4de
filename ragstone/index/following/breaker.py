"""An engine that fails is left alone for a while, so that no question waits for what is away, and then tried again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ragstone.errors import Behind, EngineError

FIRST, LONGEST = 2.0, 10.0
"""Seconds it is left alone after the first failure, doubled at each one; and at most."""
SOON = 4
"""Failures after which it is tried again so soon."""
LATER = 30.0
"""Seconds between the tries of one that stays away."""


def pause(failures: int) -> float:
    """Seconds until an engine that failed so many times in a row is tried again: 2, 4, 8, 10, and from then on 30."""
    return min(LONGEST, FIRST * 2 ** (failures - 1)) if failures <= SOON else LATER


class Breaker:
    """Stands before the calls of one engine, in any number of threads. ``clock`` tells seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changing = threading.Lock()
        self._failures, self._until = 0, 0.0
        self.problem = ""

    @property
    def left(self) -> float | None:
        """Seconds until the engine is to be tried again, 0 where it is time; None while nothing is wrong with it."""
        with self._changing:
            return max(0.0, self._until - self._clock()) if self._failures else None

    @contextmanager
    def guard(self, *, insist: bool = False) -> Iterator[None]:
        """Run a call, or refuse to. Calls that fail together count as one failure; any that succeeds ends the pause.

        Args:
            insist: try in any case.

        Raises:
            EngineError: the call's own; or the last one again, while the engine is left alone.
        """
        with self._changing:
            failures, left = self._failures, self._until - self._clock()
        if failures and not insist:
            when = f"again in {left:.0f} s" if left > 0 else "again this moment"
            raise EngineError(f"{self.problem} (tried {when})")
        try:
            yield
        except EngineError as error:
            if isinstance(error, Behind):  # it is there, and answers
                self._close()
            else:
                self._fail(error, failures)
            raise
        self._close()

    def _fail(self, error: EngineError, before: int) -> None:
        with self._changing:
            if self._failures == before:  # otherwise another call that began as this one did has told
                self._failures += 1
                self._until = self._clock() + pause(self._failures)
                self.problem = str(error)

    def _close(self) -> None:
        with self._changing:
            self._failures, self._until, self.problem = 0, 0.0, ""
