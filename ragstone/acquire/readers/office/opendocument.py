"""OpenDocument texts (odt) and presentations (odp): paragraphs, headings, lists, tables and slides in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.numbers import span, whole
from ragstone.acquire.readers.office.comments import Comment
from ragstone.acquire.readers.office.formulas import written_formula
from ragstone.acquire.readers.office.numbering import written_number
from ragstone.acquire.readers.office.package import Element, Package, local
from ragstone.acquire.readers.parsed import File, Parsed, Writer, iso_date
from ragstone.acquire.readers.pictures.embedded import EmbeddedPictures
from ragstone.acquire.readers.scripts import Run, joined
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
_KINDS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_HREF = "{http://www.w3.org/1999/xlink}href"
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
        if text is None and shown is None:
            raise Unreadable("damaged: there is no text document in it, and no presentation")
        named = package.named(file.settings.access.column)
        about = package.xml("meta.xml").find(f"{_OFFICE}meta") if "meta.xml" in package.names else None
        styles = [content, *([package.xml("styles.xml")] if "styles.xml" in package.names else [])]
        writer, pictures = Writer(), EmbeddedPictures(file, package.picture)
        story = _Story(writer, package, pictures, _heights(styles), _numbered(styles))
        title, author, creator, created = (_property(about, tag) for tag in _FACTS)
        facts: dict[str, Scalar | tuple[Scalar, ...]] = {
            **facts_of(named),
            "author": author or creator,
            "created": iso_date(created),
        }
        if text is not None:
            story.write(text)
            return writer.parsed(title=title, facts={"kind": "odt", **pictures.facts, **facts})
        pages = shown.findall(f"{_DRAW}page") if shown is not None else []
        for number, page in enumerate(pages, 1):
            writer.page(str(number))
            story.write(page)
    return writer.parsed(title=title, facts={"kind": "odp", "pages": len(pages), **pictures.facts, **facts})


def pictures_of_ods(content: Element) -> dict[str, list[str]]:
    """Return the names of the pictures of each sheet of a spreadsheet, by its name."""
    return {table.get(f"{_TABLE}name", ""): [*_pictures_in(table)] for table in content.iter(f"{_TABLE}table")}


def _pictures_in(element: Element) -> Iterator[str]:
    for image in element.iter(f"{_DRAW}image"):
        yield image.get(_HREF, "").removeprefix("./")


def _property(about: Element | None, tag: str) -> str:
    return ((about.findtext(tag) if about is not None else "") or "").strip()


@dataclass(frozen=True, slots=True)
class _Story:
    """Writes the text of a document.

    ``heights`` has the styles that raise or lower words, ``numbered`` those of lists that count.
    """

    writer: Writer
    package: Package
    pictures: EmbeddedPictures
    heights: Mapping[str, int]
    numbered: Mapping[tuple[str, int], tuple[str, str]]

    def write(self, parent: Element, depth: int = 0, mark: str = "", lists: tuple[str, ...] = ()) -> None:
        """Write the blocks in an element.

        Args:
            parent: the element.
            depth: the number of elements around it.
            mark: what stands before the next paragraph, if it is an item of a list.
            lists: the style of the outermost list around it, once for each list.
        """
        count = 0
        for element in parent:
            match local(element):
                case "h":
                    level = element.get(f"{_TEXT}outline-level", "1")
                    self.writer.heading(self._text(element), int(level) if level.isdigit() else 1)
                    self._shown(element)
                case "p" if mark:
                    text = self._text(element).strip()
                    self.writer.line(f"{mark} {text}" if text else "")
                    self._shown(element)
                case "p":
                    self.writer.paragraph(self._text(element))
                    self._shown(element)
                case "table":
                    self.writer.table([*self._rows(element)])
                    self._shown(element)
                case "annotation":
                    self._comment(element)
                case "frame" if (role := element.get(f"{_PRESENTATION}class", "")) in ("title", *_FURNITURE):
                    if role == "title":
                        self.writer.heading(" ".join(self._text(one) for one in element.iter(f"{_TEXT}p")), 1)
                case "notes":
                    texts = (self._text(one).strip() for one in element.iter(f"{_TEXT}p"))
                    words = "\n".join(one for one in texts if one)
                    self.writer.paragraph(f"Notes: {words}" if words else "")
                case "object":
                    self._object(element)
                case "image":
                    self._pictures(element)
                case "list" if depth < _DEEPEST:
                    style = lists[0] if lists else element.get(f"{_TEXT}style-name", "")
                    self.write(element, depth + 1, "-", (*lists, style))
                case "list-item" if depth < _DEEPEST:
                    count += 1
                    self.write(element, depth + 1, self._mark(element, count, lists), lists)
                case tag if tag not in _SKIPPED and depth < _DEEPEST:
                    self.write(element, depth + 1, mark, lists)
                case _:
                    pass

    def _mark(self, item: Element, count: int, lists: tuple[str, ...]) -> str:
        """Return what stands before an item: its number in a list that counts, a dash in any other."""
        kind, suffix = self.numbered.get((lists[0] if lists else "", len(lists)), ("", ""))
        number = whole(item.get(f"{_TEXT}start-value"), count)
        return f"{written_number(number, kind)}{suffix}" if kind else "-"

    def _shown(self, paragraph: Element) -> None:
        """Write what an element shows beside its words."""
        for one in paragraph.iter(f"{_DRAW}object"):
            self._object(one)
        self._pictures(paragraph)
        for one in paragraph.iter(f"{_OFFICE}annotation"):
            self._comment(one)

    def _pictures(self, element: Element) -> None:
        for name in _pictures_in(element):
            self.pictures.write(self.writer, name)

    def _comment(self, element: Element) -> None:
        words = " ".join(self._text(one).strip() for one in element.iter(f"{_TEXT}p"))
        author, date = ((element.findtext(f"{_DC}{name}") or "").strip() for name in ("creator", "date"))
        self.writer.paragraph(
            Comment(text=words, author=author, created=iso_date(date)[:10]).written() if words else ""
        )

    def _object(self, frame: Element) -> None:
        """Write a chart as its table, and a formula as text."""
        name = f"{frame.get(_HREF, '').removeprefix('./')}/content.xml"
        if name not in self.package.names:
            self.writer.left_out("embedded object")
            return
        content = self.package.xml(name)
        tables = [*content.iter(f"{_TABLE}table")]
        if local(content) == "math":
            self.writer.paragraph(written_formula(content))
        elif tables:
            for table in tables:
                self.writer.table([*self._rows(table)])
        else:
            self.writer.left_out("embedded object")

    def _rows(self, table: Element, depth: int = 0, *, heading: bool = False) -> Iterator[list[Cell]]:
        """Yield the rows of a table; those of tables inside its cells are words of these cells."""
        for element in table:
            match local(element):
                case "table-row":
                    yield [*self._cells(element, heading=heading)]
                case "table-header-rows":
                    yield from self._rows(element, depth + 1, heading=True)
                case "table-row-group" | "table-rows" if depth < _DEEPEST:
                    yield from self._rows(element, depth + 1, heading=heading)
                case _:
                    pass

    def _cells(self, row: Element, *, heading: bool) -> Iterator[Cell]:
        for cell in row.iterfind(f"{_TABLE}table-cell"):
            words = " ".join(self._text(p) for p in cell.iter(f"{_TEXT}p"))
            columns, rows, repeated = (
                span(cell.get(f"{_TABLE}number-{name}"))
                for name in ("columns-spanned", "rows-spanned", "columns-repeated")
            )
            for _ in range(repeated):
                yield Cell(words, columns=columns, rows=rows, heading=heading)

    def _text(self, paragraph: Element) -> str:
        return joined(self._runs(paragraph, 0))

    def _runs(self, element: Element, height: int, depth: int = 0) -> Iterator[Run]:
        """Yield the words of a paragraph: those before, inside and after its child elements."""
        yield element.text or "", height
        for child in element:
            match local(child):
                case "s":
                    count = child.get(f"{_TEXT}c", "1")
                    yield " " * min(int(count) if count.isdigit() else 1, 100), height
                case "tab":
                    yield "\t", height
                case "line-break":
                    yield "\n", height
                case tag if tag not in _SKIPPED and depth < _DEEPEST:
                    own = self.heights.get(child.get(f"{_TEXT}style-name", ""), height)
                    yield from self._runs(child, own, depth + 1)
                case _:
                    pass
            yield child.tail or "", height


def _heights(styles: Sequence[Element]) -> dict[str, int]:
    """Return the styles that raise words (1) or lower them (-1)."""
    heights: dict[str, int] = {}
    for style in (one for part in styles for one in part.iter(f"{_STYLE}style")):
        properties = style.find(f"{_STYLE}text-properties")
        place = (properties.get(f"{_STYLE}text-position", "") if properties is not None else "").split(" ")[0]
        if place not in ("", "0%"):
            heights[style.get(f"{_STYLE}name", "")] = -1 if place == "sub" or place.startswith("-") else 1
    return heights


def _numbered(styles: Sequence[Element]) -> dict[tuple[str, int], tuple[str, str]]:
    """Return the kind of number of the lists that count, and what follows it, by style and level."""
    return {
        (style.get(f"{_STYLE}name", ""), span(level.get(f"{_TEXT}level"))): (
            _KINDS.get(level.get(f"{_STYLE}num-format", ""), ""),
            level.get(f"{_STYLE}num-suffix", "."),
        )
        for part in styles
        for style in part.iter(f"{_TEXT}list-style")
        for level in style.iterfind(f"{_TEXT}list-level-style-number")
    }
