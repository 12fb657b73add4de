"""Words and lines of a PDF page, with their positions in points from the bottom left."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ragstone.acquire.readers.tables.figures import is_after, is_before, is_value
from ragstone.acquire.readers.tables.grid import Box, around
from ragstone.core.frozen import frozen

_CELL_GAP = 1.3
"""Words farther apart than this, in line heights, belong to different cells. A space is a third of a height."""
_FIGURE_GAP = 0.8
"""The same between two figures, which no space divides."""
_SIGN_GAP = 12.0
"""A currency sign stands at the left edge of its column, at most this far from the figure."""

_SECTION = re.compile(r"\d{1,2}(?:\.\d{1,2})*\.?|[IVX]{1,5}\.")
BULLET = re.compile(r"(?P<sure>[•‣◦▪▫●○■□█◆❖➢➤►▶✓✔\uf000-\uf0ff])|[·–—*\-o](?=$)")
"""The mark of an item of a list, at the beginning of a line. Those that are not sure have other uses, too."""
_ITEM_NUMBER = re.compile(r"\(?(?:\d{1,2}|[a-zA-Z])[.)]|\[\d{1,2}\]")
_LEFTWARD = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_BACK = 6
_SHORT = 25


@frozen
class Word:
    text: str
    left: float
    right: float
    bottom: float
    top: float


@dataclass(kw_only=True)
class Line:
    """Words side by side. ``hyphen`` says that the last word continues in the next line.

    ``size`` is the height of the font in points, 0 if it is not known. ``parts`` are the cells of a row of several
    lines, which has them instead of those that gaps between words divide.
    """

    words: Sequence[Word]
    hyphen: bool = False
    size: float = 0.0
    bold: bool = False
    italic: bool = False
    parts: Sequence[Line] = ()

    @cached_property
    def top(self) -> float:
        return max(word.top for word in self.words)

    @cached_property
    def bottom(self) -> float:
        return min(word.bottom for word in self.words)

    @cached_property
    def left(self) -> float:
        return min(word.left for word in self.words)

    @cached_property
    def right(self) -> float:
        return max(word.right for word in self.words)

    @cached_property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def box(self) -> Box:
        return self.left, self.bottom, self.right, self.top

    @cached_property
    def height(self) -> float:
        return max(self.top - self.bottom, 1.0)

    @cached_property
    def is_leftward(self) -> bool:
        """Whether most of its letters are Arabic or Hebrew, so that it is read from right to left."""
        text = self.text
        return not text.isascii() and 2 * len(_LEFTWARD.findall(text)) > sum(one.isalpha() for one in text)

    @cached_property
    def cells(self) -> list[Line]:
        """The line, divided where words are far apart."""
        if self.parts:
            return [*self.parts]
        cells: list[list[Word]] = []
        for word in self.words:
            before = cells[-1][-1] if cells else word
            apart = before.left - word.right if self.is_leftward else word.left - before.right
            if cells and -self.height < apart < self._gap(cells[-1], word):
                cells[-1].append(word)
            else:
                cells.append([word])
        if len(cells) > 1 and len(cells[0]) == 1 and self._is_mark(cells[0][0], cells[1:]):
            cells[:2] = [[*cells[0], *cells[1]]]
        if len(cells) == 2 and self.bold and _SECTION.fullmatch(" ".join(word.text for word in cells[0])):
            return [self]  # the number of a heading, and its words
        return [self.of(cell) for cell in cells]

    def of(self, words: Sequence[Word]) -> Line:
        """Return a part of this line."""
        return Line(words=words, size=self.size, bold=self.bold, italic=self.italic)

    def _is_mark(self, word: Word, rest: Sequence[Sequence[Word]]) -> bool:
        """Return whether the first word of a line is the mark of an item of a list, and the rest is no row."""
        if BULLET.fullmatch(word.text):
            return word.text in "•‣●■▪" or len(rest) == 1
        return bool(_ITEM_NUMBER.fullmatch(word.text)) and len(rest) == 1 and len(rest[0]) > 1

    def _gap(self, cell: Sequence[Word], word: Word) -> float:
        """Return how far a word of the cell may be from those before it."""
        if is_before(cell[-1].text) and is_value(word.text):
            return _SIGN_GAP * self.height
        if is_value(cell[-1].text) and is_after(word.text):
            return 2 * _CELL_GAP * self.height
        if (
            is_value(cell[-1].text)
            and (is_value(word.text) or is_before(word.text))
            and (is_value(cell[0].text) or is_before(cell[0].text))
        ):
            return _FIGURE_GAP * self.height
        return _CELL_GAP * self.height


def as_read(words: Sequence[Word]) -> list[Word]:
    """Return the words of a line in the order in which they are read."""
    leftward = Line(words=words).is_leftward
    return sorted(words, key=lambda word: -word.right if leftward else word.left)


def box_of(lines: Sequence[Line]) -> Box | None:
    """Return the box around lines; None if there are none."""
    return around([line.box for line in lines])


def in_rows(lines: Sequence[Line]) -> list[Line]:
    """Return the lines, with those that follow one another in the file and stand side by side as one.

    Dates and figures may also follow one another column by column, a few lines at a time.
    """
    rows: list[Line] = []
    for line in lines:
        at = next((n for n in range(1, min(_BACK, len(rows)) + 1) if _joins(rows[-n], line, n)), 0)
        if at:
            rows[-at] = _beside(rows[-at], line)
        else:
            rows.append(line)
    return rows


def side_by_side(lines: Sequence[Line]) -> list[Line]:
    """Return lines as rows from top to bottom, whatever their order in the file."""
    rows: list[Line] = []
    for line in sorted(lines, key=lambda one: -(one.top + one.bottom)):
        at = next((n for n, row in enumerate(rows) if _is_beside(row, line)), None)
        if at is None:
            rows.append(line)
        else:
            rows[at] = _beside(rows[at], line)
    return rows


def _beside(row: Line, line: Line) -> Line:
    """Return two lines that stand side by side as one, in the order in which they are read."""
    words = as_read([*row.words, *line.words])
    size = max(row.size, line.size)
    bold, italic = row.bold and line.bold, row.italic and line.italic
    return Line(words=words, hyphen=line.hyphen, size=size, bold=bold, italic=italic)


def _joins(row: Line, line: Line, back: int) -> bool:
    if not _is_beside(row, line):
        return False
    return back == 1 or (len(line.text) <= _SHORT and _has_digit(line) and _has_digit(row))


def _has_digit(line: Line) -> bool:
    return any(one.isdigit() for one in line.text)


def _is_beside(row: Line, line: Line) -> bool:
    shared = min(row.top, line.top) - max(row.bottom, line.bottom)
    apart = line.left - row.right if line.left > row.left else row.left - line.right
    return shared > 0.6 * min(row.height, line.height) and apart >= 0.0
