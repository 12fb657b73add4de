"""How long each stage of a question took, and what it cost."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractContextManager, aclosing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from ragstone.answers import Usage
from ragstone.errors import OutOfTime
from ragstone.models.retries import Deadline, until
from ragstone.protocols import Pace, unhurried

T = TypeVar("T")
BILLION = 1_000_000_000
"""Money is counted in billionths."""
Clock = Callable[[], float]
"""Seconds since some moment."""


class Timings:
    """Wall-clock milliseconds by stage, of one question or one ingest."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._spent: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time inside towards a stage; a stage entered again adds up."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self._spent[name] = self._spent.get(name, 0.0) + (time.perf_counter() - started) * 1000

    def milliseconds(self) -> dict[str, float]:
        """Each stage so far, and ``total`` since the start."""
        total = (time.perf_counter() - self._started) * 1000
        return {name: round(spent, 2) for name, spent in {**self._spent, "total": total}.items()}


class Budget:
    """The time a question may take, from now on."""

    def __init__(self, milliseconds: float, clock: Clock) -> None:
        """
        Args:
            milliseconds: 0 stands for as long as it does.
            clock: tells the time.
        """
        self._clock, self._ends = clock, clock() + milliseconds / 1000 if milliseconds else None

    def pace(self) -> Pace:
        """Of work that begins now, in parts that take about as long each."""
        if self._ends is None:
            return unhurried
        begun, ends = self._clock(), self._ends

        def check(done: int, total: int) -> None:
            now = self._clock()
            rest = (now - begun) / done * (total - done) if done else 0.0
            if now + rest > ends:
                raise OutOfTime(f"{total - done} of {total} parts would not be done in time")

        return check


@dataclass(slots=True)
class Spent:
    """What one question or one ingest cost: texts that were embedded, and the steps whose result was there already.

    ``job`` tells it apart from all others. ``calls``, ``tokens`` and ``retries`` are what an embedding service was
    asked for: requests it answered, tokens, and attempts that failed. Of language models there are calls, tokens, and
    money in billionths: ``cost`` is that of calls with a known price, ``unpriced`` counts the others. By
    ``deadline`` all calls of services must be over.
    """

    job: str = field(default_factory=lambda: uuid.uuid4().hex)
    purpose: Literal["question", "ingest", "other"] = "question"
    embedded: int = 0
    calls: int = 0
    tokens: int = 0
    retries: int = 0
    cached: list[str] = field(default_factory=list)
    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: int = 0
    unpriced: int = 0
    notices: list[str] = field(default_factory=list)
    deadline: Deadline | None = None

    def usage(self) -> Usage:
        """As an answer tells it."""
        return Usage(
            embedded_texts=self.embedded,
            embedding_calls=self.calls,
            embedding_tokens=self.tokens,
            cached=tuple(self.cached),
            model_calls=self.model_calls,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            cost=None if self.unpriced else self.cost / BILLION,
        )


_SPENT: ContextVar[Spent | None] = ContextVar("spent", default=None)


@contextmanager
def counting(spent: Spent) -> Iterator[None]:
    """Count what is spent inside, in tasks and threads that begin there too, and let it end by its deadline."""
    token = _SPENT.set(spent)
    try:
        with until(spent.deadline):
            yield
    finally:
        _SPENT.reset(token)


@dataclass(slots=True)
class Payer:
    """Who pays for questions, beside the question's own account: money in billionths, of calls with a known price."""

    cost: int = 0


_PAYER: ContextVar[Payer | None] = ContextVar("payer", default=None)


@contextmanager
def paying(payer: Payer) -> Iterator[None]:
    """Let somebody pay for what is spent inside, whatever becomes of the question."""
    token = _PAYER.set(payer)
    try:
        yield
    finally:
        _PAYER.reset(token)


def charge(cost: int | None) -> None:
    """Somebody pays, if there is one; what has no known price costs nothing."""
    if payer := _PAYER.get():
        payer.cost += cost or 0


def spent_now() -> Spent:
    """What was spent on the question or ingest at hand; nothing yet where there is none."""
    return _SPENT.get() or Spent(purpose="other")


async def watched(
    parts: AsyncGenerator[T], within: Callable[[], AbstractContextManager[None]], timings: Timings, stage: str
) -> AsyncGenerator[T]:
    """The same parts, each made ``within`` a context and timed; what is done with them meanwhile is not."""
    async with aclosing(parts):
        while True:
            with within(), timings.stage(stage):
                try:
                    part = await anext(parts)
                except StopAsyncIteration:
                    return
            yield part


def note_embedded(texts: int) -> None:
    """So many texts were embedded for the question at hand, if there is one."""
    if spent := _SPENT.get():
        spent.embedded += texts


def note_service(*, calls: int, tokens: int, retries: int, cost: int | None = 0) -> None:
    """An embedding service was asked for what is at hand, if there is something; ``cost`` in billionths, if known."""
    charge(cost)
    if spent := _SPENT.get():
        spent.calls += calls
        spent.tokens += tokens
        spent.retries += retries
        spent.cost += cost or 0
        spent.unpriced += cost is None


def note_cached(step: str) -> None:
    """A step of the question at hand, if there is one, was not done again."""
    if spent := _SPENT.get():
        spent.cached.append(step)


def note_call(prompt_tokens: int, completion_tokens: int, cost: int | None) -> None:
    """A language model was called for the question at hand, if there is one; ``cost`` in billionths, if it is known."""
    charge(cost)
    if spent := _SPENT.get():
        spent.model_calls += 1
        spent.prompt_tokens += prompt_tokens
        spent.completion_tokens += completion_tokens
        spent.cost += cost or 0
        spent.unpriced += cost is None


def note_unrecorded(notice: str) -> None:
    """Something that was spent is in no account; the asker should know."""
    if spent := _SPENT.get():
        spent.notices.append(notice)
