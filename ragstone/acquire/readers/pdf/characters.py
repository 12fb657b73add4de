"""What PDFium sees on a page: lines of words with their places and fonts, and what is drawn."""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from dataclasses import dataclass, field

import pypdfium2  # pyright: ignore[reportMissingTypeStubs]
import pypdfium2.raw as pdfium  # pyright: ignore[reportMissingTypeStubs]

from ragstone.acquire.readers.parsed import tidy
from ragstone.acquire.readers.pdf.frame import Frame
from ragstone.acquire.readers.pdf.pictures import Pictures, pictures_of
from ragstone.acquire.readers.pdf.rules import Rules, rules_of
from ragstone.acquire.readers.pdf.words import Line, Word
from ragstone.acquire.readers.tables.grid import Box

_HYPHENS = "\x02\ufffe"
"""How PDFium shows a hyphen that divides a word at the end of a line."""
_LINE = re.compile(rf"[^\r\n{_HYPHENS}]*[\r\n{_HYPHENS}]?")
_WORD = re.compile(r"[^\s\x00-\x1f\ufffe\uffff]+")
_BOLD = re.compile(rb"bold|black|heavy|demi|-blk|cmbx|sfbx|-bd|medi$|,b", re.IGNORECASE)
_ITALIC, _FORCE_BOLD = 1 << 6, 1 << 18
"""Flags of fonts."""
_MOST_NAME = 128
_TURNED = 0.6
"""Share of the characters of a page that lie on their side before the page is turned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page: its lines in the order of the file, with upright words, and what is drawn."""

    frame: Frame
    lines: list[Line]
    rules: Rules
    pictures: Pictures = field(default_factory=Pictures)


@dataclass(frozen=True, slots=True)
class _Font:
    """The font of a line: the height in points, the quarter turns that its words need, and its face."""

    size: float
    quarter: int
    bold: bool
    italic: bool


def read_page(book: pypdfium2.PdfDocument, number: int) -> Page:
    """Return a page of an open file.

    Raises:
        PdfiumError: the page is damaged.
    """
    page = book[number]
    # Keep a reference to both: PDFium needs them open until the last call.
    text_page = page.get_textpage()
    raw, text = text_page.raw, _characters(text_page)
    edges = [ctypes.c_double() for _ in range(4)]
    left, right, bottom, top = edges
    pointers = [ctypes.byref(edge) for edge in edges]
    box_of, fonts = pdfium.FPDFText_GetCharBox, _Fonts(raw)
    found: list[tuple[_Font, bool, list[tuple[str, Box]]]] = []
    turns: Counter[int] = Counter()
    for line in _LINE.finditer(text):
        words: list[tuple[str, Box]] = []
        first, last = -1, -1
        for match in _WORD.finditer(text, line.start(), line.end()):
            begin, end = match.span()
            word = match[0] if match[0].isascii() else tidy(_whole(match[0]))
            if not word:
                continue
            first, last = begin if first < 0 else first, end - 1
            box_of(raw, begin, *pointers)
            box = left.value, bottom.value, right.value, top.value
            if end - begin > 1:
                box_of(raw, end - 1, *pointers)
                box = _around(box, left.value, bottom.value, right.value, top.value)
            words.append((word, box))
        if words:
            font = fonts.of(first, last)
            turns[font.quarter] += line.end() - line.start()
            found.append((font, line[0][-1] in _HYPHENS, words))
    frame = _frame(page, turns)
    lines = [
        Line(
            words=[_word(word, frame.turned(*box)) for word, box in words],
            hyphen=cut,
            size=font.size,
            bold=font.bold,
            italic=font.italic,
        )
        for font, cut, words in found
    ]
    rules = rules_of(page.raw, frame) if found else Rules()
    pictures = pictures_of(page)
    text_page.close()
    page.close()
    return Page(frame=frame, lines=lines, rules=rules, pictures=pictures)


class _Fonts:
    """The fonts of the characters of a page."""

    def __init__(self, page: object) -> None:
        self._page = page
        self._matrix, self._flags = pdfium.FS_MATRIX(), ctypes.c_int()
        self._name = ctypes.create_string_buffer(_MOST_NAME)
        self._faces: dict[tuple[bytes, int], tuple[bool, bool]] = {}

    def of(self, first: int, last: int) -> _Font:
        """Return the font of a line, from its first and last character. It is bold if both are."""
        # The larger size counts: a line may begin or end with the number of a footnote.
        size = max(self._size(first), self._size(last))
        quarter = round(math.atan2(self._matrix.b, self._matrix.a) / (math.pi / 2)) % 4
        begin, end = self._face(first), self._face(last)
        return _Font(round(size, 1), quarter, bold=begin[0] and end[0], italic=begin[1] and end[1])

    def _size(self, index: int) -> float:
        matrix = self._matrix
        if not pdfium.FPDFText_GetMatrix(self._page, index, ctypes.byref(matrix)):
            return 0.0
        return pdfium.FPDFText_GetFontSize(self._page, index) * math.hypot(matrix.c, matrix.d)

    def _face(self, index: int) -> tuple[bool, bool]:
        """Return whether a character is bold, and whether it is italic."""
        length = pdfium.FPDFText_GetFontInfo(self._page, index, self._name, _MOST_NAME, ctypes.byref(self._flags))
        name, flags = self._name.raw[: max(min(length, _MOST_NAME) - 1, 0)], self._flags.value
        if (name, flags) not in self._faces:
            bold = bool(_BOLD.search(name) or flags & _FORCE_BOLD)
            self._faces[name, flags] = bold, bool(flags & _ITALIC or b"talic" in name or b"bliq" in name)
        return self._faces[name, flags]


def _frame(page: pypdfium2.PdfPage, turns: Counter[int]) -> Frame:
    """Return the frame of a page: as most of its words stand, or else as it is shown."""
    box = pdfium.FS_RECTF()
    shown = max(pdfium.FPDFPage_GetRotation(page.raw), 0)
    most = max(turns, key=lambda quarter: turns[quarter], default=shown)
    read = most if turns[most] > _TURNED * turns.total() else shown
    if not pdfium.FPDF_GetPageBoundingBox(page.raw, ctypes.byref(box)):
        return Frame(shown=shown, read=read)
    return Frame(left=box.left, bottom=box.bottom, right=box.right, top=box.top, shown=shown, read=read)


def _around(box: Box, left: float, bottom: float, right: float, top: float) -> Box:
    """Return the box around two. Comparing is three times as fast as `min` and `max`, and there are many words."""
    return (
        box[0] if box[0] < left else left,
        box[1] if box[1] < bottom else bottom,
        box[2] if box[2] > right else right,
        box[3] if box[3] > top else top,
    )


def _word(text: str, box: Box) -> Word:
    return Word(text=text, left=box[0], bottom=box[1], right=box[2], top=box[3])


def _characters(page: pypdfium2.PdfTextPage) -> str:
    """Return the text of a page, with one character for each that PDFium counts."""
    count = page.count_chars()
    text = page.get_text_range() if count else ""
    if len(text) == count:
        return text
    # PDFium leaves out characters that it cannot name; ask for each of them.
    return "".join(chr(pdfium.FPDFText_GetUnicode(page.raw, index)) for index in range(count))


def _whole(text: str) -> str:
    """Join the two halves that PDFium gives for a character beyond 16 bits."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
