"""Engines that fail: how long each is left alone, who tries it again, and that nobody waits for that."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.errors import EngineBehind, EngineError
from ragstone.services import breaker as breaker_module
from ragstone.services.breaker import LATER, LONGEST, SOON, Breaker, pause
from ragstone.services.engine_calls import MAX_CALLS, EngineCalls


def test_the_pauses_are_those_of_three_tries_and_one_more_and_then_long() -> None:
    assert [pause(failures) for failures in range(1, 8)] == [2, 4, 8, 10, 30, 30, 30]
    assert pause(10**9) == LATER


def call(breaker: Breaker, error: EngineError | None, *, insist: bool = True) -> None:
    with breaker.guard(insist=insist):
        if error is not None:
            raise error


@given(st.lists(st.tuples(st.sampled_from(["fails", "answers", "is behind", "waits"]), st.floats(0, 40)), max_size=40))
def test_whatever_happens_an_engine_is_left_alone_for_as_long_as_its_failures_in_a_row_say(
    history: list[tuple[str, float]],
) -> None:
    now, failures, last = [0.0], 0, 0.0
    breaker = Breaker(clock=lambda: now[0])
    for what, seconds in history:
        if what == "fails":
            with pytest.raises(EngineError, match=r"^away$"):
                call(breaker, EngineError("away"))
            failures, last = failures + 1, now[0]
        elif what == "is behind":
            with pytest.raises(EngineBehind):
                call(breaker, EngineBehind("engine", 3))
            failures = 0
        elif what == "answers":
            call(breaker, None)
            failures = 0
        now[0] += seconds
        if failures:
            assert breaker.left == pytest.approx(max(0.0, last + pause(failures) - now[0]))
            assert pause(failures) <= (LONGEST if failures <= SOON else LATER)
            with pytest.raises(EngineError, match="away"):
                call(breaker, None, insist=False)
        else:
            assert breaker.left is None
            call(breaker, None, insist=False)


def test_calls_that_fail_together_are_one_failure() -> None:
    breaker = Breaker(clock=lambda: 0.0)
    with pytest.raises(EngineError), breaker.guard(), breaker.guard(), breaker.guard():
        raise EngineError("away")
    assert breaker.left == pause(1)


def until(look: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not look():
        assert time.monotonic() < end
        time.sleep(0.01)


def fail(calls: EngineCalls) -> None:
    with pytest.raises(EngineError), calls.guard():
        raise EngineError("away")


def test_it_is_tried_again_until_it_is_back_whatever_the_try_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breaker_module, "FIRST", 0.01)
    errors = [EngineError("away"), ValueError("odd"), None]
    tried = threading.Event()

    def probe() -> None:
        error = errors.pop(0)
        if error:
            raise error
        tried.set()

    calls = EngineCalls(probe)
    fail(calls)
    assert tried.wait(20)
    until(lambda: not calls.problem)
    with calls.guard():
        pass
    errors.append(None)  # and again, by a new thread
    fail(calls)
    until(lambda: not calls.problem)
    assert not errors


def test_what_is_closed_or_gone_is_tried_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breaker_module, "FIRST", 0.05)
    tried = list[str]()
    closed = EngineCalls(lambda: tried.append("closed"))
    fail(closed)
    closed.close()
    gone = EngineCalls(lambda: tried.append("gone"))
    fail(gone)
    del gone
    gc.collect()
    until(lambda: all(one.name != "probe" for one in threading.enumerate()))
    assert tried == []


def test_calls_that_hang_hold_up_no_other_threads() -> None:
    stop = threading.Event()
    calls, other = EngineCalls(lambda: None), EngineCalls(lambda: None)
    before = set(threading.enumerate())  # those of other tests may still be ending

    async def ask() -> float:
        hanging = [asyncio.ensure_future(calls.asked(lambda: stop.wait(20))) for _ in range(4 * MAX_CALLS)]
        await asyncio.sleep(0.05)
        began = time.monotonic()
        await asyncio.to_thread(lambda: None)
        await other.asked(lambda: None)
        took = time.monotonic() - began
        started = set(threading.enumerate()) - before
        assert sum(one.name.startswith("engine") for one in started) <= MAX_CALLS + 1
        stop.set()
        assert all(await asyncio.gather(*hanging))
        return took

    assert asyncio.run(ask()) < 5
