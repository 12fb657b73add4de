"""Change settings without downtime: build a version next to the one in use, compare them, and switch.

A rebuild does one thing: it fills another version until it has the same documents as the one in use. It keeps what that
version already has, from an interrupted rebuild or from its own time in use. Therefore resuming and reverting are the
same as starting. Documents added meanwhile are included at the end.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path

from ragstone.catalog.location import Location, engines_in_use, set_engines
from ragstone.catalog.protocol import Catalog
from ragstone.catalog.versions import Difference, difference, documents
from ragstone.core.catalog import EngineStatus, Finding
from ragstone.core.errors import KnowledgeBaseError, NotFound, SettingsMismatch
from ragstone.core.protocols import Embedder
from ragstone.core.records import ATTACHED, Document
from ragstone.core.reports import AddReport, Progress
from ragstone.core.request import Request
from ragstone.engine import languages
from ragstone.engine.assembly import assemble, assemble_other, under
from ragstone.engine.attached import noted, removed_in
from ragstone.engine.built import PATHS, BuiltWith, create_version
from ragstone.engine.components import Components
from ragstone.engine.following import follow, follow_to_the_end, lock, locked, refuse_superseded
from ragstone.engine.opening import OpenVersions, refuse_missing_engines
from ragstone.engine.pipeline import ingest
from ragstone.engine.progress import OnProgress, Reporter
from ragstone.engine.status import megabytes
from ragstone.engine.tracking import tracked
from ragstone.index.follow.differences import differences
from ragstone.settings import Settings
from ragstone.settings.load import changed, load


class Versions:
    """The versions of a knowledge base, and the engines that search it. One process at a time rebuilds."""

    def __init__(self, versions: OpenVersions) -> None:
        self._versions = versions

    async def rebuild(
        self,
        overrides: Sequence[str] = (),
        *,
        preset: str | None = None,
        on_progress: OnProgress | None = None,
        switch: bool = True,
    ) -> AddReport:
        """Chunk, and if needed embed, every stored document again with other settings, in a new version.

        Until the switch, the old version answers questions and accepts documents. The next rebuild with the same
        settings resumes an interrupted one. Vectors of unchanged texts under the same embedder are reused.

        Args:
            overrides: settings as ``path=value``. Others that decide what is stored keep their build values; the rest
                are those that the knowledge base was opened with.
            preset: name or path of a preset; it replaces all settings that it names, except those of opening.
            on_progress: called after every commit with what is durable in the new version.
            switch: put the new version into use when it has the same documents; otherwise it waits for `switch`.

        Raises:
            SettingsError: there is no such engine, or a setting is wrong.
            MissingExtra: the package of an engine is not installed.
            Locked: another process is rebuilding.
        """
        with self._versions.current() as version:
            engines = engines_in_use(version.location.shelf)
            remembered = {"index": dict(engines)} if preset else version.built.remembered(engines)
            of_opening = [one for one in self._versions.opening.overrides if one.partition("=")[0].strip() not in PATHS]
            settings = load([*of_opening, *overrides], preset=preset, remembered=remembered).settings
            refuse_missing_engines(settings)
            settings = await asyncio.to_thread(languages.settled, settings, version.catalog.documents())
            return await self._bring_up(version, settings, on_progress, switch=switch)

    async def switch(self, on_progress: OnProgress | None = None) -> AddReport:
        """Put the version of a finished rebuild into use, including later additions.

        Raises:
            NotFound: there is none.
            Locked: another process is rebuilding.
        """
        with self._versions.current() as version:
            if (path := version.location.next()) is None:
                raise NotFound(f"no new version of {version.folder} is ready; make one: ragstone rebuild --no-switch")
            return await self._bring_up(version, _settings_of(version, path), on_progress, switch=True)

    async def revert(self, on_progress: OnProgress | None = None) -> AddReport:
        """Go back to the version before the last switch, including later additions and removals.

        Raises:
            NotFound: there is none, because a later rebuild removed it, or there was no rebuild.
            SettingsMismatch: this Ragstone has another chunker or embedder than that version was built by.
            Locked: another process is rebuilding.
        """
        with self._versions.current() as version:
            if (path := version.location.previous()) is None:
                raise NotFound(f"{version.folder} has no previous version")
            return await self._bring_up(version, _settings_of(version, path), on_progress, switch=True)

    def drop_previous(self) -> float:
        """Remove the version before the last switch, and return the freed megabytes.

        Raises:
            Locked: another process is rebuilding.
        """
        with self._versions.current() as version, version.location.rebuilding(self._versions.patience):
            previous = version.location.previous()
            size = megabytes(previous) if previous else 0.0
            version.location.clear(version.location.next())
            return round(size - (megabytes(previous) if previous else 0.0), 2)

    def use_engines(self, engines: Mapping[str, str]) -> tuple[EngineStatus, ...]:
        """Fill other engines with all stored data, then let every process search with them.

        Until they are full, and if filling fails, the previous engines stay in use. A process that names an engine in
        its own settings keeps that one.

        Args:
            engines: names of engines by the leg of the search: ``vectors``, ``keywords``.

        Raises:
            SettingsError: there is no such engine, or a setting that it needs is missing.
            EngineError: it cannot be reached, or refuses.
            Locked: another process is indexing.
        """
        with self._versions.current() as version:
            other = under(version, changed(version.settings, {"index": dict(engines)}))
            refuse_missing_engines(other.settings)
            with locked(version, self._versions.patience):
                if version.has_embedder:
                    other.indexes.terms().follow()
                    for leg in (other.indexes.keywords(), other.indexes.vectors()):
                        leg.follow(write=True)
                set_engines(version.location.shelf, engines)
            return tuple(leg.status() for leg in other.external_indexes())

    def check_engines(self, *, mend: bool = False) -> tuple[Finding, ...]:
        """Return the rows that external engines lack, or have in excess.

        Args:
            mend: bring them up to date, then repair the differences.

        Raises:
            Locked: another process is indexing, and ``mend`` is set.
        """
        with (
            self._versions.current() as version,
            locked(version, self._versions.patience) if mend else nullcontext(),
        ):
            return tuple(differences(version.external_indexes(), mend=mend))

    async def _bring_up(
        self, version: Components, settings: Settings, on_progress: OnProgress | None, *, switch: bool
    ) -> AddReport:
        """Bring the version with these settings up to the one in use, and switch to it if wanted."""
        started, location, tracker = time.perf_counter(), version.location, version.history.tracker()
        with tracked(tracker, "rebuild", settings) as done, location.rebuilding(self._versions.patience):
            refuse_superseded(version)
            path = _version_with(location, BuiltWith.of(settings, _embedder_for(version, settings)))
            with closing(location.catalog(path)) as catalog:
                other = assemble_other(version, path, catalog, settings)
                with closing(other.source.own):
                    report = await _catch_up(version, other, on_progress)
                    if switch:
                        with await lock(version, self._versions.patience.endless()):
                            report = report.plus(await _bring(version, other, difference(version.catalog, catalog)))
                            catalog.put_notes(version.catalog.notes())
                            _hand_on_rules(version, other)
                            _hide_removed(version, catalog)
                            follow(other)
                            location.switch(path)
                            _hide_removed(version, catalog)  # what was removed meanwhile
                            follow(other)  # external engines now show this version to other programs
            unchanged = version.catalog.counts().documents - report.added - report.updated
            return done(replace(report, unchanged=max(0, unchanged), seconds=time.perf_counter() - started))


def _embedder_for(version: Components, settings: Settings) -> Embedder:
    """Return the embedder that the settings name: the loaded one, if it is the same."""
    return assemble(version.source, settings, version.built).models.embedder()


def _settings_of(version: Components, path: Path) -> Settings:
    """Return the build settings of another version.

    Raises:
        SettingsMismatch: this Ragstone would build it differently.
    """
    with closing(version.location.catalog(path)) as catalog:
        built = BuiltWith(**catalog.built_with())
    settings = built.put_into(version.settings)
    if BuiltWith.of(settings, _embedder_for(version, settings)) != built:
        raise SettingsMismatch(
            f"{path.name} of {version.folder} was built by another version of the chunker or the embedder, and"
            " cannot receive the documents added since; run: ragstone rebuild"
        )
    return settings


def _version_with(location: Location, built: BuiltWith) -> Path:
    """Return a version with these build settings: an existing one, complete or not, or an empty one."""
    for path in (location.next(), location.previous()):
        if path is not None and _built_with(location, path) == built:
            location.resume(path)
            return path
    return create_version(location, built)


def _built_with(location: Location, path: Path) -> BuiltWith | None:
    """Return the build record of a version; None if it cannot be read, so that it is rebuilt."""
    try:
        with closing(location.catalog(path)) as catalog:
            return BuiltWith(**catalog.built_with())
    except (KnowledgeBaseError, TypeError, ValueError):
        return None


def _hide_removed(version: Components, catalog: Catalog) -> None:
    """Hide attached documents that were removed without the lock from the catalog of another version."""
    if (notes := noted(version.folder)).removed:
        catalog.withdraw(removed_in(catalog, notes))


def _hand_on_rules(version: Components, other: Components) -> None:
    """Copy the access rules and the names of folders of the version in use to another one."""
    stored = BuiltWith(**version.catalog.built_with())
    theirs = BuiltWith(**other.catalog.built_with())
    if (theirs.access, theirs.roots) != (stored.access, stored.roots):
        other.catalog.set_built_with(replace(theirs, access=stored.access, roots=stored.roots).to_json())


async def _catch_up(version: Components, other: Components, on_progress: OnProgress | None) -> AddReport:
    """Fill another version in rounds, while documents are added to this one."""
    report, last = AddReport(), math.inf
    while 0 < len(left := difference(version.catalog, other.catalog)) < last / 2:
        report = report.plus(await _bring(version, other, left, on_progress))
        last = len(left)
    await follow_to_the_end(other)
    return report


async def _bring(
    version: Components, other: Components, left: Difference, on_progress: OnProgress | None = None
) -> AddReport:
    """Add missing documents to another version, and remove obsolete ones."""
    if not left:
        return AddReport()
    if left.gone:
        await asyncio.to_thread(other.catalog.remove, left.gone)

    def report_progress(now: Progress) -> None:
        if on_progress:
            on_progress(replace(now, files=now.documents))

    embedder = other.models.embedder()
    total, watch = len(left.changed), report_progress if on_progress else None
    with closing(Reporter(watch, total=total, folder=version.folder, doing="rebuild")) as reporter:
        report = await ingest(
            _noted(documents(version.catalog, left.changed), reporter),
            other.catalog,
            embedder,
            other.settings.chunk,
            Request.by_owner("ingest"),
            reporter,
            known=version.catalog if version.built.embedder == embedder.fingerprint else None,
            inherit_groups=False,
        )
    return replace(report, removed=len(left.gone), cached=0, unchanged=0)


def _noted(stream: Iterator[Document], reporter: Reporter) -> Iterator[Document]:
    for document in stream:
        reporter.reading("" if ATTACHED in document.metadata else document.id)
        yield document
