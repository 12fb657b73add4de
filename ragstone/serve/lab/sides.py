"""The two sides of the lab: the settings that each begins with, and what was changed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragstone.config import Tree, changed, leaves, load, merge, nested, written
from ragstone.errors import UsageError
from ragstone.experiment.preset import as_preset
from ragstone.review.compare import Differing
from ragstone.sections import Settings
from ragstone.serve.lab.inputs import is_changeable

NAMES = ("A", "B")
Changes = Mapping[str, Any]
"""Settings by their paths: those in which a side differs from what the lab was opened with."""


def settings_of(base: Settings, changes: Changes) -> Settings:
    """A side's settings.

    Raises:
        SettingsError: a value does not fit its setting.
    """
    tree: Tree = {}
    for path, value in changes.items():
        tree = merge(tree, nested(path, value))
    return changed(base, tree)


def changes_of(base: Settings, preset: str) -> dict[str, Any]:
    """What a side changes to be as a preset is, as far as that needs no rebuild.

    Raises:
        SettingsError: there is no such preset.
    """
    return minus(load(preset=preset).settings, base)


def minus(one: Settings, base: Settings) -> dict[str, Any]:
    """The settings of a question in which one differs from another."""
    known = {path: value for path, _, value in leaves(base)}
    return {path: value for path, _, value in leaves(one) if is_changeable(path) and value != known.get(path)}


def differing(a: Settings, b: Settings) -> tuple[Differing, ...]:
    """The settings of a question in which the two differ."""
    known = {path: value for path, _, value in leaves(a)}
    return tuple(Differing(path=path, a=written(known[path]), b=written(value)) for path, value in minus(b, a).items())


def rebuild_command(folder: Path, changes: Changes) -> str:
    """The command that changes what is stored."""
    options = [word for path, value in changes.items() for word in ("--set", f"{path}={written(value)}")]
    return shlex.join(["ragstone", "rebuild", "--kb", str(folder), *options])


def save(settings: Settings, file: Path, *, replace: bool = False) -> None:
    """Write settings as a preset.

    Raises:
        UsageError: the file has another ending than YAML has, or is there and not to be replaced.
    """
    if file.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{file} has no ending of YAML; name it something.yaml")
    try:
        with file.open("w" if replace else "x", encoding="utf-8") as out:
            out.write(as_preset(settings))
    except FileExistsError as error:
        raise UsageError(f"{file} is there already; tick 'replace', or name another") from error
