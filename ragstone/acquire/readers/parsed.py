"""What readers work on and what they make: a file, its text with marks, and the document of both."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from ragstone.acquire.readers.decode import Unreadable, clean
from ragstone.conditions import Scalar
from ragstone.contracts import Document, Mark
from ragstone.sections import AcquireSettings

_INVISIBLE = str.maketrans("", "", "\u00ad\u200b\u200e\u200f\u2060\ufeff")
"""Soft hyphens and marks without width: they part words that readers, and searches, see as one."""
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_DATE = re.compile(r"(\d{4})-?(\d\d)?-?(\d\d)?(?:[T ]?(\d\d):?(\d\d):?(\d\d)?)?", re.ASCII)


@dataclass(slots=True, kw_only=True)
class Budget:
    """What may still come out of an archive and of the archives in it."""

    bytes_left: int
    files_left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file to read: where its bytes are, and what it is known by.

    ``name`` is the id of its document, ``source`` what people see, and ``suffix``, such as ``.pdf``, decides how it
    is read. For a member of an archive ``path`` is a temporary file, ``depth`` says how many archives it came
    out of, and ``budget`` what they may still give.
    """

    path: Path
    name: str
    source: str
    suffix: str
    settings: AcquireSettings
    depth: int = 0
    budget: Budget | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A file inside a file, such as the attachment of an e-mail."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What a file says. ``facts`` become metadata; ``parts`` are read as files of their own."""

    text: str
    title: str = ""
    url: str = ""
    marks: tuple[Mark, ...] = ()
    facts: Mapping[str, Scalar] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()

    def document(self, file: File) -> Document:
        """The document of a file.

        Raises:
            Unreadable: there is no text in it.
        """
        if not self.text.strip():
            raise Unreadable("empty")
        facts = {key: value for key, value in self.facts.items() if value != ""}
        return Document(
            id=file.name,
            text=self.text,
            source=file.source,
            title=self.title or first_heading(self.marks),
            url=self.url,
            metadata={"path": file.name, **facts},
            marks=self.marks,
        )


def tidy(text: str) -> str:
    """Text as a reader sees it: cleaned, without invisible characters, ligatures as letters."""
    return clean(text).translate(_INVISIBLE).translate(_LIGATURES)


class Writer:
    """Puts a text together block by block and marks the blocks as it goes.

    Blocks are separated by a blank line. Whatever is given is cleaned here, so spans are exact.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._gap = ""
        self._marks: list[Mark] = []
        self._pages: list[tuple[str, int]] = []

    def paragraph(self, text: str) -> None:
        self._block(tidy(text).strip())

    def line(self, text: str) -> None:
        """A line that belongs to the one before, such as the item of a list."""
        self._gap = "\n" if self._length else ""
        self._block(tidy(text).rstrip())

    def heading(self, text: str, level: int) -> None:
        words = " ".join(tidy(text).split())
        self._mark("heading", words, level=min(max(level, 1), 9), label=words)

    def code(self, text: str, language: str = "") -> None:
        lines = tidy(text).split("\n")
        while lines and not lines[0].strip():
            lines.pop(0)
        self._mark("code", "\n".join(lines).rstrip(), label=language)

    def table(self, rows: Sequence[Sequence[str]], caption: str = "") -> None:
        """The rows of a table, one a line, cells apart by a bar; empty rows and columns are left out."""
        cells = [[" ".join(tidy(cell).split()) for cell in row] for row in rows]
        width = max((len(row) for row in cells), default=0)
        used = [n for n in range(width) if any(n < len(row) and row[n] for row in cells)]
        lines = [" | ".join(row[n] if n < len(row) else "" for n in used).rstrip(" |") for row in cells if any(row)]
        self._mark("table", "\n".join(lines), label=" ".join(tidy(caption).split()))

    def page(self, label: str) -> None:
        """What follows stands on a page of this label."""
        self._pages.append((label, self._length))

    def marked(self, text: str, marks: Sequence[Mark]) -> None:
        """A text with marks of its own, such as that of a page inside a book."""
        start = self._block(text)
        if start is not None:
            self._marks += [replace(mark, start=mark.start + start, end=mark.end + start) for mark in marks]

    def parsed(
        self, *, title: str = "", url: str = "", facts: Mapping[str, Scalar] | None = None, parts: Sequence[Part] = ()
    ) -> Parsed:
        """The text, its marks in order, and what is known about it."""
        text, marks = "".join(self._pieces), [*self._marks]
        for (label, start), (_, end) in pairwise([*self._pages, ("", self._length)]):
            words = text[start:end].strip()  # The blank line between two pages belongs to neither.
            if words:
                begin = text.index(words, start)
                marks.append(Mark(kind="page", start=begin, end=begin + len(words), label=label))
        marks.sort(key=lambda mark: (mark.start, mark.kind != "page", -mark.end))
        return Parsed(
            text=text,
            title=" ".join(tidy(title).split()),
            url=url,
            marks=tuple(marks),
            facts=facts or {},
            parts=tuple(parts),
        )

    def _block(self, text: str) -> int | None:
        """Where the block begins; nothing where it is empty."""
        if not text.strip():
            return None
        for piece in (self._gap, text):
            self._pieces.append(piece)
            self._length += len(piece)
        self._gap = "\n\n"
        return self._length - len(text)

    def _mark(self, kind: Any, text: str, *, level: int = 0, label: str = "") -> None:
        start = self._block(text)
        if start is not None:
            self._marks.append(Mark(kind=kind, start=start, end=start + len(text), level=level, label=label))


def first_heading(marks: Sequence[Mark]) -> str:
    """The words of the first heading; empty if there is none."""
    return next((mark.label for mark in marks if mark.kind == "heading" and mark.label), "")


def iso_date(written: str) -> str:
    """A date of a document's properties as ISO 8601; empty where it is none. PDF writes ``D:20240506...``."""
    found = _DATE.match(written.strip().removeprefix("D:"))
    if not found:
        return ""
    year, month, day, *clock = found.groups()
    date = "-".join(part for part in (year, month, day) if part)
    # A time without its seconds is a time; one without a day is none.
    return f"{date}T{':'.join(part or '00' for part in clock)}" if day and clock[0] else date


# ---------------------------------------------------------------- between processes


def to_json(parsed: Parsed) -> bytes:
    """As a worker sends it. Latin-1 makes text of the bytes of a part, and bytes again."""
    marks = [(mark.kind, mark.start, mark.end, mark.level, mark.label) for mark in parsed.marks]
    parts = [(part.name, part.data.decode("latin-1")) for part in parsed.parts]
    return json.dumps([parsed.text, parsed.title, parsed.url, marks, dict(parsed.facts), parts]).encode()


def from_json(data: bytes) -> Parsed:
    """As it was sent."""
    text, title, url, marks, facts, parts = json.loads(data)
    return Parsed(
        text=text,
        title=title,
        url=url,
        marks=tuple(
            Mark(kind=k, start=start, end=end, level=level, label=label) for k, start, end, level, label in marks
        ),
        facts=facts,
        parts=tuple(Part(name=name, data=data.encode("latin-1")) for name, data in parts),
    )
