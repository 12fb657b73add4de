"""Other settings without a pause: another version is built beside the one in use, compared, and put in its place.

Whatever the rebuild is for, it is one thing: bring another version up to what the one in use holds. What that
version has already, from a rebuild that was cut short or from the time when it was in use itself, stays; so going
on and going back are the same as beginning. Documents may be added meanwhile: they are taken in at the end.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ragstone import index
from ragstone.config import load
from ragstone.contracts import Span
from ragstone.errors import KnowledgeBaseError, NotFound, SettingsMismatch
from ragstone.index.catalog.versions import Behind, behind, documents
from ragstone.keeping import languages
from ragstone.keeping.built import BuiltWith, create_version, megabytes
from ragstone.keeping.ingest import OnProgress, ingest
from ragstone.keeping.keeper import Keeper
from ragstone.keeping.moving import on_newest
from ragstone.keeping.sharing import Sharer
from ragstone.protocols import Embedder, Role
from ragstone.reports import AddReport, Progress
from ragstone.sections import Settings

if TYPE_CHECKING:
    from ragstone.contracts import Vector


class Rebuilder(Sharer):
    """The part of an engine that changes what a knowledge base is built with. One process at a time does that."""

    @on_newest
    async def rebuild(
        self,
        overrides: Sequence[str] = (),
        *,
        preset: str | None = None,
        on_progress: OnProgress | None = None,
        switch: bool = True,
    ) -> AddReport:
        """Cut, and where needed embed, every stored document anew, with other settings, beside what is there.

        Until the switch, questions are answered from the old version, and documents can be added to it. An
        interrupted rebuild is gone on with by the next one with the same settings. Vectors of texts that stay the
        same, under the same embedder, are not computed again.

        Args:
            overrides: settings as ``path=value``; what is not named stays as it was built.
            preset: name or path of a preset; then nothing stays but what it does not name.
            on_progress: called after every commit, with what is durable in the new version.
            switch: put the new version in the place of the old one when it holds the same documents; otherwise it
                waits beside it, for `switch` or another `rebuild`.

        Raises:
            Locked: another process is rebuilding.
        """
        engines = self._home.engines()
        remembered = {"index": dict(engines)} if preset else self._built.remembered(engines)
        settings = load(overrides, preset=preset, remembered=remembered).settings
        settings = await asyncio.to_thread(languages.settled, settings, self._catalog.documents())
        return await self._to_version(settings, on_progress, switch=switch)

    @on_newest
    async def switch(self, on_progress: OnProgress | None = None) -> AddReport:
        """Put the version that a rebuild left beside this one in its place, with what was added since.

        Raises:
            NotFound: there is none.
            Locked: another process is rebuilding.
        """
        if (version := self._home.next()) is None:
            raise NotFound(f"no other version of {self._home.folder} waits; make one: ragstone rebuild --no-switch")
        return await self._to_version(self._settings_of(version), on_progress, switch=True)

    @on_newest
    async def revert(self, on_progress: OnProgress | None = None) -> AddReport:
        """Go back to the version before the last switch, with what was added and removed since.

        Raises:
            NotFound: there is none; the next rebuild had cleared it away, or nothing was rebuilt.
            SettingsMismatch: this Ragstone has another chunker or embedder than that version was built by.
            Locked: another process is rebuilding.
        """
        if (version := self._home.previous()) is None:
            raise NotFound(f"there is no version of {self._home.folder} to go back to")
        return await self._to_version(self._settings_of(version), on_progress, switch=True)

    @on_newest
    def drop_previous(self) -> float:
        """Remove the version before the last switch; gives the megabytes that this freed.

        Raises:
            Locked: another process is rebuilding.
        """
        with self._home.rebuilding(self._patience):
            version = self._home.previous()
            size = megabytes(version) if version else 0.0
            self._home.clear(keep=self._home.next())
            return round(size - (megabytes(version) if version else 0.0), 2)

    async def _to_version(self, settings: Settings, on_progress: OnProgress | None, *, switch: bool) -> AddReport:
        started = time.perf_counter()
        with self._home.rebuilding(self._patience):
            self._refuse_superseded()
            alike = all(
                getattr(settings.index, name) == getattr(self.settings.index, name)
                for name in ("embedder", "dimensions")
            )
            embedder = self._embedder if alike else self._embedder_of(settings)
            version = self._version_with(BuiltWith.of(settings, embedder))
            other = Keeper(self._home, version, self._home.catalog(version), settings)
            other._embedder = embedder
            try:
                report = await self._catch_up(other, on_progress)
                if switch:
                    with await self._waited_for(self._patience.endless()):
                        report = report.plus(await self._bring(other, behind(self._catalog, other._catalog)))
                        other._catalog.put_notes(self._catalog.notes())
                        other.settings = self._built.following(self.settings).with_rules(other.settings)
                        other._keep_rules()
                        other._follow()
                        self._home.switch(version)
                        other._follow()  # engines outside now show this version to others
            finally:
                other.close()
        unchanged = self._catalog.counts().documents - report.added - report.updated
        return replace(report, unchanged=max(0, unchanged), seconds=time.perf_counter() - started)

    def _settings_of(self, version: Path) -> Settings:
        catalog = self._home.catalog(version)
        try:
            built = BuiltWith(**catalog.built_with())
        finally:
            catalog.close()
        settings = built.put_into(self.settings)
        same = built.embedder == self._built.embedder
        embedder = self._embedder if same else self._embedder_of(settings)
        if BuiltWith.of(settings, embedder) != built:
            raise SettingsMismatch(
                f"{version.name} of {self._home.folder} was built by another version of the chunker or the embedder,"
                " and cannot take in what was added since; use ragstone rebuild"
            )
        return settings

    def _version_with(self, built: BuiltWith) -> Path:
        """A version for these settings: one that is there, whole or not, or an empty one."""
        for version in (self._home.next(), self._home.previous()):
            if version is not None and _built_with(self._home, version) == built:
                self._home.resume(version)
                return version
        return create_version(self._home, built)

    async def _catch_up(self, other: Keeper, on_progress: OnProgress | None) -> AddReport:
        """Bring another version up, in rounds, while this one may be added to."""
        report, last = AddReport(), math.inf
        while 0 < len(left := behind(self._catalog, other._catalog)) < last / 2:
            report = report.plus(await self._bring(other, left, on_progress))
            last = len(left)
        await other._follow_whole()
        return report

    async def _bring(self, other: Keeper, left: Behind, on_progress: OnProgress | None = None) -> AddReport:
        """Take into another version what it lacks, and out of it what it has too much."""
        if not left:
            return AddReport()
        if left.gone:
            await asyncio.to_thread(other._catalog.remove, left.gone)

        def told(now: Progress) -> None:
            if on_progress:
                on_progress(replace(now, share=min(1.0, now.documents / len(left.changed))))

        known = self._catalog if self._built.embedder == other._embedder.fingerprint else None
        embedder = _Reusing(other._embedder, known)
        stream = documents(self._catalog, left.changed)
        report = await ingest(stream, other._catalog, embedder, other.settings.chunk, told, as_they_are=True)
        return replace(report, removed=len(left.gone), embedded=embedder.embedded, unchanged=0)


class _Reusing:
    """An embedder that takes the vectors of texts that are stored already from where they are."""

    def __init__(self, embedder: Embedder, known: index.AnyCatalog | None) -> None:
        self._embedder, self._known = embedder, known
        self.fingerprint, self.dimensions = embedder.fingerprint, embedder.dimensions
        self.embedded = 0

    def familiarity(self, text: str) -> float:
        return self._embedder.familiarity(text)

    def tokens(self, text: str) -> list[Span]:
        return self._embedder.tokens(text)

    async def embed(self, texts: Sequence[str], *, role: Role) -> Vector:
        hashes = [index.text_hash(text) for text in texts]
        vectors = self._known.vectors_of(hashes) if self._known else {}
        missing = {hash: text for hash, text in zip(hashes, texts, strict=True) if hash not in vectors}
        if missing:
            vectors |= dict(zip(missing, await self._embedder.embed([*missing.values()], role=role), strict=True))
        self.embedded += len(missing)
        return np.array([vectors[hash] for hash in hashes], dtype=np.float32).reshape(len(texts), self.dimensions)


def _built_with(home: index.Home, version: Path) -> BuiltWith | None:
    """What a version was built with; nothing where it cannot be read, for then it is made anew."""
    try:
        catalog = home.catalog(version)
    except KnowledgeBaseError:
        return None
    try:
        return BuiltWith(**catalog.built_with())
    except (KnowledgeBaseError, TypeError, ValueError):
        return None
    finally:
        catalog.close()
