"""What a PDF prints on page after page: running headers, footers, and page numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from statistics import median

from ragstone.acquire.readers.pdf.characters import Page
from ragstone.acquire.readers.pdf.words import Line
from ragstone.core.frozen import frozen
from ragstone.language import lexicon
from ragstone.language.words import any_of

_MARGIN = 0.14
"""Share of the height of a page, at its top and at its bottom, in which running lines stand."""
_MOST_ROWS = 4
_LONGEST = 160
_LARGER = 1.15
_SHIFT = 4.0
"""Points that a running line may move between two pages."""
_SHARE = 0.25
"""Share of the pages that repeat a running line. Even and odd pages, and chapters, may have their own."""
_FEW, _ENOUGH = 8, 8
"""Pages of a short document, and pages that are enough for a line to run through a long one."""
_COUNTED = re.compile(r"^\W*0\b|\b0\W*$")
_COLUMNS = 3
"""A row with so many cells may be the heading of a table that goes on."""
_DIGITS = re.compile(r"\d+")
_LAST_NUMBER = re.compile(r"(?:.*\W)?(\d{1,4})\W*")
_FIRST_NUMBER = re.compile(r"\W*(\d{1,4})(?:\W.*)?")
_LEAST_GAP = 0.8
"""White space in line heights between running lines and the text."""
_AGREEING = 0.6
"""Share of the pages whose printed numbers must be in order before they become labels."""


Repeated = Mapping[tuple[bool, str], Counter[int]]
"""How often a row stands at a height, in steps of `_SHIFT`, by edge (true for the top) and words without digits."""


@frozen
class Body:
    """The lines of each page that are not repeated, and the number that is printed on it; empty if there is none."""

    pages: Sequence[Sequence[Line]]
    labels: Sequence[str]


@dataclass(slots=True)
class _Edge:
    """The rows at the top or at the bottom of a page, the outermost first, as lists of lines."""

    rows: list[list[Line]] = field(default_factory=list[list[Line]])
    gaps: list[float] = field(default_factory=list[float])
    """White space between each row and the next one inwards, in points."""


def without_running(pages: Sequence[Page]) -> Body:
    """Return the lines that do not run through the document, and the numbers that its pages carry."""
    edges = [(_edge(page, top=True), _edge(page, top=False)) for page in pages]
    repeated = _repeated(pages, edges)
    kept: list[Sequence[Line]] = []
    numbers: list[str] = []
    for number, (page, both) in enumerate(zip(pages, edges, strict=True)):
        gone: set[int] = set()
        numbers.append("")
        for top, edge in zip((True, False), both, strict=True):
            for row in _running(page, edge, repeated, top=top):
                numbers[-1] = numbers[-1] or _printed(row)
                # What heads the first page too names the document there.
                if not (top and number == 0 and not _is_number(row)):
                    gone |= {id(line) for line in row}
        rest = [line for line in page.lines if id(line) not in gone]
        kept.append(rest or page.lines)  # a page is not all margin, and a document may be a single word
    return Body(pages=kept, labels=_labels(numbers))


def _edge(page: Page, *, top: bool) -> _Edge:
    height = page.frame.height
    inside = (
        [line for line in page.lines if line.bottom > (1 - 2 * _MARGIN) * height]
        if top
        else [line for line in page.lines if line.top < 2 * _MARGIN * height]
    )
    lines = sorted(inside, key=lambda line: -line.bottom if top else line.top)
    rows: list[list[Line]] = []
    for line in lines:
        if rows and min(rows[-1][0].top, line.top) - max(rows[-1][0].bottom, line.bottom) > 0.5 * min(
            rows[-1][0].height, line.height
        ):
            rows[-1].append(line)
        else:
            rows.append([line])
    gaps = [_gap(row, inner, top=top) for row, inner in pairwise(rows)]
    return _Edge(rows=rows[: _MOST_ROWS + 1], gaps=[*gaps[: _MOST_ROWS + 1], height])


def _gap(row: Sequence[Line], inner: Sequence[Line], *, top: bool) -> float:
    if top:
        return min(line.bottom for line in row) - max(line.top for line in inner)
    return min(line.bottom for line in inner) - max(line.top for line in row)


def _repeated(pages: Sequence[Page], edges: Sequence[tuple[_Edge, _Edge]]) -> Repeated:
    """Return how often each row of the edges stands at which heights, if it stands on enough pages."""
    places: dict[tuple[bool, str], Counter[int]] = {}
    numbers: dict[tuple[bool, str], set[str]] = {}
    for page, both in zip(pages, edges, strict=True):
        for top, edge in zip((True, False), both, strict=True):
            for row in edge.rows[:_MOST_ROWS]:
                if _is_margin(page, row, top=top):
                    key = top, _key(row)
                    places.setdefault(key, Counter())[round(row[0].bottom / _SHIFT)] += 1
                    numbers.setdefault(key, set()).add(_printed(row))
    most = 2 if len(pages) < _FEW else max(3, min(round(_SHARE * len(pages)), _ENOUGH))
    # A line that counts the pages needs no more: each chapter may have its own.
    least = {key: 2 if _COUNTED.search(key[1]) and len(numbers[key]) > 1 else most for key in places}
    return {key: heights for key, heights in places.items() if heights.total() >= least[key] and key[1]}


def _is_margin(page: Page, row: Sequence[Line], *, top: bool) -> bool:
    if sum(len(line.text) for line in row) > _LONGEST:
        return False
    if top and max(line.size for line in row) > _LARGER * median(line.size for line in page.lines):
        return False  # the title of a slide, or of a chapter
    middle = (row[0].top + row[0].bottom) / 2 / page.frame.height
    return middle > 1 - _MARGIN if top else middle < _MARGIN


def _key(row: Sequence[Line]) -> str:
    words = " ".join(line.text for line in sorted(row, key=lambda line: line.left))
    return _DIGITS.sub("0", words).casefold()


def _running(page: Page, edge: _Edge, repeated: Repeated, *, top: bool) -> list[list[Line]]:
    """Return the running rows of an edge: from the outermost inwards, until one is not repeated.

    White space divides them from the text; without it, the pages merely begin or end with the same words.
    """
    length = 0
    for number, row in enumerate(edge.rows[:_MOST_ROWS]):
        if not _is_margin(page, row, top=top):
            break
        heights, at = repeated.get((top, _key(row)), Counter[int]()), round(row[0].bottom / _SHIFT)
        same = heights[at - 1] + heights[at] + heights[at + 1]
        is_number = _is_number(row)
        if same < 2 and not is_number:
            break
        if top and not is_number and sum(len(line.cells) for line in row) >= _COLUMNS and not _printed(row):
            break
        if edge.gaps[number] > _LEAST_GAP * row[0].height:
            length = number + 1
    return edge.rows[:length]


def _is_number(row: Sequence[Line]) -> bool:
    """Return whether a row is nothing but a page number."""
    return bool(_number().fullmatch(" ".join(line.text for line in row)))


def _printed(row: Sequence[Line]) -> str:
    """Return the page number in a running row; empty if it has none at its ends."""
    text = " ".join(line.text for line in sorted(row, key=lambda line: line.left))
    found = _number().fullmatch(text) or _LAST_NUMBER.fullmatch(text) or _FIRST_NUMBER.fullmatch(text)
    return found[1] if found else ""


def _labels(numbers: Sequence[str]) -> list[str]:
    """Return the printed numbers if they count the pages; empty ones if they do not."""
    steps = Counter(int(printed) - at for at, printed in enumerate(numbers) if printed.isdecimal())
    step, agreeing = steps.most_common(1)[0] if steps else (0, 0)
    if agreeing < 2 or agreeing < _AGREEING * len(numbers):
        return ["" for _ in numbers]
    return [
        printed if printed.isdecimal() and int(printed) - at == step else str(at + step) if at + step > 0 else ""
        for at, printed in enumerate(numbers)
    ]


@cache
def _number() -> re.Pattern[str]:
    """Return a pattern of a line that is a page number: "12", "Page 12 of 30"."""
    pages, of = (any_of(lexicon().layout[name]) for name in ("pages", "of"))
    return re.compile(
        rf"\W*(?:(?:{pages})\W*)?(\d{{1,4}}|[ivxl]{{1,7}})(?:\s?(?:{of}|/)\s?\d{{1,4}})?\W*", re.IGNORECASE
    )
