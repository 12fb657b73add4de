"""How a knowledge base is opened, and how an open one follows rebuilds and changes of engines."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ragstone import index
from ragstone.catalog.location import LEGS, Location, VersionLease, engines_in_use, set_engines
from ragstone.catalog.lock import Patience
from ragstone.core.errors import KnowledgeBaseError, NotFound, RagstoneError
from ragstone.core.frozen import frozen
from ragstone.engine.assembly import assemble
from ragstone.engine.built import BuiltWith, create_version, refuse_mismatch
from ragstone.engine.components import Components
from ragstone.engine.lazy import Pool
from ragstone.engine.location import home_at, refuse_elsewhere, refuse_external
from ragstone.engine.parts.source import BuildEmbedder, Source
from ragstone.settings import AUTO, Settings
from ragstone.settings.load import changed, load, parse_overrides
from ragstone.settings.substitutes import Substitute, refuse_unavailable
from ragstone.storage.files import is_writable

LOGGER = logging.getLogger("ragstone")
NOTHING_KEPT = ("cache.enabled=false", "review.responses_days=0", "review.statistics_days=0")
"""Settings under which questions write nothing into the folder."""
MEASURING = (*NOTHING_KEPT, "review.mlflow=", "review.telemetry.to=", "rank.top_k_limit=0")
"""Settings for measuring: nothing is cached, kept or reported, and measures may look beyond ``rank.top_k_limit``."""


@frozen
class Opening:
    """The arguments of opening a knowledge base; see `KnowledgeBase.open`."""

    overrides: Sequence[str] = ()
    preset: str | None = None
    patience: Patience = field(default_factory=Patience)
    build_embedder: BuildEmbedder = index.build_embedder


@dataclass(slots=True, kw_only=True)
class _Opened:
    """An open version, its number of users, and the engines in use when it was opened."""

    held: VersionLease
    components: Components
    engines: dict[str, str]
    users: int = 0
    is_replaced: bool = False

    def close(self) -> None:
        self.components.source.own.close()
        self.components.catalog.close()
        self.held.release()


class OpenVersions:
    """The versions of one knowledge base that this process has open: the one in use, and older ones still in use.

    `current` is the only access to the parts of a version.
    """

    def __init__(
        self,
        location: Location,
        opening: Opening,
        lease: VersionLease,
        *,
        as_built: bool,
        follows: bool = True,
        substitutes: tuple[Substitute, ...] = (),
    ) -> None:
        """Open the version that is held.

        Args:
            location: of the knowledge base.
            opening: the arguments of opening it.
            lease: the lease of the version, which keeps it on disk.
            as_built: the build settings replace settings that do not match the stored data.
            follows: whether `current` moves on to newer versions.
            substitutes: the replacements of parts of the preset if the knowledge base is new.

        Raises:
            SettingsError, SettingsMismatch, MissingExtra: as of `KnowledgeBase.open`; nothing stays open.
        """
        self.location, self.opening = location, opening
        self._follows, self._shared, self._lock = follows, Pool(), threading.Lock()
        self._users, self._is_closed = 0, False
        self._newest = self._open(lease, as_built=as_built, substitutes=substitutes)

    @property
    def patience(self) -> Patience:
        """How long to wait for another process that changes something."""
        return self.opening.patience

    @property
    def in_use(self) -> int:
        """The number of calls that use the newest version now."""
        return self._newest.users

    @property
    def is_read_only(self) -> bool:
        """Whether this account cannot write to the version in use."""
        return not is_writable(self._newest.held.version)

    @contextmanager
    def current(self) -> Generator[Components]:
        """Yield the version in use; it stays open and unchanged until the block ends, whatever other processes do."""
        opened = self._enter()
        try:
            yield opened.components
        finally:
            self._leave(opened)

    def close(self) -> None:
        """Close the files: now, or with the end of the last call that still uses them."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = self._newest.is_replaced = True
                self._close_unused(self._newest)

    def unfollowing(self, version: Path) -> OpenVersions:
        """Open a version a second time, without caches, storage or following."""
        opening = replace(self.opening, overrides=(*self.opening.overrides, *MEASURING))
        return OpenVersions(self.location, opening, VersionLease(version), as_built=True, follows=False)

    def _open(self, lease: VersionLease, *, as_built: bool, substitutes: tuple[Substitute, ...] = ()) -> _Opened:
        opening, location, catalog = self.opening, self.location, None
        try:
            catalog = location.catalog(lease.version)
            built, engines = BuiltWith(**catalog.built_with()), engines_in_use(location.shelf)
            loaded = load(opening.overrides, preset=opening.preset, remembered=built.remembered(engines))
            refuse_elsewhere(loaded, location)
            if not as_built:
                refuse_mismatch(loaded, built, location.folder)
            settings = built.put_into(loaded.settings) if as_built else built.settled(loaded.settings)
            settings = built.with_rules(settings)
            refuse_missing_engines(settings)
        except BaseException:
            if catalog is not None:
                catalog.close()
            lease.release()
            raise
        source = Source(
            location=location,
            path=lease.version,
            catalog=catalog,
            build_embedder=opening.build_embedder,
            overrides=opening.overrides,
            shared=self._shared,
        )
        # The build is recorded, so only the first opening knows what the preset requested.
        found = dict.fromkeys((*substitutes, *loaded.substitutes))
        components = assemble(source, settings, built, substitutes=tuple(found))
        return _Opened(held=lease, components=components, engines=engines)

    def _enter(self) -> _Opened:
        with self._lock:
            if self._is_closed:
                raise KnowledgeBaseError(f"the knowledge base at {self.location.folder} was closed; open it again")
            opened = self._newest
            if self._follows and self._is_outdated(opened) and (newer := self._reopened()):
                self._newest, opened.is_replaced = newer, True
                self._close_unused(opened)
                opened = newer
            self._choose_embedder(opened)
            opened.users += 1
            self._users += 1
            return opened

    def _leave(self, opened: _Opened) -> None:
        with self._lock:
            opened.users -= 1
            self._users -= 1
            self._close_unused(opened)

    def _close_unused(self, opened: _Opened) -> None:
        """Close a version that is replaced and used by no call, and what versions share after the last one."""
        if opened.is_replaced and opened.users == 0:
            opened.close()
        if self._is_closed and self._users == 0:
            self._shared.close()

    def _is_outdated(self, opened: _Opened) -> bool:
        """Return whether opening the knowledge base now would give another result."""
        try:
            return (
                self.location.current() != opened.held.version or engines_in_use(self.location.shelf) != opened.engines
            )
        except RagstoneError:  # the open version still answers
            return False

    def _reopened(self) -> _Opened | None:
        """Return the version now in use, with its build settings above the requested ones."""
        newer = None
        try:
            if (held := self.location.lease()) is None:
                return None
            newer = self._open(held, as_built=True)
            newer.components.external_indexes()  # a broken engine is reported while the old one answers
        except RagstoneError:  # the open version still answers
            if newer is not None:
                newer.close()
            self._newest.engines = engines_in_use(self.location.shelf)  # which this process cannot use
            return None
        return newer

    def _choose_embedder(self, opened: _Opened) -> None:
        """Adopt the embedder that the first ingest, of this or another process, has chosen meanwhile."""
        now = opened.components
        if now.has_embedder:
            return
        built = BuiltWith(**now.catalog.built_with())
        if built.embedder:
            settings = built.settled(now.settings)
            opened.components = assemble(now.source, settings, built, substitutes=now.substitutes)


def open_versions(folder: Path, opening: Opening, *, create: bool, as_built: bool) -> OpenVersions:
    """Open the knowledge base in a folder; see `KnowledgeBase.open`."""
    location = home_at(folder, opening.overrides, opening.preset)
    lease, substitutes = location.lease(), ()
    if lease is None:
        lease, substitutes = _created(folder, location, opening, create=create)
    elif create and not location.is_durable:  # what is acknowledged must survive a power cut
        with location.indexing(opening.patience):
            location.make_durable()
    if not is_writable(lease.version):
        LOGGER.warning(
            "this account cannot write to %s: Ragstone answers questions, but stores no documents, conversations,"
            " votes, statistics or cache",
            folder,
        )
        opening = replace(opening, overrides=(*opening.overrides, *NOTHING_KEPT))
    return OpenVersions(location, opening, lease, as_built=as_built, substitutes=substitutes)


def uncached(settings: Settings) -> Settings:
    """Return the settings for measuring; see `MEASURING`."""
    return changed(settings, parse_overrides(MEASURING))


def settings_at(folder: Path, overrides: Sequence[str] = (), preset: str | None = None) -> Settings:
    """Return the settings under which a knowledge base would be opened, or created if it does not exist."""
    location = home_at(folder, overrides, preset)
    if (lease := location.lease()) is None:
        return load(overrides, preset=preset).settings
    try:
        with closing(location.catalog(lease.version)) as catalog:
            built = BuiltWith(**catalog.built_with())
        return load(overrides, preset=preset, remembered=built.remembered(engines_in_use(location.shelf))).settings
    finally:
        lease.release()


def refuse_missing_engines(settings: Settings) -> None:
    """Refuse engines that do not exist or are unavailable here.

    Raises:
        SettingsError: there is no such engine, or the address of its server is missing.
        MissingExtra: its package is not installed.
    """
    index.refuse_unknown_vectors(settings.index)
    refuse_unavailable(settings)


def _created(
    folder: Path, location: Location, opening: Opening, *, create: bool
) -> tuple[VersionLease, tuple[Substitute, ...]]:
    """Return a new, empty version, unless another process was faster, and the replacements of parts of the preset."""
    loaded = load(opening.overrides, preset=opening.preset)
    settings = loaded.settings
    if not create:
        raise NotFound(
            f"there is no knowledge base at {folder}; create one with: ragstone add SOURCE --kb {folder}; or begin with"
            f" an empty one: ragstone serve --create --kb {folder}"
        )
    refuse_missing_engines(settings)
    refuse_external(settings, location)
    location.make()
    with location.indexing(opening.patience):
        if (lease := location.lease()) is None:
            is_open = settings.index.embedder == AUTO
            embedder = None if is_open else opening.build_embedder(settings.index, settings.services)
            location.switch(create_version(location, BuiltWith.of(settings, embedder)))
            lease = location.lease()
            if location.is_shared:  # other hosts use the same engine
                set_engines(location.shelf, {leg: getattr(settings.index, leg) for leg in LEGS})
    assert lease is not None, "a version was made just now"
    return lease, loaded.substitutes
