"""What Office files hold beside their text: charts and diagrams, and files in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.numbers import whole
from ragstone.acquire.readers.office.package import Element, Package, Relations, local
from ragstone.acquire.readers.parsed import Part, Writer
from ragstone.acquire.readers.tables.grid import Cell

_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_READ = (".xlsx", ".xlsm", ".docx", ".docm", ".pptx", ".pptm", ".pdf", ".xls", ".doc", ".ppt", ".csv", ".txt", ".html")
"""Suffixes of embedded files that are read; others are packed once more, by the program that embedded them."""
_DEEPEST = 20


class EmbeddedObjects:
    """Writes the charts and diagrams of an Office file where they stand, each once, and collects the files in it."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._known: set[str] = set()
        self.parts: list[Part] = []

    def write(self, writer: Writer, element: Element, relations: Relations) -> None:
        """Write the charts and diagrams in an element, and note what cannot be read.

        Args:
            writer: receives them.
            element: a paragraph, a drawing or a frame of a slide.
            relations: what the part that the element is in refers to.
        """
        for inner in element.iter():
            match local(inner):
                case "chart":
                    self.write_part(writer, relations.get(inner.get(f"{_R}id", ""), ("", "")))
                case "relIds":
                    self.write_part(writer, relations.get(inner.get(f"{_R}dm", ""), ("", "")))
                case "OLEObject" | "oleObj":
                    self.write_part(writer, relations.get(inner.get(f"{_R}id", ""), ("", "")))
                case _:
                    pass

    def write_part(self, writer: Writer, relation: tuple[str, str]) -> None:
        """Write a chart or diagram, given as the kind and name of its part, or keep an embedded file."""
        kind, name = relation
        if name not in self._package.names or name in self._known:
            return
        self._known.add(name)
        try:
            if kind == "chart" and _write_chart(writer, self._package.xml(name)):
                return
            if kind == "diagramData":
                _write_diagram(writer, self._package.xml(name))
                return
            if kind in ("package", "oleObject") and PurePosixPath(name).suffix.lower() in _READ:
                self.parts.append(Part(name=PurePosixPath(name).name, data=self._package.bytes(name)))
                return
        except Unreadable:
            pass
        noun = {"chart": "chart", "chartEx": "chart", "diagramData": "diagram"}.get(kind, "embedded object")
        writer.left_out(noun)


def _write_chart(writer: Writer, chart: Element) -> bool:
    """Write a chart as its table: a row for each category, and a column for each series. Return whether it has one."""
    series = list(chart.iter(f"{_C}ser"))
    values = [_points(one, "val", "yVal") for one in series]
    names = [" ".join(_points(one, "tx").values()) for one in series]
    categories: dict[int, str] = {}
    for one in series:
        categories |= _points(one, "cat", "xVal")
    rows = sorted({at for column in values for at in column})
    if not rows:
        return False
    title = chart.find(f"{_C}chart/{_C}title")
    words = "".join(one.text or "" for one in title.iter(f"{_A}t")) if title is not None else ""
    writer.paragraph(words)
    head = [Cell("", heading=True), *(Cell(name, heading=True) for name in names)]
    body = [[Cell(categories.get(at, str(at + 1))), *(Cell(one.get(at, "")) for one in values)] for at in rows]
    writer.table([head, *body] if any(names) else body, caption=words, header=1 if any(names) else 0)
    return True


def _points(series: Element, *names: str) -> dict[int, str]:
    """Return the points that a chart stores of the first of these parts of a series, by their number."""
    part = next((found for name in names if (found := series.find(f"{_C}{name}")) is not None), None)
    points: dict[int, str] = {}
    for point in part.iter(f"{_C}pt") if part is not None else ():
        at, text = whole(point.get("idx"), None), point.findtext(f"{_C}v") or ""
        if at is not None:
            # A category of several levels has a point in each.
            points[at] = f"{text} {points[at]}" if at in points else text
    return points


def _write_diagram(writer: Writer, model: Element) -> None:
    """Write the words of a diagram as a list, in which what stands below another is indented."""
    words = {
        point.get("modelId", ""): " ".join("".join(one.text or "" for one in point.iter(f"{_A}t")).split())
        for point in model.iter(f"{_DGM}pt")
        if point.get("type", "node") in ("node", "asst", "doc")
    }
    below: dict[str, list[tuple[int, str]]] = {}
    for line in model.iter(f"{_DGM}cxn"):
        if line.get("type", "parOf") == "parOf":
            place = whole(line.get("srcOrd"), 0)
            below.setdefault(line.get("srcId", ""), []).append((place, line.get("destId", "")))
    inside = {key for lines in below.values() for _, key in lines}
    written: set[str] = set()
    for key, depth in _tree([one for one in words if one not in inside], below, written):
        if words.get(key):
            writer.item("  " * max(depth, 0) + "-", words[key])


def _tree(
    keys: Sequence[str], below: Mapping[str, Sequence[tuple[int, str]]], seen: set[str], depth: int = 0
) -> Iterator[tuple[str, int]]:
    for key in keys:
        if key not in seen and depth < _DEEPEST:
            seen.add(key)
            yield key, depth
            yield from _tree([one for _, one in sorted(below.get(key, ()))], below, seen, depth + 1)
