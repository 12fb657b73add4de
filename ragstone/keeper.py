"""How a knowledge base is kept: documents in and out, sources followed.

One process at a time does any of this; it holds the lock of the knowledge base.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path

from ragstone import acquire, index, languages
from ragstone.access import OWNER, READERS, Reader, groups_in
from ragstone.built import BuiltWith, OtherVersion, Status, megabytes, refuse_chunker, refuse_embedder
from ragstone.contracts import Acquired, Document
from ragstone.errors import EngineError, KnowledgeBaseError, Locked, UsageError
from ragstone.index.versions import settle
from ragstone.ingest import OnProgress, Seen, ingest, plan
from ragstone.moving import Moving, on_newest
from ragstone.parts import BuildEmbedder, Parts
from ragstone.reports import AddReport, Plan
from ragstone.sections import AcquireSettings, Settings

OnCrawl = Callable[[int, int, AddReport], None]
"""Told how many addresses were visited, how many wait, and what has been stored so far."""


class Keeper(Moving):
    """The part of an engine that changes what is stored."""

    def __init__(
        self,
        home: index.Home,
        version: Path,
        catalog: index.Catalog,
        settings: Settings,
        patience: index.Patience | None = None,
        *,
        held: index.Held | None = None,
        build_embedder: BuildEmbedder = index.build_embedder,
        lender: Parts | None = None,
    ) -> None:
        super().__init__(home, version, catalog, settings, held=held, build_embedder=build_embedder, lender=lender)
        self._patience = patience or index.Patience()

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
            report = await self._ingest(Seen(self._catalog).watch(stream), on_progress, files)
        return self._with_engines(report)

    @on_newest
    async def sync(self, sources: Sequence[str], on_progress: OnProgress | None = None) -> AddReport:
        """Make what is stored of these sources match them: `add` what is new or changed, remove what is gone.

        What could not be read this time is kept as it was stored. A source that is not there at all is an
        error, not a reason to remove everything: a disk may not be mounted.

        Raises:
            SourceError: as for `add`; nothing was changed.
            Locked: another process is indexing.
        """
        return await self._synced(sources, self._read_sources(sources), on_progress)

    @on_newest
    async def take_in(
        self,
        files: Sequence[Path],
        on_progress: OnProgress | None = None,
        *,
        groups: Sequence[str] | None = None,
    ) -> AddReport:
        """Store what is in files that lie within the knowledge base's own folder; `sync` for what was uploaded.

        Args:
            files: their documents are known by their paths within the folder.
            on_progress: called after every commit.
            groups: that may read them, whatever the files or rules say; not given: as those say.

        Raises:
            SourceError, Locked: as for `sync`.
        """
        named = None if groups is None else groups_in(groups)

        def stream() -> Iterator[Acquired]:
            for one in self._read_sources(sources, base=self._home.folder.resolve()):
                if isinstance(one, Document) and named is not None:
                    one = replace(one, metadata={**one.metadata, READERS: named})
                yield one

        sources = [str(file) for file in files]
        return await self._synced(sources, stream(), on_progress)

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
        return self._with_engines(report)

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
        with acquire.Pages(self.settings.acquire) as pages:
            state = self._home.folder / "crawl" / f"{site.name}.db"
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
        return self._with_engines(replace(report, seconds=time.perf_counter() - started))

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
            settle(self._catalog, now.to_json())
            del self._built

    def _choose_embedder(self, documents: Sequence[Document]) -> None:
        """Settle which embedder was meant, now that the first documents are there; only under the lock."""
        settings = languages.settled(self.settings, documents)
        built = BuiltWith.of(settings, self._embedder_of(settings))
        settle(self._catalog, built.to_json())
        self._settle()

    def _refuse_other_versions(self) -> None:
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
        beside = {"next": self._home.next(), "previous": self._home.previous()}
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
            others=tuple(
                OtherVersion(name=version.name, role=role, megabytes=megabytes(version))
                for role, version in beside.items()
                if version is not None
            ),
            skipped=tuple(self._catalog.skipped()),
            cache=self._cache.status(),
            costs=costs,
            engines=tuple(leg.status() for leg in self._outside()),
        )

    def _with_engines(self, report: AddReport) -> AddReport:
        """The report, and whether an engine outside has not taken in what is stored now."""
        told = [one.problem or f"{one.engine} is {one.behind:,} changes behind" for one in self._engines()]
        again = "; the documents are stored, and it catches up when it is back"
        return replace(report, notices=(*report.notices, *(f"{one}{again}" for one in told)))

    def _engines(self) -> list[index.EngineStatus]:
        """Of the engines outside those that are away, or behind."""
        return [one for leg in self._outside() if (one := leg.status()).behind or one.problem]

    @asynccontextmanager
    async def _indexing(self) -> AsyncIterator[None]:
        """Hold the lock; what was committed inside is searchable afterwards, even if the rest failed."""
        with await self._waited_for():
            try:
                yield
            except BaseException:
                with suppress(KnowledgeBaseError):  # the first error says more
                    self._follow()
                raise
            await self._follow_whole()

    async def _follow_whole(self) -> None:
        """`_follow` in a thread, to its end: what its caller holds is held until the thread has finished."""
        following = asyncio.ensure_future(asyncio.to_thread(self._follow))
        try:
            await asyncio.shield(following)
        except asyncio.CancelledError:
            await following
            raise

    async def _waited_for(self, patience: index.Patience | None = None) -> ExitStack:
        """The lock, held; waited for without keeping the event loop from others."""
        pause, held = (patience or self._patience).pauses(), ExitStack()
        while True:
            try:
                held.enter_context(self._locked(index.ONCE))
                return held
            except Locked as refusal:
                await asyncio.sleep(pause(refusal))

    @contextmanager
    def _locked(self, patience: index.Patience | None = None) -> Iterator[None]:
        with index.indexing(self._home.folder, patience or self._patience):
            self._refuse_superseded()
            self._home.settle()
            yield

    def _refuse_superseded(self) -> None:
        if self.superseded:  # what is written to the old version would be lost with it
            raise KnowledgeBaseError(f"{self._home.folder} was rebuilt this very moment; try again")

    def _follow(self) -> None:
        """Bring the indexes up to the catalog; only under the lock."""
        self._terms.follow()
        for leg in (self._keywords, self._vectors):
            if leg is not self._terms:
                with suppress(EngineError):  # it is told by `_with_engines`, and catches up when it is back
                    leg.follow(write=True)

    async def _followed_catalog(self) -> tuple[str, ...]:
        """Bring the keyword index up to date, where an indexer was cut short; the vector index does so by itself.

        Returns:
            Why that could not be done, if so.
        """
        if "_terms" in self.__dict__ and self._terms.stamp == self._catalog.stamp():
            return ()  # two looks, quicker than a thread is asked
        return await asyncio.to_thread(self._follow_catalog)

    def _follow_catalog(self) -> tuple[str, ...]:
        if self._terms.stamp == self._catalog.stamp():
            return ()
        try:
            with index.indexing(self._home.folder, index.ONCE, asking=True):
                self._terms.follow()
        except Locked:
            return ("indexing is under way; keyword search does not know the newest documents yet",)
        except KnowledgeBaseError as error:
            return (f"keyword search is not up to date: {error}",)
        return ()
