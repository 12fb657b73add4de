"""Add, remove and look up documents: files, folders, uploads, web sites and queued jobs.

What is added passes through `Ingest`, which says how several processes ingest at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event

from ragstone import acquire
from ragstone.core.access import ATTACHED, Reader, groups_in
from ragstone.core.catalog import FIELDS, Listing, ListingOrder
from ragstone.core.errors import NotFound, UsageError
from ragstone.core.filters import Filter
from ragstone.core.layout import Box, boxes
from ragstone.core.naming import is_path
from ragstone.core.reading import Reading, reading_of
from ragstone.core.records import Acquired, Document
from ragstone.core.reports import AddReport, Plan
from ragstone.engine.attached import FOLDER, Attached, admitted, attached_to, clear_files, delete_files, note_removed
from ragstone.engine.components import Components
from ragstone.engine.crawling import crawl_site
from ragstone.engine.erasure import Erasure, forget, forget_answers, forget_attached
from ragstone.engine.filters import read_filter
from ragstone.engine.following import follow, locked
from ragstone.engine.ingest import (
    Ingest,
    Intake,
    Share,
    describing,
    refuse_other_versions,
    rules_in_force,
)
from ragstone.engine.jobs.queue import Job, JobQueue, Work
from ragstone.engine.opening import OpenVersions
from ragstone.engine.pipeline import StreamWatcher, plan
from ragstone.engine.progress import OnProgress, Reporter
from ragstone.engine.roots import base, names
from ragstone.engine.sources import absolute, count, folders, noting, read_all, reading, roots, works
from ragstone.settings import AcquireSettings, Settings


class Documents:
    """The documents of a knowledge base."""

    def __init__(self, versions: OpenVersions) -> None:
        self._versions, self._ingest = versions, Ingest(versions)

    # ------------------------------------------------------------ in

    async def add(self, sources: Sequence[str | Document], on_progress: OnProgress | None = None) -> AddReport:
        """Read sources and store their documents; skip unchanged ones.

        Args:
            sources: paths of files or folders, addresses, names in ``acquire.connections``, or documents.
            on_progress: called after every commit with what is durable now.

        Raises:
            SourceError: a path does not exist, or has nothing to read; nothing of it was stored.
            Locked: another process is indexing.
            SettingsMismatch: this Ragstone would chunk or embed differently from the stored chunks.
        """
        with self._versions.current() as version:
            settings = version.settings.acquire
            files = count(sources, settings)
            # An address with a password in it is refused here, before it is stored anywhere.
            roots([source for source in sources if isinstance(source, str)], settings, version.folder)
        named = tuple(source if isinstance(source, str) else source.id for source in sources)
        intake = Intake(read=reading(sources), files=files, sources=named, folders=folders(sources, settings))
        return await self._ingest.run(intake, on_progress)

    async def add_files(
        self,
        files: Sequence[Path],
        on_progress: OnProgress | None = None,
        *,
        roots: Sequence[Path] = (),
        share: Share | None = None,
    ) -> AddReport:
        """Add the files of some folders, the ``roots``; report a file that cannot be read, and continue."""
        within = (*roots, *sorted({file.parent.resolve() for file in files}))

        def read(version: Components, settings: AcquireSettings, stop: Event, reporter: Reporter) -> Iterator[Acquired]:
            is_stored = noting(version, reporter)
            named = names(version, within)
            return acquire.read_files(
                files, settings, base=base(version), names=named, roots=roots, is_stored=is_stored, stop=stop
            )

        intake = Intake(read=read, files=len(files), sources=tuple(map(str, files)), folders=within)
        return await self._ingest.run(intake, on_progress, share)

    async def add_uploads(
        self,
        files: Sequence[Path],
        on_progress: OnProgress | None = None,
        *,
        groups: Sequence[str] | None = None,
        writer: Sequence[str] | None = None,
        conversation: str = "",
        share: Share | None = None,
    ) -> AddReport:
        """Make the stored documents match uploaded files, which are in the folder of the knowledge base.

        Report a file that cannot be read, and store the others.

        Args:
            files: the files; their paths within the folder identify the documents.
            on_progress: called after every commit.
            groups: groups that may read them at most, because files and rules can narrow them; None sets no limit.
            writer: the groups of the person who uploads. A file that names others is skipped. None is an administrator.
            conversation: the group of the conversation that the files are attached to; only its person may read them.
            share: ingest while other processes do too.
        """
        sources = tuple(str(file) for file in files)
        given = acquire.Given(
            limits=() if groups is None else (groups_in(groups),),
            writer=None if writer is None else tuple(writer),
            conversation=conversation,
        )

        def read(version: Components, settings: AcquireSettings, stop: Event, reporter: Reporter) -> Iterator[Acquired]:
            is_stored, folder = noting(version, reporter), version.folder.resolve()
            # An uploaded folder is a source: its own name says nothing about its files.
            inside = [file.resolve() for file in files if file.resolve().is_relative_to(folder)]
            within = [file.relative_to(folder).parts for file in inside]
            roots = tuple({folder.joinpath(*parts[:-1]) for parts in within if len(parts) > 2})
            return acquire.read_files(
                files, settings, base=folder, roots=roots, given=given, is_stored=is_stored, stop=stop
            )

        if conversation:
            with self._versions.current() as version:
                await asyncio.to_thread(forget_answers, version, conversation)
        prune = tuple(map(acquire.root, sources))
        intake = Intake(read=read, files=len(files), sources=sources, prune=prune, is_private=bool(conversation))
        report = await self._ingest.run(intake, on_progress, share)
        if conversation:
            for file in files:
                if not self.has_source(acquire.root(str(file))):
                    file.unlink(missing_ok=True)
        return report

    async def sync(
        self, sources: Sequence[str], on_progress: OnProgress | None = None, *, share: Share | None = None
    ) -> AddReport:
        """Make the stored documents match these sources: add new and changed documents, and remove those that are gone.

        A document that cannot be read keeps its stored version. A missing source is an error and removes nothing: a
        disk may not be mounted, or a server may be unreachable.

        Raises:
            SourceError, Locked, SettingsMismatch: as of `add`.
            Conflict: another worker took over; earlier commits stay.
        """
        with self._versions.current() as version:
            settings = version.settings.acquire
            files, prune = count(sources, settings), roots(sources, settings, version.folder)
        within = folders(sources, settings)
        intake = Intake(read=reading(sources), files=files, sources=tuple(sources), folders=within, prune=prune)
        return await self._ingest.run(intake, on_progress, share)

    async def follow(
        self, source: str, on_progress: OnProgress | None = None, *, share: Share | None = None
    ) -> AddReport:
        """Bring any source up to date: `crawl` a web site, and `sync` everything else."""
        if acquire.is_site(source, self._settings.acquire):
            return await self.crawl(source, on_progress)
        return await self.sync([source], on_progress, share=share)

    async def add_page(self, address: str, on_progress: OnProgress | None = None) -> AddReport:
        """Add a web page, or the entries of a feed, without following links. A second call updates it.

        Raises:
            SourceError: it is not a web address, or is unavailable; the stored documents stay.
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
            force: also fetch unchanged pages.
            alone: fetch only the start page.

        Raises:
            UsageError: there is no such site, or it is not a web address.
            SourceError: the site is unavailable; the stored documents stay.
            Locked: another process is indexing.
        """
        return await crawl_site(self._versions, self._ingest, what, on_progress, force=force, alone=alone)

    async def plan(self, sources: Sequence[str]) -> Plan:
        """Return what `sync` would do now. Read everything new, but embed and change nothing."""
        with self._versions.current() as version:
            refuse_other_versions(version)
            settings = rules_in_force(version)
            watcher, stop = StreamWatcher(version.catalog), Event()
            stream = watcher.watch(read_all(version, sources, settings.acquire, stop, Reporter()))
            planned = await plan(stream, version.catalog, stop, describing(version, None))
            removed = watcher.find_removed(roots(sources, settings.acquire, version.folder))
            return replace(planned, removed=tuple(removed))

    # ------------------------------------------------------------ for workers

    @property
    def jobs(self) -> JobQueue:
        """The queue of the workers, and its finished jobs."""
        with self._versions.current() as version:
            return version.history.jobs()

    def queue_add(self, sources: Sequence[str]) -> list[Job]:
        """Queue the files of sources to be added by workers; durable when this returns.

        Raises:
            SourceError: a path does not exist, or has nothing to read; then nothing is queued.
            UsageError: a source is not on this disk; `queue_sync` takes it.
            KnowledgeBaseError, EngineError: the queue could not be written.
        """
        with self._versions.current() as version:
            if away := [source for source in sources if acquire.is_remote(source, version.settings.acquire)]:
                raise UsageError(f"{away[0]} is not on this disk; queue it with: ragstone sync --queue {away[0]}")
            return version.history.jobs().put("add", list(works(sources, version.settings)))

    def queue_sync(self, sources: Sequence[str]) -> list[Job]:
        """Queue a sync: workers first add the existing files, then one of them removes the documents that are gone.

        One worker syncs sources that are not on this disk.

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

        `erase_attached` erases what is left of those that were attached to conversations.

        Args:
            ids: as for `get`.
            reader: the reader; documents that they may not read do not exist for them.

        Raises:
            NotFound: one of them does not exist.
            Locked: another process is indexing.
        """
        with self._versions.current() as version:
            full = list(dict.fromkeys(self.get(id, reader=reader).id for id in ids))
            with locked(version, self._versions.patience):
                if attached := [id for id in full if id.startswith(FOLDER)]:
                    note_removed(version.folder, attached)
                version.catalog.remove(full)
                follow(version)
            return full

    def forget(self, names: Sequence[str], *, reader: Reader, words: str = "") -> Erasure:
        """Erase documents: remove them with every trace that they left in the knowledge base, and prove it.

        Answers that quote them stay as answers whose source was erased. A repeated call finishes an interrupted one.

        Args:
            names: whole ids, files, or ids of documents that were removed before.
            reader: the reader; documents that they may not read do not exist for them.
            words: further text that is erased like that of the documents, such as the text of a removed one.

        Raises:
            NotFound: there is no such document, and no trace of one.
            UsageError: a name is only the end of an id; nobody can take an erasure back.
            Locked: another process is indexing or rebuilding, or has another version open.
            KnowledgeBaseError: another process keeps reading an older state of a database.
            EngineError: an engine cannot be reached.
        """
        with self._versions.current() as version:
            return forget(version, names, self._versions.patience, reader=reader, words=words)

    def attached(self, session: str, *, reader: Reader) -> list[Attached]:
        """Return the documents that are attached to a conversation of this reader."""
        with self._versions.current() as version:
            return attached_to(version.catalog, reader.within(session).conversation)

    def detach(self, ids: Sequence[str], *, session: str, reader: Reader, waiting: Collection[str] = ()) -> list[str]:
        """Remove documents that are attached to a conversation of this reader, and their files; return their ids.

        Nobody finds them any more, also if an ingest holds the lock. `erase_attached` erases what is left of them, such
        as their words in files and the answers that name them.

        Args:
            ids: the documents.
            session: the name of the conversation.
            reader: the reader.
            waiting: uploaded files that jobs have yet to read; they stay.

        Raises:
            NotFound: one of them is not attached to it.
            KnowledgeBaseError: it could not be noted what to erase; nothing was removed.
        """
        conversation = reader.within(session).conversation
        with self._versions.current() as version:
            known = {one.document_id for one in attached_to(version.catalog, conversation)}
            if unknown := [id for id in ids if id not in known]:
                raise NotFound(f"there is no document '{unknown[0]}' in this conversation")
            note_removed(version.folder, ids)
            version.catalog.withdraw(ids)
            delete_files(version, ids, waiting)
        with self._versions.current() as now:  # a rebuild may have ended meanwhile
            now.catalog.withdraw(ids)
        return [*ids]

    def erase_attached(self, days: float, waiting: Collection[str] = ()) -> list[str]:
        """Erase attached documents that expired, and what is left of removed ones; return their ids.

        A document has expired after some days, when its conversation was deleted or has had no question for a day, or
        when its person was removed.

        Args:
            days: the days that they are kept at most.
            waiting: as for `detach`.

        Raises:
            Locked, KnowledgeBaseError, EngineError: as of `forget`; a later call finishes what was begun.
        """
        with self._versions.current() as version:
            erased = forget_attached(version, days, self._versions.patience, waiting)
            clear_files(version)
            return erased

    def forget_skipped(self, source: str) -> None:
        """Delete the report on a file that could not be read.

        Raises:
            Locked: another process is indexing.
        """
        with self._versions.current() as version, locked(version, self._versions.patience):
            version.catalog.forget_skipped([one.source for one in version.catalog.skipped(source)])

    # ------------------------------------------------------------ look

    def get(self, id: str, *, reader: Reader) -> Document:
        """Return a stored document by its id, or by a unique name or end of its path.

        The owner may also give the path of its file.

        Raises:
            NotFound: this reader may read no such document, or more than one.
        """
        with self._versions.current() as version:
            if reader.is_owner and is_path(id):
                of_file = [found for found, source in version.catalog.documents_under(id) if source == id]
                id = of_file[0] if len(of_file) == 1 else id
            return version.catalog.document(id, admitted(version.catalog, id, reader).names)

    def reading(self, id: str, *, reader: Reader) -> Reading:
        """Return how a stored document was read and cut.

        Args:
            id: as for `get`.
            reader: the reader who asks.

        Raises:
            NotFound: as of `get`.
        """
        with self._versions.current() as version:
            document, catalog = self.get(id, reader=reader), version.catalog
            return reading_of(document, catalog.layout(document.id), catalog.chunks_of([document.id]).values())

    def places(self, id: str, start: int, end: int, *, reader: Reader) -> dict[int, tuple[Box, ...]]:
        """Return the positions of characters of a stored document on the pages of its file.

        Args:
            id: as for `get`.
            start: the first character of the document's text.
            end: the character after the last one.
            reader: the reader who asks.

        Returns:
            Boxes by page, counted from 0; empty if the positions of the words are unknown.

        Raises:
            NotFound: as of `get`.
        """
        with self._versions.current() as version:
            document = self.get(id, reader=reader)
            return boxes(version.catalog.layout(document.id), start, end)

    def list(
        self,
        *,
        reader: Reader,
        q: str = "",
        after: str = "",
        limit: int = 100,
        order: ListingOrder = "id",
        where: Filter | None = None,
    ) -> Listing:
        """Return a page of the stored documents, in the order of their ids.

        Args:
            reader: the reader; documents that they may not read are neither listed nor counted.
            q: text in the id, title or address, or, for the owner, in the source; empty for any.
            after: the id that the page begins after.
            limit: documents on the page.
            order: by id, or by when documents were added or changed, last or first; then there is no next page.
            where: filter on metadata.

        Raises:
            UsageError: the filter names a field that no document has, or compares a date or number with other text.
        """
        with self._versions.current() as version:
            groups, fields = reader.names, FIELDS
            if not reader.is_owner:  # only the owner sees the paths of sources on this machine
                fields = tuple(name for name in FIELDS if name != "source")
            chosen = read_filter(version, where, version.request(reader))
            return version.catalog.listing(groups, q, after, limit, fields=fields, where=chosen, order=order)

    def check_filter(self, where: Filter, *, reader: Reader) -> None:
        """Refuse a filter that no question of this reader could have.

        Raises:
            UsageError: it names a field that no document has, or compares a date or number with other text.
        """
        with self._versions.current() as version:
            read_filter(version, where, version.request(reader))

    def all(self) -> Iterator[Document]:
        """Yield every stored document that is not attached to a conversation, in the order of adding."""
        with self._versions.current() as version:
            yield from (one for one in version.catalog.documents() if ATTACHED not in one.metadata)

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
