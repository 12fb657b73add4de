"""What a knowledge base is and was built with, and the refusal to mix it with something else."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ragstone import chunk
from ragstone.config import Loaded, Tree, lasting_preset, leaves, read_preset
from ragstone.contracts import Skipped
from ragstone.errors import SettingsMismatch
from ragstone.index import Catalog, Home, build_embedder
from ragstone.protocols import Embedder
from ragstone.sections import ChunkSettings, Settings

PATHS = (
    "chunk.strategy",
    "chunk.unit",
    "chunk.size",
    "chunk.overlap",
    "chunk.context",
    "index.embedder",
    "index.analyzer",
)
"""Settings that decide what is stored; all others may differ from question to question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltWith:
    """Kept in the catalog. The fingerprints tell apart versions of the same chunker or embedder."""

    preset: str
    settings: Mapping[str, str | int]
    chunker: str
    embedder: str

    @classmethod
    def of(cls, settings: Settings, embedder: Embedder) -> BuiltWith:
        return cls(
            preset=lasting_preset(settings.preset),
            settings={path: value for path, _, value in leaves(settings) if path in PATHS},
            chunker=chunk.fingerprint(settings.chunk),
            embedder=embedder.fingerprint,
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def tree(self) -> Tree:
        """As settings that stand above the preset and below what a user asks for."""
        tree: Tree = {"preset": self.preset}
        for path, value in self.settings.items():
            section, _, name = path.partition(".")
            tree.setdefault(section, {})[name] = value
        return tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What a knowledge base holds. ``behind`` counts the commits that keyword search does not know yet."""

    folder: str
    built_with: BuiltWith
    documents: int
    chunks: int
    generation: int
    behind: int
    megabytes: float
    skipped: tuple[Skipped, ...]


def create_version(home: Home, settings: Settings) -> Path:
    """A new, empty version of a knowledge base; not yet the one in use."""
    version = home.begin()
    built = BuiltWith.of(settings, build_embedder(settings.index))
    Catalog.create(version / "catalog.db", built.to_json()).close()
    return version


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
    changed = {path: value for path, value in changed.items() if value != built.settings[path]}
    if not changed:
        return
    differences = ", ".join(f"{path}={built.settings[path]} (asked for: {value})" for path, value in changed.items())
    command = ["ragstone", "rebuild", "--kb", str(folder)]
    command += ["--preset", preset] if preset != built.preset else []
    for path, value in changed.items():
        command += ["--set", f"{path}={value}"] if path in _of(asked) else []
    raise SettingsMismatch(f"{folder} was built with {differences}; to change that, run: {shlex.join(command)}")


def _other_version(part: str, folder: Path) -> SettingsMismatch:
    remedy = shlex.join(["ragstone", "rebuild", "--kb", str(folder)])
    return SettingsMismatch(f"{folder} was built by another version of the {part}; run: {remedy}")


def _of(tree: Tree) -> dict[str, Any]:
    """The settings of a tree that decide what is stored."""
    return {path: tree[s][n] for path in PATHS for s, n in [path.split(".")] if n in tree.get(s, {})}
