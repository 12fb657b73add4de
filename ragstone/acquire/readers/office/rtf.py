r"""Rich Text Format: the words between its control words, with its tables and headings.

A document consists of groups in braces. ``\par``, for example, is a control word, and some groups, such as the font
table, hold no text. We read the format ourselves: striprtf 0.0.35 is no faster, drops the first sentence of the RTF
file in our test data, and does not give the title.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Parsed, Writer, tidy
from ragstone.acquire.readers.scripts import Run, joined
from ragstone.acquire.readers.tables.grid import Cell

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})?[ ]?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|[\r\n]+|([^\\{}\r\n]+)", re.DOTALL
)
_NO_TEXT = {
    "fonttbl", "colortbl", "stylesheet", "info", "pict", "header", "headerl", "headerr", "headerf", "footer",
    "footerl", "footerr", "footerf", "objdata", "objclass", "objname", "fldinst", "themedata", "colorschememapping",
    "datastore", "latentstyles", "listtable", "listoverridetable", "rsidtbl", "generator", "xmlnstbl", "annotation",
    "atnid", "atnauthor", "filetbl", "revtbl", "bkmkstart", "bkmkend", "nonshppict",
    "nonesttables",
}  # fmt: skip
_WORDS = {
    "line": "\n", "tab": "\t", "nestcell": " ", "nestrow": "\n", "emdash": "—", "endash": "–", "lquote": "‘",
    "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ",
}  # fmt: skip


_CODE_PAGES = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gbk", 136: "big5", 161: "cp1253", 162: "cp1254", 163: "cp1258",
    177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip
"""Encodings of the character sets that fonts name; the document's own is that of any other."""
_OFF = b"0"
_NO_HEADING = 9
"""The level of paragraphs in an outline that are no headings."""


@dataclass(slots=True)
class _Group:
    """The state inside a pair of braces."""

    silent: bool = False
    title: bool = False
    deleted: bool = False
    height: int = 0
    encoding: str = ""
    is_begun: bool = False
    """Whether something stands in it already. Only at its beginning does ``\\*`` say that older programs skip it."""
    fallback: int = 1
    """Characters after a Unicode character that replace it in older programs."""

    @property
    def is_read(self) -> bool:
        """Whether its words belong to the text."""
        return not (self.silent or self.title or self.deleted)


def parse(file: File) -> Parsed:
    """Return the text of an RTF document.

    Raises:
        Unreadable: the file is not RTF.
    """
    return parse_rtf(file.path.read_bytes())


def parse_rtf(data: bytes) -> Parsed:
    """Return the text of an RTF document, given as bytes.

    Raises:
        Unreadable: it is not RTF.
    """
    if not data.lstrip().startswith(b"{\\rtf"):
        raise Unreadable("damaged: it does not begin like RTF")
    return _Reader().read(data)


@dataclass(slots=True)
class _Edge:
    """The right edge of a cell, in twips, and whether the cell continues the one above."""

    at: int = 0
    continues: bool = False


class _Reader:
    """Reads the tokens of a document."""

    def __init__(self) -> None:
        self._writer, self._level = Writer(), _NO_HEADING
        self._in_row = self._in_cell = False
        self._cells, self._edges, self._edge = list[str](), list[_Edge](), _Edge()
        self._rows = list[tuple[list[str], list[_Edge]]]()
        self._group, self._outer = _Group(), list[_Group]()
        self._runs, self._title = list[Run](), list[str]()
        self._encoding, self._fonts, self._font = "cp1252", dict[int, str](), -1
        self._bytes, self._skip = bytearray(), 0

    def read(self, data: bytes) -> Parsed:
        """Return the text of a document."""
        for found in _TOKEN.finditer(data):
            word, number, byte, symbol, brace, plain = found.groups()
            if byte:
                self._add(bytes.fromhex(byte.decode()))
            elif plain:
                self._add(plain)
            else:
                self._flush()
            if brace == b"{":
                self._outer.append(self._group)
                self._group = replace(self._group, is_begun=False)
                continue
            if brace:
                self._group, self._skip = self._outer.pop() if self._outer else _Group(), 0
            elif word:
                self._word(word.decode(), number)
            elif symbol == b"*":
                self._group.silent = self._group.silent or not self._group.is_begun
            elif symbol:
                signs = {b"~": " ", b"_": "-", b"-": ""}
                if symbol in b"\r\n":
                    self._end_paragraph()
                else:
                    self._put(signs.get(symbol, symbol.decode("latin-1")))
            self._group.is_begun = True
        self._flush()
        self._end_row()
        self._end_table()
        return self._writer.parsed(title=tidy("".join(self._title)).strip(), facts={"kind": "rtf"})

    def _word(self, word: str, number: bytes | None) -> None:
        """Follow a control word."""
        group, size = self._group, int(number or b"1")
        match word:
            case "u" if number:
                self._put(chr(size & 0xFFFF))
                self._skip = group.fallback
            case "uc" if number:
                group.fallback = min(max(size, 0), 10)
            case "ansicpg" if number:
                self._encoding = _known(f"cp{size}")
            case "f" if number:
                self._font = size
                group.encoding = self._fonts.get(size, "")
            case "fcharset" if number:
                self._fonts[self._font] = _CODE_PAGES.get(size, "")
            case "par" | "sect" | "page" if group.is_read:
                self._end_paragraph()
            case "pard" if group.is_read:
                self._level = _NO_HEADING
                self._in_cell = self._in_cell and bool(self._runs)  # a cell ends with a word of its own
            case "intbl" if group.is_read:
                self._begin_cell()
            case "outlinelevel" if number and group.is_read:
                self._level = size
            case "trowd" if group.is_read:
                self._begin_cell()
                self._in_row, self._edges, self._edge = True, [], _Edge()
            case "clvmrg" if group.is_read:
                self._edge.continues = True
            case "cellx" if number and group.is_read:
                self._edges.append(replace(self._edge, at=size))
                self._edge = _Edge()
            case "cell" if group.is_read:
                self._cells.append(self._taken())
            case "row" if group.is_read:
                self._end_row()
            case "deleted":
                group.deleted = number != _OFF
            case "super" | "up":
                group.height = 0 if number == _OFF else 1
            case "sub" | "dn":
                group.height = 0 if number == _OFF else -1
            case "nosupersub":
                group.height = 0
            case "plain":
                group.height, group.deleted = 0, False
            case "bin" if number:
                group.silent = True  # Binary data of a picture follows.
            case "title" if group.silent:
                group.title = True
            case name if name in _NO_TEXT:
                if name in ("pict", "objdata") and not (self._outer and self._outer[-1].silent):
                    self._writer.left_out("picture" if name == "pict" else "embedded object")
                group.silent, group.title = True, False
            case name if name in _WORDS:
                self._put(_WORDS[name])
            case _:
                pass

    def _add(self, data: bytes) -> None:
        """Add bytes, without those that replace the Unicode character before."""
        dropped = min(self._skip, len(data))
        self._skip -= dropped
        self._bytes += data[dropped:]

    def _flush(self) -> None:
        """Decode the bytes since the last token of another kind; a character may have two."""
        if self._bytes:
            data, self._bytes = bytes(self._bytes), bytearray()
            self._put(data.decode(self._group.encoding or self._encoding, "replace"))

    def _put(self, words: str) -> None:
        if self._group.title:
            self._title.append(words)
        elif self._group.is_read:
            self._runs.append((words, self._group.height))

    def _taken(self) -> str:
        """Return the words since the last paragraph or cell."""
        words = joined(self._runs).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        self._runs.clear()
        return "\n".join(line.strip() for line in words.split("\n")).strip()

    def _end_paragraph(self) -> None:
        if self._in_row or self._in_cell:
            self._put("\n")
        elif words := self._taken():
            self._end_table()
            if self._level < _NO_HEADING:
                self._writer.heading(words, self._level + 1)
            else:
                self._writer.paragraph(words)

    def _begin_cell(self) -> None:
        """Begin a paragraph of a table, after what stands before the table."""
        if not (self._in_row or self._in_cell or self._cells):
            self._end_paragraph()
        self._in_cell = True

    def _end_row(self) -> None:
        """Keep the cells of a row; words that no cell has are a paragraph."""
        self._in_row = self._in_cell = False
        if self._cells:
            self._rows.append((self._cells, self._edges))
            self._cells = []
        self._end_paragraph()

    def _end_table(self) -> None:
        rows, self._rows = self._rows, []
        if rows:
            self._writer.table(_spanning(rows))


def _spanning(rows: Sequence[tuple[Sequence[str], Sequence[_Edge]]]) -> list[list[Cell]]:
    """Return the cells of a table with the columns and rows that they span; the edges of all rows are its columns."""
    if any(len(edges) < len(cells) for cells, edges in rows):
        return [[*map(Cell, cells)] for cells, _ in rows]
    columns = sorted({edge.at for cells, edges in rows for edge in edges[: len(cells)]})
    table, above = list[list[Cell]](), dict[int, tuple[int, int]]()
    for number, (cells, edges) in enumerate(rows):
        row, left = list[Cell](), 0
        for text, edge in zip(cells, edges, strict=False):
            right = bisect_right(columns, edge.at)
            if edge.continues and not text and left in above:
                first, place = above[left]
                table[first][place] = replace(table[first][place], rows=number - first + 1)
            else:
                above[left] = number, len(row)
                row.append(Cell(text, columns=max(1, right - left)))
            left = max(left, right)
        table.append(row)
    return table


def _known(encoding: str) -> str:
    try:
        "".encode(encoding)
    except LookupError:
        return "cp1252"
    return encoding
