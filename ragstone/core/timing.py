"""Measures and limits the time of the stages of a question."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, contextmanager
from typing import TypeVar

from ragstone.core.answers import Stage
from ragstone.core.errors import OutOfTime
from ragstone.core.protocols import Pace, no_deadline

T = TypeVar("T")
Clock = Callable[[], float]
"""Returns seconds since some fixed moment."""


class Timings:
    """Wall-clock milliseconds by stage, of one question or one ingest."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._spent: dict[str, float] = {}
        self._begun: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        """Add the time inside the block to a stage; repeated entries add up."""
        started = time.perf_counter()
        self._begun.setdefault(name, (started - self._started) * 1000)
        try:
            yield
        finally:
            self._spent[name] = self._spent.get(name, 0.0) + (time.perf_counter() - started) * 1000

    def milliseconds(self) -> dict[str, float]:
        """Return the time of each stage so far, and ``total`` since the start."""
        total = (time.perf_counter() - self._started) * 1000
        return {name: round(spent, 2) for name, spent in {**self._spent, "total": total}.items()}

    def stages(self) -> tuple[Stage, ...]:
        """Return the stages that have ended, in the order in which they began; one that was repeated is summed up."""
        begun = sorted(self._begun.items(), key=lambda one: one[1])
        return tuple(Stage(name=n, start=at, milliseconds=self._spent[n]) for n, at in begun if n in self._spent)


class TimeBudget:
    """The time a step may take, counted from its creation."""

    def __init__(self, milliseconds: float, clock: Clock) -> None:
        """Start the clock.

        Args:
            milliseconds: 0 means no limit.
            clock: returns seconds.
        """
        self._clock, self._ends = clock, clock() + milliseconds / 1000 if milliseconds else None

    def pace(self) -> Pace:
        """Return a check for work that begins now and consists of parts of about the same length."""
        if self._ends is None:
            return no_deadline
        begun, ends = self._clock(), self._ends

        def check(done: int, total: int) -> None:
            now = self._clock()
            remaining = (now - begun) / done * (total - done) if done else 0.0
            if now + remaining > ends:
                raise OutOfTime(f"{total - done} of {total} parts would not finish in time")

        return check


async def timed(parts: AsyncGenerator[T], timings: Timings, stage: str) -> AsyncGenerator[T]:
    """Yield the parts and count the time they take to make, not the time the caller takes to use them.

    Closing this generator closes ``parts``.
    """
    async with aclosing(parts):
        while True:
            with timings.stage(stage):
                try:
                    part = await anext(parts)
                except StopAsyncIteration:
                    return
            yield part
