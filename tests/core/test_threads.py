"""Work in threads, and what a cancelled caller waits for."""

from __future__ import annotations

import asyncio
import time
from threading import Event

import pytest

from ragstone.core.threads import Stopped, check, computed, in_thread


def fail() -> None:
    raise KeyError("x")


@pytest.mark.parametrize("stop", [None, Event()])
def test_returns_result_or_failure(stop: Event | None) -> None:
    assert asyncio.run(in_thread(lambda: 7, stop)) == 7
    with pytest.raises(KeyError):
        asyncio.run(in_thread(fail, stop))


def test_work_that_can_wait_holds_up_no_other() -> None:
    go = Event()

    async def main() -> None:
        waiting = [asyncio.create_task(computed(go.wait, can_wait=True)) for _ in range(100)]
        await asyncio.sleep(0)
        assert await computed(lambda: 7, can_wait=False) == 7
        go.set()
        assert all(await asyncio.gather(*waiting))

    asyncio.run(main())


async def cancelled(work: asyncio.Task[None]) -> float:
    """Cancel work shortly after its start and return how long it took to end."""
    await asyncio.sleep(0.1)
    started = time.monotonic()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    return time.monotonic() - started


def test_cancelled_caller_waits_for_work_without_stop() -> None:
    done = Event()

    def work() -> None:
        time.sleep(0.5)
        done.set()

    async def main() -> None:
        await cancelled(asyncio.create_task(in_thread(work)))
        assert done.is_set()

    asyncio.run(main())


def test_cancelled_caller_stops_the_work() -> None:
    stop, stopped = Event(), Event()

    def work() -> None:
        try:
            while True:
                check(stop)
                time.sleep(0.01)
        except Stopped:
            stopped.set()
            raise

    async def main() -> None:
        await cancelled(asyncio.create_task(in_thread(work, stop)))
        assert stopped.is_set()

    asyncio.run(main())


def test_cancelled_caller_abandons_work_that_does_not_stop() -> None:
    release = Event()

    async def main() -> None:
        assert await cancelled(asyncio.create_task(in_thread(lambda: check_later(release), Event()))) < 30
        assert not release.is_set()

    asyncio.run(main())
    release.set()


def check_later(release: Event) -> None:
    release.wait(60)
