"""How a question ends: failures and stops are counted, and the end is told to all who want to know."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from ragstone.core.answers import Answered, Failed
from ragstone.core.listeners import Listeners
from ragstone.engine.components import Components


@dataclass(slots=True)
class Ending:
    """The end of a question in a version, which may change until then, told to ``listeners``."""

    version: Components
    listeners: Listeners
    is_answered: bool = False

    def tell(self, outcome: Answered | Failed) -> None:
        """Tell the tracking store, the telemetry and the listeners how the question ended."""
        self.is_answered = isinstance(outcome, Answered)
        history = self.version.history
        if tracker := history.tracker():
            tracker.note_question(self.version.settings, outcome)
        if telemetry := history.telemetry():
            telemetry.note(outcome)
        self.listeners.tell(outcome)


@contextmanager
def ending(version: Components, listeners: Listeners, question: str) -> Generator[Ending]:
    """Count a question that fails or that its asker stops, and tell of a failure; the block tells of its answer."""
    end, started, statistics = Ending(version, listeners), time.perf_counter(), version.history.statistics()
    try:
        yield end
    except (GeneratorExit, asyncio.CancelledError):
        if not end.is_answered:
            statistics.note_stopped()
        raise
    except Exception as error:
        statistics.note_failure(error)
        milliseconds = (time.perf_counter() - started) * 1000
        end.tell(Failed(question=question, error=error, milliseconds=milliseconds))
        raise
