"""Office files are zip packages of XML: opened here without trusting them."""

from __future__ import annotations

import zipfile
import zlib
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from xml.etree import ElementTree
from xml.parsers import expat

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import iso_date, tidy
from ragstone.conditions import Scalar

Element = ElementTree.Element

_BIGGEST = 100_000_000
"""Bytes that a part may expand to. Word's own limit on a document is far below."""
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_CORE = "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


class Package:
    """The parts of an office file by their names.

    Raises:
        Unreadable: it is encrypted, or no such file.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as stream:
            # Office keeps a package with a password inside its older container.
            if stream.read(8) == _OLE:
                raise Unreadable("encrypted, or in an older format under this name")
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, ValueError, OSError) as error:
            raise Unreadable(f"damaged: {error}") from error
        self.names = frozenset(self._zip.namelist())

    def __enter__(self) -> Package:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._zip.close()

    def bytes(self, name: str) -> bytes:
        """A part as it is."""
        try:
            with self._zip.open(name) as stream:
                data = stream.read(_BIGGEST + 1)
        except KeyError as error:
            raise Unreadable(f"damaged: there is no {name} in it") from error
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
            raise Unreadable(f"damaged: {name}: {error}") from error
        if len(data) > _BIGGEST:
            raise Unreadable(f"a bomb: {name} expands beyond {_BIGGEST // 1_000_000} MB")
        return data

    def xml(self, name: str) -> Element:
        """A part as XML."""
        return parse_xml(self.bytes(name), name)

    def relations(self, name: str) -> dict[str, tuple[str, str]]:
        """The parts that a part points to, by id: the last word of the kind, and the name."""
        folder, _, file = name.rpartition("/")
        listed = f"{folder}/_rels/{file}.rels" if folder else f"_rels/{file}.rels"
        if listed not in self.names:
            return {}
        found: dict[str, tuple[str, str]] = {}
        for relation in self.xml(listed).iter(_RELATION):
            if relation.get("TargetMode") != "External":
                kind = relation.get("Type", "").rpartition("/")[2]
                found[relation.get("Id", "")] = (kind, joined(folder, relation.get("Target", "")))
        return found

    def properties(self) -> tuple[str, dict[str, Scalar]]:
        """The title of a Microsoft Office file, its author and the day it was made."""
        if "docProps/core.xml" not in self.names:
            return "", {}
        try:
            core = self.xml("docProps/core.xml")
        except Unreadable:
            return "", {}  # The text may be whole all the same.

        def said(tag: str) -> str:
            return tidy(core.findtext(tag) or "").strip()

        return said(f"{_DC}title"), {"author": said(f"{_DC}creator"), "created": iso_date(said(f"{_TERMS}created"))}


def parse_xml(data: bytes, name: str) -> Element:
    """XML without a document type.

    Raises:
        Unreadable: it has one, or is no XML.
    """
    refuse_document_type(data)
    try:
        return ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError) as error:
        raise Unreadable(f"damaged: {name}: {error}") from error


def refuse_document_type(data: bytes) -> None:
    """A document type is where XML declares bombs and references to other files; office files have none.

    Raises:
        Unreadable: there is one.
    """
    prolog = expat.ParserCreate()
    prolog.StartDoctypeDeclHandler = _refuse
    prolog.StartElementHandler = _enough
    # What else is wrong, the parser that reads it will say.
    with suppress(_Enough, expat.ExpatError, ValueError):
        prolog.Parse(data, True)


def joined(folder: str, target: str) -> str:
    """The name of a part as another part, in this folder, writes it."""
    steps = [] if target.startswith("/") else [step for step in folder.split("/") if step]
    for step in target.split("/"):
        if step == "..":
            steps = steps[:-1]
        elif step not in ("", "."):
            steps.append(step)
    return "/".join(steps)


class _Enough(Exception):
    """The prolog is over."""


def _refuse(*_: object) -> None:
    raise Unreadable("refused: it declares XML entities or a document type")


def _enough(*_: object) -> None:
    raise _Enough
