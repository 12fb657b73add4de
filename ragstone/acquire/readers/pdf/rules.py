"""Ruling lines of a PDF page, and the tables that they draw."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pypdfium2.raw as pdfium  # pyright: ignore[reportMissingTypeStubs]

from ragstone.acquire.readers.pdf.frame import Frame
from ragstone.acquire.readers.pdf.words import Line, Word, as_read, box_of
from ragstone.acquire.readers.tables.figures import is_value
from ragstone.acquire.readers.tables.grid import Cell
from ragstone.core.frozen import frozen

_THIN = 2.5
"""Points that a line is thick at most."""
_NEAR = 3.0
"""Points between lines that are meant to meet."""
_SHORTEST = 6.0
_MOST_OBJECTS = 3000
"""Objects of a page to look at; a page with more is a drawing."""
_MOST_RULES = 800


@frozen
class Rule:
    """A line from one end to the other: horizontal at the height ``at``, or vertical at the distance ``at``."""

    at: float
    start: float
    end: float


@frozen
class Rules:
    horizontal: Sequence[Rule] = ()
    vertical: Sequence[Rule] = ()


@frozen
class Ruled:
    """A table drawn with lines: its box, and the cells of each row."""

    left: float
    bottom: float
    right: float
    top: float
    rows: Sequence[Sequence[Cell]]


def rules_of(page: object, frame: Frame) -> Rules:
    """Return the ruling lines of an open PDFium page: thin boxes, and the edges of larger ones that are drawn.

    Args:
        page: the page, as PDFium gives it.
        frame: how it is turned.
    """
    count = pdfium.FPDFPage_CountObjects(page)
    if not 0 < count <= _MOST_OBJECTS:
        return Rules()
    across, down = list[Rule](), list[Rule]()
    box = [ctypes.c_float() for _ in range(4)]
    pointers = [ctypes.byref(edge) for edge in box]
    for index in range(count):
        item = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(item) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        if not pdfium.FPDFPageObj_GetBounds(item, *pointers):
            continue
        left, bottom, right, top = frame.turned(*(edge.value for edge in box))
        if min(right - left, top - bottom) > _THIN and not _is_stroked(item):
            continue  # a shaded area
        _add(across, down, left, bottom, right, top)
        if len(across) + len(down) > _MOST_RULES:
            return Rules()
    return Rules(horizontal=across, vertical=down)


def _is_stroked(path: object) -> bool:
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    return bool(pdfium.FPDFPath_GetDrawMode(path, ctypes.byref(fill), ctypes.byref(stroke)) and stroke.value)


def _add(across: list[Rule], down: list[Rule], left: float, bottom: float, right: float, top: float) -> None:
    wide, high = right - left, top - bottom
    if high <= _THIN and wide >= _SHORTEST:
        across.append(Rule(at=(top + bottom) / 2, start=left, end=right))
    elif wide <= _THIN and high >= _SHORTEST:
        down.append(Rule(at=(left + right) / 2, start=bottom, end=top))
    elif wide >= _SHORTEST and high >= _SHORTEST:
        across += (Rule(at=at, start=left, end=right) for at in (bottom, top))
        down += (Rule(at=at, start=bottom, end=top) for at in (left, right))


def ruled_tables(rules: Rules, lines: Sequence[Line]) -> tuple[list[Ruled], list[Line]]:
    """Return the tables whose cells are drawn, and the lines with the words outside of them."""
    tables: list[Ruled] = []
    rest = [*lines]
    for across, down in _components(rules):
        table, left = _table(across, down, rest)
        if table is not None:
            tables.append(table)
            rest = left
    return tables, rest


def _components(rules: Rules) -> list[tuple[list[Rule], list[Rule]]]:
    """Return the lines that meet one another, directly or over others."""
    groups: list[tuple[list[Rule], list[Rule]]] = []
    waiting: list[Rule] = [*rules.vertical]
    across: list[Rule] = [*rules.horizontal]
    while waiting:
        own_down: list[Rule] = [waiting.pop()]
        own_across: list[Rule] = []
        grown = True
        while grown:
            met = [h for h in across if any(_meet(h, v) for v in own_down)]
            across = [h for h in across if h not in met]
            own_across += met
            more = [v for v in waiting if any(_meet(h, v) for h in met)]
            waiting = [v for v in waiting if v not in more]
            own_down += more
            grown = bool(more)
        groups.append((own_across, own_down))
    return groups


def _meet(across: Rule, down: Rule) -> bool:
    return across.start - _NEAR <= down.at <= across.end + _NEAR and down.start - _NEAR <= across.at <= down.end + _NEAR


def _table(across: Sequence[Rule], down: Sequence[Rule], lines: Sequence[Line]) -> tuple[Ruled | None, list[Line]]:
    """Return the table that lines draw, and the text lines without its words; None if it is a frame, or a chart."""
    xs, ys = _snapped(down), _snapped(across)[::-1]
    rest = [*lines]
    if len(xs) < 3 or len(ys) < 3 or len(xs) > 60 or len(ys) > 200:
        return None, rest
    inside: list[Line] = []
    outside: list[Line] = []
    for line in lines:
        own, other = list[Word](), list[Word]()
        for word in line.words:
            x, y = (word.left + word.right) / 2, (word.top + word.bottom) / 2
            (own if xs[0] < x < xs[-1] and ys[-1] < y < ys[0] else other).append(word)
        inside += [Line(words=own)] if own else []
        outside += [replace(line.of(other), hyphen=line.hyphen)] if other else []
    cells = _merged(xs, ys, across, down)
    rows = _filled(xs, ys, cells, inside)
    filled = sum(1 for row in rows for cell in row if cell.text)
    if filled < 4 or max((sum(1 for cell in row if cell.text) for row in rows), default=0) < 2:
        return None, rest
    if 4 * filled < len(rows) * (len(xs) - 1):  # a chart, or a form
        return None, rest
    if _undivided(xs, ys, cells, inside) > 0.3 * len(rows):  # only rows or headings are framed
        return None, rest
    if sum(len(cell.text) for row in rows for cell in row) > 400 * filled:  # columns of prose in frames
        return None, rest
    return Ruled(left=xs[0], right=xs[-1], bottom=ys[-1], top=ys[0], rows=rows), outside


def _snapped(rules: Sequence[Rule]) -> list[float]:
    places: list[float] = []
    for at in sorted(rule.at for rule in rules):
        if not places or at - places[-1] > _NEAR:
            places.append(at)
    return places


def _merged(
    xs: Sequence[float], ys: Sequence[float], across: Sequence[Rule], down: Sequence[Rule]
) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the number of rows and columns of each cell, by the row and column where it begins."""
    high, wide = len(ys) - 1, len(xs) - 1
    beside = [[not _covers(down, xs[n + 1], (ys[at] + ys[at + 1]) / 2) for n in range(wide)] for at in range(high)]
    below = [[not _covers(across, ys[at + 1], (xs[n] + xs[n + 1]) / 2) for n in range(wide)] for at in range(high)]
    taken: set[tuple[int, int]] = set()
    cells: dict[tuple[int, int], tuple[int, int]] = {}
    for at in range(high):
        for n in range(wide):
            if (at, n) in taken:
                continue
            columns = rows = 1
            while n + columns < wide and beside[at][n + columns - 1] and (at, n + columns) not in taken:
                columns += 1
            while at + rows < high and all(below[at + rows - 1][n : n + columns]):
                rows += 1
            taken |= {(r, c) for r in range(at, at + rows) for c in range(n, n + columns)}
            cells[at, n] = (rows, columns)
    return cells


def _covers(rules: Sequence[Rule], at: float, middle: float) -> bool:
    return any(abs(rule.at - at) <= _NEAR and rule.start - 1 <= middle <= rule.end + 1 for rule in rules)


def _filled(
    xs: Sequence[float], ys: Sequence[float], cells: dict[tuple[int, int], tuple[int, int]], lines: Sequence[Line]
) -> list[list[Cell]]:
    """Return the cells with their words, row by row. A row with several lines of figures is several rows."""
    words = sorted((word for line in lines for word in line.words), key=lambda word: (-word.top, word.left))
    rows: list[list[Cell]] = []
    for at in range(len(ys) - 1):
        own = [(n, size) for (row, n), size in cells.items() if row == at]
        filled: list[tuple[int, tuple[int, int], list[Line]]] = []
        for n, (high, wide) in own:
            inside = _inside(words, xs[n], xs[n + wide], ys[at + high], ys[at])
            filled.append((n, (high, wide), _lines(inside)))
        if _divides(filled):
            rows += _divided(filled)
        else:
            rows.append([_cell(inside, columns=wide, rows=high) for _, (high, wide), inside in filled])
    return rows


def _undivided(
    xs: Sequence[float], ys: Sequence[float], cells: dict[tuple[int, int], tuple[int, int]], lines: Sequence[Line]
) -> int:
    """Return how many drawn cells hold figures far apart, as if columns had no lines between them."""
    words = [word for line in lines for word in line.words]
    count = 0
    for (at, n), (high, wide) in cells.items():
        inside = _lines(_inside(words, xs[n], xs[n + wide], ys[at + high], ys[at]))
        count += any(sum(is_value(cell.text) for cell in line.cells) > 1 for line in inside)
    return count


def _inside(words: Sequence[Word], left: float, right: float, bottom: float, top: float) -> list[Word]:
    def within(word: Word) -> bool:
        return left <= (word.left + word.right) / 2 < right and bottom <= (word.top + word.bottom) / 2 < top

    return [word for word in words if within(word)]


def _lines(words: Sequence[Word]) -> list[Line]:
    """Return words from top to bottom as lines."""
    lines: list[list[Word]] = []
    for word in words:
        middle = (word.top + word.bottom) / 2
        row = next((row for row in lines if row[0].bottom <= middle <= row[0].top), None)
        if row is None:
            lines.append([word])
        else:
            row.append(word)
    return [Line(words=as_read(row)) for row in lines]


_Held = Sequence[tuple[int, tuple[int, int], list[Line]]]


def _divides(held: _Held) -> bool:
    """Return whether a drawn row holds several: figures stand one above the other in most of its cells."""
    tall = [lines for _, (high, _), lines in held if high == 1 and len(lines) > 1]
    figures = [lines for lines in tall if sum(is_value(line.text) for line in lines) >= 0.7 * len(lines)]
    return len(figures) > 0 and len(tall) > 1 and len(tall) >= 0.5 * sum(1 for _, _, lines in held if lines)


def _cell(lines: Sequence[Line], *, columns: int, rows: int = 1) -> Cell:
    return Cell(" ".join(line.text for line in lines), columns=columns, rows=rows, box=box_of(lines))


def _divided(held: _Held) -> list[list[Cell]]:
    tops = sorted((line.top for _, _, lines in held for line in lines), reverse=True)
    places: list[float] = []
    for top in tops:
        if not places or places[-1] - top > 4.0:
            places.append(top)
    rows: list[list[Cell]] = []
    for here, below in pairwise([*places, float("-inf")]):
        rows.append(
            [_cell([one for one in lines if below < one.top <= here], columns=wide) for _, (_, wide), lines in held]
        )
    return rows
