"""The layout of a PDF page: paragraphs and tables in reading order, from the positions of words.

The order of the file is nearly always right, even across columns, so we keep it. One rule corrects it: a block comes
after the blocks above it in the same column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from ragstone.acquire.readers.parsed import Writer

_CELL_GAP = 1.3
"""Words farther apart than this, in line heights, belong to different cells. A space is a third of a height."""
_ROW_GAP = 4.0
_PARAGRAPH_GAP = 1.0
_PROSE = 30
"""If most cells are longer than this, the columns are columns of text, not of a table."""
_MOST_BLOCKS = 400
"""A page with more blocks is a drawing or a map. We do not sort it: that takes the square of their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    text: str
    left: float
    right: float
    bottom: float
    top: float


@dataclass(kw_only=True)
class Line:
    """Words side by side. ``hyphen`` says that the last word continues in the next line."""

    words: Sequence[Word]
    hyphen: bool = False

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

    @cached_property
    def cells(self) -> list[Line]:
        """The line, divided where words are far apart."""
        cells: list[list[Word]] = []
        height = max(self.top - self.bottom, 1.0)
        for word in self.words:
            if cells and -height < word.left - cells[-1][-1].right < _CELL_GAP * height:
                cells[-1].append(word)
            else:
                cells.append([word])
        return [Line(words=cell) for cell in cells]


class _Block:
    """A paragraph, or a table with the bounds of its columns."""

    def __init__(self, lines: Sequence[Line], columns: Sequence[tuple[float, float]] = ()) -> None:
        self.lines = lines
        self.columns = columns
        self.top = max(line.top for line in lines)
        self.bottom = min(line.bottom for line in lines)
        self.left = min(line.left for line in lines)
        self.right = max(line.right for line in lines)

    def is_before(self, other: _Block) -> bool:
        """Return whether this block is above another in the same column."""
        shared = min(self.right, other.right) - max(self.left, other.left)
        return shared > 1.0 and self.bottom >= other.top - 1.0


def vocabulary(pages: Sequence[Sequence[Line]]) -> frozenset[str]:
    """Return the words that no line end divides. They show how to join the words that one does."""
    words: set[str] = set()
    for lines in pages:
        after_hyphen = False
        for line in lines:
            whole = line.words[after_hyphen : -1 if line.hyphen else None]
            words.update(word.text.strip(".,;:!?()[]\"'“”‘’").casefold() for word in whole)
            after_hyphen = line.hyphen
    return frozenset(words)


def write_page(
    writer: Writer, lines: Sequence[Line], words: frozenset[str], headings: Mapping[str, int] | None = None
) -> None:
    """Write the lines of a page as blocks.

    Args:
        writer: receives the blocks.
        lines: the lines in the order of the file.
        words: the vocabulary of the document.
        headings: the level of each known heading on the page, by its words in lower case.
    """
    for block in _in_order(_blocks(lines)):
        if block.columns:
            writer.table([_row(line, block.columns) for line in block.lines])
            continue
        paragraph: list[Line] = []
        for line in block.lines:
            level = (headings or {}).get(line.text.casefold())
            if level is None:
                paragraph.append(line)
                continue
            writer.paragraph(_joined(paragraph, words))
            writer.heading(line.text, level)
            paragraph = []
        writer.paragraph(_joined(paragraph, words))


def _blocks(lines: Sequence[Line]) -> list[_Block]:
    blocks: list[_Block] = []
    number = 0
    while number < len(lines):
        end = _table_end(lines, number)
        columns = _columns(lines[number:end])
        if end - number >= 3 and len(columns) > 1:
            if _is_prose(lines[number:end]):
                # Two columns of text, which the file stores line by line across both.
                blocks += (_Block(column) for column in _apart(lines[number:end], columns))
            else:
                blocks.append(_Block(lines[number:end], columns))
            number = end
            continue
        end = number + 1
        while end < len(lines) and _goes_on(lines[end - 1], lines[end]):
            end += 1
        # The paragraph ends where a table begins.
        start = next((n for n in range(number + 1, end) if len(lines[n].cells) > 1 and _is_table(lines, n)), end)
        blocks.append(_Block(lines[number:start]))
        number = start
    return blocks


def _is_table(lines: Sequence[Line], number: int) -> bool:
    end = _table_end(lines, number)
    return end - number >= 3 and len(_columns(lines[number:end])) > 1


def _table_end(lines: Sequence[Line], number: int) -> int:
    """Return the line after a run of lines with cells. Lines with a single cell may be among them."""
    end = number
    while end < len(lines) and end - number < 500:
        line = lines[end]
        if end > number:
            gap = lines[end - 1].bottom - line.top
            height = max(line.top - line.bottom, 1.0)
            if not -0.5 * height <= gap <= _ROW_GAP * height:
                break
        if len(line.cells) < 2 and (end == number or not _fits_a_column(line, lines[number:end])):
            break
        end += 1
    while end > number and len(lines[end - 1].cells) < 2:
        end -= 1
    return end


def _fits_a_column(line: Line, rows: Sequence[Line]) -> bool:
    columns = _columns(rows)
    return len(columns) > 1 and sum(line.left < right and left < line.right for left, right in columns) <= 1


def _columns(rows: Sequence[Line]) -> list[tuple[float, float]]:
    """Return the bounds of the columns: cells that overlap from row to row belong to one column."""
    columns: list[tuple[float, float]] = []
    for left, right in sorted((cell.left, cell.right) for row in rows for cell in row.cells):
        if columns and left <= columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    return columns


def _is_prose(rows: Sequence[Line]) -> bool:
    return median(len(cell.text) for row in rows for cell in row.cells) > _PROSE


def _apart(rows: Sequence[Line], columns: Sequence[tuple[float, float]]) -> list[list[Line]]:
    cells = [cell for row in rows for cell in row.cells]
    return [[cell for cell in cells if left <= cell.left <= right] for left, right in columns]


def _row(line: Line, columns: Sequence[tuple[float, float]]) -> list[str]:
    row = [""] * len(columns)
    for cell in line.cells:
        at = next(n for n, (left, right) in enumerate(columns) if left <= cell.left <= right)
        row[at] = f"{row[at]} {cell.text}".strip()
    return row


def _goes_on(line: Line, below: Line) -> bool:
    """Return whether the second line continues the paragraph of the first."""
    height = max(line.top - line.bottom, below.top - below.bottom, 1.0)
    shared = min(line.right, below.right) - max(line.left, below.left)
    return shared > 0 and -0.6 * height <= line.bottom - below.top <= _PARAGRAPH_GAP * height


def _in_order(blocks: Sequence[_Block]) -> list[_Block]:
    """Return the blocks in the order of the file, but each after the blocks above it in its column."""
    if len(blocks) > _MOST_BLOCKS:
        return [*blocks]
    left, ordered = [*blocks], list[_Block]()
    while left:
        # Overlapping blocks may be above one another; then the file decides.
        free = (b for b in left if not any(other.is_before(b) for other in left if other is not b))
        chosen = next(free, left[0])
        left.remove(chosen)
        ordered.append(chosen)
    return ordered


def _joined(lines: Sequence[Line], words: frozenset[str]) -> str:
    """Join the lines of a paragraph, and the words that line ends divide."""
    text = ""
    cut = False
    for line in lines:
        if cut:
            first, _, rest = line.text.partition(" ")
            before = text.rpartition("\n")[2].rpartition(" ")[2]
            text += _hyphen(before, first, words) + first + ("\n" if rest else "") + rest
        else:
            text += ("\n" if text else "") + line.text
        cut = line.hyphen
    return f"{text}-" if cut else text


def _hyphen(before: str, after: str, words: frozenset[str]) -> str:
    """Return the hyphen between two halves of a word, or nothing, judged by the rest of the document or the letters.

    Dropping every such hyphen would give "conversationcentric"; keeping every one would hide "reasoning" from search.
    """
    left, right = before.strip("([\"'“‘").casefold(), after.strip(".,;:!?)]\"'”’").casefold()
    if f"{left}-{right}" in words and left + right not in words:
        return "-"
    # A name or a number is not the second half of a word: "Anglo-Saxon", "F-16".
    return "" if before[-1:].isalpha() and after[:1].islower() else "-"
