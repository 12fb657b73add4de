"""Attempts at a call: how many, how long between them, and when there is no sense in another."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.request import Deadline
from ragstone.services.retries import Attempts, Setback, persist, retry_after
from ragstone.settings.services import ServiceSettings

QUICK = ServiceSettings(backoff_seconds=(0.001, 20), retries=3)


def tried(settings: ServiceSettings, *setbacks: Setback) -> tuple[int, str]:
    """How many attempts were made, and what came of them."""
    left, made = list(setbacks), []

    async def call(attempts: Attempts) -> str:
        made.append(attempts.made)
        if left:
            raise left.pop(0)
        return "done"

    try:
        end = asyncio.run(persist(call, settings, None))
    except Setback as last:
        end = str(last)
    assert made == list(range(1, len(made) + 1))
    return len(made), end


def test_retries_only_transient_failures():
    passing = Setback("busy", passing=True)
    assert tried(QUICK) == (1, "done")
    assert tried(QUICK, passing, passing) == (3, "done")
    assert tried(QUICK, passing, Setback("no")) == (2, "no")
    assert tried(QUICK, *[passing] * 9) == (4, "busy (after 4 attempts; services.retries=3)")


def test_waits_that_are_asked_for_have_their_limits():
    short = ServiceSettings(backoff_seconds=(0.5, 2), deadline_seconds=1)
    too_long = tried(short, Setback("busy", passing=True, wait=3))
    assert too_long == (1, "busy (it asks to wait 3 s, longer than 2 s of services.backoff_seconds)")
    late = tried(short, Setback("busy", passing=True, wait=1.5))
    assert late == (1, "busy (no time left: services.deadline_seconds=1)")


def test_deadline_of_the_request_limits_attempts():
    def seconds_left(setting: float, deadline: Deadline | None) -> float:
        return Attempts(ServiceSettings(deadline_seconds=setting), deadline).seconds_left

    deadline = Deadline.after(0.2)
    assert seconds_left(0.1, deadline) <= 0.1
    assert seconds_left(0.2, deadline) <= 0.2
    time.sleep(0.05)
    assert seconds_left(0.2, deadline) <= 0.15
    assert seconds_left(900, deadline) > 800, "a model in this process is slow without failing"
    assert seconds_left(0.2, None) > 0.15


def test_waits_grow_with_attempts():
    async def waits() -> list[float]:
        attempts, out = Attempts(ServiceSettings(backoff_seconds=(0.02, 20), retries=3), None), []
        for _ in range(3):
            started = time.monotonic()
            await attempts.after(Setback("busy", passing=True))
            out.append(time.monotonic() - started)
        return out

    for least, wait in zip((0.01, 0.02, 0.04), asyncio.run(waits()), strict=True):
        assert wait >= least


@pytest.mark.parametrize(("text", "seconds"), [("0", 0), ("12", 12), ("1.5", 1.5), ("", None), ("soon", None)])
def test_parses_retry_after_seconds(text: str, seconds: float | None):
    assert retry_after(text) == seconds


def test_parses_retry_after_date():
    later = datetime.now(UTC) + timedelta(minutes=5)
    assert retry_after(format_datetime(later, usegmt=True)) == pytest.approx(300, abs=5)
    assert retry_after(format_datetime(later - timedelta(days=1), usegmt=True)) == 0


@given(st.text(max_size=40))
def test_accepts_any_retry_after_text(text: str):
    seconds = retry_after(text)
    assert seconds is None or 0 <= seconds < float("inf")
