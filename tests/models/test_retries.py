"""Attempts at a call: how many, how long between them, and when there is no sense in another."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.models.retries import Attempts, Deadline, Setback, persist, retry_after, until
from ragstone.services import ServiceSettings

QUICK = ServiceSettings(first_wait_seconds=0.001, retries=3)


def tried(settings: ServiceSettings, *setbacks: Setback) -> tuple[int, str]:
    """How many attempts were made, and what came of them."""
    left, made = list(setbacks), []

    async def call(attempts: Attempts) -> str:
        made.append(attempts.made)
        if left:
            raise left.pop(0)
        return "done"

    try:
        end = asyncio.run(persist(call, settings))
    except Setback as last:
        end = str(last)
    assert made == list(range(1, len(made) + 1))
    return len(made), end


def test_what_may_pass_is_tried_again_and_what_may_not_is_not():
    passing = Setback("busy", passing=True)
    assert tried(QUICK) == (1, "done")
    assert tried(QUICK, passing, passing) == (3, "done")
    assert tried(QUICK, passing, Setback("no")) == (2, "no")
    assert tried(QUICK, *[passing] * 9) == (4, "busy (after 4 attempts; services.retries=3)")


def test_waits_that_are_asked_for_have_their_limits():
    short = ServiceSettings(max_wait_seconds=2, deadline_seconds=1)
    too_long = tried(short, Setback("busy", passing=True, wait=3))
    assert too_long == (1, "busy (it asks to wait 3 s, longer than services.max_wait_seconds=2)")
    late = tried(short, Setback("busy", passing=True, wait=1.5))
    assert late == (1, "busy (no time is left: services.deadline_seconds=1)")


def test_the_calls_for_one_question_end_by_its_deadline():
    with until(Deadline.after(0.2)):
        assert Attempts(ServiceSettings(deadline_seconds=0.1)).seconds_left <= 0.1
        assert Attempts(ServiceSettings(deadline_seconds=0.2)).seconds_left <= 0.2
        with until(None):
            time.sleep(0.05)
            assert Attempts(ServiceSettings(deadline_seconds=0.2)).seconds_left <= 0.15
        # a model in this process is slow without failing
        assert Attempts(ServiceSettings(deadline_seconds=900)).seconds_left > 800
    assert Attempts(ServiceSettings(deadline_seconds=0.2)).seconds_left > 0.15


def test_waits_grow_and_are_not_all_alike():
    async def waits() -> list[float]:
        attempts, out = Attempts(ServiceSettings(first_wait_seconds=0.02, retries=3)), []
        for _ in range(3):
            started = time.monotonic()
            await attempts.after(Setback("busy", passing=True))
            out.append(time.monotonic() - started)
        return out

    for least, wait in zip((0.01, 0.02, 0.04), asyncio.run(waits()), strict=True):
        assert wait >= least


@pytest.mark.parametrize(("text", "seconds"), [("0", 0), ("12", 12), ("1.5", 1.5), ("", None), ("soon", None)])
def test_retry_after_in_seconds(text: str, seconds: float | None):
    assert retry_after(text) == seconds


def test_retry_after_as_a_date():
    later = datetime.now(UTC) + timedelta(minutes=5)
    assert retry_after(format_datetime(later, usegmt=True)) == pytest.approx(300, abs=5)
    assert retry_after(format_datetime(later - timedelta(days=1), usegmt=True)) == 0


@given(st.text(max_size=40))
def test_retry_after_takes_whatever_servers_send(text: str):
    seconds = retry_after(text)
    assert seconds is None or 0 <= seconds < float("inf")
