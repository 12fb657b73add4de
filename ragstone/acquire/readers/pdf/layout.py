"""The layout of a PDF page: paragraphs and tables in reading order, from the positions of words.

The order of the file is nearly always right, even across columns, so we keep it. One rule corrects it: a block comes
after the blocks above it in the same column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from statistics import median

from ragstone.acquire.readers.pdf.rules import Ruled, Rules, ruled_tables
from ragstone.acquire.readers.pdf.tables import (
    cells_of,
    columns,
    headings_as_rows,
    is_prose,
    is_table,
    table_end,
    table_start,
)
from ragstone.acquire.readers.pdf.words import Line, in_rows
from ragstone.acquire.readers.pdf.wrapped_rows import with_wrapped_row
from ragstone.acquire.readers.tables.grid import Cell

_PARAGRAPH_GAP = 1.0
_SMALL = 0.92
"""Small print is smaller than this share of the usual size of a page."""
_NOTE = re.compile(r"(?:\d{1,3}|[*†‡§¶]+|\[\d{1,3}\]|\([a-z\d]\))\s*\S")
_MOST_BLOCKS = 400
"""A page with more blocks is a drawing or a map. We do not sort it: that takes the square of their number."""


class Block:
    """A paragraph, or a table with its cells. A ``level`` above 0 makes it a heading.

    An ``item`` makes it one of a list: it is the mark, indented if the item is nested. A block that ``goes_on`` is the
    end of an item above.
    """

    def __init__(
        self,
        lines: Sequence[Line],
        rules: Rules | None = None,
        level: int = 0,
        item: str = "",
        *,
        goes_on: bool = False,
    ) -> None:
        self.lines = lines
        self.level = level
        self.item = item
        self.goes_on = goes_on
        self.cells: Sequence[Sequence[Cell]] = ()
        self.header: int | None = None
        if rules is not None:
            self.cells, self.header = cells_of(lines, rules.horizontal)
        self.top = max(line.top for line in lines) if lines else 0.0
        self.bottom = min(line.bottom for line in lines) if lines else 0.0
        self.left = min(line.left for line in lines) if lines else 0.0
        self.right = max(line.right for line in lines) if lines else 0.0

    @staticmethod
    def of_ruled(table: Ruled) -> Block:
        """Return the block of a table that is drawn with lines."""
        block = Block(())
        block.cells = table.rows
        block.left, block.right, block.bottom, block.top = table.left, table.right, table.bottom, table.top
        return block

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)

    def is_before(self, other: Block) -> bool:
        """Return whether this block is above another in the same column."""
        shared = min(self.right, other.right) - max(self.left, other.left)
        return shared > 1.0 and self.bottom >= other.top - 1.0


def lay_out(lines: Sequence[Line], rules: Rules) -> list[Block]:
    """Return the paragraphs and tables of a page in reading order.

    Args:
        lines: the lines in the order of the file.
        rules: the lines drawn on the page.
    """
    drawn, rest = ruled_tables(rules, lines)
    blocks = _with_drawn(_blocks(in_rows(rest), rules), [Block.of_ruled(table) for table in drawn])
    return _notes_last(_in_order(blocks))


def _with_drawn(blocks: Sequence[Block], drawn: Sequence[Block]) -> list[Block]:
    """Return the blocks with the drawn tables, each before the first block below it in its columns."""
    out = [*blocks]
    for table in drawn:
        at = next((n for n, block in enumerate(out) if table.is_before(block)), len(out))
        out.insert(at, table)
    return out


def _blocks(lines: Sequence[Line], rules: Rules) -> list[Block]:
    blocks: list[Block] = []
    done = number = 0
    while number < len(lines):
        end = table_end(lines, number) if len(lines[number].cells) > 1 else number
        while end > number and (changed := with_wrapped_row(lines, number, end)) != lines:
            lines, end = changed, table_end(changed, number)
        if end == number or not is_table(lines[number:end]):
            number += 1
            continue
        if is_prose(lines[number:end]):
            # Two columns of text, which the file stores line by line across both.
            blocks += [*_paragraphs(lines[done:number]), *map(Block, _apart(lines[number:end]))]
        else:
            at, above = headings_as_rows(lines, number, end, done)
            rows, lines = lines[number:end], [*lines[:at], *above, *lines[number:]]
            number = at + len(above)
            end = number + len(rows)
            start = table_start(lines, number, end, done)
            blocks += [*_paragraphs(lines[done:start]), Block(lines[start:end], rules)]
        done = number = end
    return [*blocks, *_paragraphs(lines[done:])]


def _paragraphs(lines: Sequence[Line]) -> Iterator[Block]:
    start = 0
    for number in range(1, len(lines) + 1):
        if number == len(lines) or not _goes_on(lines[number - 1], lines[number]):
            yield Block(lines[start:number])
            start = number


def _apart(rows: Sequence[Line]) -> list[list[Line]]:
    cells = [cell for row in rows for cell in row.cells]
    found = ([cell for cell in cells if left <= cell.left <= right] for left, right in columns(rows))
    return [column for column in found if column]


def _goes_on(line: Line, below: Line) -> bool:
    """Return whether the second line continues the paragraph of the first."""
    height = max(line.top - line.bottom, below.top - below.bottom, 1.0)
    shared = min(line.right, below.right) - max(line.left, below.left)
    return shared > 0 and -0.6 * height <= line.bottom - below.top <= _PARAGRAPH_GAP * height


def _in_order(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks in the order of the file, but each after the blocks above it in its column.

    A block that the file stores too late, such as a figure at the top of a column, is moved up. What follows it stays
    where it is, before the next column.
    """
    if len(blocks) > _MOST_BLOCKS:
        return [*blocks]
    ordered: list[Block] = []
    seen: set[int] = set()
    for block in blocks:
        waiting = [block] if id(block) not in seen else []
        while waiting:
            seen.add(id(waiting[-1]))
            # Overlapping blocks may be above one another; then the file decides.
            above = next((one for one in blocks if id(one) not in seen and one.is_before(waiting[-1])), None)
            if above is not None:
                waiting.append(above)
            else:
                ordered.append(waiting.pop())
    return ordered


def _notes_last(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks with footnotes behind the text, which may go on in the next column.

    A footnote is in small print, begins with its mark, and has no text below it.
    """
    sizes = [line.size for block in blocks for line in block.lines]
    if not sizes or len(blocks) > _MOST_BLOCKS:
        return [*blocks]
    limit = _SMALL * median(sizes)
    small = [block for block in blocks if block.lines and all(line.size < limit for line in block.lines)]
    text = [block for block in blocks if block not in small]
    notes = [
        block
        for block in small
        if not block.cells and _NOTE.match(block.text) and not any(block.is_before(other) for other in text)
    ]
    return [*(block for block in blocks if block not in notes), *notes]
