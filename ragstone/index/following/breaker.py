"""An engine that fails is left alone for a while, so that no question waits for what is away, and then tried again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ragstone.errors import Behind, EngineError

FIRST, LONGEST = 1.0, 30.0
"""Seconds it is left alone after the first failure, doubled at each one; and at most."""


class Breaker:
    """Stands before the calls of one engine, in any number of threads. ``clock`` tells seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changing = threading.Lock()
        self._pause, self._until = 0.0, 0.0
        self.problem = ""

    @contextmanager
    def guard(self, *, insist: bool = False) -> Iterator[None]:
        """Run a call, or refuse to. When the pause is over one call is let through to try, and others when it is back.

        Args:
            insist: try in any case.

        Raises:
            EngineError: the call's own; or the last one again, while the engine is left alone.
        """
        with self._changing:
            left = self._until - self._clock()
            if left > 0 and not insist:
                raise EngineError(f"{self.problem} (tried again in {left:.0f} s)")
            if self._pause:
                self._until = self._clock() + self._pause
        try:
            yield
        except EngineError as error:
            if isinstance(error, Behind):  # it is there, and answers
                self._close()
                raise
            with self._changing:
                self.problem = str(error)
                self._pause = min(LONGEST, 2 * self._pause or FIRST)
                self._until = self._clock() + self._pause
            raise
        self._close()

    def _close(self) -> None:
        with self._changing:
            self._pause, self._until, self.problem = 0.0, 0.0, ""
