"""Word documents before 2007 (doc, dot): the text and its notes, with headings and tables.

The format is [MS-DOC]. The text lies in pieces of 8-bit or UTF-16 characters; each paragraph has a style by number,
and the styles 1 to 9 are always the headings of these levels.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.office.ole import MAGIC, Compound, codepage_of_language
from ragstone.acquire.readers.office.rtf import parse as parse_rtf
from ragstone.acquire.readers.office.word import parse as parse_docx
from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.acquire.readers.text.plain import parse as parse_text
from ragstone.acquire.readers.web.html import parse as parse_html
from ragstone.core.frozen import frozen

_WORD97, _WORD6 = 0xA5EC, 0xA5DC
_ENCRYPTED, _COMPLEX, _TABLE1 = 0x0100, 0x0004, 0x0200
_PAGE = 512
_ANY = re.compile(r"[\x13\x14\x15]|[^\x13\x14\x15]+")
_SEEN = str.maketrans({"\x0b": "\n", "\x0c": "\n\n", "\x0e": "\n\n", "\x1e": "-", "\xa0": " "})
_UNSEEN = re.compile("[\0-\x06\x08\x0f-\x12\x16-\x1d\x1f]")
_IN_TABLE, _END_OF_ROW = b"\x16\x24\x01", b"\x17\x24\x01"
"""Properties of paragraphs (sprmPFInTable, sprmPFTtp)."""


@frozen
class _Piece:
    """Characters ``first`` to ``last`` of the text, stored from byte ``at`` with ``width`` bytes each."""

    first: int
    last: int
    at: int
    width: int


@frozen
class _Paragraph:
    """A paragraph with the character that ends it, and what its style says."""

    text: str
    end: str
    style: int
    properties: bytes


@dataclass(slots=True, kw_only=True)
class _Rows:
    """The table that is being read: its rows, the cells of the last one, and the lines of the last of these."""

    rows: list[list[str]] = field(default_factory=list[list[str]])
    cells: list[str] = field(default_factory=list[str])
    lines: list[str] = field(default_factory=list[str])


def parse(file: File) -> Parsed:
    """Return the text of a document, without headers, footers and comments.

    Files of other formats under this name, which Word opens, too, are read as what they are.

    Raises:
        Unreadable: it is encrypted, damaged or no document.
    """
    with file.path.open("rb") as stream:
        start = stream.read(512).lstrip()
    if start.startswith(b"{\\rtf"):
        return parse_rtf(file)
    if start.startswith(b"PK\x03\x04"):
        return parse_docx(file)
    if start[:1] == b"<":
        return parse_html(file)
    if not start.startswith(MAGIC):
        return parse_text(file)  # A graph of Graphviz has the suffix of a template of Word.
    with Compound(file.path) as compound:
        title, facts = compound.properties()
        data = compound.bytes("WordDocument")
        try:
            paragraphs = [*_paragraphs(data, compound)]
        except (struct.error, IndexError) as error:
            raise Unreadable(f"damaged: {error}") from error
    writer, table = Writer(), _Rows()
    for one in paragraphs:
        _write(writer, table, one)
    _end_table(writer, table)
    return writer.parsed(title=title, facts={"kind": "doc", **facts})


def _paragraphs(data: bytes, compound: Compound) -> Iterator[_Paragraph]:
    if len(data) < 0x100:
        raise Unreadable("not a Word document; save it as .docx")
    kind, flags = struct.unpack_from("<H", data)[0], struct.unpack_from("<H", data, 0x0A)[0]
    if kind not in (_WORD97, _WORD6):
        raise Unreadable("a Word format older than Word 6; save it as .docx")
    if flags & _ENCRYPTED:
        raise Unreadable("encrypted")
    if kind == _WORD97:
        table = compound.bytes("1Table" if flags & _TABLE1 else "0Table")
        counts = struct.unpack_from("<8I", data, 0x4C)
        clx = struct.unpack_from("<II", data, 0x1A2)
        encoding = "cp1252"
        styles = _Styles(data, table)
    else:
        table, styles = data, None
        counts = struct.unpack_from("<8I", data, 0x34)
        clx = struct.unpack_from("<II", data, 0x160) if flags & _COMPLEX else (0, 0)
        encoding = codepage_of_language(struct.unpack_from("<H", data, 0x06)[0])
    pieces = _pieces(table, *clx, old=kind == _WORD6) if clx[1] else []
    if not pieces:
        pieces = [_Piece(first=0, last=sum(counts), at=struct.unpack_from("<I", data, 0x18)[0], width=1)]
    main, notes, headers, macros, comments, end_notes, boxes, _ = counts
    after = main + notes + headers + macros + comments
    for first, last in ((0, main), (main, main + notes), (after, after + end_notes + boxes)):
        yield from _between(data, pieces, first, last, encoding, styles)


def _pieces(table: bytes, start: int, length: int, *, old: bool) -> list[_Piece]:
    """Return the pieces in the order of the text, from the table of pieces after the properties that precede it."""
    at, end = start, min(start + length, len(table))
    while at < end and table[at] == 1:
        at += 3 + struct.unpack_from("<H", table, at + 1)[0]
    if at >= end or table[at] != 2:
        return []
    count = (struct.unpack_from("<I", table, at + 1)[0] - 4) // 12
    if count <= 0 or at + 5 + 12 * count + 4 > len(table):
        raise Unreadable("damaged: its table of pieces is cut off")
    limits = struct.unpack_from(f"<{count + 1}I", table, at + 5)
    pieces: list[_Piece] = []
    for number in range(count):
        place = struct.unpack_from("<I", table, at + 5 + 4 * (count + 1) + 8 * number + 2)[0]
        is_wide = not old and not place & 0x40000000
        where = place if old or is_wide else (place & 0x3FFFFFFF) // 2
        pieces.append(_Piece(first=limits[number], last=limits[number + 1], at=where, width=1 + is_wide))
    return pieces


class _Styles:
    """The styles of paragraphs by the place of their bytes: the number of the style, and further properties."""

    def __init__(self, data: bytes, table: bytes) -> None:
        self._data = data
        start, length = struct.unpack_from("<II", data, 0x102)
        count = max(0, (min(length, len(table) - start) - 4) // 8)
        self._starts = struct.unpack_from(f"<{count + 1}I", table, start) if count else ()
        self._pages = struct.unpack_from(f"<{count}I", table, start + 4 * (count + 1)) if count else ()

    def at(self, place: int) -> tuple[int, bytes]:
        """Return the style of the paragraph whose last character is stored at this place; 0 if it is not known."""
        page = bisect_right(self._starts, place) - 1
        if not 0 <= page < len(self._pages):
            return 0, b""
        block = self._data[self._pages[page] * _PAGE : self._pages[page] * _PAGE + _PAGE]
        count = block[-1] if len(block) == _PAGE else 0
        if not count or 4 * (count + 1) + 13 * count > _PAGE:
            return 0, b""
        run = bisect_right(struct.unpack_from(f"<{count + 1}I", block), place) - 1
        if not 0 <= run < count:
            return 0, b""
        at = 2 * block[4 * (count + 1) + 13 * run]
        if not at:
            return 0, b""
        size = 2 * block[at] - 1 if block[at] else 2 * block[at + 1]
        body = block[at + 1 : at + 1 + size] if block[at] else block[at + 2 : at + 2 + size]
        return (struct.unpack_from("<H", body)[0], body[2:]) if len(body) >= 2 else (0, b"")


def _between(
    data: bytes, pieces: list[_Piece], first: int, last: int, encoding: str, styles: _Styles | None
) -> Iterator[_Paragraph]:
    """Yield the paragraphs between two characters of the text."""
    text: list[str] = []
    for piece in pieces:
        begin, end = max(first, piece.first), min(last, piece.last)
        if begin >= end:
            continue
        at = piece.at + (begin - piece.first) * piece.width
        raw = data[at : at + (end - begin) * piece.width]
        # Windows-1252 leaves five bytes undefined; UTF-16 without pairs keeps a place for each character.
        shown = raw.decode("utf-16-le" if piece.width == 2 else encoding, "replace")
        done = 0
        for mark in re.finditer("[\r\x07]", shown):
            text.append(shown[done : mark.start()])
            place = at + mark.start() * piece.width
            style, properties = styles.at(place) if styles else (0, b"")
            yield _Paragraph(text="".join(text), end=mark[0], style=style, properties=properties)
            text, done = [], mark.end()
        text.append(shown[done:])
    yield _Paragraph(text="".join(text), end="\r", style=0, properties=b"")


def _write(writer: Writer, table: _Rows, paragraph: _Paragraph) -> None:
    words = _UNSEEN.sub("", _without_fields(paragraph.text)).translate(_SEEN).strip()
    if paragraph.end == "\x07" or _IN_TABLE in paragraph.properties:
        is_bare = paragraph.end == "\x07" and not (paragraph.properties or words or table.lines)
        if _END_OF_ROW in paragraph.properties or is_bare:
            table.rows.append(table.cells)
            table.cells = []
            return
        table.lines.append(words)
        if paragraph.end == "\x07":
            table.cells.append(" ".join(table.lines))
            table.lines = []
        return
    _end_table(writer, table)
    if 1 <= paragraph.style <= 9:
        writer.heading(words, paragraph.style)
    else:
        writer.paragraph(words)


def _end_table(writer: Writer, table: _Rows) -> None:
    cells = [*table.cells, *table.lines]
    if rows := [*table.rows, *([cells] if cells else [])]:
        writer.table(rows)
    table.rows, table.cells, table.lines = [], [], []


def _without_fields(text: str) -> str:
    """Return text without the instructions of its fields, such as the address of a link; their results stay."""
    if "\x13" not in text and "\x15" not in text:
        return text
    kept: list[str] = []
    hidden: list[bool] = []
    for found in _ANY.finditer(text):
        match found[0]:
            case "\x13":
                hidden.append(True)
            case "\x14":
                hidden[-1:] = [False] if hidden else []
            case "\x15":
                hidden[-1:] = []
            case words if not any(hidden):
                kept.append(words)
            case _:
                pass
    return "".join(kept)
