"""Writing the blocks of PDF pages: paragraphs with whole words, headings and tables, and where their words stand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from ragstone.acquire.readers.parsed import Writer
from ragstone.acquire.readers.pdf.frame import Frame
from ragstone.acquire.readers.pdf.layout import Block
from ragstone.acquire.readers.pdf.words import Line
from ragstone.acquire.readers.tables.grid import Box
from ragstone.core.frozen import frozen
from ragstone.core.layout import Placed

_MOST_CAPTION_LINES = 5
_LONGEST_CAPTION = 300
_TOP = 0.7
"""Share of the height of a page above which a table begins that goes on from the page before, from as far below."""
_SHIFT = 0.04
"""Share of its width by which the edges of a table may differ on two pages."""


@frozen
class Sheet:
    """The place of a page: how it lies, and its number from 0."""

    frame: Frame
    number: int

    def placed(self, start: int, end: int, box: Box) -> Placed | None:
        """Return where characters stand that have a box on this page; None if a viewer does not see them."""
        shown = self.frame.fractions(box)
        if shown is None:
            return None
        left, top, right, bottom = shown
        return Placed(start=start, end=end, page=self.number, left=left, top=top, right=right, bottom=bottom)


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
    writer: Writer, blocks: Sequence[Block], words: frozenset[str], sheet: Sheet, before: Block | None = None
) -> None:
    """Write the blocks of a page.

    Args:
        writer: receives the blocks.
        blocks: the paragraphs, headings and tables in reading order.
        words: the vocabulary of the document.
        sheet: where the page lies.
        before: the last block of the page before; a table may go on from there.
    """
    above: list[Block] = []
    for block in blocks:
        if block.cells:
            goes_on = block is blocks[0] and before is not None and _goes_on(before, block, sheet.frame)
            if not goes_on or not writer.more_rows(block.cells, block.header, sheet.placed):
                writer.table(block.cells, caption=_caption(above), header=block.header, place=sheet.placed)
            above = []
        elif block.level:
            writer.heading(block.text, block.level, _in_one_line(block.lines, sheet))
            above = [one for one in above if one.level] + [block]
        elif block.item or block.goes_on:
            text, placed = _joined(block.lines, words, sheet)
            writer.item(block.item, text.replace("\n", " "), placed)
            above = []
        else:
            text, placed = _joined(block.lines, words, sheet)
            writer.paragraph(text, placed)
            above = [one for one in above if one.level and one is above[-1]] + [block]


def _goes_on(table: Block, below: Block, frame: Frame) -> bool:
    """Return whether a table at the top of a page has the columns of the last block of the page before."""
    if not table.cells or below.top < _TOP * frame.height or table.bottom > (1 - _TOP) * frame.height:
        return False
    wide = max(below.right - below.left, 1.0)
    same = max(abs(table.left - below.left), abs(table.right - below.right)) <= _SHIFT * wide
    return same and max(map(len, table.cells)) == max(map(len, below.cells))


def _caption(blocks: Sequence[Block]) -> str:
    """Return what may name the table below it: a short paragraph, a heading, or both; empty if it is too long."""
    text = " ".join(block.text for block in blocks)
    short = sum(len(block.lines) for block in blocks) <= _MOST_CAPTION_LINES and len(text) <= _LONGEST_CAPTION
    return text if short else _caption(blocks[1:])


def _in_one_line(lines: Sequence[Line], sheet: Sheet) -> list[Placed]:
    """Return where lines stand that are joined with spaces."""
    ends = list(accumulate(len(line.text) + 1 for line in lines))
    spans = zip([0, *ends], ends, lines, strict=False)
    return [one for start, end, line in spans if (one := sheet.placed(start, end - 1, line.box))]


def _joined(lines: Sequence[Line], words: frozenset[str], sheet: Sheet) -> tuple[str, list[Placed]]:
    """Return the lines of a paragraph as one text, with the words that line ends divide, and where each line stands."""
    text = ""
    cut = False
    placed: list[Placed] = []
    for line in lines:
        if cut:
            first, _, rest = line.text.partition(" ")
            before = text.rpartition("\n")[2].rpartition(" ")[2]
            text += _hyphen(before, first, words)
            start = len(text)
            text += first + ("\n" if rest else "") + rest
        else:
            text += "\n" if text else ""
            start = len(text)
            text += line.text
        one = sheet.placed(start, len(text), line.box)
        placed += [one] if one else []
        cut = line.hyphen
    return f"{text}-" if cut else text, placed


def _hyphen(before: str, after: str, words: frozenset[str]) -> str:
    """Return the hyphen between two halves of a word, or nothing, judged by the rest of the document or the letters.

    Dropping every such hyphen would give "conversationcentric"; keeping every one would hide "reasoning" from search.
    """
    left, right = before.strip("([\"'“‘").casefold(), after.strip(".,;:!?)]\"'”’").casefold()
    if f"{left}-{right}" in words and left + right not in words:
        return "-"
    # A name or a number is not the second half of a word: "Anglo-Saxon", "F-16".
    return "" if before[-1:].isalpha() and after[:1].islower() else "-"
