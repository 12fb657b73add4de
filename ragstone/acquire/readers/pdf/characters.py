"""What PDFium sees on a page: lines of words with their places and fonts, and what is drawn."""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

import pypdfium2  # pyright: ignore[reportMissingTypeStubs]
import pypdfium2.raw as pdfium  # pyright: ignore[reportMissingTypeStubs]

from ragstone.acquire.readers.parsed import tidy
from ragstone.acquire.readers.pdf.fields import Typed, notes_on, typed_on
from ragstone.acquire.readers.pdf.frame import Frame
from ragstone.acquire.readers.pdf.pictures import Pictures, pictures_of
from ragstone.acquire.readers.pdf.rules import Rules, rules_of
from ragstone.acquire.readers.pdf.words import Line, Word
from ragstone.acquire.readers.scripts import joined
from ragstone.acquire.readers.tables.grid import Box
from ragstone.core.frozen import frozen

_HYPHENS = "\x02\ufffe"
"""How PDFium shows a hyphen that divides a word at the end of a line."""
_LINE = re.compile(rf"[^\r\n{_HYPHENS}]*[\r\n{_HYPHENS}]?")
_WORD = re.compile(r"[^\s\x00-\x1f\ufffe\uffff]+")
_LEADER = re.compile(r"\.{4,}")
_RAISED = 0.2
"""How much higher than the first character of a word a raised one stands, as a share of the height of the first."""
_SMALLER = 0.85
_LEAST_SPACED, _SPACED = 3, 1.2
"""Capitals in a row from which they are a word that is set apart, and the widest gap between them in their heights."""
_ENOUGH_GAPS, _EVEN, _MOSTLY, _ALIGNED, _SPACE = 12, 0.15, 0.85, 0.5, 0.3
"""Gaps between words that say how a page sets its words; how much they may differ, and the share that do not; the share
of words that begin below others, as in columns; and the usual space in heights."""
_LARGE = 1.5
_TYPED = 12.0
"""The height of typed words in points, at most; the box around them may be higher."""
_BOLD = re.compile(rb"bold|black|heavy|demi|-blk|cmbx|sfbx|-bd|medi$|,b", re.IGNORECASE)
_ITALIC, _FORCE_BOLD = 1 << 6, 1 << 18
"""Flags of fonts."""
_MOST_NAME = 128
_TURNED = 0.6
"""Share of the characters of a page that lie on their side before the page is turned."""


@frozen
class Page:
    """A page: its lines in the order of the file, with upright words, what is drawn, and how many comments it has."""

    frame: Frame
    lines: list[Line]
    rules: Rules
    pictures: Pictures = field(default_factory=Pictures)
    notes: int = 0


@dataclass(frozen=True, slots=True)
class _Font:
    """The font of a line: the height in points, the quarter turns that its words need, and its face."""

    size: float
    quarter: int
    bold: bool
    italic: bool


_Fragment = tuple[_Font, bool, list[tuple[str, Box]]]
"""A line: its font, whether its last word is divided, and its words with their boxes."""


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
    fragments: list[_Fragment] = []
    turns: Counter[int] = Counter()
    for line in _LINE.finditer(text):
        words: list[tuple[str, Box]] = []
        first, last = -1, -1
        for begin, end in _words_of(text, line.start(), line.end()):
            word = text[begin:end]
            word = word if word.isascii() else tidy(_whole(word))
            if not word:
                continue
            first, last = begin if first < 0 else first, end - 1
            box_of(raw, begin, *pointers)
            box = left.value, bottom.value, right.value, top.value
            if end - begin > 1:
                box_of(raw, end - 1, *pointers)
                is_higher = bottom.value - box[1] > _RAISED * (box[3] - box[1]) and word[-1].isdigit()
                box = _around(box, left.value, bottom.value, right.value, top.value)
                if is_higher:
                    words += _raised(word, box, fonts.raised_from(begin, end))
                    continue
            words.append((word, box))
        if words:
            font = fonts.of(first, last)
            turns[font.quarter] += line.end() - line.start()
            fragments.append((font, line[0][-1] in _HYPHENS, words))
    frame = _frame(page, turns)
    _add_typed(fragments, typed_on(book, page))
    _even(fragments)
    fragments = [(font, cut, _spelled(words)) for font, cut, words in _with_drop_caps(fragments)]
    lines = [
        Line(
            words=[_word(word, frame.turned(*box)) for word, box in words],
            hyphen=cut,
            size=font.size,
            bold=font.bold,
            italic=font.italic,
        )
        for font, cut, words in fragments
    ]
    rules = rules_of(page.raw, frame) if fragments else Rules()
    pictures, notes = pictures_of(page), notes_on(page)
    text_page.close()
    page.close()
    return Page(frame=frame, lines=lines, rules=rules, pictures=pictures, notes=notes)


def _words_of(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where the words of a line begin and end, without the dots that lead from one to another."""
    for match in _WORD.finditer(text, start, end):
        at = match.start()
        if "...." in match[0]:
            for leader in _LEADER.finditer(text, at, match.end()):
                if leader.start() > at:
                    yield at, leader.start()
                at = leader.end()
        if match.end() > at:
            yield at, match.end()


def _raised(word: str, box: Box, length: int) -> list[tuple[str, Box]]:
    """Return a word whose last characters are raised: a power after a figure, or a word and the mark of a note."""
    written = joined([(word[:-length], 0), (word[-length:], 1)]) if 0 < length < len(word) else word
    first, gap, mark = written.partition(" ")
    if not gap:
        return [(written, box)]
    middle = box[2] - (box[2] - box[0]) * length / len(word)
    return [(first, (box[0], box[1], middle, box[3])), (mark, (middle, box[1], box[2], box[3]))]


def _even(fragments: list[_Fragment]) -> None:
    """Widen the words of a page that sets all of them apart by one distance, so that no gap looks like a column."""
    gaps = [
        (after[1][0] - before[1][2], before[1][3] - before[1][1])
        for _, _, words in fragments
        if len(words) > _LEAST_SPACED
        for before, after in pairwise(words)
    ]
    if len(gaps) < _ENOUGH_GAPS:
        return
    usual, height = median(gap for gap, _ in gaps), median(high for _, high in gaps)
    is_even = sum(abs(gap - usual) < _EVEN * usual for gap, _ in gaps) > _MOSTLY * len(gaps)
    if usual <= height or not is_even:
        return
    edges = Counter(round(box[0] / 2) for _, _, words in fragments for _, box in words[1:])
    if sum(count for count in edges.values() if count > 1) > _ALIGNED * edges.total():
        return
    for _, _, words in fragments:
        for n, ((word, box), (_, after)) in enumerate(pairwise([*words])):
            if abs(after[0] - box[2] - usual) < _EVEN * usual:
                words[n] = word, (box[0], box[1], after[0] - _SPACE * height, box[3])


def _spelled(words: list[tuple[str, Box]]) -> list[tuple[str, Box]]:
    """Return words in which capitals that are set apart, as in "V I S I T O R S", are one word again."""
    if sum(len(word) == 1 for word, _ in words) <= _LEAST_SPACED:
        return words
    spelled: list[tuple[str, Box]] = []
    run: list[tuple[str, Box]] = []
    for word, box in [*words, ("", (0.0, 0.0, 0.0, 0.0))]:
        is_near = not run or box[0] - run[-1][1][2] < _SPACED * (run[-1][1][3] - run[-1][1][1])
        if len(word) == 1 and word.isupper() and is_near:
            run.append((word, box))
            continue
        if len(run) > _LEAST_SPACED:
            whole = run[0][1]
            for _, other in run[1:]:
                whole = _around(whole, *other)
            run = [("".join(letter for letter, _ in run), whole)]
        spelled += run
        run = [(word, box)] if len(word) == 1 and word.isupper() else []
        spelled += [] if run or not word else [(word, box)]
    return spelled


def _with_drop_caps(found: list[_Fragment]) -> list[_Fragment]:
    """Return lines in which a large first letter belongs to the word that it begins."""
    lines: list[_Fragment] = []
    for font, cut, words in found:
        before = lines[-1] if lines else None
        if before and before[0].size > _LARGE * font.size and len(before[2]) == 1 and words[0][0][0].islower():
            letter = before[2][0][0]
            if len(letter) == 1 and letter.isupper():
                lines[-1] = font, cut, [(letter + words[0][0], words[0][1]), *words[1:]]
                continue
        lines.append((font, cut, words))
    return lines


def _add_typed(fragments: list[_Fragment], typed: Sequence[Typed]) -> None:
    """Add what people typed to the lines beside which it stands, or else as lines of their own."""
    for text, (left, low, right, high) in typed:
        words = text.split()
        width = (right - left) / len(words)
        placed = [(word, (left + n * width, low, left + (n + 1) * width, high)) for n, word in enumerate(words)]
        middle = (low + high) / 2
        beside = next((one for one in fragments if any(box[1] <= middle <= box[3] for _, box in one[2])), None)
        if beside is not None:
            beside[2].extend(placed)
            beside[2].sort(key=lambda word: word[1][0])
            continue
        above = [n for n, (_, _, line) in enumerate(fragments) if line[0][1][1] > middle]
        own = _Font(round(min(high - low, _TYPED), 1), fragments[above[-1]][0].quarter if above else 0, False, False)
        fragments.insert(above[-1] + 1 if above else 0, (own, False, placed))


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

    def raised_from(self, begin: int, end: int) -> int:
        """Return how many characters at the end of a word are digits in a smaller font than its beginning."""
        size = self._size(begin)
        at = end
        while at > begin + 1 and self._size(at - 1) < _SMALLER * size:
            at -= 1
        return end - at

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
