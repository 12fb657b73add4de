r"""Rich Text Format: the words between its control words.

A document consists of groups in braces. ``\par``, for example, is a control word, and some groups, such as the font
table, hold no text. We read the format ourselves: striprtf 0.0.35 is no faster, drops the first sentence of the RTF
file in our test data, and does not give the title.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Parsed, Writer, tidy
from ragstone.acquire.readers.scripts import Run, joined

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})?[ ]?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|[\r\n]+|([^\\{}\r\n]+)", re.DOTALL
)
_NO_TEXT = {
    "fonttbl", "colortbl", "stylesheet", "info", "pict", "header", "headerl", "headerr", "headerf", "footer",
    "footerl", "footerr", "footerf", "objdata", "objclass", "objname", "fldinst", "themedata", "colorschememapping",
    "datastore", "latentstyles", "listtable", "listoverridetable", "rsidtbl", "generator", "xmlnstbl", "annotation",
    "atnid", "atnauthor", "filetbl", "revtbl", "bkmkstart", "bkmkend", "nonshppict",
}  # fmt: skip
_WORDS = {
    "par": "\n\n", "sect": "\n\n", "page": "\n\n", "line": "\n", "tab": "\t", "cell": " | ", "row": "\n", "emdash": "—",
    "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•", "emspace": " ",
    "enspace": " ",
}  # fmt: skip


_CODE_PAGES = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gbk", 136: "big5", 161: "cp1253", 162: "cp1254", 163: "cp1258",
    177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip
"""Encodings of the character sets that fonts name; the document's own is that of any other."""
_OFF = b"0"


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


class _Reader:
    """Reads the tokens of a document."""

    def __init__(self) -> None:
        self._writer = Writer()
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
                signs = {b"~": " ", b"_": "-", b"-": "", b"\n": "\n\n", b"\r": "\n\n"}
                self._put(signs.get(symbol, symbol.decode("latin-1")))
            self._group.is_begun = True
        self._flush()
        whole = joined(self._runs).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        for paragraph in re.split(r"\n{2,}", whole):
            lines = (line.strip().removesuffix("|").rstrip() for line in paragraph.split("\n"))
            self._writer.paragraph("\n".join(lines))
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
        elif not self._group.silent and not self._group.deleted:
            self._runs.append((words, self._group.height))


def _known(encoding: str) -> str:
    try:
        "".encode(encoding)
    except LookupError:
        return "cp1252"
    return encoding
