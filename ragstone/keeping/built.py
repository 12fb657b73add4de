"""What a knowledge base is and was built with, and the refusal to mix it with something else."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ragstone import chunk
from ragstone.cache import CacheStatus
from ragstone.config import Loaded, Tree, lasting_preset, leaves, merge, read_preset
from ragstone.contracts import Skipped
from ragstone.errors import SettingsMismatch
from ragstone.index import EngineStatus, Home
from ragstone.jobs.queue import JobCounts
from ragstone.protocols import Embedder
from ragstone.sections import AUTO, AccessSettings, ChunkSettings, Settings
from ragstone.usage.spending import Costs

PATHS = (
    "chunk.strategy",
    "chunk.unit",
    "chunk.size",
    "chunk.overlap",
    "chunk.context",
    "index.embedder",
    "index.dimensions",
    "index.analyzer",
)
"""Settings that decide what is stored; all others may differ from question to question."""
USUAL = {"index.dimensions": 0}
"""Of these the usual value is not kept: they came later than the first knowledge bases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltWith:
    """Kept in the catalog. The fingerprints tell apart versions of the same chunker or embedder.

    Before the first documents are added, the embedder may not be settled; its fingerprint is empty then.
    """

    preset: str
    settings: Mapping[str, str | int]
    chunker: str
    embedder: str
    access: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The rules on who may read what that were used last, which stay in force where no others are given."""

    @classmethod
    def of(cls, settings: Settings, embedder: Embedder | None) -> BuiltWith:
        return cls(
            preset=lasting_preset(settings.preset),
            settings={path: value for path, _, value in leaves(settings) if path in PATHS and value != USUAL.get(path)},
            chunker=chunk.fingerprint(settings.chunk),
            embedder=embedder.fingerprint if embedder else "",
            access=_rules(settings),
        )

    @property
    def fingerprint(self) -> str:
        """Short, and the same for all settings under which the same would be stored."""
        told = json.dumps([dict(self.settings), self.chunker, self.embedder], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:8]

    def to_json(self) -> dict[str, Any]:
        told = asdict(self)
        return told if self.access else {name: value for name, value in told.items() if name != "access"}

    def with_rules(self, settings: Settings, *, always: bool = False) -> Settings:
        """The same settings, with the rules on who may read what that were used last, where they have none.

        Args:
            settings: those of whoever reads documents.
            always: put them in the place of others.
        """
        if not self.access or (_rules(settings) and not always):
            return settings
        access = AccessSettings.model_validate(self.access)
        return settings.model_copy(update={"acquire": settings.acquire.model_copy(update={"access": access})})

    def following(self, settings: Settings) -> BuiltWith:
        """The same with the rules of these settings on who may read what."""
        return replace(self, access=_rules(settings) or self.access)

    def settled(self, settings: Settings) -> Settings:
        """The same settings, with the embedder that ``auto`` has come to stand for."""
        if settings.index.embedder != AUTO:
            return settings
        named = settings.index.model_copy(update={"embedder": self.settings["index.embedder"]})
        return settings.model_copy(update={"index": named})

    def tree(self) -> Tree:
        """As settings that stand above the preset and below what a user asks for."""
        tree: Tree = {"preset": self.preset}
        for path, value in {**USUAL, **self.settings}.items():
            section, _, name = path.partition(".")
            tree.setdefault(section, {})[name] = value
        return tree

    def remembered(self, engines: Mapping[str, str]) -> Tree:
        """`tree` with the engines that were taken into use."""
        return merge(self.tree(), {"index": dict(engines)})

    def value(self, path: str) -> str | int:
        """What a setting of `PATHS` was."""
        return self.settings[path] if path in self.settings else USUAL[path]

    def put_into(self, settings: Settings) -> Settings:
        """The same settings, but for those that decide what is stored: they are as it was built."""
        return Settings.model_validate(merge(settings.model_dump(), self.tree()))


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherVersion:
    """A version beside the one in use: the one that comes ``next``, whole or not, or the ``previous`` one."""

    name: str
    role: str
    megabytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What a knowledge base holds.

    ``behind`` counts the commits that keyword search does not know yet; ``costs`` is nothing where it cannot be read;
    ``engines`` are those beside the embedded indexes; ``substitutes`` says what takes the place of engines and services
    of the preset; ``catalog`` says where it is, if not in the folder; ``jobs`` are those for workers.
    """

    folder: str
    built_with: BuiltWith
    documents: int
    chunks: int
    generation: int
    behind: int
    megabytes: float
    skipped: tuple[Skipped, ...]
    others: tuple[OtherVersion, ...] = ()
    cache: tuple[CacheStatus, ...] = ()
    costs: Costs | None = None
    engines: tuple[EngineStatus, ...] = ()
    jobs: JobCounts = field(default_factory=JobCounts)
    substitutes: tuple[str, ...] = ()
    catalog: str = ""


def other_versions(home: Home) -> tuple[OtherVersion, ...]:
    """The versions beside the one in use."""
    beside = {"next": home.next(), "previous": home.previous()}
    return tuple(
        OtherVersion(name=version.name, role=role, megabytes=megabytes(version))
        for role, version in beside.items()
        if version is not None
    )


def megabytes(version: Path) -> float:
    """Size of all files of a version."""
    size = 0
    for file in version.rglob("*"):
        with suppress(FileNotFoundError):  # an indexer may be at work
            size += file.stat().st_size
    return round(size / 1e6, 2)


def create_version(home: Home, built: BuiltWith) -> Path:
    """A new, empty version of a knowledge base; not yet the one in use."""
    return home.create(built.to_json())


def refuse_other_store(settings: Settings, built: BuiltWith, folder: Path) -> None:
    """Refuse settings for a question under which other things would have been stored.

    Raises:
        SettingsMismatch: naming them.
    """
    other = [path for path, _, value in leaves(settings) if path in PATHS and value != built.value(path)]
    if other:
        raise SettingsMismatch(f"{folder} was built with another {', '.join(other)}")


def refuse_chunker(settings: ChunkSettings, built: BuiltWith, folder: Path) -> None:
    """Refuse to put chunks cut in another way beside those that are stored."""
    if chunk.fingerprint(settings) != built.chunker:
        raise _other_version("chunker", folder)


def refuse_embedder(embedder: Embedder, built: BuiltWith, folder: Path) -> None:
    """Refuse to compare, or to mix, vectors of one embedder with those of another."""
    if embedder.fingerprint != built.embedder:
        raise _other_version("embedder", folder)


def refuse_mismatch(loaded: Loaded, built: BuiltWith, folder: Path) -> None:
    """Refuse settings that were asked for and would not fit what is stored.

    Raises:
        SettingsMismatch: with the command that rebuilds.
    """
    asked = loaded.explicit
    preset = lasting_preset(asked.get("preset", built.preset))
    changed = {path: value for path, value in _of(read_preset(preset)).items() if preset != built.preset}
    now = {path: value for path, _, value in leaves(loaded.settings)}
    changed |= {path: now[path] for path in _of(asked)}
    open_ = {AUTO} if built.embedder else {AUTO, changed.get("index.embedder")}
    changed = {
        path: value
        for path, value in changed.items()
        if value != built.value(path) and not (path == "index.embedder" and value in open_)
    }
    if not changed:
        return
    differences = ", ".join(f"{path}={built.value(path)} (asked for: {value})" for path, value in changed.items())
    command = ["ragstone", "rebuild", "--kb", str(folder)]
    command += ["--preset", preset] if preset != built.preset else []
    for path, value in changed.items():
        command += ["--set", f"{path}={value}"] if path in _of(asked) else []
    raise SettingsMismatch(f"{folder} was built with {differences}; to change that, run: {shlex.join(command)}")


def _other_version(part: str, folder: Path) -> SettingsMismatch:
    remedy = shlex.join(["ragstone", "rebuild", "--kb", str(folder)])
    return SettingsMismatch(f"{folder} was built by another version of the {part}; run: {remedy}")


def _rules(settings: Settings) -> dict[str, Any]:
    """The rules on who may read what; nothing where nobody has made any."""
    access = settings.acquire.access
    return {} if access == AccessSettings() else access.model_dump(mode="json")


def _of(tree: Tree) -> dict[str, Any]:
    """The settings of a tree that decide what is stored."""
    return {path: tree[s][n] for path in PATHS for s, n in [path.split(".")] if n in tree.get(s, {})}
