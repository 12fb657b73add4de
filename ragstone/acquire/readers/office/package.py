"""Office files: zip packages of XML, opened without trusting them."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TypeAlias
from xml.etree import ElementTree
from xml.parsers import expat

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.office.ole import MAGIC
from ragstone.acquire.readers.parsed import iso_date, tidy
from ragstone.acquire.readers.pictures.embedded import is_picture
from ragstone.core.filters import Scalar
from ragstone.core.named_groups import Named, facts_of, named_in

Element = ElementTree.Element
Relations: TypeAlias = Mapping[str, tuple[str, str]]
"""The parts that a part refers to: the last word of the kind, and the name, by id."""

_BIGGEST = 100_000_000
"""Bytes that a part may expand to. Word limits its own documents to much less."""
_DC = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"
_ADDED = ("docProps/custom.xml", "meta.xml")
"""Where Microsoft Office and OpenDocument keep the properties that people add."""
_ODF_NAME = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}name"
_BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
_EMBED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_PROGRAMS = frozenset({"python-docx", "python-pptx", "openpyxl", "xlsxwriter", "Apache POI", "PHPWord", "Un-named"})
"""Authors of files that a program wrote, of which nobody entered one."""
_TEMPLATES = ("2013-12-23T23:15:00", "2013-01-27T09:14:16")
"""When the templates of python-docx and python-pptx were made: files made from them keep their time and author."""


class Package:
    """The parts of an office file, by name.

    Raises:
        Unreadable: the file is encrypted, or no office file.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as stream:
            # A package with a password is stored inside the older OLE container.
            if stream.read(8) == MAGIC:
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
        """Return the content of a part."""
        try:
            with self._zip.open(name) as stream:
                data = stream.read(_BIGGEST + 1)
        except KeyError as error:
            raise Unreadable(f"damaged: there is no {name} in it") from error
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
            raise Unreadable(f"damaged: {name}: {error}") from error
        if len(data) > _BIGGEST:
            raise Unreadable(f"a bomb: {name} expands beyond {_BIGGEST // 1_000_000} MB")
        return data

    def picture(self, name: str) -> bytes:
        """Return a picture; none if there is no such part, or if it is of a kind that is not decoded.

        Raises:
            Unreadable: the part is damaged.
        """
        return self.bytes(name) if name in self.names and is_picture(name) else b""

    def xml(self, name: str) -> Element:
        """Return a part as XML."""
        return parse_xml(self.bytes(name), name)

    def relations(self, name: str) -> dict[str, tuple[str, str]]:
        """Return the parts that a part refers to: the last word of the kind, and the name, by id."""
        folder, _, file = name.rpartition("/")
        listed = f"{folder}/_rels/{file}.rels" if folder else f"_rels/{file}.rels"
        if listed not in self.names:
            return {}
        targets: dict[str, tuple[str, str]] = {}
        for relation in self.xml(listed).iter(_RELATION):
            if relation.get("TargetMode") != "External":
                kind = relation.get("Type", "").rpartition("/")[2]
                targets[relation.get("Id", "")] = (kind, joined(folder, relation.get("Target", "")))
        return targets

    def properties(self, column: str) -> tuple[str, dict[str, Scalar | tuple[Scalar, ...]]]:
        """Return the title of a Microsoft Office file, and the facts ``author``, ``created`` and who may read it.

        Args:
            column: the name of an access list among the properties that people add.
        """
        facts = facts_of(self.named(column))
        if "docProps/core.xml" not in self.names:
            return "", facts
        try:
            core = self.xml("docProps/core.xml")
        except Unreadable:
            return "", facts  # The text may still be intact.

        def field(tag: str) -> str:
            return tidy(core.findtext(tag) or "").strip()

        author, created = field(f"{_DC}creator"), iso_date(field(f"{_TERMS}created"))
        is_of_template = created.startswith(_TEMPLATES)
        facts |= {
            "author": "" if is_of_template or author in _PROGRAMS else author,
            "created": "" if is_of_template else created,
        }
        return field(f"{_DC}title"), facts

    def named(self, column: str) -> Named | None:
        """Return the groups that properties which people add to a file name; None if they name none."""
        part = next((one for one in _ADDED if one in self.names), "")
        try:
            added = self.xml(part).iter() if part else ()
        except Unreadable:
            return Named(problem="its properties, which may have an access list, are damaged; save it again")
        texts = {one.get(key, ""): ";".join(one.itertext()) for one in added for key in ("name", _ODF_NAME)}
        return named_in({name: text for name, text in texts.items() if name}, column)


def pictures_in(element: Element, relations: Relations) -> Iterator[str]:
    """Yield the names of the pictures in an element of a Microsoft Office file.

    Args:
        element: a paragraph, a drawing or a picture of a slide.
        relations: what the part that the element is in refers to.
    """
    for blip in element.iter(_BLIP):
        kind, name = relations.get(blip.get(_EMBED, ""), ("", ""))
        if kind == "image":
            yield name


def local(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def parse_xml(data: bytes, name: str) -> Element:
    """Parse XML that has no document type.

    Raises:
        Unreadable: the data has a document type, or is no XML.
    """
    refuse_document_type(data)
    try:
        return ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError) as error:
        raise Unreadable(f"damaged: {name}: {error}") from error


def refuse_document_type(data: bytes) -> None:
    """Refuse XML with a document type: it can declare bombs and references to other files. Office files have none.

    Raises:
        Unreadable: the data has a document type.
    """
    prolog = expat.ParserCreate()
    prolog.StartDoctypeDeclHandler = _refuse
    prolog.StartElementHandler = _enough
    # The parser that reads the data reports other errors.
    with suppress(_Enough, expat.ExpatError, ValueError):
        prolog.Parse(data, True)


def joined(folder: str, target: str) -> str:
    """Return the name of a part that a part in this folder refers to."""
    steps = [] if target.startswith("/") else [step for step in folder.split("/") if step]
    for step in target.split("/"):
        if step == "..":
            steps = steps[:-1]
        elif step not in ("", "."):
            steps.append(step)
    return "/".join(steps)


class _Enough(Exception):
    """The prolog has ended."""


def _refuse(*_: object) -> None:
    raise Unreadable("refused: it declares XML entities or a document type")


def _enough(*_: object) -> None:
    raise _Enough
