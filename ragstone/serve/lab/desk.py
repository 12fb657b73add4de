"""What lies open while the lab runs: a knowledge base, who asks, and one event loop in which everything is asked.

Pages are drawn in threads of Streamlit's. They hand coroutines to the loop, and take from it what comes.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import Any, TypeVar
from weakref import WeakSet

from ragstone.access import OWNER, Reader
from ragstone.answers import Event
from ragstone.contracts import Trace
from ragstone.engine import Engine
from ragstone.experiment.bench import uncached
from ragstone.keeping.built import Status
from ragstone.respond import choose
from ragstone.respond.models import EXTRACTIVE
from ragstone.sections import Settings
from ragstone.serve.failures import explain

R = TypeVar("R")
_KEPT = 8
"""Engines of other settings that are kept, with the models they loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Something of the answer to one ``side``, so many milliseconds after it was asked; ``error`` ends it."""

    side: int
    milliseconds: float
    event: Event | None = None
    error: str = ""


class Desk:
    """An open knowledge base, asked under any settings of the question, each time anew: nothing comes from a cache."""

    def __init__(self, open_engine: Callable[[], Engine], folder: Path, reader: Reader = OWNER) -> None:
        """
        Args:
            open_engine: opens the knowledge base.
            folder: where it lies.
            reader: who asks; nothing is shown that this reader may not read.
        """
        self._open, self.folder, self.reader = open_engine, folder, reader
        self._engine = open_engine()
        self._others: dict[str, Engine] = {}
        self._ready: WeakSet[Engine] = WeakSet()
        self._lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="ragstone-lab", daemon=True)
        self._thread.start()

    @property
    def settings(self) -> Settings:
        """Those the lab was opened with; every side begins with them."""
        return self.newest().settings

    def status(self) -> Status:
        return self.newest().status()

    def newest(self) -> Engine:
        """The engine of the version in use; after a rebuild that is another one."""
        with self._lock:
            if self._engine.superseded:
                old, self._engine = self._engine, self._open()
                self._others.clear()
                old.close()
            return self._engine

    def engine(self, settings: Settings) -> Engine:
        """The same knowledge base under other settings of the question.

        Raises:
            SettingsMismatch: they need a rebuild.
        """
        newest = self.newest()
        settings = uncached(settings)
        key = repr(settings)
        with self._lock:
            found = self._others.pop(key, None) or newest.with_settings(settings)
            self._others[key] = found  # the one used last stands last
            while len(self._others) > _KEPT:
                del self._others[next(iter(self._others))]
            return found

    def wait(self, work: Coroutine[Any, Any, R]) -> R:
        """Do something in the loop and wait for it; whoever stops waiting stops it."""
        future = self.start(work)
        try:
            return future.result()
        finally:
            future.cancel()

    def start(self, work: Coroutine[Any, Any, R]) -> Future[R]:
        """Begin something in the loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def ask(self, question: str, where: str, sides: Sequence[Settings], *, at_once: bool = False) -> Iterator[Heard]:
        """The answers under each of the settings as they come.

        Args:
            question: as it was typed.
            where: a filter, or nothing.
            sides: the settings.
            at_once: ask them side by side; one after the other, none takes time from another.
        """
        heard: Queue[Heard | None] = Queue()

        async def one(side: int, settings: Settings) -> None:
            started = 0.0

            def told(event: Event | None = None, error: str = "") -> None:
                spent = (time.perf_counter() - started) * 1000
                heard.put(Heard(side=side, milliseconds=spent, event=event, error=error))

            try:
                engine = await self.ready(settings, question)
                started = time.perf_counter()
                async with aclosing(engine.stream(question, where or None, reader=self.reader)) as events:
                    async for event in events:
                        told(event)
            except Exception as error:  # shown where the answer would stand
                told(error=explain(error)[0])

        async def everything() -> None:
            try:
                if at_once:
                    await asyncio.gather(*(one(side, settings) for side, settings in enumerate(sides)))
                else:
                    for side, settings in enumerate(sides):
                        await one(side, settings)
            finally:
                heard.put(None)

        under_way = self.start(everything())
        try:
            while (item := heard.get()) is not None:
                yield item
        finally:
            under_way.cancel()

    async def ready(self, settings: Settings, question: str) -> Engine:
        """The engine of these settings, its indexes open and its models loaded: that is no part of a question's time.

        It is asked once for nothing, where that costs nothing; else only the search is.
        """
        engine = await asyncio.to_thread(self.engine, settings)
        if engine not in self._ready:
            if _is_free(engine.settings):
                await engine.ask(question, reader=self.reader)
            elif engine.settings.rank.reranker != "model":
                await engine.search(question, reader=self.reader)
            self._ready.add(engine)
        return engine

    def trace(self, question: str, where: str, settings: Settings, shown: int) -> Trace:
        """How the evidence comes about under these settings."""
        engine = self.engine(settings)
        return self.wait(engine.trace(question, where or None, shown=shown, reader=self.reader))

    def find(self, source: str) -> str:
        """The id of a document from its id, or the end of it.

        Raises:
            NotFound: there is none that this reader may read.
        """
        return self.newest().document(source, reader=self.reader).id

    def close(self) -> None:
        """Stop what is under way, and let go of the files."""
        self.wait(_stopped())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._engine.close()


def _is_free(settings: Settings) -> bool:
    """Whether a question asks nothing of a language model or the web."""
    by_model = choose(settings.respond.model, settings.services).name != EXTRACTIVE
    judged = settings.review.judge in ("model", "auto") and bool(settings.review.judge_model.name)
    return not (by_model or judged or settings.query.web.engine != "none")


async def _stopped() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


_OPEN: list[Desk] = []


def lay_open(desk: Desk | None) -> None:
    """Make a desk the one that pages show; the script that draws them can be handed nothing."""
    _OPEN[:] = [] if desk is None else [desk]


def current() -> Desk:
    """The desk that pages show."""
    return _OPEN[0]
