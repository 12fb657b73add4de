"""The words used to analyse questions, one YAML file per language. To add a language, add a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ragstone.core.kinds import SearchKind
from ragstone.settings.yaml_text import read_yaml

_WORD = r"[^\W_]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """Patterns that recognise the questions of a language; they match lower-case text."""

    kinds: tuple[tuple[SearchKind, re.Pattern[str]], ...]
    code: re.Pattern[str]
    recent: re.Pattern[str]
    beginner: re.Pattern[str]
    advanced: re.Pattern[str]
    refers: re.Pattern[str]
    follows: re.Pattern[str]
    stop: frozenset[str]
    joins: tuple[str, ...]
    between: tuple[str, ...]


@cache
def languages() -> tuple[str, ...]:
    """Return the languages that have a file, as ISO 639-1 codes."""
    return tuple(sorted(file.name[:2] for file in files(__name__).iterdir() if file.name.endswith(".yaml")))


@cache
def lexicon(language: str) -> Lexicon:
    """Return the lexicon of a language, or of all languages if it has no file."""
    known = (language,) if language in languages() else languages()
    tables = [read_yaml((files(__name__) / f"{name}.yaml").read_text(encoding="utf-8")) for name in known]
    names = dict.fromkeys(name for table in tables for name in table["kinds"])
    return Lexicon(
        kinds=tuple(
            (name, _pattern([word for table in tables for word in table["kinds"].get(name, ())])) for name in names
        ),
        stop=frozenset(word for table in tables for word in table["stop"]),
        joins=tuple(dict.fromkeys(word for table in tables for word in table["joins"])),
        between=tuple(dict.fromkeys(word for table in tables for word in table["between"])),
        **{
            name: _pattern([word for table in tables for word in table[name]])
            for name in ("code", "recent", "beginner", "advanced", "refers", "follows")
        },
    )


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern that matches any of the words, as the files write them."""
    return re.compile("|".join(map(_one, words)))


def _one(word: str) -> str:
    begin = r"^\W*" if word.startswith("^") else rf"(?<!{_WORD})"
    end = f"{_WORD}*" if word.endswith("*") else ""
    return f"{begin}{re.escape(word.strip('^*'))}{end}(?!{_WORD})"
