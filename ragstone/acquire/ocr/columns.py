"""The gutter that divides rows of a picture into columns.

A gutter is a strip that no line crosses. It divides columns if there is running text on both sides of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragstone.acquire.ocr.recognizer import TextLine

_GUTTER = 0.3
"""Width of the narrowest gutter, in heights of a line. Boxes of lines have a margin, so gutters look narrower."""
_FEWEST_LINES = 3
"""Lines on each side of a gutter."""
_PROSE = 18
"""Characters of a line of running text, as the median of a column."""
_FEWEST_LONG = _FEWEST_LINES // 2 + 1
"""Lines of running text on each side, if their median is one: half of three or more lines."""

Band = Sequence[TextLine]
"""Lines that overlap in the middle of their heights."""


@dataclass(slots=True)
class _Strip:
    """A part of the width that lines fill: how many of them, and how many that are long.

    ``longest_short`` and ``shortest_long`` are the two lengths in the middle if half of the lines are long.
    """

    left: float
    right: float
    lines: int = 0
    long: int = 0
    longest_short: int = 0
    shortest_long: int = 1 << 62

    def add(self, length: int) -> None:
        """Count a line of so many characters."""
        self.lines += 1
        if length >= _PROSE:
            self.long += 1
            self.shortest_long = min(self.shortest_long, length)
        else:
            self.longest_short = max(self.longest_short, length)

    def join(self, other: _Strip) -> None:
        """Take in a strip beside this one."""
        self.left, self.right = min(self.left, other.left), max(self.right, other.right)
        self.lines += other.lines
        self.long += other.long
        self.longest_short = max(self.longest_short, other.longest_short)
        self.shortest_long = min(self.shortest_long, other.shortest_long)


class Columns:
    """Finds where bands are divided into columns, from any band on.

    Args:
        bands: the bands of a picture from top to bottom.
        height: the usual height of its lines.
    """

    def __init__(self, bands: Sequence[Band], height: float) -> None:
        self._bands, self._narrowest = bands, _GUTTER * height
        self._of_cells = [_is_of_cells(band) for band in bands]
        self._possible = [*_possible(bands)]

    def find(self, start: int) -> tuple[int, float]:
        """Return where the bands end that a gutter divides from ``start`` on, and its place; (0, 0) if none does."""
        best, split = 0, 0.0
        if not self._possible[start]:
            return best, split
        strips: list[_Strip] = []
        for end in range(start, len(self._bands)):
            if self._of_cells[end]:
                break
            for line in self._bands[end]:
                _insert(strips, line, self._narrowest)
            if len(strips) < 2 and end > start:
                break
            place = _gutter(strips)
            if place is not None:
                best, split = end + 1, place
        return best, split


def _possible(bands: Sequence[Band]) -> Iterator[bool]:
    """Yield for each band whether columns may begin there, by a condition that is quick to check.

    Up to the next row of cells, there must be a place with long lines on its left and others on its right.
    """
    possible: list[bool] = []
    rights: list[float] = []
    lefts: list[float] = []
    for band in reversed(bands):
        if _is_of_cells(band):
            rights, lefts = [], []
        long = [line for line in band if len(line.text) >= _PROSE]
        rights = sorted([*rights, *(line.right for line in long)])[:_FEWEST_LONG]
        lefts = sorted([*lefts, *(line.left for line in long)], reverse=True)[:_FEWEST_LONG]
        possible.append(len(rights) == _FEWEST_LONG and rights[-1] <= lefts[-1])
    yield from reversed(possible)


def _is_of_cells(band: Band) -> bool:
    """Return whether a band is a row of a table: short texts side by side."""
    return len(band) > 1 and max(len(line.text) for line in band) < _PROSE


def _insert(strips: list[_Strip], line: TextLine, narrowest: float) -> None:
    """Add a line to strips from left to right. Those that are too near for a gutter become one."""
    first = bisect_left(strips, line.left, key=_right)
    if first < len(strips) and strips[first].left <= line.left and line.right <= strips[first].right:
        strips[first].add(len(line.text))
        return
    new = _Strip(line.left, line.right)
    new.add(len(line.text))
    while first and line.left - strips[first - 1].right < narrowest:
        first -= 1
    last = first
    while last < len(strips) and strips[last].left - new.right < narrowest:
        new.join(strips[last])
        last += 1
    strips[first:last] = [new]


def _right(strip: _Strip) -> float:
    return strip.right


def _gutter(strips: Sequence[_Strip]) -> float | None:
    """Return the middle of the widest gutter between running text; None if there is none."""
    lines = long = 0
    all_lines, all_long = sum(strip.lines for strip in strips), sum(strip.long for strip in strips)
    widest, place = 0.0, None
    for number in range(1, len(strips)):
        before, after = strips[number - 1], strips[number]
        lines, long = lines + before.lines, long + before.long
        if (
            after.left - before.right > widest
            and min(lines, all_lines - lines) >= _FEWEST_LINES
            and _is_prose(lines, long, strips[:number])
            and _is_prose(all_lines - lines, all_long - long, strips[number:])
        ):
            widest, place = after.left - before.right, (before.right + after.left) / 2
    return place


def _is_prose(lines: int, long: int, strips: Sequence[_Strip]) -> bool:
    """Return whether the median length of the lines in strips is that of running text."""
    if 2 * long != lines:
        return 2 * long > lines
    middle = max(strip.longest_short for strip in strips) + min(strip.shortest_long for strip in strips)
    return middle >= 2 * _PROSE
