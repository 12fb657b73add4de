"""How a knowledge base is kept: documents in and out, sources followed.

One process at a time does any of this; it holds the lock of the knowledge base.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone import acquire, index
from ragstone.access import OWNER, READERS, Reader, groups_in
from ragstone.contracts import Acquired, Document, Skipped
from ragstone.errors import KnowledgeBaseError, SourceError, UsageError
from ragstone.keeping import languages
from ragstone.keeping.built import BuiltWith, Status, megabytes, other_versions, refuse_chunker, refuse_embedder
from ragstone.keeping.indexing import Indexing
from ragstone.keeping.ingest import OnProgress, Seen, ingest, plan
from ragstone.keeping.moving import on_newest
from ragstone.reports import AddReport, Plan
from ragstone.sections import AcquireSettings

if TYPE_CHECKING:
    from ragstone.acquire.crawl.records import Batch

OnCrawl = Callable[[int, int, AddReport], None]
"""Told how many addresses were visited, how many wait, and what has been stored so far."""


class Keeper(Indexing):
    """The part of an engine that changes what is stored."""

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

    @on_newest
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
            if self._heed_rules():
                stream = self._read_sources(sources)
            report = await self._ingest(Seen(self._catalog).watch(stream), on_progress, files)
        return await self._with_engines(report)

    @on_newest
    async def sync(self, sources: Sequence[str], on_progress: OnProgress | None = None) -> AddReport:
        """Make what is stored of these sources match them: `add` what is new or changed, remove what is gone.

        What could not be read this time is kept as it was stored. A source that is not there at all is an
        error, not a reason to remove everything: a disk may not be mounted.

        Raises:
            SourceError: as for `add`; nothing was changed.
            Locked: another process is indexing.
        """
        stream = self._read_sources(sources)  # what is not there is told before anyone waits

        def again() -> Iterator[Acquired]:
            yield from self._read_sources(sources) if self._heed_rules() else stream

        return await self._synced(sources, again(), on_progress)

    @on_newest
    async def take_in(
        self,
        files: Sequence[Path],
        on_progress: OnProgress | None = None,
        *,
        groups: Sequence[str] | None = None,
    ) -> AddReport:
        """Store what is in files that lie within the knowledge base's own folder; `sync` for what was uploaded.

        A file that cannot be read keeps none of the others from being stored; the report tells of it.

        Args:
            files: their documents are known by their paths within the folder.
            on_progress: called after every commit.
            groups: that may read them, whatever the files or rules say; not given: as those say.

        Raises:
            Locked: another process is indexing.
        """
        sources = [str(file) for file in files]
        return await self._synced(sources, self._read_sent(sources, groups), on_progress)

    def _read_sent(self, sources: Sequence[str], groups: Sequence[str] | None) -> Iterator[Acquired]:
        """Read files within the knowledge base's own folder; one that is not there stops none of the others."""
        named = None if groups is None else groups_in(groups)
        for source in sources:
            try:
                for one in self._read_sources([source], base=self._home.folder.resolve()):
                    if isinstance(one, Document) and named is not None:
                        one = replace(one, metadata={**one.metadata, READERS: named})
                    yield one
            except SourceError as error:
                yield Skipped(source=source, reason=str(error))

    async def _synced(
        self, sources: Sequence[str], stream: Iterable[Acquired], on_progress: OnProgress | None
    ) -> AddReport:
        started = time.perf_counter()
        seen = Seen(self._catalog)
        roots = [acquire.root(source) for source in sources]
        async with self._indexing():
            files = sum(map(acquire.count, sources))
            report = await self._ingest(seen.watch(stream), on_progress, files)
            vanished = seen.vanished(roots)
            if vanished:
                self._catalog.remove(vanished, seen.outdated)
            noted = {one.source for root in roots for one in self._catalog.skipped(root)}
            self._forget_skipped([one for one in noted if not seen.is_kept(one)], report)
        report = replace(report, removed=len(vanished), seconds=time.perf_counter() - started)
        return await self._with_engines(report)

    @on_newest
    async def plan(self, sources: Sequence[str]) -> Plan:
        """What `sync` would do now. Everything new is read, nothing is embedded or changed."""
        seen = Seen(self._catalog)
        planned = await plan(seen.watch(self._read_sources(sources)), self._catalog)
        return replace(planned, removed=tuple(seen.vanished(acquire.root(source) for source in sources)))

    @on_newest
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
        state = self._home.folder / "crawl" / f"{site.name}.db"
        async with self._indexing():
            self._heed_rules()
            with acquire.Pages(self.settings.acquire) as pages:
                found = crawl(site, state, pages.read, force=force, holds=self._catalog.holds)
                async with aclosing(found) as batches:
                    async for batch in batches:
                        report = report.plus(await self._took_pages(batch))
                        if on_progress:
                            on_progress(batch.visited, batch.waiting, report)
        return await self._with_engines(replace(report, seconds=time.perf_counter() - started))

    async def _took_pages(self, batch: Batch) -> AddReport:
        part = await self._ingest([*batch.documents, *batch.skipped])
        gone = self._catalog.known(batch.gone)
        if gone:
            self._catalog.remove(gone)
        self._forget_skipped(batch.told, part)
        return replace(part, removed=len(gone), unchanged=part.unchanged + batch.unchanged)

    def _forget_skipped(self, sources: Iterable[str], report: AddReport) -> None:
        """Of sources that are well now, or gone, nobody need be told, unless this report tells of them."""
        noted = {one.source for one in self._catalog.skipped()} - {one.source for one in report.skipped}
        self._catalog.forget_skipped([source for source in sources if source in noted])

    async def _ingest(
        self, stream: Iterable[Acquired], on_progress: OnProgress | None = None, files: int = 0
    ) -> AddReport:
        self._keep_rules()
        first, stream = await asyncio.to_thread(languages.ahead, stream)
        if not self._settle() and first:
            await asyncio.to_thread(self._choose_embedder, first)
        report = await ingest(stream, self._catalog, self._embedder, self.settings.chunk, on_progress, files)
        embedder = self.settings.index.embedder
        if embedder != languages.ENGLISH or not report.added + report.updated:
            return report
        language = await asyncio.to_thread(languages.foreign, first)
        return replace(report, notices=languages.advice(language, self._home.folder))

    def _keep_rules(self) -> None:
        """Note by which rules documents are given to groups: the next who reads them may not know; under the lock."""
        now = self._built.following(self.settings)
        if now.access != self._built.access:
            self._catalog.settle(now.to_json())
            del self._built

    def _heed_rules(self) -> bool:
        """Follow rules that another process has used since: what it closed stays closed; whether there are others."""
        stored = BuiltWith(**self._catalog.built_with())
        if stored.access == self._built.access:
            return False
        del self._built
        self.settings = stored.with_rules(self.settings, always=True)
        return True

    def _choose_embedder(self, documents: Sequence[Document]) -> None:
        """Settle which embedder was meant, now that the first documents are there; only under the lock."""
        settings = languages.settled(self.settings, documents)
        built = BuiltWith.of(settings, self._embedder_of(settings))
        self._catalog.settle(built.to_json())
        self._settle()

    def _refuse_other_versions(self) -> None:
        self._heed_rules()
        if self._settle():
            refuse_embedder(self._embedder, self._built, self._home.folder)
        refuse_chunker(self.settings.chunk, self._built, self._home.folder)

    def _read_sources(self, sources: Sequence[str | Document], base: Path | None = None) -> Iterator[Acquired]:
        """Read sources from here on; those that are not there are an error at once.

        Their documents are known by their paths from ``base``; that of the knowledge base if not given.
        """
        self._refuse_other_versions()
        base = base or self._home.folder.resolve().parent
        rules = self.settings.acquire.access
        return chain.from_iterable(
            [
                [acquire.with_groups(source, rules)]
                if isinstance(source, Document)
                else acquire.read(source, self.settings.acquire, base=base, is_stored=self._catalog.has_file)
                for source in sources
            ]
        )

    @on_newest
    def remove(self, ids: Sequence[str], *, reader: Reader = OWNER) -> list[str]:
        """Take documents out, all or none; gives their full ids.

        Args:
            ids: as for `document`.
            reader: who asks; what this reader may not read is not there.

        Raises:
            NotFound: one of them is not there.
            Locked: another process is indexing.
        """
        full = list(dict.fromkeys(self.document(id, reader=reader).id for id in ids))
        with self._locked():
            self._catalog.remove(full)
            self._follow()
        return full

    @on_newest
    def forget_skipped(self, source: str) -> None:
        """Tell no more of a file that could not be read.

        Raises:
            Locked: another process is indexing.
        """
        with self._locked():
            self._catalog.forget_skipped([one.source for one in self._catalog.skipped(source)])

    @on_newest
    def document(self, id: str, *, reader: Reader = OWNER) -> Document:
        """A stored document, by its id, or by its name or the end of its path where that is unambiguous.

        Raises:
            NotFound: there is none that this reader may read, or more than one.
        """
        return self._catalog.document(id, None if reader.groups is None else reader.names)

    @on_newest
    def holds_source(self, source: str) -> bool:
        """Whether a document of this file or folder is stored."""
        return bool(self._catalog.under(source))

    @on_newest
    def listing(self, *, reader: Reader = OWNER, q: str = "", after: str = "", limit: int = 100) -> index.Listing:
        """A page of the stored documents, in the order of their ids.

        Args:
            reader: who asks; what this reader may not read is neither listed nor counted.
            q: characters that the id, title, address or source has; empty: any.
            after: the id that the page begins behind; see `index.Listing.next`.
            limit: documents on the page.
        """
        return self._catalog.listing(None if reader.groups is None else reader.names, q, after, limit)

    @on_newest
    def readers(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Of those of these documents that name the groups which may read them, which; for the owner's use."""
        return self._catalog.readers(ids)

    def documents(self) -> Iterator[Document]:
        """Every stored document, in the order of adding."""
        return self._catalog.documents()

    @on_newest
    def status(self) -> Status:
        """Counts, sizes and what was skipped."""
        counts = self._catalog.counts()
        costs = None
        with suppress(KnowledgeBaseError):  # the doctor tells what is wrong with the journal
            costs = self._spending.costs()
        return Status(
            folder=str(self._home.folder),
            built_with=self._built,
            documents=counts.documents,
            chunks=counts.chunks,
            generation=counts.generation,
            behind=counts.generation - self._terms.stamp.generation,
            megabytes=megabytes(self._version),
            others=other_versions(self._home),
            skipped=tuple(self._catalog.skipped()),
            cache=self._cache.status(),
            costs=costs,
            engines=tuple(leg.status() for leg in self._outside()),
            substitutes=tuple(one.told for one in self.substitutes),
            catalog=self._home.place,
            jobs=self._count_jobs(),
        )
