"""The settings in force, and where each comes from."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragstone.config import Tree, leaves, load, merge, parse_overrides, read_preset
from ragstone.engine import Engine
from ragstone.errors import NotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting: its value, and the place that gave it."""

    path: str
    value: Any
    origin: str
    description: str


def in_force(kb: Path, overrides: Sequence[str], preset: str | None) -> list[Setting]:
    """Every setting as a question to the knowledge base would have it; where there is none yet, as `add` would.

    Raises:
        SettingsError: a setting is wrong.
        SettingsMismatch: a setting asked for differs from the one it was built with.
    """
    remembered: Tree = {}
    try:
        with closing(Engine.open(kb, overrides, preset=preset)) as engine:
            remembered = engine.status().built_with.tree()
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
    return [
        Setting(
            path=path,
            value=value,
            origin=next((name for name, tree in places.items() if _has(tree, path)), "default"),
            description=info.description or "",
        )
        for path, info, value in leaves(loaded.settings)
    ]


def _has(tree: Tree, path: str) -> bool:
    here: Any = tree
    for part in path.split("."):
        if not isinstance(here, dict) or part not in here:
            return False
        here = here[part]
    return True
