"""Word documents: paragraphs, headings, lists and tables in order, without headers, footers and comments.

We read the XML directly: only a few elements matter, and python-docx would add 14 MB, most of it lxml.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from ragstone.acquire.readers.office.embedded import EmbeddedPictures
from ragstone.acquire.readers.office.package import Element, Package
from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.acquire.readers.tables.grid import Cell

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_CHOICE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_SKIPPED = {
    "del", "moveFrom", "delText", "instrText", "rPr", "pPr", "fldData", "commentReference", "sectPr", "Fallback",
}  # fmt: skip
"""Deleted text, the code of fields, and the copy of a drawing for older programs."""
_DEEPEST = 20
_Shown = Callable[[Writer, Element], None]
"""Writes what the pictures in an element say."""


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
        levels = _heading_levels(package.xml(parts["styles"])) if parts.get("styles") in package.names else {}
        title, facts = package.properties(file.settings.access.column)
        writer, pictures = Writer(), EmbeddedPictures(package, file)
        body = document.find(f"{_W}body")
        _write(writer, body if body is not None else document, levels, partial(pictures.write, relations=below), 0)
        for kind in ("footnotes", "endnotes"):
            if parts.get(kind) in package.names:
                shown = partial(pictures.write, relations=package.relations(parts[kind]))
                for note in package.xml(parts[kind]):
                    # A note with a type draws the line above the notes.
                    if note.get(f"{_W}type") is None:
                        _write(writer, note, {}, shown, 0)
    return writer.parsed(title=title, facts={"kind": "docx", **pictures.facts, **facts})


def _write(writer: Writer, parent: Element, levels: dict[str, int], shown: _Shown, depth: int) -> None:
    for element in parent:
        match element.tag.rpartition("}")[2]:
            case "p":
                _paragraph(writer, element, levels, shown, depth)
            case "tbl":
                # A table inside a cell becomes text of that cell.
                writer.table(_table(element))
                shown(writer, element)
            case tag if tag not in _SKIPPED and depth < _DEEPEST:
                # Content controls and inserted text, for example, hold paragraphs.
                _write(writer, element, levels, shown, depth + 1)
            case _:
                pass


def _paragraph(writer: Writer, paragraph: Element, levels: dict[str, int], shown: _Shown, depth: int) -> None:
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    outline = paragraph.find(f"{_W}pPr/{_W}outlineLvl")
    level = levels.get(style.get(f"{_W}val", ""), 0) if style is not None else 0
    if outline is not None and (written := outline.get(f"{_W}val", "")).isdigit() and int(written) < 9:
        level = int(written) + 1
    text = "".join(_text(paragraph))
    if level:
        writer.heading(text, level)
    elif paragraph.find(f"{_W}pPr/{_W}numPr") is not None and text.strip():
        writer.line(f"- {text.strip()}")
    else:
        writer.paragraph(text)
    if depth < _DEEPEST:
        for box in paragraph.iter(f"{_W}txbxContent"):
            if not _inside_fallback(paragraph, box):
                _write(writer, box, levels, shown, depth + 1)
    shown(writer, paragraph)


def _text(element: Element, depth: int = 0) -> Iterator[str]:
    """Yield the visible words of a paragraph, without those of text boxes, which are blocks of their own."""
    for child in element:
        match child.tag.rpartition("}")[2]:
            case "t":
                yield child.text or ""
            case "tab":
                yield "\t"
            case "br" | "cr":
                yield "\n"
            case "noBreakHyphen":
                yield "-"
            case tag if tag not in _SKIPPED and tag != "txbxContent" and depth < 100:
                yield from _text(child, depth + 1)
            case _:
                pass


def _table(table: Element) -> list[list[Cell]]:
    """Return the rows of a table. A cell that continues the one above has a text of its own only by mistake."""
    rows: list[list[Cell]] = []
    starts: dict[int, tuple[list[Cell], int]] = {}
    for row in table.iterfind(f"{_W}tr"):
        cells: list[Cell] = []
        before = row.find(f"{_W}trPr/{_W}gridBefore")
        column = _number(before)
        cells += [Cell("")] * column
        heading = row.find(f"{_W}trPr/{_W}tblHeader") is not None
        for cell in row.iterfind(f"{_W}tc"):
            span = max(_number(cell.find(f"{_W}tcPr/{_W}gridSpan")), 1)
            merge = cell.find(f"{_W}tcPr/{_W}vMerge")
            if merge is not None and merge.get(f"{_W}val", "continue") == "continue" and column in starts:
                above, at = starts[column]
                above[at] = replace(above[at], rows=above[at].rows + 1)
            else:
                words = " ".join("".join(_text(paragraph)) for paragraph in cell.iter(f"{_W}p"))
                cells.append(Cell(words, columns=span, heading=heading))
                starts.pop(column, None)
                if merge is not None:
                    starts[column] = (cells, len(cells) - 1)
            column += span
        rows.append(cells)
    return rows


def _number(element: Element | None) -> int:
    written = element.get(f"{_W}val", "") if element is not None else ""
    return min(int(written), 100) if written.isascii() and written.isdigit() and len(written) < 6 else 0


def _inside_fallback(paragraph: Element, box: Element) -> bool:
    return any(box is inner for fallback in paragraph.iter(f"{_CHOICE}Fallback") for inner in fallback.iter(box.tag))


def _heading_levels(styles: Element) -> dict[str, int]:
    """Return the level of each heading style, from its name, its outline level, or the style it is based on."""
    levels: dict[str, int] = {}
    based: dict[str, str] = {}
    for style in styles.iter(f"{_W}style"):
        key = style.get(f"{_W}styleId", "")
        named, outline, base = (style.find(f"{_W}{path}") for path in ("name", f"pPr/{_W}outlineLvl", "basedOn"))
        name = named.get(f"{_W}val", "").lower() if named is not None else ""
        written = outline.get(f"{_W}val", "") if outline is not None else ""
        if name == "title":
            levels[key] = 1
        elif name.startswith("heading ") and name[8:].isdigit():
            levels[key] = int(name[8:])
        elif written.isdigit() and int(written) < 9:
            levels[key] = int(written) + 1
        if base is not None:
            based[key] = base.get(f"{_W}val", "")
    for key in based:
        at, steps = key, 0
        while at not in levels and at in based and steps < _DEEPEST:
            at, steps = based[at], steps + 1
        # A level of its own counts before that of the style it is based on.
        if at in levels and key not in levels:
            levels[key] = levels[at]
    return levels
