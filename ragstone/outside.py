"""Components of an outsider's, named in the settings as ``package.module:Class``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ragstone.errors import SettingsError


def load(name: str, setting: str, known: str) -> Any:
    """The class, or whatever else makes the component.

    Args:
        name: as the setting has it.
        setting: its path.
        known: what else the setting can be, in words.

    Raises:
        SettingsError: it is not of this form, or cannot be imported.
    """
    module, colon, attribute = name.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module.split("."), attribute)):
        raise SettingsError(f"{setting} is '{name}'; it can be {known}, or package.module:Class")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        told = f"{setting} is '{name}', which cannot be imported: {error}; it can be {known}, or package.module:Class"
        raise SettingsError(told) from error


def require(component: object, name: str, setting: str, parts: Sequence[str]) -> None:
    """Refuse a component that lacks something.

    Raises:
        SettingsError: naming what is missing.
    """
    missing = [part for part in parts if not hasattr(component, part)]
    if missing:
        raise SettingsError(f"{setting} is '{name}', which lacks {', '.join(missing)}")
