"""OpenDocument texts (odt) and presentations (odp): paragraphs, headings, lists, tables and slides in order."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.office.package import Element, Package
from ragstone.acquire.readers.parsed import File, Parsed, Writer, iso_date
from ragstone.acquire.readers.tables.grid import Cell
from ragstone.core.filters import Scalar
from ragstone.core.named_groups import facts_of

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_PRESENTATION = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_META = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_FACTS = (f"{_DC}title", f"{_META}initial-creator", f"{_DC}creator", f"{_META}creation-date")
_SKIPPED = {"tracked-changes", "sequence-decls", "table-of-content", "note-citation", "ruby-text", "annotation"}
_FURNITURE = ("date-time", "footer", "header", "page-number")
"""Roles of the frames of a slide that say nothing about it."""
_DEEPEST = 60


def parse(file: File) -> Parsed:
    """Return the text of an OpenDocument file.

    Raises:
        Unreadable: it is encrypted, damaged, or refused.
    """
    with Package(file.path) as package:
        if "META-INF/manifest.xml" in package.names and b"encryption-data" in package.bytes("META-INF/manifest.xml"):
            raise Unreadable("encrypted")
        content = package.xml("content.xml")
        text, shown = (content.find(f"{_OFFICE}body/{_OFFICE}{kind}") for kind in ("text", "presentation"))
        named = package.named(file.settings.access.column)
        about = package.xml("meta.xml").find(f"{_OFFICE}meta") if "meta.xml" in package.names else None
    if text is None and shown is None:
        raise Unreadable("damaged: there is no text document in it, and no presentation")
    writer = Writer()
    title, author, creator, created = (_property(about, tag) for tag in _FACTS)
    facts: dict[str, Scalar | tuple[Scalar, ...]] = {
        **facts_of(named),
        "author": author or creator,
        "created": iso_date(created),
    }
    if text is not None:
        _write(writer, text, 0)
        return writer.parsed(title=title, facts={"kind": "odt", **facts})
    pages = shown.findall(f"{_DRAW}page") if shown is not None else []
    for number, page in enumerate(pages, 1):
        writer.page(str(number))
        _write(writer, page, 0)
    return writer.parsed(title=title, facts={"kind": "odp", "pages": len(pages), **facts})


def _property(about: Element | None, tag: str) -> str:
    return ((about.findtext(tag) if about is not None else "") or "").strip()


def _write(writer: Writer, parent: Element, depth: int, bullet: str = "") -> None:
    for element in parent:
        match element.tag.rpartition("}")[2]:
            case "h":
                level = element.get(f"{_TEXT}outline-level", "1")
                writer.heading("".join(_words(element)), int(level) if level.isdigit() else 1)
            case "p" if bullet:
                text = "".join(_words(element)).strip()
                writer.line(bullet + text if text else "")
            case "p":
                writer.paragraph("".join(_words(element)))
            case "table":
                writer.table([*_rows(element)])
            case "frame" if (role := element.get(f"{_PRESENTATION}class", "")) in ("title", *_FURNITURE):
                if role == "title":
                    writer.heading(" ".join("".join(_words(one)) for one in element.iter(f"{_TEXT}p")), 1)
            case "notes":
                texts = ("".join(_words(one)).strip() for one in element.iter(f"{_TEXT}p"))
                words = "\n".join(one for one in texts if one)
                writer.paragraph(f"Notes: {words}" if words else "")
            case tag if tag not in _SKIPPED and depth < _DEEPEST:
                _write(writer, element, depth + 1, "- " if tag == "list" else bullet)
            case _:
                pass


def _rows(table: Element, depth: int = 0, *, heading: bool = False) -> Iterator[list[Cell]]:
    """Yield the rows of a table; those of tables inside its cells are words of these cells."""
    for element in table:
        match element.tag.rpartition("}")[2]:
            case "table-row":
                yield [*_cells(element, heading=heading)]
            case "table-header-rows":
                yield from _rows(element, depth + 1, heading=True)
            case "table-row-group" | "table-rows" if depth < _DEEPEST:
                yield from _rows(element, depth + 1, heading=heading)
            case _:
                pass


def _cells(row: Element, *, heading: bool) -> Iterator[Cell]:
    for cell in row.iterfind(f"{_TABLE}table-cell"):
        words = " ".join("".join(_words(p)) for p in cell.iter(f"{_TEXT}p"))
        columns, rows, repeated = (
            _number(cell.get(f"{_TABLE}number-{name}", ""))
            for name in ("columns-spanned", "rows-spanned", "columns-repeated")
        )
        for _ in range(repeated):
            yield Cell(words, columns=columns, rows=rows, heading=heading)


def _number(written: str) -> int:
    return min(int(written), 1000) if written.isascii() and written.isdigit() and len(written) < 7 else 1


def _words(element: Element, depth: int = 0) -> Iterator[str]:
    """Yield the words of a paragraph: those before, inside and after its child elements."""
    yield element.text or ""
    for child in element:
        match child.tag.rpartition("}")[2]:
            case "s":
                count = child.get(f"{_TEXT}c", "1")
                yield " " * min(int(count) if count.isdigit() else 1, 100)
            case "tab":
                yield "\t"
            case "line-break":
                yield "\n"
            case tag if tag not in _SKIPPED and depth < _DEEPEST:
                yield from _words(child, depth + 1)
            case _:
                pass
        yield child.tail or ""
