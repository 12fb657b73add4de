"""How a knowledge base is kept: documents in and out, sources followed, everything rebuilt.

One process at a time does any of this; it holds the lock of the knowledge base.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path

from ragstone import acquire, index
from ragstone.built import BuiltWith, Status, create_version, refuse_chunker, refuse_embedder
from ragstone.config import load
from ragstone.contracts import Acquired, AddReport, Document, Plan
from ragstone.errors import KnowledgeBaseError, Locked, UsageError
from ragstone.ingest import OnProgress, Seen, ingest, plan
from ragstone.parts import Parts
from ragstone.sections import AcquireSettings, Settings

OnCrawl = Callable[[int, int, AddReport], None]
"""Told how many addresses were visited, how many wait, and what has been stored so far."""


class Keeper(Parts):
    """The part of an engine that changes what is stored."""

    def __init__(self, home: index.Home, version: Path, catalog: index.Catalog, settings: Settings) -> None:
        super().__init__(version, catalog, settings)
        self._home = home

    @staticmethod
    def refuse_unreadable(sources: Sequence[str | Document]) -> None:
        """Look at sources before a knowledge base is made for them.

        Raises:
            UsageError: a path is empty, as of a variable that is not set; it would stand for the current folder.
            SourceError: a path leads nowhere, or to nothing that can be read.
        """
        for source in sources:
            if source == "":
                raise UsageError("a source is empty; name a file or a folder, such as . for the current one")
            if isinstance(source, str):
                acquire.read(source, AcquireSettings(), base=Path())

    def close(self) -> None:
        """Let go of the files."""
        self._catalog.close()

    @property
    def superseded(self) -> bool:
        """Whether a rebuild has put another version in the place of this one: open the knowledge base again."""
        return self._home.current() != self._version

    async def add(self, sources: Sequence[str | Document], on_progress: OnProgress | None = None) -> AddReport:
        """Read sources and store their documents; what is stored and unchanged is left alone.

        Args:
            sources: paths of files or folders, or documents.
            on_progress: called after every commit, with what is durable now.

        Raises:
            SourceError: a path leads nowhere, or to nothing that can be read; nothing of it was stored.
            Locked: another process is indexing.
            SettingsMismatch: this Ragstone would cut or embed otherwise than the stored chunks were.
        """
        stream = self._read_sources(sources)
        files = sum(acquire.count(source) for source in sources if isinstance(source, str))
        async with self._indexing():
            return await self._ingest(Seen(self._catalog).watch(stream), on_progress, files)

    async def sync(self, sources: Sequence[str], on_progress: OnProgress | None = None) -> AddReport:
        """Make what is stored of these sources match them: `add` what is new or changed, remove what is gone.

        What could not be read this time is kept as it was stored. A source that is not there at all is an
        error, not a reason to remove everything: a disk may not be mounted.

        Raises:
            SourceError: as for `add`; nothing was changed.
            Locked: another process is indexing.
        """
        started = time.perf_counter()
        seen, stream = Seen(self._catalog), self._read_sources(sources)
        roots = [acquire.root(source) for source in sources]
        async with self._indexing():
            files = sum(map(acquire.count, sources))
            report = await self._ingest(seen.watch(stream), on_progress, files)
            vanished = seen.vanished(roots)
            if vanished:
                self._catalog.remove(vanished, seen.outdated)
            noted = {one.source for root in roots for one in self._catalog.skipped(root)}
            self._forget_skipped([one for one in noted if not seen.is_kept(one)], report)
        return replace(report, removed=len(vanished), seconds=time.perf_counter() - started)

    async def plan(self, sources: Sequence[str]) -> Plan:
        """What `sync` would do now. Everything new is read, nothing is embedded or changed."""
        seen = Seen(self._catalog)
        planned = await plan(seen.watch(self._read_sources(sources)), self._catalog)
        return replace(planned, removed=tuple(seen.vanished(acquire.root(source) for source in sources)))

    async def crawl(self, what: str, on_progress: OnCrawl | None = None, *, force: bool = False) -> AddReport:
        """Follow a web site: add new pages, update changed ones, remove those that are gone.

        Args:
            what: name of a site in ``acquire.sites``, or the address to start at.
            on_progress: called after every batch of pages, when it is stored.
            force: fetch pages that have not changed, too.

        Raises:
            UsageError: there is no such site, or it is no web address.
            SourceError: the site cannot be had; what was stored before stays.
            Locked: another process is indexing.
        """
        from ragstone.acquire.crawl import crawl, find_site

        site = find_site(what, self.settings.acquire)
        self._refuse_other_versions()
        report, started = AddReport(), time.perf_counter()
        with acquire.Pages(self.settings.acquire) as pages:
            state = self._home.folder / "crawl" / f"{site.name}.db"
            state.parent.mkdir(exist_ok=True)
            found = crawl(site, state, pages.read, force=force, holds=self._catalog.holds)
            async with self._indexing(), aclosing(found) as batches:
                async for batch in batches:
                    part = await self._ingest([*batch.documents, *batch.skipped])
                    gone = self._catalog.known(batch.gone)
                    if gone:
                        self._catalog.remove(gone)
                    self._forget_skipped(batch.told, part)
                    report = report.plus(replace(part, removed=len(gone), unchanged=part.unchanged + batch.unchanged))
                    if on_progress:
                        on_progress(batch.visited, batch.waiting, report)
        return replace(report, seconds=time.perf_counter() - started)

    def _forget_skipped(self, sources: Iterable[str], report: AddReport) -> None:
        """Of sources that are well now, or gone, nobody need be told, unless this report tells of them."""
        noted = {one.source for one in self._catalog.skipped()} - {one.source for one in report.skipped}
        self._catalog.forget_skipped([source for source in sources if source in noted])

    async def _ingest(
        self, stream: Iterable[Acquired], on_progress: OnProgress | None = None, files: int = 0
    ) -> AddReport:
        return await ingest(stream, self._catalog, self._embedder, self.settings.chunk, on_progress, files)

    def _refuse_other_versions(self) -> None:
        refuse_embedder(self._embedder, self._built, self._home.folder)
        refuse_chunker(self.settings.chunk, self._built, self._home.folder)

    def _read_sources(self, sources: Sequence[str | Document]) -> Iterator[Acquired]:
        """Read sources from here on; those that are not there are an error at once."""
        self._refuse_other_versions()
        base = self._home.folder.resolve().parent
        return chain.from_iterable(
            [
                [source]
                if isinstance(source, Document)
                else acquire.read(source, self.settings.acquire, base=base, is_stored=self._catalog.has_file)
                for source in sources
            ]
        )

    def remove(self, ids: Sequence[str]) -> list[str]:
        """Take documents out, all or none; gives their full ids.

        Raises:
            NotFound: one of them is not there.
            Locked: another process is indexing.
        """
        full = list(dict.fromkeys(self._catalog.document(id).id for id in ids))
        with self._locked():
            self._catalog.remove(full)
            self._follow()
        return full

    async def rebuild(
        self, overrides: Sequence[str] = (), *, preset: str | None = None, on_progress: OnProgress | None = None
    ) -> AddReport:
        """Cut and embed every stored document anew, with other settings, beside what is there; then switch.

        Until the switch, questions are answered from the old version; an interrupted rebuild changes nothing.
        Afterwards this engine is closed: open the knowledge base again.
        """
        remembered = None if preset else BuiltWith.of(self.settings, self._embedder).tree()
        settings = load(overrides, preset=preset, remembered=remembered).settings
        with self._locked():
            version = create_version(self._home, settings)
            other = Keeper(self._home, version, index.Catalog(version / "catalog.db"), settings)
            try:
                report = await ingest(
                    self._catalog.documents(), other._catalog, other._embedder, settings.chunk, on_progress
                )
                other._catalog.note_skipped(self._catalog.skipped())
                other._follow()
            finally:
                other.close()
            self._home.switch(version)
            self.close()
        return report

    def document(self, id: str) -> Document:
        """A stored document, by its id, or by its name or the end of its path where that is unambiguous."""
        return self._catalog.document(id)

    def status(self) -> Status:
        """Counts, sizes and what was skipped."""
        counts = self._catalog.counts()
        size = 0
        for file in self._version.rglob("*"):
            with suppress(FileNotFoundError):  # an indexer may be at work
                size += file.stat().st_size
        return Status(
            folder=str(self._home.folder),
            built_with=self._built,
            documents=counts.documents,
            chunks=counts.chunks,
            generation=counts.generation,
            behind=counts.generation - self._terms.stamp.generation,
            megabytes=round(size / 1e6, 2),
            skipped=tuple(self._catalog.skipped()),
        )

    @asynccontextmanager
    async def _indexing(self) -> AsyncIterator[None]:
        """Hold the lock; what was committed inside is searchable afterwards, even if the rest failed."""
        with self._locked():
            try:
                yield
            except BaseException:
                with suppress(KnowledgeBaseError):  # the first error says more
                    self._follow()
                raise
            following = asyncio.ensure_future(asyncio.to_thread(self._follow))
            try:
                await asyncio.shield(following)
            except asyncio.CancelledError:  # the lock is held until the thread has finished
                await following
                raise

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with index.indexing(self._home.folder):
            if self.superseded:  # what is written to the old version would be lost with it
                raise KnowledgeBaseError(f"{self._home.folder} was rebuilt since it was opened; open it again")
            yield

    def _follow(self) -> None:
        """Bring the indexes up to the catalog; only under the lock."""
        self._terms.follow()
        self._vectors.follow(write=True)

    def _follow_catalog(self) -> tuple[str, ...]:
        """Bring the keyword index up to date, where an indexer was cut short; the vector index does so by itself.

        Returns:
            Why that could not be done, if so.
        """
        if self._terms.stamp == self._catalog.stamp():
            return ()
        try:
            with index.indexing(self._home.folder):
                self._terms.follow()
        except Locked:
            return ("indexing is under way; keyword search does not know the newest documents yet",)
        except KnowledgeBaseError as error:
            return (f"keyword search is not up to date: {error}",)
        return ()
