"""The build settings of a version, and the refusal to mix them with others."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any

from ragstone import chunk
from ragstone.catalog.location import Location
from ragstone.core.errors import SettingsError, SettingsMismatch
from ragstone.core.frozen import frozen
from ragstone.core.protocols import Embedder
from ragstone.settings import AUTO, AccessSettings, ChunkSettings, Settings
from ragstone.settings.load import Loaded, Tree, lasting_preset, leaves, merge, read_preset

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


@frozen
class BuiltWith:
    """What a version was built with, as the catalog keeps it.

    The fingerprints tell versions of the same chunker or embedder apart. Before the first documents are added, the
    embedder may be open; its fingerprint is then empty. ``access`` has the last access rules, which stay in force until
    others replace them. ``roots`` maps added folders outside of the base folder to the names that the ids of their
    documents begin with.
    """

    preset: str
    settings: Mapping[str, str | int]
    chunker: str
    embedder: str
    access: Mapping[str, Any] = field(default_factory=dict[str, Any], compare=False)
    roots: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)

    @classmethod
    def of(cls, settings: Settings, embedder: Embedder | None) -> BuiltWith:
        """Return the record of these settings; without an embedder, it stays open."""
        return cls(
            preset=lasting_preset(settings.preset),
            settings={path: value for path, _, value in leaves(settings) if path in PATHS},
            chunker=chunk.fingerprint(settings.chunk),
            embedder=embedder.fingerprint if embedder else "",
            access=_rules(settings),
        )

    @property
    def fingerprint(self) -> str:
        """Eight characters, equal for all settings that store the same data."""
        parts = json.dumps([dict(self.settings), self.chunker, self.embedder], sort_keys=True)
        return hashlib.sha256(parts.encode()).hexdigest()[:8]

    def to_json(self) -> dict[str, Any]:
        """Return the record as the catalog stores it."""
        return {name: value for name, value in asdict(self).items() if value or name not in ("access", "roots")}

    def with_rules(self, settings: Settings, *, always: bool = False) -> Settings:
        """Return the settings with the stored access rules, if they have none.

        Args:
            settings: of the ingest.
            always: replace other rules by the stored ones.
        """
        if not self.access or (_rules(settings) and not always):
            return settings
        access = AccessSettings.model_validate(self.access)
        return settings.model_copy(update={"acquire": settings.acquire.model_copy(update={"access": access})})

    def following(self, settings: Settings) -> BuiltWith:
        """Return the record with the access rules of these settings, if they have any."""
        return replace(self, access=_rules(settings) or self.access)

    def settled(self, settings: Settings) -> Settings:
        """Return the settings with the embedder that ``auto`` was resolved to."""
        if settings.index.embedder != AUTO:
            return settings
        named = settings.index.model_copy(update={"embedder": self.settings["index.embedder"]})
        return settings.model_copy(update={"index": named})

    def tree(self) -> Tree:
        """Return the settings as a layer above the preset and below the user's settings."""
        tree: Tree = {"preset": self.preset}
        for path, value in self.settings.items():
            section, _, name = path.partition(".")
            tree.setdefault(section, {})[name] = value
        return tree

    def remembered(self, engines: Mapping[str, str]) -> Tree:
        """Return `tree` with the engines that are in use."""
        return merge(self.tree(), {"index": dict(engines)})

    def put_into(self, settings: Settings) -> Settings:
        """Return the settings, with the build's values for those that decide what is stored."""
        return Settings.model_validate(merge(settings.model_dump(), self.tree()))


def create_version(home: Location, built: BuiltWith) -> Path:
    """Create an empty version, which is not yet the one in use, and return its folder."""
    return home.create(built.to_json())


def refuse_other_store(settings: Settings, built: BuiltWith, folder: Path) -> None:
    """Refuse settings of a question that would have stored other data.

    Raises:
        SettingsMismatch: naming them.
    """
    other = [path for path, _, value in leaves(settings) if path in PATHS and value != built.settings[path]]
    if other:
        raise SettingsMismatch(f"{folder} was built with another {', '.join(other)}")


def refuse_chunker(settings: ChunkSettings, built: BuiltWith, folder: Path) -> None:
    """Refuse to mix chunks of different chunkers.

    Raises:
        SettingsMismatch: with the command that rebuilds.
    """
    if chunk.fingerprint(settings) != built.chunker:
        raise SettingsMismatch(f"{folder} was built by another version of the chunker; run: {_rebuild(folder)}")


def refuse_embedder(embedder: Embedder, built: BuiltWith, folder: Path) -> None:
    """Refuse to compare or mix vectors of different embedders.

    Raises:
        SettingsMismatch: with the command that rebuilds.
    """
    if embedder.fingerprint != built.embedder:
        raise SettingsMismatch(
            f"{folder} was built with the embedder {built.embedder}, not with {embedder.fingerprint}; use that one, or"
            f" run: {_rebuild(folder)}"
        )


def refuse_mismatch(loaded: Loaded, built: BuiltWith, folder: Path) -> None:
    """Refuse requested settings that do not match the stored data.

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
        if value != built.settings[path] and not (path == "index.embedder" and value in open_)
    }
    if not changed:
        return
    differences = ", ".join(f"{path}={built.settings[path]} (asked for: {value})" for path, value in changed.items())
    command = ["ragstone", "rebuild", "--kb", str(folder)]
    command += ["--preset", preset] if preset != built.preset else []
    for path, value in changed.items():
        command += ["--set", f"{path}={value}"] if path in _of(asked) else []
    raise SettingsMismatch(f"{folder} was built with {differences}; to change that, run: {shlex.join(command)}")


def unavailable_embedder(refusal: SettingsError, name: str, folder: Path) -> SettingsError:
    """Return the error for an unavailable embedder of a build, with the command that replaces it."""
    command = _rebuild(folder, "--set", f"index.embedder={AUTO}")
    return SettingsError(
        f"{refusal}. {folder} was built with {name}; to embed with a local model instead, run: {command}"
    )


def _rebuild(folder: Path, *more: str) -> str:
    return shlex.join(["ragstone", "rebuild", "--kb", str(folder), *more])


def _rules(settings: Settings) -> dict[str, Any]:
    """Return the access rules; empty if there are none."""
    access = settings.acquire.access
    return {} if access == AccessSettings() else access.model_dump(mode="json")


def _of(tree: Tree) -> dict[str, Any]:
    """Return the settings of a tree that decide what is stored."""
    return {path: tree[s][n] for path in PATHS for s, n in [path.split(".")] if n in tree.get(s, {})}
