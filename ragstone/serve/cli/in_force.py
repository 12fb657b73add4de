"""The settings in force, and the origin of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from ragstone.catalog.location import engines_in_use
from ragstone.core.errors import NotFound, SettingsError
from ragstone.core.frozen import frozen
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.leaving import Destination, destinations
from ragstone.history.changed_settings import ChangedSetting, ChangedSettings
from ragstone.services.models import choose
from ragstone.settings import Settings
from ragstone.settings.load import Tree, leaves, load, merge, parse_overrides, profile_of, read_preset
from ragstone.settings.substitutes import unused_keys


@frozen
class Setting:
    """A setting, its value and its origin."""

    path: str
    value: Any
    origin: str
    description: str


@frozen
class InForce:
    """All settings, the writer of the answers, in words, and what would leave this machine.

    ``leaves`` includes what servers send under settings that administrators changed while they run.
    """

    settings: tuple[Setting, ...]
    writer: str
    leaves: tuple[Destination, ...]


def in_force(kb: Path, overrides: Sequence[str], preset: str | None) -> InForce:
    """Return every setting as a query of this knowledge base has it, or as `add` would create it.

    Raises:
        SettingsError: a setting is wrong.
        SettingsMismatch: a setting differs from the one that the knowledge base was built with.
    """
    stored: Tree = {}
    changed: Mapping[str, ChangedSetting] = {}
    try:
        with closing(KnowledgeBase.open(kb, overrides, preset=preset)) as opened:
            with opened.current() as version:
                stored = version.built.remembered(engines_in_use(version.location.shelf))
            with closing(opened.history.journal()) as journal:
                changed = ChangedSettings(journal).all()
    except NotFound:
        pass
    loaded = load(overrides, preset=preset, remembered=stored)
    typed = parse_overrides(overrides)
    if preset is not None:
        typed = merge(typed, {"preset": preset})
    profile = loaded.settings.profile
    # In order of precedence: the first origin that has a setting provides its value.
    origins = {
        "command line": typed,
        "environment": load(overrides, preset=preset, with_profile=False).explicit,
        f"profile {profile}": profile_of(loaded.settings, profile) if profile else {},
        "knowledge base": stored,
        f"preset {loaded.settings.preset}": read_preset(loaded.settings.preset),
    }
    substitutes = {one.path: f"instead of {one.wanted} of the preset" for one in loaded.substitutes}

    def origin(path: str) -> str:
        return substitutes.get(path) or next((name for name, tree in origins.items() if _has(tree, path)), "default")

    rows = [
        Setting(
            path=path,
            value=str(value) if isinstance(value, SecretStr) else value,  # asterisks
            origin=origin(path),
            description=info.description or "",
        )
        for path, info, value in leaves(loaded.settings)
    ]
    leaving = _leaving(loaded.settings, changed)
    return InForce(settings=tuple(rows), writer=_writer(loaded.settings), leaves=leaving)


def _leaving(settings: Settings, changed: Mapping[str, ChangedSetting]) -> tuple[Destination, ...]:
    """Return what these settings send, then what servers send besides, under what administrators changed."""
    own = destinations(settings)
    if not changed:
        return own
    from ragstone.serve.http.live_settings import held

    served = [one for one in destinations(held(settings, changed)) if one not in own]
    return (*own, *(replace(one, setting=f"{one.setting}, changed while servers run") for one in served))


def _writer(settings: Settings) -> str:
    try:
        writer = str(choose(settings.respond.model, settings.services))
    except SettingsError as error:  # the settings can still be listed
        writer = f"nothing: {error}"
    return "; ".join(filter(None, [writer, unused_keys(settings)]))


def _has(tree: Tree, path: str) -> bool:
    here: Any = tree
    try:
        for part in path.split("."):
            here = here[part]
    except (KeyError, TypeError):
        return False
    return True
