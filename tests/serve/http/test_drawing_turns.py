"""Turns in having pages drawn: one at a time, whatever becomes of the requests."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ragstone.serve.http.drawing_turns import MOST_WAITING, DrawingTurns
from ragstone.serve.http.errors import Refused


def test_cancelled_requests_keep_their_turn_until_drawn() -> None:
    released, running, most = threading.Event(), 0, 0

    def slow() -> bytes:
        nonlocal running, most
        running += 1
        most = max(most, running)
        released.wait(10)
        running -= 1
        return b"page"

    async def run() -> bytes:
        turns = DrawingTurns()
        for _ in range(5):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await turns.draw(slow)
        last = asyncio.create_task(turns.draw(lambda: b"last"))
        released.set()
        return await last

    assert asyncio.run(run()) == b"last"
    assert most == 1


def test_errors_reach_the_request_and_end_its_turn() -> None:
    def fail() -> bytes:
        raise ValueError("damaged")

    async def run() -> bytes:
        turns = DrawingTurns()
        with pytest.raises(ValueError, match="damaged"):
            await turns.draw(fail)
        return await turns.draw(lambda: b"page")

    assert asyncio.run(run()) == b"page"


def test_refuses_more_than_may_wait() -> None:
    released = threading.Event()

    def slow() -> bytes:
        released.wait(10)
        return b"page"

    async def run() -> list[bytes]:
        turns = DrawingTurns()
        waiting = [asyncio.create_task(turns.draw(slow)) for _ in range(MOST_WAITING + 1)]
        await asyncio.sleep(0.01)
        with pytest.raises(Refused):
            await turns.draw(slow)
        released.set()
        return await asyncio.gather(*waiting)

    assert asyncio.run(run()) == [b"page"] * (MOST_WAITING + 1)
