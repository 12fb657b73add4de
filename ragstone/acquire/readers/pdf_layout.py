"""The layout of a PDF page: paragraphs and tables in reading order, from the positions of words.

The order of the file is nearly always right, even across columns, so we keep it. One rule corrects it: a block comes
after the blocks above it in the same column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragstone.acquire.readers.grid import Cell
from ragstone.acquire.readers.parsed import Writer
from ragstone.acquire.readers.pdf_rules import Ruled, Rules, ruled_tables
from ragstone.acquire.readers.pdf_tables import cells_of, columns, is_prose, is_table, table_end, table_start
from ragstone.acquire.readers.pdf_words import Line, in_rows

_PARAGRAPH_GAP = 1.0
_MOST_CAPTION_LINES = 5
_LONGEST_CAPTION = 300
_MOST_BLOCKS = 400
"""A page with more blocks is a drawing or a map. We do not sort it: that takes the square of their number."""


class _Block:
    """A paragraph, or a table with its cells."""

    def __init__(self, lines: Sequence[Line], rules: Rules | None = None) -> None:
        self.lines = lines
        self.cells: Sequence[Sequence[Cell]] = ()
        self.header: int | None = None
        if rules is not None:
            self.cells, self.header = cells_of(lines, rules.horizontal)
        self.top = max(line.top for line in lines) if lines else 0.0
        self.bottom = min(line.bottom for line in lines) if lines else 0.0
        self.left = min(line.left for line in lines) if lines else 0.0
        self.right = max(line.right for line in lines) if lines else 0.0

    @staticmethod
    def of_ruled(table: Ruled) -> _Block:
        """Return the block of a table that is drawn with lines."""
        block = _Block(())
        block.cells = table.rows
        block.left, block.right, block.bottom, block.top = table.left, table.right, table.bottom, table.top
        return block

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
    writer: Writer,
    lines: Sequence[Line],
    words: frozenset[str],
    headings: Mapping[str, int] | None = None,
    rules: Rules | None = None,
) -> None:
    """Write the lines of a page as blocks.

    Args:
        writer: receives the blocks.
        lines: the lines in the order of the file.
        words: the vocabulary of the document.
        headings: the level of each known heading on the page, by its words in lower case.
        rules: the lines drawn on the page.
    """
    rules = rules or Rules()
    drawn, rest = ruled_tables(rules, lines)
    blocks = _with_drawn(_blocks(in_rows(rest), rules), [_Block.of_ruled(table) for table in drawn])
    caption = ""
    for block in _in_order(blocks):
        if block.cells:
            writer.table(block.cells, caption=caption, header=block.header)
            caption = ""
            continue
        caption = _caption(block)
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


def _caption(block: _Block) -> str:
    """Return a paragraph that may name the table below it; empty if it is too long."""
    text = " ".join(line.text for line in block.lines)
    return text if len(block.lines) <= _MOST_CAPTION_LINES and len(text) <= _LONGEST_CAPTION else ""


def _with_drawn(blocks: Sequence[_Block], drawn: Sequence[_Block]) -> list[_Block]:
    """Return the blocks with the drawn tables, each before the first block below it in its columns."""
    found = [*blocks]
    for table in drawn:
        at = next((n for n, block in enumerate(found) if table.is_before(block)), len(found))
        found.insert(at, table)
    return found


def _blocks(lines: Sequence[Line], rules: Rules) -> list[_Block]:
    blocks: list[_Block] = []
    done = number = 0
    while number < len(lines):
        end = table_end(lines, number) if len(lines[number].cells) > 1 else number
        if end == number or not is_table(lines[number:end]):
            number += 1
            continue
        if is_prose(lines[number:end]):
            # Two columns of text, which the file stores line by line across both.
            blocks += [*_paragraphs(lines[done:number]), *map(_Block, _apart(lines[number:end]))]
        else:
            start = table_start(lines, number, end, done)
            blocks += [*_paragraphs(lines[done:start]), _Block(lines[start:end], rules)]
        done = number = end
    return [*blocks, *_paragraphs(lines[done:])]


def _paragraphs(lines: Sequence[Line]) -> Iterator[_Block]:
    start = 0
    for number in range(1, len(lines) + 1):
        if number == len(lines) or not _goes_on(lines[number - 1], lines[number]):
            yield _Block(lines[start:number])
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
