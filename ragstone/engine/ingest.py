"""The path of every ingest: an `Ingest` reads, compares, chunks, embeds and commits documents from any source.

An ingest holds the lock of the knowledge base until it ends. With a `Share` it takes the lock only for each commit, so
several processes can ingest at once: a commit takes a hundredth of the time of reading, chunking and embedding. Under
the lock, it compares the signatures of the documents with those it started from. If another process changed one, the
work starts over and skips stored documents.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    closing,
    nullcontext,
    suppress,
)
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from threading import Event

from ragstone.core.errors import Conflict, KnowledgeBaseError
from ragstone.core.frozen import frozen
from ragstone.core.records import Acquired, Document
from ragstone.core.reports import AddReport
from ragstone.core.request import Request
from ragstone.core.threads import in_thread
from ragstone.engine import languages
from ragstone.engine.built import BuiltWith, refuse_chunker, refuse_embedder
from ragstone.engine.captions import Describing
from ragstone.engine.components import Components
from ragstone.engine.following import follow, follow_to_the_end, lock, with_engine_notices
from ragstone.engine.opening import OpenVersions
from ragstone.engine.pipeline import OUTDATED, StreamWatcher, Turn, ingest
from ragstone.engine.progress import OnProgress, Reporter
from ragstone.engine.roots import keep_names
from ragstone.engine.tracking import tracked
from ragstone.settings import AcquireSettings, Settings

ATTEMPTS = 3
"""Attempts that another process may disturb before the ingest holds the lock to its end."""

Read = Callable[[Components, AcquireSettings, Event, Reporter], Iterable[Acquired]]
"""Reads the sources of an ingest from their beginning, until the event is set, and reports the open one.

Raises `SourceError` at once if one of them does not exist.
"""


def always() -> bool:
    """Return True: nobody can take over this work."""
    return True


@frozen
class Share:
    """An ingest that runs while others do: it holds the lock only for each commit.

    Before each commit, ``is_ours`` tells under the lock whether the work is still ours.
    """

    is_ours: Callable[[], bool] = always


@frozen
class Intake:
    """What an ingest reads, the names of its sources, and the folders on disk that they are in.

    Stored documents that it does not find are removed if their source begins with one of ``prune``. Of a private one,
    only its report names files: the status and MLflow are for other people.
    """

    read: Read
    files: int = 0
    sources: tuple[str, ...] = field(default=())
    folders: tuple[Path, ...] = field(default=())
    prune: tuple[str, ...] = field(default=())
    is_private: bool = False


class Ingest:
    """Adds documents to the version in use, and keeps stored documents in step with their source."""

    def __init__(self, versions: OpenVersions) -> None:
        self._versions = versions

    async def run(self, intake: Intake, on_progress: OnProgress | None, share: Share | None = None) -> AddReport:
        """Ingest; see `Documents.sync` for the errors."""
        with self._versions.current() as version, _tracked(version, intake) as done:
            refuse_other_versions(version)
            if share is None:
                # A missing source is reported before waiting.
                intake.read(version, version.settings.acquire, Event(), Reporter())
                report = await self._alone(intake, on_progress)
            else:
                report = await self._shared(intake, on_progress, share)
                if intake.prune:  # the lock is held to the end only to remove documents
                    report = _combined(report, await self._alone(intake, None))
            return done(await with_engine_notices(version, report))

    @asynccontextmanager
    async def alone(self) -> AsyncGenerator[tuple[Components, Settings]]:
        """Hold the lock; yield the version, and its settings with the access rules in force.

        Documents committed inside are searchable afterwards, even if the rest failed.
        """
        with self._versions.current() as version, await lock(version, self._versions.patience):
            try:
                yield version, rules_in_force(version)
            except asyncio.CancelledError:
                raise  # the indexes catch up when they are next used; an interrupt must not wait for that
            except BaseException:
                with self._versions.current() as now, suppress(KnowledgeBaseError):  # the first error says more
                    follow(now)
                raise
            with self._versions.current() as now:  # which has an embedder now, if it had none before
                await follow_to_the_end(now)

    async def store(
        self,
        stream: Iterable[Acquired],
        request: Request,
        reporter: Reporter,
        turn: Turn = nullcontext,
    ) -> AddReport:
        """Store the documents of a stream. If the embedder is open, a sample of the first documents decides it.

        Args:
            stream: read one by one.
            request: the budget; a cancellation sets its ``stop``.
            reporter: counts and reports what is durable.
            turn: the lock for each commit, unless the caller holds it.
        """
        first, sample = list[Document](), languages.Sample()
        with self._versions.current() as version:
            is_open = not version.has_embedder
        if is_open:
            first, stream = await in_thread(partial(languages.ahead, stream, request.stop), request.stop)
        with self._versions.current() as version:
            async with turn():
                _keep_rules(version, rules_in_force(version))
                await asyncio.to_thread(_choose_embedder, version, first)
        with self._versions.current() as version:
            own = version.settings
            embedder = version.models.embedder()
            stream = sample.watched(stream)
            report = await ingest(
                stream,
                version.catalog,
                embedder,
                own.chunk,
                request,
                reporter,
                describing=describing(version, request),
                turn=turn,
            )
            if own.index.embedder != languages.ENGLISH or not report.added + report.updated:
                return report
            language = await asyncio.to_thread(languages.foreign, sample.documents)
            return replace(report, notices=(*report.notices, *languages.advice(language, version.folder)))

    async def _alone(self, intake: Intake, on_progress: OnProgress | None) -> AddReport:
        started = time.perf_counter()
        request = Request.by_owner("ingest")
        async with self.alone() as (version, settings):
            catalog, watcher = version.catalog, StreamWatcher(version.catalog)
            keep_names(version, intake.folders)
            with self._reporting(version, intake, on_progress) as reporter:
                stream = watcher.watch(intake.read(version, settings.acquire, request.stop, reporter))
                report = await self.store(stream, request, reporter)
            if not intake.prune:
                return report
            if removed := watcher.find_removed(intake.prune):
                catalog.remove(removed, watcher.outdated)
                report = _without_outdated(report)
                if not intake.is_private:  # their removal forgot it
                    catalog.note_skipped([one for one in report.skipped if one.emptied])
            noted = {one.source for root in intake.prune for one in catalog.skipped(root)}
            forget_skipped(version, [one for one in noted if not watcher.is_kept(one)], report)
        return replace(report, removed=len(removed), seconds=time.perf_counter() - started)

    async def _shared(self, intake: Intake, on_progress: OnProgress | None, share: Share) -> AddReport:
        with self._versions.current() as version, self._reporting(version, intake, on_progress) as waiting:
            return await self._in_shared_turns(intake, on_progress, share, waiting)

    async def _in_shared_turns(
        self, intake: Intake, on_progress: OnProgress | None, share: Share, waiting: Reporter
    ) -> AddReport:
        turn = partial(self._turn, share.is_ours, waiting)
        async with turn():
            with self._versions.current() as version:
                keep_names(version, intake.folders)
        for _ in range(ATTEMPTS):
            try:
                return await self._in_turns(intake, on_progress, turn, partial(self._turn, always, waiting))
            except Conflict:  # documents that another process stored are skipped
                if not await asyncio.to_thread(share.is_ours):
                    raise
        async with turn():
            return await self._in_turns(intake, on_progress, nullcontext, nullcontext)

    async def _in_turns(self, intake: Intake, on_progress: OnProgress | None, turn: Turn, last_turn: Turn) -> AddReport:
        request = Request.by_owner("ingest")
        with self._versions.current() as version, self._reporting(version, intake, on_progress) as reporter:
            stream = intake.read(version, rules_in_force(version).acquire, request.stop, reporter)
            stream = StreamWatcher(version.catalog).watch(stream)
            report = await self.store(stream, request, reporter, turn)
        async with last_turn():
            with self._versions.current() as version:
                await follow_to_the_end(version)
        return report

    def _reporting(
        self, version: Components, intake: Intake, on_progress: OnProgress | None
    ) -> AbstractContextManager[Reporter]:
        doing, is_private = _name(intake), intake.is_private
        return closing(
            Reporter(on_progress, total=intake.files, folder=version.folder, doing=doing, is_private=is_private)
        )

    def _turn(self, is_ours: Callable[[], bool], waiting: Reporter) -> AbstractAsyncContextManager[None]:
        @asynccontextmanager
        async def turn() -> AsyncGenerator[None]:
            patience = self._versions.patience.endless()
            with self._versions.current() as version, await lock(version, patience, waiting.waits):
                waiting.close()
                if not await asyncio.to_thread(is_ours):
                    raise Conflict("the job was taken over by another worker")
                yield

        return turn()


def _tracked(version: Components, intake: Intake) -> AbstractContextManager[Callable[[AddReport], AddReport]]:
    tracker = None if intake.is_private else version.history.tracker()
    return tracked(tracker, _name(intake), version.settings, intake.sources)


def _name(intake: Intake) -> str:
    return "sync" if intake.prune else "add"


def describing(version: Components, request: Request | None) -> Describing | None:
    """Return what describes pictures during one ingest, or, without a request, in a plan; None if no setting does.

    Raises:
        SettingsError: the model cannot be used; the message names the setting.
        MissingExtra: a package that it needs is not installed.
    """
    captions = version.models.captions()
    return (
        Describing(captions=captions, settings=version.settings.acquire.metadata, request=request) if captions else None
    )


def refuse_other_versions(version: Components) -> None:
    """Refuse to mix chunks or vectors with those of another version of the chunker or the embedder.

    Raises:
        SettingsMismatch: with the command that rebuilds.
    """
    if version.has_embedder:
        refuse_embedder(version.models.embedder(), version.built, version.folder)
    refuse_chunker(version.settings.chunk, version.built, version.folder)


def rules_in_force(version: Components) -> Settings:
    """Return the settings with the access rules in force: later rules of another process win over ours.

    Documents that it restricted stay restricted.
    """
    stored = BuiltWith(**version.catalog.built_with())
    if stored.access == version.built.access:
        return version.settings
    return stored.with_rules(version.settings, always=True)


def forget_skipped(version: Components, sources: Iterable[str], report: AddReport) -> None:
    """Delete reports on sources that are now readable, or gone, unless this ingest reports them again."""
    noted = {one.source for one in version.catalog.skipped()} - {one.source for one in report.skipped}
    version.catalog.forget_skipped([source for source in sources if source in noted])


def _keep_rules(version: Components, settings: Settings) -> None:
    """Store the access rules for the next process, which may not know them. Call it under the lock."""
    stored = BuiltWith(**version.catalog.built_with())
    now = stored.following(settings)
    if now.access != stored.access:
        version.catalog.set_built_with(now.to_json())


def _choose_embedder(version: Components, documents: Sequence[Document]) -> None:
    """Choose the open embedder, now that the first documents are known. Call it under the lock."""
    stored = BuiltWith(**version.catalog.built_with())
    if version.has_embedder or not documents or stored.embedder:
        return
    settings = languages.settled(version.settings, documents)
    embedder = version.source.build_embedder(settings.index, settings.services)
    version.catalog.set_built_with(
        replace(BuiltWith.of(settings, embedder), access=stored.access, roots=stored.roots).to_json()
    )


def _without_outdated(report: AddReport) -> AddReport:
    """Return the report of an ingest that removed what was stored of emptied files."""
    said = [
        replace(one, reason=one.reason.replace(OUTDATED, "its stored version was removed")) for one in report.skipped
    ]
    return replace(report, skipped=tuple(said))


def _combined(first: AddReport, second: AddReport) -> AddReport:
    """Return the report of a shared ingest and of the pass under the lock over the same documents."""
    unchanged = max(0, second.unchanged - first.added - first.updated)
    return replace(first.plus(second), unchanged=unchanged, skipped=second.skipped)
