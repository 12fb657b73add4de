"""How an engine outside is called: in threads of its own, and while it is away only by one that tries it again."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TypeVar

from ragstone.errors import EngineError
from ragstone.index.following.breaker import Breaker

R = TypeVar("R")

MOST = 8
"""Calls of questions at once; a later one waits. Of an engine that says nothing no more than these are held up."""


class EngineCalls:
    """All calls of one engine. After a failure a thread tries it again, until it is back; no question does."""

    def __init__(self, probe: Callable[[], object], breaker: Breaker | None = None) -> None:
        """
        Args:
            probe: asks the engine something small; raises where it is away.
            breaker: tells when; one of its own if not given.
        """
        self._probe, self._breaker = probe, breaker or Breaker()
        self._threads = ThreadPoolExecutor(MOST, thread_name_prefix="engine")
        self._changing = threading.Lock()
        self._is_trying, self._is_closed = False, False

    def close(self) -> None:
        """Try the engine no more."""
        self._is_closed = True

    @property
    def problem(self) -> str:
        """Why it is left alone; empty while it is not."""
        return self._breaker.problem

    async def asked(self, call: Callable[[], R]) -> R:
        """What a call gives that may wait for the engine; all else that runs in threads goes on meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, contextvars.copy_context().run, call)

    @contextmanager
    def guard(self, *, insist: bool = False) -> Iterator[None]:
        """As `Breaker.guard`; where the call fails, the engine is tried again later."""
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
                # A daemon that holds nothing while it waits: neither a process nor what was closed stays for it.
                threading.Thread(target=_try_until_back, args=(weakref.ref(self),), name="probe", daemon=True).start()

    def _left(self) -> float | None:
        """Seconds to wait for the next try, after one that was due; None where it is back."""
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
        except Exception as error:  # nobody would see it in this thread
            raise EngineError(f"it could not be tried: {error}") from error


def _try_until_back(calls: weakref.ref[EngineCalls]) -> None:
    while (one := calls()) is not None:
        left = one._left()
        if left is None:
            return
        del one
        time.sleep(left)
