"""What goes between the process that reads files and the one that asks for them: requests, and files that were read."""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from ragstone.acquire.readers.parsed import File, Parsed, Part, Wanted
from ragstone.core.filters import Scalar
from ragstone.core.frozen import frozen
from ragstone.core.layout import packed, unpacked
from ragstone.core.records import Mark
from ragstone.settings import AcquireSettings


@frozen
class Request:
    """A file to read, by which reader, and how many of its pictures at most."""

    reader: str
    path: str
    name: str
    source: str
    suffix: str
    pictures: int
    wanted: Wanted | None
    charset: str

    @staticmethod
    def of(file: File, reader: str, pictures: int) -> Request:
        """Return the request for a file."""
        return Request(
            reader=reader,
            path=os.fsdecode(file.path),
            name=file.name,
            source=file.source,
            suffix=file.suffix,
            pictures=pictures,
            wanted=file.wanted,
            charset=file.charset,
        )

    def to_json(self) -> bytes:
        """Return the request as `from_json` reads it."""
        wanted = [self.wanted.number, self.wanted.width] if self.wanted else None
        fields = [self.reader, self.path, self.name, self.source, self.suffix, self.pictures, wanted, self.charset]
        return json.dumps(fields).encode()

    @staticmethod
    def from_json(data: bytes) -> Request:
        """Return the request that `to_json` wrote."""
        reader, path, name, source, suffix, pictures, wanted, charset = json.loads(data)
        page = Wanted(number=wanted[0], width=wanted[1]) if wanted else None
        return Request(
            reader=reader,
            path=path,
            name=name,
            source=source,
            suffix=suffix,
            pictures=pictures,
            wanted=page,
            charset=charset,
        )

    def file(self, settings: AcquireSettings, at_work: Callable[[], None]) -> File:
        """Return the file for its reader."""
        return File(
            path=Path(self.path),
            name=self.name,
            source=self.source,
            suffix=self.suffix,
            settings=settings,
            at_work=at_work,
            wanted=self.wanted,
            charset=self.charset,
        )


def to_json(parsed: Parsed) -> bytes:
    """Return a parsed file as JSON. The bytes of its parts become text in Latin-1, one character each."""
    return json.dumps(_as_list(parsed)).encode()


def from_json(data: bytes) -> Parsed:
    """Return the parsed file that `to_json` wrote."""
    return _from_list(json.loads(data))


def _as_list(parsed: Parsed) -> list[object]:
    marks = [(mark.kind, mark.start, mark.end, mark.level, mark.label, mark.header) for mark in parsed.marks]
    parts = [(part.name, part.data.decode("latin-1")) for part in parsed.parts]
    entries = [_as_list(entry) for entry in parsed.entries]
    placed = packed(parsed.placed).decode("latin-1") if parsed.placed else ""
    pictures = [b64encode(picture).decode() for picture in parsed.pictures]
    facts = dict(parsed.facts)
    return [parsed.text, parsed.title, parsed.url, marks, placed, facts, parts, entries, parsed.key, pictures]


def _from_list(fields: Any) -> Parsed:
    text, title, url, marks, placed, facts, parts, entries, key, pictures = fields
    return Parsed(
        text=text,
        title=title,
        url=url,
        marks=tuple(
            Mark(kind=kind, start=start, end=end, level=level, label=label, header=header)
            for kind, start, end, level, label, header in marks
        ),
        placed=unpacked(placed.encode("latin-1")) if placed else (),
        facts={name: _fact(fact) for name, fact in facts.items()},
        parts=tuple(Part(name=name, data=data.encode("latin-1")) for name, data in parts),
        entries=tuple(_from_list(entry) for entry in entries),
        key=key,
        pictures=tuple(map(b64decode, pictures)),
    )


def _fact(value: Any) -> Scalar | tuple[Scalar, ...]:
    return tuple(cast("list[Scalar]", value)) if isinstance(value, list) else value
