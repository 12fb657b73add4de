"""Read JSON as models write it: with trailing commas, single quotes, comments, or the words of Python."""

from __future__ import annotations

import json
import re
from typing import Any

_PART = re.compile(
    r'"(?:[^"\\]|\\.)*"'  # a text
    r"|'(?:[^'\\]|\\.)*'(?=\s*[,:}\]])"  # a text in single quotes, which end where something follows
    r"|'(?:[^'\\]|\\.|'(?!\s*[,:}\]]))*'"
    r"|//[^\n]*|/\*.*?\*/"
    r"|,(?=\s*(?:(?://[^\n]*|/\*.*?\*/)\s*)*[}\]])"  # a trailing comma
    r"|\b(?:True|False|None|NaN|undefined)\b",
    re.DOTALL,
)
_WORDS = {"True": "true", "False": "false", "None": "null", "NaN": "null", "undefined": "null"}
_CURLY = str.maketrans({"“": '"', "”": '"', "\u00a0": " "})


def parsed(text: str) -> Any:
    """Return the value of a text as JSON, or None if it is none even with the usual slips mended."""
    for attempt in (text, _mended(text), _mended(text.translate(_CURLY))):
        try:
            return json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _mended(text: str) -> str:
    return _PART.sub(_part, text)


def _part(found: re.Match[str]) -> str:
    part = found[0]
    if part.startswith("'"):
        inside = re.sub(r"\\'", "'", part[1:-1])
        return '"' + re.sub(r'(?<!\\)"', r'\\"', inside) + '"'
    return part if part.startswith('"') else _WORDS.get(part, "")
