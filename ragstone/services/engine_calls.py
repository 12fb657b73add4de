"""Call an external engine in threads of its own; while it is unavailable, only a background probe calls it."""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TypeVar

from ragstone.core.errors import EngineError
from ragstone.services.breaker import Breaker

R = TypeVar("R")

MAX_CALLS = 8
"""Concurrent calls; further calls wait. An engine that hangs blocks no more threads than these."""


class EngineCalls:
    """All calls of one engine. After a failure a background thread probes it until it is available again."""

    def __init__(self, probe: Callable[[], object], breaker: Breaker | None = None) -> None:
        """Take a probe.

        Args:
            probe: makes a small call; raises if the engine is unavailable.
            breaker: decides when to try; a new one if not given.
        """
        self._probe, self._breaker = probe, breaker or Breaker()
        self._threads = ThreadPoolExecutor(MAX_CALLS, thread_name_prefix="engine")
        self._changing = threading.Lock()
        self._is_trying, self._is_closed = False, False

    def close(self) -> None:
        """Stop probing the engine."""
        self._is_closed = True

    @property
    def problem(self) -> str:
        """The last error of an unavailable engine; empty while it works."""
        return self._breaker.problem

    async def asked(self, call: Callable[[], R]) -> R:
        """Run a call that may wait for the engine in its thread pool, and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    @contextmanager
    def guard(self, *, insist: bool = False) -> Generator[None]:
        """Guard a call like `Breaker.guard`; after a failure, probe the engine in the background."""
        try:
            with self._breaker.guard(insist=insist):
                yield
        except EngineError:
            self._try_later()
            raise

    def _try_later(self) -> None:
        with self._changing:
            if not (self._is_trying or self._is_closed) and self._breaker.left is not None:
                self._is_trying = True
                # A daemon with a weak reference keeps neither the process nor a closed engine alive.
                threading.Thread(target=_try_until_back, args=(weakref.ref(self),), name="probe", daemon=True).start()

    def wait(self) -> float | None:
        """Probe if that is due, and return the seconds until the next probe; None if no more probes are needed."""
        if self._breaker.left == 0 and not self._is_closed:
            with suppress(EngineError), self._breaker.guard(insist=True):
                self._try()
        with self._changing:
            left = None if self._is_closed else self._breaker.left
            self._is_trying = left is not None
            return left

    def _try(self) -> None:
        try:
            self._probe()
        except EngineError:
            raise
        except Exception as error:  # the thread would otherwise end unnoticed
            raise EngineError(f"the probe failed: {error}") from error


def _try_until_back(calls: weakref.ref[EngineCalls]) -> None:
    while (alive := calls()) is not None:
        left = alive.wait()
        if left is None:
            return
        del alive
        time.sleep(left)
