"""How long each stage took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


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
