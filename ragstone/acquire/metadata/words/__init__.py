"""The words that metadata is derived from: one file per language, and lists for all languages."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from ragstone.settings.yaml_text import read_yaml

_LANGUAGES = ("en", "de", "ms", "lt")


@cache
def lines(name: str) -> tuple[str, ...]:
    """Return the entries of a plain list, without comments."""
    text = (files(__name__) / name).read_text(encoding="utf-8")
    return tuple(line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#"))


@cache
def table(name: str) -> dict[str, Any]:
    """Return the content of a YAML file."""
    return read_yaml((files(__name__) / name).read_text(encoding="utf-8"))


@cache
def in_all(key: str) -> list[Any]:
    """Return the value of a key in each language."""
    return [table(f"{name}.yaml")[key] for name in _LANGUAGES]
