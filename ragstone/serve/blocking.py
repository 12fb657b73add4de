"""Ragstone for scripts and notebooks: `AsyncRagstone` without ``await``.

`Ragstone` has the methods of `AsyncRagstone`, with the same parameters and types. Each is one line here: `blocking`
and `iterating` turn a method that is awaited into one that returns when it is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import aclosing, suppress
from functools import cached_property, wraps
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread, current_thread
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar
from weakref import finalize

from ragstone.core.access import OWNER, Reader
from ragstone.core.errors import UsageError
from ragstone.serve.library import AsyncRagstone

if TYPE_CHECKING:
    from ragstone.core.answers import Listener
    from ragstone.engine.knowledge_base import KnowledgeBase

P = ParamSpec("P")
R = TypeVar("R")

STOP_SECONDS = 5.0
"""How long an interrupted call waits for its work to stop."""


class _Loop:
    """An event loop on a thread of its own, because the thread of a notebook already runs one."""

    def __init__(self) -> None:
        loops: SimpleQueue[asyncio.AbstractEventLoop] = SimpleQueue()
        self._stop = asyncio.Event()

        async def serve() -> None:
            loops.put(asyncio.get_running_loop())
            await self._stop.wait()

        self._thread = Thread(target=asyncio.run, args=(serve(),), name="ragstone", daemon=True)
        self._thread.start()
        self._loop = loops.get()

    def stop(self) -> None:
        """End the thread; work that is left is cancelled."""
        self._loop.call_soon_threadsafe(self._stop.set)
        if current_thread() is not self._thread:
            self._thread.join(STOP_SECONDS)

    def wait(self, work: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine to its end and return its result. An interrupt, such as Ctrl-C, stops it."""
        ended = Event()

        async def run() -> R:
            try:
                return await work
            finally:
                ended.set()

        if current_thread() is self._thread:
            work.close()
            raise UsageError("a callback such as on_progress cannot call Ragstone, which waits for the callback")
        running = asyncio.run_coroutine_threadsafe(run(), self._loop)
        try:
            return running.result()
        except BaseException:
            if not running.done():
                running.cancel()
                ended.wait(STOP_SECONDS)
            raise

    def iterate(self, items: AsyncGenerator[R]) -> Generator[R]:
        """Yield the items of an asynchronous generator, which one task runs; closing this one stops that task."""
        arrived: SimpleQueue[tuple[R] | None] = SimpleQueue()

        async def run() -> None:
            try:
                async with aclosing(items):
                    async for item in items:
                        arrived.put((item,))
            finally:
                arrived.put(None)

        running = asyncio.run_coroutine_threadsafe(run(), self._loop)
        try:
            while (item := arrived.get()) is not None:
                yield item[0]
            running.result()
        finally:
            if not running.done():
                running.cancel()
                with suppress(Empty):  # what cannot be interrupted goes on in its thread, as in `wait`
                    while arrived.get(timeout=STOP_SECONDS) is not None:
                        pass


def blocking(
    method: Callable[Concatenate[AsyncRagstone, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[Ragstone, P], R]:
    """Return a method that returns when this one is done."""

    @wraps(method)
    def _call(kb: Ragstone, *args: P.args, **kwargs: P.kwargs) -> R:
        return kb.wait(method(kb.asynchronous, *args, **kwargs))

    return _call


def iterating(
    method: Callable[Concatenate[AsyncRagstone, P], AsyncGenerator[R]],
) -> Callable[Concatenate[Ragstone, P], Generator[R]]:
    """Return a method that is a generator of what this one yields."""

    @wraps(method)
    def _call(kb: Ragstone, *args: P.args, **kwargs: P.kwargs) -> Generator[R]:
        return kb.iterate(method(kb.asynchronous, *args, **kwargs))

    return _call


class Ragstone:
    """A knowledge base in a folder, as one reader sees it.

    >>> with Ragstone("kb") as kb:
    ...     report = kb.add("docs/")
    ...     print(kb.ask("When was the pump in hall three built?"))
    The pump in hall three runs at 4 bar. It was built in 1987. [1]

    Attributes:
        asynchronous: the same for programs that await; what it opened is shared.
    """

    def __init__(
        self,
        folder: str | Path = ".ragstone",
        *,
        preset: str | None = None,
        settings: Sequence[str] | Mapping[str, object] = (),
        reader: Reader = OWNER,
    ) -> None:
        """Name a knowledge base, as `AsyncRagstone` does."""
        self.asynchronous: AsyncRagstone = AsyncRagstone(folder, preset=preset, settings=settings, reader=reader)
        self.folder: Path = self.asynchronous.folder
        self.reader: Reader = reader

    def __repr__(self) -> str:
        return repr(self.asynchronous).removeprefix("Async")

    ask = blocking(AsyncRagstone.ask)
    stream = iterating(AsyncRagstone.stream)
    search = blocking(AsyncRagstone.search)
    add = blocking(AsyncRagstone.add)
    sync = blocking(AsyncRagstone.sync)
    crawl = blocking(AsyncRagstone.crawl)
    remove = blocking(AsyncRagstone.remove)
    forget = blocking(AsyncRagstone.forget)
    document = blocking(AsyncRagstone.document)
    documents = blocking(AsyncRagstone.documents)
    rate = blocking(AsyncRagstone.rate)
    status = blocking(AsyncRagstone.status)
    evaluate = blocking(AsyncRagstone.evaluate)
    rebuild = blocking(AsyncRagstone.rebuild)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call a function at the end of every question, as `AsyncRagstone.subscribe` does, on its thread."""
        return self.asynchronous.subscribe(listener)

    def knowledge_base(self, *, create: bool = False) -> KnowledgeBase:
        """Return the knowledge base, opened on first use; its methods are asynchronous."""
        return self.asynchronous.knowledge_base(create=create)

    def close(self) -> None:
        """Close the files; the next call opens them again."""
        if "_loop" in self.__dict__:
            self.wait(self.asynchronous.close())
            self._stop_loop()
            del self._loop

    def wait(self, coroutine: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine of the knowledge base to its end and return its result."""
        return self._loop.wait(coroutine)

    def iterate(self, items: AsyncGenerator[R]) -> Generator[R]:
        """Yield what an asynchronous generator of the knowledge base yields."""
        return self._loop.iterate(items)

    @cached_property
    def _loop(self) -> _Loop:
        loop = _Loop()
        self._stop_loop = finalize(self, loop.stop)
        return loop

    def __enter__(self) -> Ragstone:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
