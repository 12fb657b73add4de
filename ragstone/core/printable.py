"""Texts that are safe on a terminal and in JSON, whatever they come from."""

from __future__ import annotations

import re

_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters except tab and line feed, marks that reorder text, and lone surrogates."""


def printable(text: str) -> str:
    """Return a text without control characters of a terminal."""
    return _UNSAFE.sub("", text)


def encodable(text: str) -> str:
    """Return a text with question marks for lone surrogates, which neither JSON nor an index can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


def escaped(text: str) -> str:
    """Return JSON text with those characters as escapes."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def one_line(text: str) -> str:
    """Return a text on one line, so that no part of it can look like a separate line."""
    return " ".join(printable(text).split())
