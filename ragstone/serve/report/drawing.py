"""Views as HTML."""

from __future__ import annotations

from collections.abc import Iterable

from ragstone.serve.report.markup import Content, Markup, table, tag
from ragstone.serve.report.plots import plot
from ragstone.serve.views.blocks import Block, Cell, Line, Part, Section, Source, Table, Tiles, View, parts_of

_CLASSES = {"green": "good", "red": "bad", "dim": "note", "yellow": "note"}
"""Classes of the page's style for styles of a view."""


def draw(view: View) -> Markup:
    """Return the markup of a view."""
    return Markup("".join(_block(one) for one in view))


def _block(block: Block) -> Markup:
    match block:
        case Line():
            return tag("p", _parts((block.head, *block.parts)))
        case Table():
            numbers = [place for place, column in enumerate(block.columns) if column.number]
            rows = [[cell(one) for one in row] for row in block.rows]
            return table([column.title for column in block.columns], rows, numbers=numbers)
        case Tiles():
            at = {"class": "tile"}
            tiles = [tag("div", tag("b", value), tag("span", name), at=at) for value, name in block.tiles]
            return tag("div", tiles, at={"class": "tiles"})
        case Source():
            return tag("pre", tag("code", block.text))
        case Section():
            return _section(block)
        case _:
            return plot(block)


def _section(block: Section) -> Markup:
    if not any(not isinstance(one, Table) or one.rows for one in block.blocks):
        return Markup("")
    inside: Content = draw(block.blocks)
    if block.closed:
        inside = tag("details", tag("summary", "Show"), inside)
    note = tag("p", block.note) if block.note else ""
    return tag("section", tag("h2", block.title), note, inside)


def cell(cell: Cell) -> Content:
    """Return the content of a table cell."""
    return _parts(parts_of(cell))


def _parts(parts: Iterable[Part]) -> list[Content]:
    drawn: list[Content] = []
    for text, style in parts:
        lines: list[Content] = []
        for number, one in enumerate(text.split("\n")):
            lines += [tag("br"), one] if number else [one]
        match style:
            case "":
                drawn.append(lines)
            case "code" | "small":
                drawn.append(tag(style, lines))
            case "bold":
                drawn.append(tag("b", lines))
            case _:
                drawn.append(tag("span", lines, at={"class": _CLASSES.get(style.split(" ")[-1], "")}))
    return drawn
