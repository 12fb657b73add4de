"""What is shown, as records: lines, tables, sections and plots.

The other modules of this package make them from records of the engine. The terminal (`cli.screen`), the HTML report
(`report.drawing`) and the lab draw them. Every drawer escapes the text; nothing here is markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from ragstone.core.frozen import frozen
from ragstone.core.printable import one_line

Style = Literal[
    "", "bold", "dim", "italic dim", "bold cyan", "bold green", "bold yellow", "bold red", "green", "yellow", "red",
    "code", "small",
]  # fmt: skip
"""A style in the words of rich; ``code`` and ``small`` are plain on a terminal."""
Part: TypeAlias = tuple[str, Style]
Cell: TypeAlias = str | Part | tuple[Part, ...]
"""A table cell: a text, a styled text, or several of them."""
Row: TypeAlias = Sequence[Cell]


@frozen
class Line:
    """One line of text. Wrapped text is aligned with the end of ``head``."""

    parts: tuple[Part, ...]
    indent: int = 0
    head: Part = ("", "")


@frozen
class Column:
    """A table column; a page aligns numbers to the right."""

    title: str
    number: bool = False


@frozen
class Table:
    """Rows in columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    indent: int = 0


@frozen
class Tiles:
    """Key figures of a page, each a value and its name. A terminal leaves them out."""

    tiles: tuple[tuple[str, str], ...]


@frozen
class Source:
    """Source text such as YAML, shown with its line breaks."""

    text: str


@frozen
class Dot:
    """A mean with its interval in a plot; ``style`` says whether it is good, bad, neutral or an ordinary value."""

    label: str
    mean: float
    low: float
    high: float
    figures: str
    style: Literal["dot", "up", "down", "even"] = "dot"


@frozen
class Intervals:
    """A plot of means and intervals on one scale; with ``zero`` the scale includes 0 and marks it."""

    label: str
    dots: tuple[Dot, ...]
    zero: bool = False


@frozen
class Bars:
    """A plot of counts."""

    label: str
    counts: tuple[tuple[str, int], ...]


@frozen
class Changes:
    """A plot of gains and losses, largest gain first."""

    label: str
    values: tuple[float, ...]


Plot: TypeAlias = Intervals | Bars | Changes
"""Drawn on pages. A terminal leaves plots out: the same figures are in tables."""


@frozen
class Section:
    """Blocks under a title; a page folds a ``closed`` section, a terminal leaves it out."""

    title: str
    blocks: tuple[Block, ...]
    note: str = ""
    closed: bool = False


Block: TypeAlias = Line | Table | Tiles | Source | Plot | Section
View: TypeAlias = Iterable[Block]


def line(*parts: str | Part, indent: int = 0, head: Part = ("", "")) -> Line:
    """Return a line of texts, each plain or styled."""
    return Line(parts=tuple((one, "") if isinstance(one, str) else one for one in parts), indent=indent, head=head)


def table(columns: Sequence[str], rows: Iterable[Row], *, numbers: Iterable[int] = (), indent: int = 0) -> Table:
    """Return a table; ``numbers`` lists the columns, from 0, that hold numbers."""
    right = set(numbers)
    heads = tuple(Column(title=title, number=place in right) for place, title in enumerate(columns))
    return Table(columns=heads, rows=tuple(map(tuple, rows)), indent=indent)


def section(title: str, *blocks: Block | None, note: str = "", closed: bool = False) -> Section:
    """Return a section without the blocks that are None."""
    return Section(title=title, blocks=tuple(one for one in blocks if one is not None), note=note, closed=closed)


def parts_of(cell: Cell) -> tuple[Part, ...]:
    """Return the styled texts of a cell."""
    if isinstance(cell, str):
        return ((cell, ""),)
    if isinstance(cell[0], str):
        return ((cell[0], cell[1]),)  # pyright: ignore[reportReturnType] - one styled text, narrowed by its first item
    return cell  # pyright: ignore[reportReturnType]


def cut(text: str, length: int) -> str:
    """Return a text on one line and at most ``length`` characters long."""
    text = one_line(text)
    return text if len(text) <= length else text[:length].rstrip() + " …"


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: ``1 document``, ``1,200 documents``."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def moment(at: float) -> str:
    """Return a time to the minute, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
