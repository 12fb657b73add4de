"""A circuit breaker: stop calling an engine that fails for a while, so that no question waits for it, then retry."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from ragstone.core.errors import EngineBehind, EngineError

FIRST, LONGEST = 2.0, 10.0
"""Seconds of the first pause, which doubles with each failure, and of the longest such pause."""
SOON = 4
"""Failures with such short pauses."""
LATER = 30.0
"""Seconds of every later pause."""


def pause(failures: int) -> float:
    """Return the pause in seconds after consecutive failures: 2, 4, 8, 10, then always 30."""
    return min(LONGEST, FIRST * 2 ** (failures - 1)) if failures <= SOON else LATER


class Breaker:
    """Guards the calls of one engine, from any number of threads. ``clock`` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changing = threading.Lock()
        self._failures, self._until = 0, 0.0
        self.problem = ""

    @property
    def left(self) -> float | None:
        """Seconds until the engine is tried again, 0 if a try is due; None while the engine works."""
        with self._changing:
            return max(0.0, self._until - self._clock()) if self._failures else None

    @contextmanager
    def guard(self, *, insist: bool = False) -> Generator[None]:
        """Run a call, or refuse it during a pause. Concurrent failures count once; a success ends the pause.

        Args:
            insist: call even during a pause.

        Raises:
            EngineError: the error of the call, or the last error during a pause.
        """
        with self._changing:
            failures, left = self._failures, self._until - self._clock()
        if failures and not insist:
            when = f"in {left:.0f} s" if left > 0 else "now"
            raise EngineError(f"{self.problem} (next try {when})")
        try:
            yield
        except EngineError as error:
            if isinstance(error, EngineBehind):  # the engine responds
                self._close()
            else:
                self._fail(error, failures)
            raise
        self._close()

    def _fail(self, error: EngineError, before: int) -> None:
        with self._changing:
            if self._failures == before:  # otherwise a concurrent call has counted this failure
                self._failures += 1
                self._until = self._clock() + pause(self._failures)
                self.problem = str(error)

    def _close(self) -> None:
        with self._changing:
            self._failures, self._until, self.problem = 0, 0.0, ""
