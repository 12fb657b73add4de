"""Bibliographies in BibTeX: each work below its title, with what people read of its entry."""

from __future__ import annotations

import re
import unicodedata

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.acquire.readers.text.plain import text_of

_ENTRY = re.compile(r"@(\w+)\s*[{(]\s*([^\s,{}()]*)\s*,")
_FIELD = re.compile(r"([A-Za-z][\w-]*)\s*=\s*")
_BARE = re.compile(r"[^\s,{}()#\"]+")
_LONGEST = 20_000
"""Characters of a value."""
_NO_WORK = ("string", "preamble", "comment")
_HIDDEN = ("file", "owner", "timestamp", "bdsk-file-1")
_ACCENT = re.compile(r"""\\(["'`^~=.]|[uvHckr](?=[\s{]))\s*\{?\\?([A-Za-z])\}?""")
_COMBINED = dict(
    zip("\"'`^~=.uvHckr", map(chr, (776, 769, 768, 770, 771, 772, 775, 774, 780, 779, 807, 808, 778)), strict=True)
)
_LETTERS = {"ss": "ß", "ae": "æ", "AE": "Æ", "o": "ø", "O": "Ø", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł", "oe": "œ"}
_LETTER = re.compile(rf"\\({'|'.join(sorted(_LETTERS, key=len, reverse=True))})(?![A-Za-z])\s?")
_COMMAND = re.compile(r"\\[A-Za-z]+\s?|\\(?=[&%$#_{}])")


def parse(file: File) -> Parsed:
    """Return the works of a bibliography.

    Raises:
        Unreadable: there is none in it.
    """
    text, facts = text_of(file)
    writer = Writer()
    for entry in _ENTRY.finditer(text):
        if entry[1].lower() not in _NO_WORK:
            fields = _fields(text, entry.end())
            title = fields.pop("title", "") or entry[2]
            writer.heading(title, 1)
            lines = [f"{name.capitalize()}: {value}" for name, value in fields.items() if name not in _HIDDEN]
            writer.paragraph("\n".join([f"{entry[1].capitalize()} {entry[2]}", *lines]))
    parsed = writer.parsed(facts={"kind": "bib", **facts})
    if not parsed.text:
        raise Unreadable("no entry of a bibliography in it")
    return parsed


def _fields(text: str, at: int) -> dict[str, str]:
    """Return the fields of an entry that begin at a place, as plain text, by their names in lower case."""
    fields: dict[str, str] = {}
    while field := _FIELD.match(text, _skipped(text, at)):
        parts: list[str] = []
        at = field.end()
        while True:
            part, at = _value(text, at)
            parts.append(part)
            at = _skipped(text, at)
            if text[at : at + 1] != "#":
                break
            at = _skipped(text, at + 1)
        fields.setdefault(field[1].lower(), _plain("".join(parts)))
        at += text[at : at + 1] == ","
    return {name: value for name, value in fields.items() if value}


def _skipped(text: str, at: int) -> int:
    while text[at : at + 1].isspace():
        at += 1
    return at


def _value(text: str, at: int) -> tuple[str, int]:
    """Return a value, in braces, in quotes or bare, and the place behind it."""
    opened = text[at : at + 1]
    if opened not in ("{", '"'):
        bare = _BARE.match(text, at)
        return (bare[0], bare.end()) if bare else ("", at)
    depth = 0
    for end in range(at, min(len(text), at + _LONGEST)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth <= 0 and end > at and (text[end] == opened or (opened == "{" and depth == 0)):
            return text[at + 1 : end], end + 1
    return text[at + 1 :], len(text)


def _plain(value: str) -> str:
    value = _ACCENT.sub(lambda found: unicodedata.normalize("NFC", found[2] + _COMBINED[found[1]]), value)
    value = _LETTER.sub(lambda found: _LETTERS[found[1]], value)
    value = _COMMAND.sub("", value).replace("{", "").replace("}", "").replace("~", " ").replace("--", "–")
    return " ".join(value.split())
