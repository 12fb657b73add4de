"""Runs work in threads: some that stops soon after its caller is cancelled, and several pieces side by side."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import cache, partial
from threading import Event
from typing import TypeVar

from ragstone.core.processors import processors

_T = TypeVar("_T")
_Item = TypeVar("_Item")
_PATIENCE = 0.5
"""Seconds that a cancelled caller waits for the work to stop."""


class Stopped(Exception):
    """The work stopped early on request."""


def check(stop: Event | None) -> None:
    """Raise `Stopped` if a stop was requested."""
    if stop is not None and stop.is_set():
        raise Stopped


async def in_thread(work: Callable[[], _T], stop: Event | None = None) -> _T:
    """Run work in a thread and return its result.

    Without ``stop``, a cancelled caller waits until the work is done, so that it can close what the work uses. With
    it, the caller sets ``stop`` and waits for half a second only. After that, the work must use nothing that the caller
    closes; its thread does not keep the program from ending.
    """
    running = asyncio.ensure_future(asyncio.to_thread(work)) if stop is None else _in_daemon_thread(work)
    running.add_done_callback(lambda done: done.cancelled() or done.exception())  # asyncio reports a failure only once.
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        if stop is not None:
            stop.set()
        await asyncio.wait([running], timeout=None if stop is None else _PATIENCE)
        raise


async def computed(work: Callable[[], _T], *, can_wait: bool) -> _T:
    """Run a computation in a thread and return its result.

    One that ``can_wait`` takes its turn in threads of its own, one for each processor, so that however many of them
    wait, the others find a thread free.
    """
    if not can_wait:
        return await asyncio.to_thread(work)
    return await asyncio.get_running_loop().run_in_executor(_waiting(), work)


def side_by_side(work: Callable[[_Item], _T], items: Sequence[_Item], threads: int) -> Iterator[_T]:
    """Yield the result for each item, in order; at most ``threads`` are worked on at once, for all callers together.

    The work must release the interpreter's lock for most of its time. One item alone is worked on in this thread.
    """
    return map(work, items) if threads == 1 or len(items) <= 1 else _pool(threads).map(work, items)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "ragstone-side-by-side")


@cache
def _waiting() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(processors(), "ragstone-can-wait")


def _in_daemon_thread(work: Callable[[], _T]) -> asyncio.Future[_T]:
    """Start work in a daemon thread: unlike the threads of an executor, it does not keep the program from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_T] = loop.create_future()

    def run() -> None:
        try:
            outcome = partial(_finish, done, work())
        except BaseException as error:
            outcome = partial(_fail, done, error)
        with suppress(RuntimeError):  # The loop is closed: nobody waits.
            loop.call_soon_threadsafe(outcome)

    threading.Thread(target=copy_context().run, args=(run,), daemon=True).start()
    return done


def _finish(done: asyncio.Future[_T], result: _T) -> None:
    if not done.done():
        done.set_result(result)


def _fail(done: asyncio.Future[_T], error: BaseException) -> None:
    if not done.done():
        done.set_exception(error)
