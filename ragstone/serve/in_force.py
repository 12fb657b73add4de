"""The settings in force, and where each comes from."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from ragstone.config import Tree, leaves, load, merge, parse_overrides, read_preset
from ragstone.engine import Engine
from ragstone.errors import NotFound, SettingsError
from ragstone.respond import choose
from ragstone.sections import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting: its value, and the place that gave it."""

    path: str
    value: Any
    origin: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """The settings, and who writes answers under them, in words."""

    settings: tuple[Setting, ...]
    writer: str


def in_force(kb: Path, overrides: Sequence[str], preset: str | None) -> InForce:
    """Every setting as a question to the knowledge base would have it; where there is none yet, as `add` would.

    Raises:
        SettingsError: a setting is wrong.
        SettingsMismatch: a setting asked for differs from the one it was built with.
    """
    remembered: Tree = {}
    try:
        with closing(Engine.open(kb, overrides, preset=preset)) as engine:
            remembered = engine.remembered
    except NotFound:
        pass
    loaded = load(overrides, preset=preset, remembered=remembered)
    typed = parse_overrides(overrides)
    if preset is not None:
        typed = merge(typed, {"preset": preset})
    # In order of precedence: the first place that has a setting gave it.
    places = {
        "command line": typed,
        "environment": loaded.explicit,
        "knowledge base": remembered,
        f"preset {loaded.settings.preset}": read_preset(loaded.settings.preset),
    }
    stand_ins = {one.path: f"stands in for {one.wanted} of the preset" for one in loaded.substitutes}
    rows = [
        Setting(
            path=path,
            value=str(value) if isinstance(value, SecretStr) else value,  # asterisks
            origin=stand_ins.get(path) or next((name for name, tree in places.items() if _has(tree, path)), "default"),
            description=info.description or "",
        )
        for path, info, value in leaves(loaded.settings)
    ]
    return InForce(settings=tuple(rows), writer=_writer(loaded.settings))


def _writer(settings: Settings) -> str:
    try:
        return str(choose(settings.respond.model, settings.services))
    except SettingsError as error:  # the settings can be looked at all the same
        return f"nobody: {error}"


def _has(tree: Tree, path: str) -> bool:
    here: Any = tree
    for part in path.split("."):
        if not isinstance(here, dict) or part not in here:
            return False
        here = here[part]
    return True
