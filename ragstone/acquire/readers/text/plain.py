"""Plain text: the text of a file as it is written."""

from __future__ import annotations

import re

from ragstone.acquire.readers.decode import Unreadable, clean, detect
from ragstone.acquire.readers.parsed import File, Parsed
from ragstone.core.filters import Scalar

_BLOB = re.compile(r"(data:[\w.+-]{1,60}/[\w.+-]{1,60}(?:;[\w=.+-]{1,60}){0,5});base64,[\w+/=%-]{40,}")

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-9:;<=>?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,500}(?:\x07|\x1b\\)|[()][0-9A-Z]|[=>78DEHMNOZc])"
)


def parse(file: File) -> Parsed:
    """Return a text file, without a title."""
    text, facts = text_of(file)
    return Parsed(text=text, facts={"kind": "text", **facts})


def without_blobs(text: str) -> str:
    """Return a text in which each ``data:`` URI has only its type, because its data are no words."""
    return _BLOB.sub(r"\1", text) if ";base64," in text else text


def without_escapes(text: str) -> str:
    """Return a text without the codes by which a terminal sets colours and titles."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def text_of(file: File) -> tuple[str, dict[str, Scalar]]:
    """Return the text of a file without pictures in it, and the fact ``decoding`` if its encoding was guessed.

    Raises:
        Unreadable: there is no text, or the file is no text file.
    """
    encoding = detect(file.path, file.settings)
    text = without_escapes(without_blobs(clean(file.path.read_text(encoding=encoding.name, errors="replace"))))
    if not text.strip():
        raise Unreadable("empty")
    return text, {"decoding": encoding.note} if encoding.note else {}
