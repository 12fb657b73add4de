"""Progress of an ingest: reported after every commit and at least once a second, and stored for `status`."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TypeVar

from ragstone.core.frozen import frozen
from ragstone.core.records import Document
from ragstone.core.reports import Progress
from ragstone.storage.disk import drop
from ragstone.storage.files import note_json, read_json

BEAT_SECONDS = 1.0
"""Longest silence of an ingest that reports its progress."""
NOTE_SECONDS = 2.0
"""Seconds between two writes of the progress to disk; a shorter ingest writes none."""
STALE_SECONDS = 30.0
"""Age in seconds at which a note counts as left over by a dead process."""
FOLDER = "progress"

OnProgress = Callable[[Progress], None]
"""Receives the progress, on the thread of the event loop. An exception in it ends the ingest."""
_T = TypeVar("_T")


@frozen
class Running:
    """An ingest of this or another process, and its progress."""

    process: int
    doing: str
    progress: Progress


class Reporter:
    """Counts what an ingest has stored and reports it."""

    def __init__(
        self,
        on_progress: OnProgress | None = None,
        *,
        total: int = 0,
        growing: bool = False,
        folder: Path | None = None,
        doing: str = "add",
        is_private: bool = False,
    ) -> None:
        """Start counting.

        Args:
            on_progress: receives the progress.
            total: the number of files; 0 if unknown.
            growing: whether the number may grow.
            folder: of the knowledge base, to note the progress in for other processes.
            doing: the command, such as ``sync``.
            is_private: whether only the caller is told what is read, and nobody who asks for the status.
        """
        self._on_progress, self._doing, self.is_private = on_progress, doing, is_private
        self._note = folder / FOLDER / f"{os.getpid()}-{id(self)}.json" if folder else None
        self._started = time.monotonic()
        self._noted = self._started
        self._now = Progress(total=total, growing=growing)
        self._current = ""

    def reading(self, source: str) -> None:
        """Note the file or address that is opened now; any thread may call this."""
        self._current = source

    def found(self, *, files: int, total: int) -> None:
        """Set the numbers of finished and known files, for a source that grows while it is read."""
        self._now = replace(self._now, files=files, total=total)

    def commit(self, documents: Sequence[Document], *, chunks: int, embedded: int, files: int = 0) -> None:
        """Count a commit and report the progress."""
        now = self._now
        self._now = replace(
            now,
            committed=tuple(one.id for one in documents),
            documents=now.documents + len(documents),
            chunks=now.chunks + chunks,
            embedded=now.embedded + embedded,
            pages=now.pages + sum(mark.kind == "page" for one in documents for mark in one.marks),
            files=now.files + files,
        )
        if documents:
            self.beat()

    def waits(self, holder: str) -> None:
        """Report that the ingest waits for the process that is indexing."""
        self._now, self._noted = replace(self._now, waiting=holder), -math.inf
        self.beat()

    def beat(self) -> None:
        """Report the progress."""
        now = replace(self._now, current=self._current, seconds=time.monotonic() - self._started)
        self._now = replace(self._now, committed=())
        if self._note is not None and time.monotonic() - self._noted > NOTE_SECONDS:
            self._noted = time.monotonic()
            # Another process only displays it; a full disk must not stop the ingest before a commit fails.
            with suppress(OSError):
                told = replace(now, committed=(), current="" if self.is_private else now.current)
                note_json(self._note, {"doing": self._doing, "progress": asdict(told)})
        if self._on_progress is not None:
            self._on_progress(now)

    def close(self) -> None:
        """Remove the note for other processes."""
        if self._note is not None:
            drop(self._note)


async def with_beats(stream: AsyncGenerator[_T], reporter: Reporter) -> AsyncGenerator[_T]:
    """Yield the items of a stream, and let the reporter report while the next item takes long."""

    async def next_item() -> tuple[_T] | None:
        async for item in stream:
            return (item,)
        return None

    while True:
        coming = asyncio.ensure_future(next_item())
        try:
            while not coming.done():
                await asyncio.wait([coming], timeout=BEAT_SECONDS)
                if not coming.done():
                    reporter.beat()
            item = await coming
        finally:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)
        if item is None:
            return
        yield item[0]


def running(folder: Path) -> tuple[Running, ...]:
    """Return the running ingests of a knowledge base, in any process that writes to this folder."""
    processes: list[Running] = []
    with suppress(OSError):
        for path in sorted((folder / FOLDER).glob("*.json")):
            with suppress(OSError, ValueError, TypeError, KeyError):
                if time.time() - path.stat().st_mtime > STALE_SECONDS:
                    drop(path)
                    continue
                noted = read_json(path)
                progress = replace(Progress(**noted["progress"]), committed=())
                processes.append(
                    Running(process=int(path.name.partition("-")[0]), doing=noted["doing"], progress=progress)
                )
    return tuple(processes)
