"""Places that a text names, in any form or language: "Polish", "Polen" and "Lenkijoje" are one place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from ragstone.core.records import Span
from ragstone.settings.yaml_text import read_yaml


def places(text: str) -> dict[str, Span]:
    """Return the codes of the countries and unions that a text names, with the first place of each."""
    found: dict[str, Span] = {}
    for match in _pattern().finditer(_folded(text)):
        code = next(name for name, words in match.groupdict().items() if words)
        found.setdefault(code, Span(start=match.start(), end=match.end()))
    return found


@cache
def _pattern() -> re.Pattern[str]:
    table: Mapping[str, list[str]] = read_yaml((files(__name__) / "places.yaml").read_text(encoding="utf-8"))
    kinds = (f"(?P<{code}>{'|'.join(map(_alternative, names))})" for code, names in table.items())
    return re.compile(rf"\b(?:{'|'.join(kinds)})\b")


def _alternative(name: str) -> str:
    pattern = re.escape(name).replace(r"\*", r"[^\W\d_]*").replace(r"\ ", r"\s+")
    return f"(?i:{pattern})" if name[0].islower() else pattern


@cache
def _bases() -> dict[int, str]:
    """Return the letters with diacritics below U+0250, each with its base letter, as `str.translate` takes them."""
    decomposed = ((code, unicodedata.normalize("NFKD", chr(code))) for code in range(0xC0, 0x250))
    return {code: parts[0] for code, parts in decomposed if len(parts) == 2 and unicodedata.combining(parts[1])}


def _folded(text: str) -> str:
    """Return the text without diacritics; its length stays the same."""
    return text.translate(_bases())
