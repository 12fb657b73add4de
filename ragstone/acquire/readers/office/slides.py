"""PowerPoint presentations: each slide is a page, with its title as a heading, its notes and its comments."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.acquire.readers.numbers import span
from ragstone.acquire.readers.office.comments import comments
from ragstone.acquire.readers.office.formulas import written_formula
from ragstone.acquire.readers.office.objects import EmbeddedObjects
from ragstone.acquire.readers.office.package import Element, Package, Relations, local, pictures_in
from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.acquire.readers.pictures.embedded import EmbeddedPictures
from ragstone.acquire.readers.scripts import Run, joined
from ragstone.acquire.readers.tables.grid import Cell

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_TITLES = ("title", "ctrTitle")
_FURNITURE = ("dt", "ftr", "sldNum", "hdr", "sldImg")
"""Placeholders for the date, footer, number and picture of a slide."""


def parse(file: File) -> Parsed:
    """Return the slides of a presentation in order.

    Raises:
        Unreadable: it is encrypted, damaged, or refused.
    """
    with Package(file.path) as package:
        main = next(
            (n for kind, n in package.relations("").values() if kind == "officeDocument"), "ppt/presentation.xml"
        )
        slides = package.relations(main)
        title, facts = package.properties(file.settings.access.column)
        writer, count = Writer(), 0
        pictures, objects = EmbeddedPictures(file, package.picture), EmbeddedObjects(package)
        ids = [slide.get(f"{_R}id", "") for slide in package.xml(main).iter(f"{_P}sldId")]
        # A damaged list may name a slide a thousand times.
        for count, id in enumerate(dict.fromkeys(ids), 1):
            _, name = slides.get(id, ("", ""))
            if name not in package.names:
                continue
            writer.page(str(count))
            below = package.relations(name)
            _slide(writer, package.xml(name), pictures, objects, below)
            for kind, notes in below.values():
                if kind == "notesSlide" and notes in package.names:
                    words = "\n".join(text for role, text in _shapes(package.xml(notes)) if role not in _FURNITURE)
                    writer.paragraph(f"Notes: {words}" if words.strip() else "")
            for comment in comments(writer, package, below, slides):
                writer.paragraph(comment.written())
    facts = {"kind": "pptx", "pages": count, **pictures.facts, **facts}
    return writer.parsed(title=title, facts=facts, parts=objects.parts)


def _slide(
    writer: Writer, slide: Element, pictures: EmbeddedPictures, objects: EmbeddedObjects, relations: Relations
) -> None:
    for shape in slide.iter():
        if shape.tag == f"{_P}sp":
            role, text = _role(shape), _text(shape)
            if role in _TITLES:
                writer.heading(text, 1)
            elif role not in _FURNITURE:
                writer.paragraph(text)
        elif shape.tag == f"{_A}tbl":
            writer.table(_table(shape))
        elif shape.tag == f"{_P}pic":
            for name in pictures_in(shape, relations):
                pictures.write(writer, name)
        elif shape.tag == f"{_A}graphicData":
            objects.write(writer, shape, relations)


def _table(table: Element) -> list[list[Cell]]:
    properties = table.find(f"{_A}tblPr")
    first_is_heading = properties is not None and properties.get("firstRow") in ("1", "true")
    return [
        [
            Cell(
                _text(cell),
                columns=span(cell.get("gridSpan")),
                rows=span(cell.get("rowSpan")),
                heading=first_is_heading and number == 0,
            )
            for cell in row.iterfind(f"{_A}tc")
            if cell.get("hMerge") not in ("1", "true") and cell.get("vMerge") not in ("1", "true")
        ]
        for number, row in enumerate(table.iterfind(f"{_A}tr"))
    ]


def _shapes(slide: Element) -> Iterator[tuple[str, str]]:
    for shape in slide.iter(f"{_P}sp"):
        yield _role(shape), _text(shape)


def _role(shape: Element) -> str:
    placeholder = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
    return placeholder.get("type", "body") if placeholder is not None else ""


def _text(shape: Element) -> str:
    """Return the paragraphs of a shape, one per line."""
    lines, number = list[str](), 0
    for paragraph in shape.iter(f"{_A}p"):
        line = joined(_runs(paragraph)).strip()
        counts = paragraph.find(f"{_A}pPr/{_A}buAutoNum")
        number = number + 1 if counts is not None and line else 0
        first = span(counts.get("startAt")) if counts is not None else 1
        lines += [f"{first + number - 1}. {line}" if number else line] if line else []
    return "\n".join(lines)


def _runs(element: Element, height: int = 0) -> Iterator[Run]:
    for child in element:
        match local(child):
            case "t":
                yield child.text or "", height
            case "br":
                yield "\n", 0
            case "oMath":
                yield written_formula(child), 0
            case "r":
                properties = child.find(f"{_A}rPr")
                baseline = properties.get("baseline", "") if properties is not None else ""
                yield from _runs(child, -1 if baseline.startswith("-") else int(baseline not in ("", "0", "0%")))
            case _:
                yield from _runs(child, height)
