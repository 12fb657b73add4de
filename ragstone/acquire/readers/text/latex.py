"""LaTeX: the text as it is written, with its chapters and sections marked."""

from __future__ import annotations

import re

from ragstone.acquire.readers.parsed import File, Parsed
from ragstone.acquire.readers.text.plain import text_of
from ragstone.core.records import Mark

_LEVELS = {"part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4}
_HEADING = re.compile(rf"^[ \t]*\\({'|'.join(_LEVELS)})\*?(?:\[[^\]\n]*\])?\{{([^\n]+?)\}}[^\n]*", re.MULTILINE)
_TITLE = re.compile(r"\\title\{((?:[^{}]|\{[^{}]{0,200}\}){1,300})\}")
_COMMAND = re.compile(r"\\\w+\*?|[{}~]")


def parse(file: File) -> Parsed:
    """Return a LaTeX file. Its title is what it declares, or else its first heading."""
    text, facts = text_of(file)
    marks = [
        Mark(kind="heading", start=found.start(), end=found.end(), level=_LEVELS[found[1]], label=_plain(found[2]))
        for found in _HEADING.finditer(text)
    ]
    title = _TITLE.search(text)
    return Parsed(
        text=text, title=_plain(title[1]) if title else "", marks=tuple(marks), facts={"kind": "latex", **facts}
    )


def _plain(words: str) -> str:
    """Return the words of a heading without commands."""
    return " ".join(_COMMAND.sub(" ", words).split())
