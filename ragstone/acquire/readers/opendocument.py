"""OpenDocument texts (odt): paragraphs, headings, lists and tables in order."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.grid import Cell
from ragstone.acquire.readers.package import Element, Package
from ragstone.acquire.readers.parsed import File, Parsed, Writer, iso_date

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_META = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_FACTS = (f"{_DC}title", f"{_META}initial-creator", f"{_DC}creator", f"{_META}creation-date")
_SKIPPED = {"tracked-changes", "sequence-decls", "table-of-content", "note-citation", "ruby-text", "annotation"}
_DEEPEST = 60


def parse(file: File) -> Parsed:
    """Return the text of an OpenDocument file.

    Raises:
        Unreadable: it is encrypted, damaged, or refused.
    """
    with Package(file.path) as package:
        if "META-INF/manifest.xml" in package.names and b"encryption-data" in package.bytes("META-INF/manifest.xml"):
            raise Unreadable("encrypted")
        text = package.xml("content.xml").find(f"{_OFFICE}body/{_OFFICE}text")
        about = package.xml("meta.xml").find(f"{_OFFICE}meta") if "meta.xml" in package.names else None
    if text is None:
        raise Unreadable("damaged: there is no text document in it")
    writer = Writer()
    _write(writer, text, 0)
    title, author, creator, created = (_property(about, tag) for tag in _FACTS)
    return writer.parsed(title=title, facts={"kind": "odt", "author": author or creator, "created": iso_date(created)})


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
