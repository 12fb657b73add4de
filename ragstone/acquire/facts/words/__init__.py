"""The words that metadata is found by: one file a language, and lists that hold for all."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from ragstone.yaml_text import read_yaml

_LANGUAGES = ("en", "de", "ms", "lt")


@cache
def lines(name: str) -> tuple[str, ...]:
    """The entries of a plain list, comments left out."""
    text = (files(__name__) / name).read_text(encoding="utf-8")
    return tuple(line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#"))


@cache
def table(name: str) -> dict[str, Any]:
    """A YAML file."""
    return read_yaml((files(__name__) / name).read_text(encoding="utf-8"))


@cache
def in_all(key: str) -> list[Any]:
    """What every language has under a key, the languages one after the other."""
    return [table(f"{name}.yaml")[key] for name in _LANGUAGES]
