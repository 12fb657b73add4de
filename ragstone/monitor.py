"""How long each stage of a question took, and what it cost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


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


@dataclass(slots=True)
class Spent:
    """What one question cost: texts that were embedded for it, and the steps whose result was there already."""

    embedded: int = 0
    cached: list[str] = field(default_factory=list)


_SPENT: ContextVar[Spent | None] = ContextVar("spent", default=None)


@contextmanager
def counting() -> Iterator[Spent]:
    """Count what is spent inside, in tasks and threads that begin there too."""
    spent = Spent()
    token = _SPENT.set(spent)
    try:
        yield spent
    finally:
        _SPENT.reset(token)


def note_embedded(texts: int) -> None:
    """So many texts were embedded for the question at hand, if there is one."""
    if spent := _SPENT.get():
        spent.embedded += texts


def note_cached(step: str) -> None:
    """A step of the question at hand, if there is one, was not done again."""
    if spent := _SPENT.get():
        spent.cached.append(step)
