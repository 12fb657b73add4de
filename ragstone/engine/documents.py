"""Documents in and out: the one way in for files, folders, uploads, web sites and queued jobs, and the look at them.

An ingest holds the lock of the knowledge base to its end. With a `Share` it takes the lock for each commit only, so
that several processes ingest at once: reading, cutting and embedding take long, a commit a hundredth of that.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing, closing
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from ragstone import acquire
from ragstone.core.access import READERS, Reader, groups_in
from ragstone.core.catalog import FIELDS, Listing, ListingOrder
from ragstone.core.errors import UsageError
from ragstone.core.layout import Box, boxes
from ragstone.core.records import Acquired, Document, Skipped
from ragstone.core.reports import AddReport, Plan
from ragstone.core.request import Request
from ragstone.engine.components import Components
from ragstone.engine.following import follow, locked, with_engine_notices
from ragstone.engine.ingest import (
    Ingest,
    Intake,
    Share,
    forget_skipped,
    refuse_other_versions,
    rules_in_force,
)
from ragstone.engine.jobs.queue import Job, JobQueue, Work
from ragstone.engine.opening import OpenVersions
from ragstone.engine.pipeline import StreamWatcher, plan
from ragstone.engine.progress import OnProgress, Reporter, with_beats
from ragstone.engine.sources import absolute, base, count, noting, read_all, reading, roots, works
from ragstone.engine.tracking import tracked
from ragstone.settings import AcquireSettings, Settings

if TYPE_CHECKING:
    from ragstone.acquire.crawl.records import Batch


class Documents:
    """The documents of a knowledge base."""

    def __init__(self, versions: OpenVersions) -> None:
        self._versions, self._ingest = versions, Ingest(versions)

    # ------------------------------------------------------------ in

    async def add(
        self, sources: Sequence[str | Document], on_progress: OnProgress | None = None, *, share: Share | None = None
    ) -> AddReport:
        """Read sources and store their documents; what is stored and unchanged is left alone.

        Args:
            sources: paths of files or folders, addresses, names in ``acquire.connections``, or documents.
            on_progress: called after every commit with what is durable now.
            share: ingest while other processes do too.

        Raises:
            SourceError: a path leads nowhere, or to nothing that can be read; nothing of it was stored.
            Locked: another process is indexing.
            SettingsMismatch: this Ragstone would cut or embed differently from the stored chunks.
            Conflict: the work was taken over; what was committed before stays.
        """
        with self._versions.current() as version:
            settings = version.settings.acquire
            files = count(sources, settings)
            # An address with a password in it is refused here, before it is noted anywhere.
            roots([source for source in sources if isinstance(source, str)], settings, version.folder)
        named = tuple(source if isinstance(source, str) else source.id for source in sources)
        return await self._ingest.run(Intake(read=reading(sources), files=files, sources=named), on_progress, share)

    async def add_files(
        self, files: Sequence[Path], on_progress: OnProgress | None = None, *, share: Share | None = None
    ) -> AddReport:
        """Add files as they are met in a folder: one that cannot be read is reported and stops nothing."""

        def read(version: Components, settings: AcquireSettings, stop: Event, reporter: Reporter) -> Iterator[Acquired]:
            is_stored = noting(version, reporter)
            return acquire.read_files(files, settings, base=base(version), is_stored=is_stored, stop=stop)

        sources = tuple(map(str, files))
        return await self._ingest.run(Intake(read=read, files=len(files), sources=sources), on_progress, share)

    async def add_uploads(
        self,
        files: Sequence[Path],
        on_progress: OnProgress | None = None,
        *,
        groups: Sequence[str] | None = None,
        share: Share | None = None,
    ) -> AddReport:
        """Make what is stored match uploaded files, which lie within the folder of the knowledge base.

        A file that cannot be read is reported and keeps none of the others from being stored.

        Args:
            files: their documents are known by their paths within the folder.
            on_progress: called after every commit.
            groups: that may read them, whatever the files or rules say; None leaves it to those.
            share: ingest while other processes do too.
        """
        sources = tuple(str(file) for file in files)
        named = None if groups is None else groups_in(groups)

        def read(version: Components, settings: AcquireSettings, stop: Event, reporter: Reporter) -> Iterator[Acquired]:
            is_stored, folder = noting(version, reporter), version.folder.resolve()
            for one in acquire.read_files(files, settings, base=folder, is_stored=is_stored, stop=stop):
                if isinstance(one, Document) and named is not None:
                    one = replace(one, metadata={**one.metadata, READERS: named})
                yield one

        prune = tuple(map(acquire.root, sources))
        intake = Intake(read=read, files=len(files), sources=sources, prune=prune)
        return await self._ingest.run(intake, on_progress, share)

    async def sync(
        self, sources: Sequence[str], on_progress: OnProgress | None = None, *, share: Share | None = None
    ) -> AddReport:
        """Make what is stored of these sources match them: `add` what is new or changed, remove what is gone.

        What could not be read this time is kept as it was stored. A source that is not there at all is an error, not
        a reason to remove everything: a disk may not be mounted, or a server not be reachable.

        Raises:
            SourceError, Locked, SettingsMismatch, Conflict: as of `add`.
        """
        with self._versions.current() as version:
            files, prune = (
                count(sources, self._settings.acquire),
                roots(sources, self._settings.acquire, version.folder),
            )
        intake = Intake(read=reading(sources), files=files, sources=tuple(sources), prune=prune)
        return await self._ingest.run(intake, on_progress, share)

    async def follow(
        self, source: str, on_progress: OnProgress | None = None, *, share: Share | None = None
    ) -> AddReport:
        """Bring a source up to date, whatever it is: `crawl` a web site, and `sync` everything else."""
        if acquire.is_site(source, self._settings.acquire):
            return await self.crawl(source, on_progress)
        return await self.sync([source], on_progress, share=share)

    async def add_page(self, address: str, on_progress: OnProgress | None = None) -> AddReport:
        """Add a web page, or the entries of a feed, and nothing that it links to. Added again, it is updated.

        Raises:
            SourceError: it is not a web address, or cannot be had; what was stored before stays.
            Locked: another process is indexing.
        """
        report = await self.crawl(address, on_progress, alone=True)
        return replace(report, skipped=tuple(one for one in report.skipped if one.source == address))

    async def crawl(
        self, what: str, on_progress: OnProgress | None = None, *, force: bool = False, alone: bool = False
    ) -> AddReport:
        """Follow a web site: add new pages, update changed ones, remove those that are gone.

        Args:
            what: name of a site in ``acquire.sites``, or the address to start at.
            on_progress: called when pages are stored, and once a second meanwhile.
            force: fetch pages that have not changed, too.
            alone: only the page to start at.

        Raises:
            UsageError: there is no such site, or it is no web address.
            SourceError: the site cannot be had; what was stored before stays.
            Locked: another process is indexing.
        """
        from ragstone.acquire.crawl import crawl, find_site, page_at

        report, started = AddReport(), time.perf_counter()
        with (
            self._versions.current() as before,
            tracked(before.history.tracker(), "crawl", before.settings, (what,)) as done,
        ):
            refuse_other_versions(before)
            site = (page_at if alone else find_site)(what, before.settings.acquire)
            reporter = Reporter(on_progress, growing=True, folder=before.folder, doing="crawl")
            async with self._ingest.alone() as (version, settings):
                state = version.folder / "crawl" / f"{site.name}.db"
                with acquire.Pages(settings.acquire) as pages, closing(reporter):

                    def read(body: bytes, kind: str, url: str) -> Iterator[Document | Skipped]:
                        reporter.reading(url)
                        return pages.read(body, kind, url)

                    found = crawl(site, state, read, force=force, holds=version.catalog.contains)
                    async with aclosing(found), aclosing(with_beats(found, reporter)) as batches:
                        async for batch in batches:
                            reporter.found(files=batch.visited, total=batch.visited + batch.waiting)
                            report = report.plus(await self._store_pages(batch, reporter))
                            reporter.beat()
            report = replace(report, seconds=time.perf_counter() - started)
            return done(await with_engine_notices(version, report))

    async def plan(self, sources: Sequence[str]) -> Plan:
        """Return what `sync` would do now. Everything new is read; nothing is embedded or changed."""
        with self._versions.current() as version:
            refuse_other_versions(version)
            settings = rules_in_force(version)
            watcher, stop = StreamWatcher(version.catalog), Event()
            stream = watcher.watch(read_all(version, sources, settings.acquire, stop, Reporter()))
            planned = await plan(stream, version.catalog, stop)
            removed = watcher.find_removed(roots(sources, settings.acquire, version.folder))
            return replace(planned, removed=tuple(removed))

    # ------------------------------------------------------------ for workers

    @property
    def jobs(self) -> JobQueue:
        """What waits for workers, and what they have done."""
        with self._versions.current() as version:
            return version.history.jobs()

    def queue_add(self, sources: Sequence[str]) -> list[Job]:
        """Queue the files of sources to be added by workers; durable when this returns.

        Raises:
            SourceError: a path leads nowhere, or to nothing that can be read; then nothing is queued.
            UsageError: a source is not on this disk; `queue_sync` takes it.
            KnowledgeBaseError, EngineError: the queue could not be written.
        """
        with self._versions.current() as version:
            if away := [source for source in sources if acquire.is_remote(source, version.settings.acquire)]:
                raise UsageError(f"{away[0]} is not on this disk; queue it with: ragstone sync --queue {away[0]}")
            return version.history.jobs().put("add", list(works(sources, version.settings)))

    def queue_sync(self, sources: Sequence[str]) -> list[Job]:
        """Queue a sync: workers first add the files that are there, then one of them removes what is gone.

        What is not on this disk is synced by one worker.

        Raises:
            SourceError, KnowledgeBaseError, EngineError: as of `queue_add`.
        """
        settings = self._settings.acquire
        adding = self.queue_add([source for source in sources if not acquire.is_remote(source, settings)])
        named = tuple(absolute(source, settings) for source in sources)
        return [*adding, *self.jobs.put("sync", [Work(sources=named)])]

    # ------------------------------------------------------------ out

    def remove(self, ids: Sequence[str], *, reader: Reader) -> list[str]:
        """Remove documents, all or none, and return their full ids.

        Args:
            ids: as for `get`.
            reader: who asks; what this reader may not read is not there.

        Raises:
            NotFound: one of them is not there.
            Locked: another process is indexing.
        """
        with self._versions.current() as version:
            full = list(dict.fromkeys(self.get(id, reader=reader).id for id in ids))
            with locked(version, self._versions.patience):
                version.catalog.remove(full)
                follow(version)
            return full

    def forget_skipped(self, source: str) -> None:
        """Drop the report on a file that could not be read.

        Raises:
            Locked: another process is indexing.
        """
        with self._versions.current() as version, locked(version, self._versions.patience):
            version.catalog.forget_skipped([one.source for one in version.catalog.skipped(source)])

    # ------------------------------------------------------------ look

    def get(self, id: str, *, reader: Reader) -> Document:
        """Return a stored document by its id, or by its name or the end of its path if only one has that.

        Raises:
            NotFound: this reader may read none such, or more than one.
        """
        with self._versions.current() as version:
            return version.catalog.document(id, None if reader.groups is None else reader.names)

    def places(self, id: str, start: int, end: int, *, reader: Reader) -> dict[int, tuple[Box, ...]]:
        """Return where characters of a stored document stand on the pages of its file.

        Args:
            id: as for `get`.
            start: the first character of the document's text.
            end: the character after the last one.
            reader: who asks.

        Returns:
            Boxes by page, which count from 0; empty if the places of the words are not known.

        Raises:
            NotFound: as of `get`.
        """
        with self._versions.current() as version:
            document = self.get(id, reader=reader)
            return boxes(version.catalog.layout(document.id), start, end)

    def list(
        self, *, reader: Reader, q: str = "", after: str = "", limit: int = 100, order: ListingOrder = "id"
    ) -> Listing:
        """Return a page of the stored documents, in the order of their ids.

        Args:
            reader: who asks; what this reader may not read is neither listed nor counted.
            q: characters that the id, title or address has, or, for the owner, the source; empty for any.
            after: the id that the page begins after.
            limit: documents on the page.
            order: by id, or by when documents were added or changed, last or first; then there is no next page.
        """
        with self._versions.current() as version:
            groups, fields = None if reader.groups is None else reader.names, FIELDS
            if not reader.is_owner:  # others are not shown where on this machine a source is
                fields = tuple(name for name in FIELDS if name != "source")
            return version.catalog.listing(groups, q, after, limit, fields=fields, order=order)

    def all(self) -> Iterator[Document]:
        """Yield every stored document, in the order of adding; for the owner's use."""
        with self._versions.current() as version:
            yield from version.catalog.documents()

    def groups(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Map each of these documents that has access groups to its groups; an empty one means nobody."""
        with self._versions.current() as version:
            return version.catalog.access_groups(ids)

    def has_source(self, source: str) -> bool:
        """Return whether a document of this file or folder is stored."""
        with self._versions.current() as version:
            return bool(version.catalog.documents_under(source))

    @property
    def _settings(self) -> Settings:
        with self._versions.current() as version:
            return version.settings

    async def _store_pages(self, batch: Batch, reporter: Reporter) -> AddReport:
        part = await self._ingest.store([*batch.documents, *batch.skipped], Request.by_owner("ingest"), reporter)
        with self._versions.current() as version:
            gone = list(version.catalog.signatures(batch.gone))
            if gone:
                version.catalog.remove(gone)
            forget_skipped(version, batch.urls, part)
        return replace(part, removed=len(gone), unchanged=part.unchanged + batch.unchanged)
