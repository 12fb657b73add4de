"""How several processes add to one knowledge base at the same time.

What takes long, which is reading, cutting and embedding, each does without the lock; it is held for a commit, a
hundredth of that. What another process stored meanwhile is noticed under the lock, by the signatures of the documents:
then the work is begun anew, and passes over what is stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from ragstone import acquire
from ragstone.contracts import Acquired
from ragstone.errors import Outrun
from ragstone.jobs.queue import Job, JobQueue, Work
from ragstone.keeping import languages
from ragstone.keeping.ingest import OnProgress, Seen, Turn, ingest
from ragstone.keeping.keeper import Keeper
from ragstone.keeping.moving import on_newest
from ragstone.reports import AddReport

ATTEMPTS = 3
"""After so many that another process crossed, the lock is held all the time."""
MEGABYTE = 1_000_000

Still = Callable[[], bool]
"""Whether the work is still ours; asked under the lock, before each commit."""
Streams = Callable[[], Iterable[Acquired]]


def always() -> bool:
    """For work that nobody takes away."""
    return True


class Sharer(Keeper):
    """The part of an engine that adds documents beside other processes which do the same."""

    @property
    def jobs(self) -> JobQueue:
        """What waits for workers, and what they have done."""
        return self._jobs

    @on_newest
    def queue_add(self, sources: Sequence[str]) -> list[Job]:
        """Write down, for workers, that what is in files and folders is to be added; durable when this returns.

        Raises:
            SourceError: a path leads nowhere, or to nothing that can be read; then nothing is written.
            KnowledgeBaseError, EngineError: it could not be written.
        """
        return self._jobs.put("add", list(self._works(sources)))

    @on_newest
    def queue_sync(self, sources: Sequence[str]) -> list[Job]:
        """The same for `sync`: what is there is added first, by many; then one looks at what is gone.

        Raises:
            SourceError, KnowledgeBaseError, EngineError: as of `queue_add`.
        """
        adding = self._jobs.put("add", list(self._works(sources)))
        return [*adding, *self._jobs.put("sync", [Work(sources=tuple(map(_absolute, sources)))])]

    def _works(self, sources: Sequence[str]) -> Iterator[Work]:
        own, files, size = self.settings.jobs, list[str](), 0
        for file in dict.fromkeys(file for source in sources for file in acquire.files_of(source)):
            files.append(str(file))
            with suppress(OSError):
                size += file.stat().st_size
            if len(files) >= own.files or size >= own.megabytes * MEGABYTE:
                yield Work(files=tuple(files))
                files, size = [], 0
        if files:
            yield Work(files=tuple(files))

    @on_newest
    async def add_shared(
        self, files: Sequence[Path], on_progress: OnProgress | None = None, *, still: Still = always
    ) -> AddReport:
        """Add files beside others who add; whatever is wrong with one of them is reported, and stops nothing.

        Args:
            files: as they are met in a folder.
            on_progress: called after every commit.
            still: whether this is still to be done by us.

        Raises:
            Outrun: it is not; what was committed before stays.
        """

        def stream() -> Iterator[Acquired]:
            base, is_stored = self._home.folder.resolve().parent, self._catalog.has_file
            return acquire.read_files(files, self.settings.acquire, base=base, is_stored=is_stored)

        return await self._with_engines(await self._shared(stream, on_progress, len(files), still))

    @on_newest
    async def sync_shared(
        self, sources: Sequence[str], on_progress: OnProgress | None = None, *, still: Still = always
    ) -> AddReport:
        """`sync` beside others who add: only for what is gone the lock is held all the time.

        Raises:
            SourceError: as for `sync`.
            Outrun: as for `add_shared`.
        """
        files = sum(map(acquire.count, sources))
        first = await self._shared(lambda: self._read_sources(sources), on_progress, files, still)
        return _both(first, await self.sync(sources))

    @on_newest
    async def take_in_shared(
        self,
        files: Sequence[Path],
        on_progress: OnProgress | None = None,
        *,
        groups: Sequence[str] | None = None,
        still: Still = always,
    ) -> AddReport:
        """`take_in` beside others who add.

        Raises:
            Outrun: as for `add_shared`.
        """
        sources = [str(file) for file in files]
        first = await self._shared(lambda: self._read_sent(sources, groups), on_progress, len(files), still)
        return _both(first, await self.take_in(files, groups=groups))

    async def _shared(self, streams: Streams, on_progress: OnProgress | None, files: int, still: Still) -> AddReport:
        self._refuse_other_versions()
        turn = partial(self._turn, still)
        for _ in range(ATTEMPTS):
            try:
                return await self._in_turns(streams(), on_progress, files, turn)
            except Outrun:
                if not await asyncio.to_thread(still):
                    raise
        async with turn():
            return await self._in_turns(streams(), on_progress, files, nullcontext)

    async def _in_turns(
        self, stream: Iterable[Acquired], on_progress: OnProgress | None, files: int, turn: Turn
    ) -> AddReport:
        first, stream = await asyncio.to_thread(languages.ahead, Seen(self._catalog).watch(stream))
        async with turn():
            self._keep_rules()
            if not self._settle() and first:
                await asyncio.to_thread(self._choose_embedder, first)
        settings = self.settings.chunk
        report = await ingest(stream, self._catalog, self._embedder, settings, on_progress, files, turn=turn)
        async with nullcontext() if turn is nullcontext else self._turn(always):
            await self._follow_whole()
        if self.settings.index.embedder != languages.ENGLISH or not report.added + report.updated:
            return report
        language = await asyncio.to_thread(languages.foreign, first)
        return replace(report, notices=languages.advice(language, self._home.folder))

    @asynccontextmanager
    async def _turn(self, still: Still) -> AsyncIterator[None]:
        with await self._waited_for(self._patience.endless()):
            if not await asyncio.to_thread(still):
                raise Outrun("the job was taken over by another worker")
            yield


def _absolute(source: str) -> str:
    path = Path(source)
    return str(path.resolve() if path.is_dir() else path.parent.resolve() / path.name)


def _both(first: AddReport, second: AddReport) -> AddReport:
    """What was done in turns and, right behind it, under the lock, which met the same documents again."""
    both = first.plus(second)
    unchanged = max(0, second.unchanged - first.added - first.updated)
    return replace(both, unchanged=unchanged, skipped=second.skipped)
