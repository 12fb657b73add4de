"""The files of the languages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import as_file, files
from typing import Any

from ragstone.settings.yaml_text import read_word_file

_NAME = re.compile(r"([a-z]{2})\.yaml")


@cache
def languages() -> tuple[str, ...]:
    """Return the languages that have a file, as ISO 639-1 codes."""
    names = (_NAME.fullmatch(file.name) for file in files("ragstone.language").iterdir())
    return tuple(sorted(name[1] for name in names if name))


def tried(language: str, among: Sequence[str] | None = None) -> list[str]:
    """Return languages, all if not said otherwise, in the order in which a question is read: its own, then English."""
    return sorted(languages() if among is None else among, key=lambda one: (one != language, one != "en"))


@cache
def table(language: str) -> Mapping[str, Any]:
    """Return the entries of a language."""
    return _read(language)


def entry(language: str, name: str) -> Any:
    """Return an entry of a language; the English one if it has none."""
    known = language in languages() and name in table(language)
    return table(language if known else "en")[name]


def english_name(code: str) -> str:
    """Return the English name of a language by its ISO 639-1 code; empty if it is not known."""
    return _names().get(code, "")


@cache
def measures() -> Mapping[str, Any]:
    """Return the words for one thing in tables, such as revenue and net sales, of all languages together."""
    return _read("measures")


@cache
def _names() -> Mapping[str, str]:
    return _read("names")


def _read(name: str) -> Mapping[str, Any]:
    with as_file(files("ragstone.language") / f"{name}.yaml") as file:
        return read_word_file(file)
