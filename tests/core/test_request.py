"""A request says who asks, until when, and who pays; without a reader there is none."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import FrozenInstanceError, replace

import pytest

from ragstone.core.access import OWNER, Reader
from ragstone.core.request import BILLION, Meter, Payer, Request
from ragstone.core.timing import Timings, timed

STAFF = Reader(groups=frozenset({"staff"}))


def test_needs_a_reader():
    with pytest.raises(TypeError, match="reader"):
        Request()  # pyright: ignore[reportCallIssue]


def test_restricted_reader_is_filtered_by_default():
    assert Request(reader=STAFF).allowed == STAFF.allowed is not None
    assert Request(reader=STAFF, restricts=lambda: False).allowed is None
    assert Request(reader=OWNER).allowed == OWNER.allowed != STAFF.allowed


def test_restriction_cannot_be_lifted_in_place():
    with pytest.raises(FrozenInstanceError):
        Request(reader=STAFF).restricts = None  # pyright: ignore[reportAttributeAccessIssue]


def test_requests_do_not_share_a_meter():
    first, second = Request.by_owner(), Request.by_owner()
    first.meter.count_model_call(prompt_tokens=3, completion_tokens=1, cost=5)
    assert first.meter.id != second.meter.id
    assert second.meter.usage().model_calls == 0


def test_payer_is_charged_for_every_request():
    payer = Payer()
    for cost in (2, None, 3):
        Meter(payer=payer).count_embedding_calls(calls=1, tokens=1, retries=0, cost=cost)
    assert payer.cost == 5


def test_usage_has_no_cost_if_a_price_is_unknown():
    meter = Meter()
    meter.count_model_call(prompt_tokens=1, completion_tokens=1, cost=BILLION)
    assert meter.usage().cost == 1.0
    meter.count_model_call(prompt_tokens=1, completion_tokens=1, cost=None)
    assert meter.usage().cost is None


def test_inner_meter_leaves_the_outer_one_alone():
    outer = Request.by_owner("ingest")
    replace(outer, meter=Meter()).meter.embedded += 1
    assert (outer.meter.embedded, outer.meter.purpose) == (0, "ingest")


def test_timed_closes_its_source_and_counts_only_its_work():
    closed: list[bool] = []

    async def parts() -> AsyncGenerator[int]:
        try:
            for number in range(3):
                yield number
        finally:
            closed.append(True)

    async def take_one(timings: Timings) -> None:
        source = timed(parts(), timings, "answer")
        assert await anext(source) == 0
        time.sleep(0.02)
        await source.aclose()

    timings = Timings()
    asyncio.run(take_one(timings))
    assert closed == [True]
    assert timings.milliseconds()["answer"] < 15
