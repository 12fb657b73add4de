"""What the first bytes of a file say about its kind, for files whose name says nothing."""

from __future__ import annotations

import re
from pathlib import Path

_START = 4096
_MAGIC = (
    (re.compile(rb"%PDF-"), ".pdf"),
    (re.compile(rb"\{\\rtf1"), ".rtf"),
    (re.compile(rb"\x89PNG\r\n"), ".png"),
    (re.compile(rb"\xff\xd8\xff"), ".jpg"),
    (re.compile(rb"II\*\x00|MM\x00\*"), ".tif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), ".webp"),
    (re.compile(rb"PK\x03\x04"), ".zip"),
    (re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), ".doc"),
    (re.compile(rb"#!.*\b(?:python|pypy)"), ".py"),
    (re.compile(rb"#!.*\b(?:ba|z|k|da)?sh\b"), ".sh"),
    (re.compile(rb"#!.*\b(?:node|deno)\b"), ".js"),
    (re.compile(rb"#!.*\bruby\b"), ".rb"),
    (re.compile(rb"#!.*\bperl\b"), ".pl"),
    (re.compile(rb"From \S+.*\d\d:\d\d.*\r?\n(?:>?[\w-]+:|\s*$)"), ".mbox"),
    (re.compile(rb"\s*\.so[ \t]+\S+\s*$|\s*(?=[.'])(?:.*\n)*?[.'][ \t]*(?:TH|Dd|Dt)[ \t]+\S"), ".man"),
    (re.compile(rb"\s*<(?:!doctype html|html)\b", re.IGNORECASE), ".html"),
    (re.compile(rb"(?:\xef\xbb\xbf)?\s*<\?xml\b"), ".xml"),
)


def suffix_from_content(path: Path) -> str:
    """Return the suffix of the kind that a file begins like; ``.txt`` if it begins like nothing known."""
    with path.open("rb") as stream:
        start = stream.read(_START)
    return next((suffix for magic, suffix in _MAGIC if magic.match(start)), ".txt")
