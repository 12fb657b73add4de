"""The open knowledge base of the lab, its reader, and the event loop that runs every question.

Streamlit draws pages in its own threads. They submit coroutines to the loop and read the events that come back.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import aclosing
from queue import Queue
from typing import Any, TypeVar

from ragstone.core.access import Reader
from ragstone.core.answers import EXTRACTIVE, Event
from ragstone.core.frozen import frozen
from ragstone.core.records import Trace
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.opening import uncached
from ragstone.serve.cli.screen import explain
from ragstone.services.models import choose
from ragstone.settings import Settings

R = TypeVar("R")


@frozen
class Heard:
    """An event of the answer of one ``side``, and its time since the question; an ``error`` is the last one."""

    side: int
    milliseconds: float
    event: Event | None = None
    error: str = ""


class Desk:
    """An open knowledge base that answers with any settings of a question, and never from a cache."""

    def __init__(self, kb: KnowledgeBase, reader: Reader) -> None:
        """
        Args:
            kb: the knowledge base; closing the desk closes it.
            reader: the reader who asks, and who sees only what this reader may read.
        """
        self.kb, self.reader = kb, reader
        self._warm: set[tuple[str, str]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="ragstone-lab", daemon=True)
        self._thread.start()

    def under(self, settings: Settings) -> KnowledgeBase:
        """Return the knowledge base with other settings of a question."""
        settings = uncached(settings)
        return self.kb.under(lambda _: settings)

    def wait(self, work: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine in the loop and return its result; an interrupted wait cancels it."""
        future = self.start(work)
        try:
            return future.result()
        finally:
            future.cancel()

    def start(self, work: Coroutine[Any, Any, R]) -> Future[R]:
        """Start a coroutine in the loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def ask(self, question: str, where: str, sides: Sequence[Settings], *, at_once: bool = False) -> Iterator[Heard]:
        """Yield the events of the answers with each of the settings.

        Args:
            question: the question.
            where: a filter, or an empty text.
            sides: the settings of each side.
            at_once: ask all sides concurrently; one after the other, none slows another down.
        """
        heard: Queue[Heard | None] = Queue()

        async def one(side: int, settings: Settings) -> None:
            started = 0.0

            def put(event: Event | None = None, error: str = "") -> None:
                spent = (time.perf_counter() - started) * 1000
                heard.put(Heard(side=side, milliseconds=spent, event=event, error=error))

            try:
                kb = await self.ready(settings, question)
                started = time.perf_counter()
                async with aclosing(kb.stream(question, where or None, reader=self.reader)) as events:
                    async for event in events:
                        put(event)
            except Exception as error:  # shown in place of the answer
                put(error=explain(error)[0])

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

    async def ready(self, settings: Settings, question: str) -> KnowledgeBase:
        """Return the knowledge base with these settings and everything loaded, so that timings leave that out.

        If the question costs nothing, it is answered once to warm up; otherwise it is only searched for.
        """
        kb = self.under(settings)
        with self.kb.current() as version:
            key = (str(version.source.path), repr(settings))
        if key not in self._warm:
            if _is_free(settings):
                await kb.ask(question, reader=self.reader)
            elif settings.rank.reranker != "model":
                await kb.search(question, reader=self.reader)
            self._warm.add(key)
        return kb

    def trace(self, question: str, where: str, settings: Settings, shown: int) -> Trace:
        """Return how the evidence comes about with these settings."""
        return self.wait(self.under(settings).trace(question, where or None, shown=shown, reader=self.reader))

    def find(self, source: str) -> str:
        """Return the id of a document from its id or its end.

        Raises:
            NotFound: there is none that the reader may read.
        """
        return self.kb.documents.get(source, reader=self.reader).id

    def close(self) -> None:
        """Stop everything and close the files."""
        self.wait(_stopped())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self.kb.close()


def _is_free(settings: Settings) -> bool:
    """Return whether a question calls no language model and no web search."""
    by_model = choose(settings.respond.model, settings.services).name != EXTRACTIVE
    judged = settings.review.judge in ("model", "auto") and bool(settings.review.judge_model)
    return not (by_model or judged or settings.query.web.engine != "none")


async def _stopped() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


_CURRENT: list[Desk] = []


def set_current(desk: Desk | None) -> None:
    """Set the desk that the pages show: Streamlit passes no argument to their script."""
    _CURRENT[:] = [] if desk is None else [desk]


def current() -> Desk:
    """Return the desk that the pages show."""
    return _CURRENT[0]
