"""Word documents: paragraphs, headings, lists and tables in order, without headers and footers.

We read the XML directly: only a few elements matter, and python-docx would add 14 MB, most of it lxml.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TypeVar

from ragstone.acquire.readers.encodings import decoded
from ragstone.acquire.readers.numbers import whole
from ragstone.acquire.readers.office.comments import Comment, comments
from ragstone.acquire.readers.office.formulas import written_formula
from ragstone.acquire.readers.office.numbering import Numbered, Numbering, numbered, numbering, value
from ragstone.acquire.readers.office.objects import EmbeddedObjects
from ragstone.acquire.readers.office.package import Element, Package, Relations, local, pictures_in
from ragstone.acquire.readers.office.rtf import parse_rtf
from ragstone.acquire.readers.office.word_tables import rows_of
from ragstone.acquire.readers.parsed import File, Parsed, Part, Writer
from ragstone.acquire.readers.pictures.embedded import EmbeddedPictures
from ragstone.acquire.readers.scripts import Run, joined
from ragstone.acquire.readers.web.html import parse_page
from ragstone.core.frozen import frozen

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_CHOICE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_SKIPPED = {
    "del", "moveFrom", "delText", "instrText", "rPr", "pPr", "fldData", "commentReference", "sectPr", "Fallback",
}  # fmt: skip
"""Deleted text, the code of fields, and the copy of a drawing for older programs."""
_TICKS = {"F0FE": "☒", "F0FD": "☒", "F0FC": "✓", "F0A8": "☐", "F06F": "☐", "F072": "☐", "F052": "☑"}
"""Characters of the fonts Wingdings that people tick forms with."""
_HEIGHTS = {"superscript": 1, "subscript": -1}
_DEEPEST = 20
_T = TypeVar("_T")


@frozen
class _Styles:
    """The level of each heading style, and the list of each style whose paragraphs are numbered.

    ``headed`` names the styles of tables whose first row looks different.
    """

    levels: dict[str, int] = field(default_factory=dict[str, int])
    lists: dict[str, Numbered] = field(default_factory=dict[str, Numbered])
    headed: frozenset[str] = frozenset()


def parse(file: File) -> Parsed:
    """Return the main text of a Word document, followed by its footnotes and endnotes.

    Raises:
        Unreadable: it is encrypted, damaged, or refused.
    """
    with Package(file.path) as package:
        relations = package.relations("")
        name = next((name for kind, name in relations.values() if kind == "officeDocument"), "word/document.xml")
        document, below = package.xml(name), package.relations(name)
        parts = dict(below.values())
        counted = numbering(package.xml(parts["numbering"])) if parts.get("numbering") in package.names else Numbering()
        styles = _styles(package.xml(parts["styles"])) if parts.get("styles") in package.names else _Styles()
        title, facts = package.properties(file.settings.access.column)
        writer, pictures, objects = Writer(), EmbeddedPictures(file, package.picture), EmbeddedObjects(package)
        remarks = {one.at: one for one in comments(writer, package, below, below)}
        story = _Story(writer, package, below, styles, counted, pictures, objects, remarks)
        body = document.find(f"{_W}body")
        story.write(body if body is not None else document)
        for kind in ("footnotes", "endnotes"):
            if parts.get(kind) in package.names:
                below = package.relations(parts[kind])
                notes = _Story(writer, package, below, _Styles(), counted, pictures, objects, remarks)
                for note in package.xml(parts[kind]):
                    # A note with a type draws the line above the notes.
                    if note.get(f"{_W}type") is None:
                        notes.write(note)
    return writer.parsed(title=title, facts={"kind": "docx", **pictures.facts, **facts}, parts=objects.parts)


@dataclass(frozen=True, slots=True)
class _Story:
    """Writes a part of a document: its body, or its notes."""

    writer: Writer
    package: Package
    relations: Relations
    styles: _Styles
    numbering: Numbering
    pictures: EmbeddedPictures
    objects: EmbeddedObjects
    comments: Mapping[str, Comment]

    def write(self, parent: Element, depth: int = 0) -> None:
        """Write the blocks in an element."""
        for element in parent:
            match local(element):
                case "p":
                    self._paragraph(element, depth)
                case "tbl":
                    # A table inside a cell becomes text of that cell.
                    self.writer.table(rows_of(element, self._in_cell, self.styles.headed))
                    self._boxes(element, depth)
                    self._shown(element)
                case "altChunk":
                    self._chunk(element.get(f"{_R}id", ""))
                case tag if tag not in _SKIPPED and depth < _DEEPEST:
                    # Content controls and inserted text, for example, hold paragraphs.
                    self.write(element, depth + 1)
                case _:
                    pass

    def _paragraph(self, paragraph: Element, depth: int) -> None:
        properties = paragraph.find(f"{_W}pPr")
        style = value(properties, "pStyle") if properties is not None else ""
        outline = value(properties, "outlineLvl") if properties is not None else ""
        level = whole(outline, 0) + 1 if outline.isdigit() and int(outline) < 9 else self.styles.levels.get(style, 0)
        text = joined(_runs(paragraph))
        mark = self._mark(properties, style) if text.strip() else ""
        if level:
            self.writer.heading(f"{mark} {text}" if mark and mark != "-" else text, level)
        elif mark:
            self.writer.line(f"{mark} {text.strip()}")
        else:
            self.writer.paragraph(text)
        self._boxes(paragraph, depth)
        self._shown(paragraph)

    def _mark(self, properties: Element | None, style: str) -> str:
        """Return what stands before a paragraph that has words: its number in a list, or a dash."""
        own, inherited = numbered(properties), self.styles.lists.get(style)
        at = own or inherited
        if own and inherited and not own.list:
            at = replace(inherited, level=own.level)
        # The list 0 takes a paragraph out of the list of its style.
        return self.numbering.mark(at) if at and at.list != "0" else ""

    def _in_cell(self, paragraph: Element) -> str:
        """Return the words of a paragraph in a cell, with its number in a list."""
        properties, text = paragraph.find(f"{_W}pPr"), joined(_runs(paragraph))
        style = value(properties, "pStyle") if properties is not None else ""
        mark = self._mark(properties, style) if text.strip() else ""
        return f"{mark} {text}" if mark else text

    def _boxes(self, element: Element, depth: int) -> None:
        """Write the text boxes in an element."""
        for box in element.iter(f"{_W}txbxContent") if depth < _DEEPEST else ():
            if not _inside_fallback(element, box):
                self.write(box, depth + 1)

    def _shown(self, element: Element) -> None:
        for name in pictures_in(element, self.relations):
            self.pictures.write(self.writer, name)
        self.objects.write(self.writer, element, self.relations)
        for mark in element.iter(f"{_W}commentReference") if self.comments else ():
            if comment := self.comments.get(mark.get(f"{_W}id", "")):
                self.writer.paragraph(comment.written())

    def _chunk(self, relation: str) -> None:
        """Write a file of another kind that the document shows in this place."""
        _, name = self.relations.get(relation, ("", ""))
        suffix = PurePosixPath(name).suffix.lower()
        if name not in self.package.names:
            self.writer.left_out("embedded file")
        elif suffix in (".html", ".htm", ".xhtml"):
            self._inserted(parse_page(decoded(self.package.bytes(name)), whole=True))
        elif suffix == ".rtf":
            self._inserted(parse_rtf(self.package.bytes(name)))
        else:
            self.objects.parts.append(Part(name=PurePosixPath(name).name, data=self.package.bytes(name)))

    def _inserted(self, parsed: Parsed) -> None:
        self.writer.marked(parsed.text, parsed.marks)


def _runs(element: Element, height: int = 0, depth: int = 0) -> Iterator[Run]:
    """Yield the visible words of a paragraph, without those of text boxes, which are blocks of their own."""
    before = ""
    for child in element:
        name, before = before, local(child)
        match before:
            case "t":
                yield child.text or "", height
            case "tab" | "ptab":
                yield "\t", 0
            case "br" | "cr":
                yield "\n", 0
            case "noBreakHyphen":
                yield "-", height
            case "sym":
                yield _TICKS.get(child.get(f"{_W}char", "").upper(), ""), height
            case "ffData":
                yield _field(child), 0
            case "oMath":
                # Two formulas side by side are no product.
                yield f"{' ' if name == 'oMath' else ''}{written_formula(child)}", 0
            case "r":
                align = child.find(f"{_W}rPr/{_W}vertAlign")
                own = _HEIGHTS.get(align.get(f"{_W}val", ""), 0) if align is not None else height
                yield from _runs(child, own, depth + 1)
            case tag if tag not in _SKIPPED and tag != "txbxContent" and depth < 100:
                yield from _runs(child, height, depth + 1)
            case _:
                pass


def _field(data: Element) -> str:
    """Return what a drop-down list or a box to tick shows."""
    entries, box = data.find(f"{_W}ddList"), data.find(f"{_W}checkBox")
    if entries is not None:
        texts = [one.get(f"{_W}val", "") for one in entries.iterfind(f"{_W}listEntry")]
        chosen = whole(value(entries, "result") or value(entries, "default"), 0)
        return texts[chosen] if chosen < len(texts) else ""
    if box is not None:
        state = box.find(f"{_W}checked")
        state = box.find(f"{_W}default") if state is None else state
        return "☒" if state is not None and state.get(f"{_W}val", "1") in ("1", "true", "on") else "☐"
    return ""


def _inside_fallback(element: Element, box: Element) -> bool:
    return any(box is inner for fallback in element.iter(f"{_CHOICE}Fallback") for inner in fallback.iter(box.tag))


def _styles(part: Element) -> _Styles:
    """Return what styles say: by their names, outline levels and lists, or those of the styles they are based on."""
    levels: dict[str, int] = {}
    lists: dict[str, Numbered] = {}
    headed: dict[str, bool] = {}
    based: dict[str, str] = {}
    for style in part.iter(f"{_W}style"):
        key, properties = style.get(f"{_W}styleId", ""), style.find(f"{_W}pPr")
        name = value(style, "name").lower()
        outline = value(properties, "outlineLvl") if properties is not None else ""
        if name == "title":
            levels[key] = 1
        elif name.startswith("heading ") and name[8:].isdigit():
            levels[key] = int(name[8:])
        elif outline.isdigit() and int(outline) < 9:
            levels[key] = int(outline) + 1
        if at := numbered(properties):
            lists[key] = at
        if any(one.get(f"{_W}type") == "firstRow" for one in style.iterfind(f"{_W}tblStylePr")):
            headed[key] = True
        if base := value(style, "basedOn"):
            based[key] = base
    return _Styles(
        levels=_inherited(levels, based),
        lists=_inherited(lists, based),
        headed=frozenset(_inherited(headed, based)),
    )


def _inherited(own: dict[str, _T], based: dict[str, str]) -> dict[str, _T]:
    """Return what each style says itself, or else the nearest style that it is based on."""
    values = {**own}
    for key in based:
        at, steps = key, 0
        while at not in own and at in based and steps < _DEEPEST:
            at, steps = based[at], steps + 1
        if at in own:
            values[key] = own[at]
    return values
