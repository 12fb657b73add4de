"""Import components of other packages, named in the settings as ``package.module:name``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ragstone.core.errors import SettingsError


def load(name: str, setting: str, choices: str) -> Any:
    """Return the class or function that makes a component.

    Args:
        name: the value of the setting.
        setting: its path.
        choices: the other values it can have, in words, such as "faiss or package.module:build".

    Raises:
        SettingsError: the name does not have this form, or cannot be imported.
    """
    module, colon, attribute = name.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module.split("."), attribute)):
        raise SettingsError(f"{setting} is '{name}'; it can be {choices}")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        message = f"{setting} is '{name}', which cannot be imported: {error}; it can be {choices}"
        raise SettingsError(message) from error


def is_importable(module: str) -> bool:
    """Return whether a name is that of a module that is installed; nothing is imported."""
    package = module.partition(".")[0]
    try:
        return all(part.isidentifier() for part in module.split(".")) and find_spec(package) is not None
    except ImportError:  # a finder of the program's own refuses it
        return False


def require(component: object, name: str, setting: str, parts: Sequence[str]) -> None:
    """Refuse a component that lacks a method or an attribute.

    Raises:
        SettingsError: naming what is missing.
    """
    missing = [part for part in parts if not hasattr(component, part)]
    if missing:
        raise SettingsError(f"{setting} is '{name}', which lacks {', '.join(missing)}")
