r"""Rich Text Format: the words between its control words.

A document consists of groups in braces. ``\par``, for example, is a control word, and some groups, such as the font
table, hold no text. We read the format ourselves: striprtf 0.0.35 is no faster, drops the first sentence of the RTF
file in our test data, and does not give the title.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Parsed, Writer, tidy

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})?[ ]?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|[\r\n]+|([^\\{}\r\n]+)", re.DOTALL
)
_NO_TEXT = {
    "fonttbl", "colortbl", "stylesheet", "info", "pict", "header", "headerl", "headerr", "headerf", "footer",
    "footerl", "footerr", "footerf", "object", "fldinst", "themedata", "colorschememapping", "datastore",
    "latentstyles", "listtable", "listoverridetable", "rsidtbl", "generator", "xmlnstbl", "annotation", "atnid",
    "atnauthor", "filetbl", "revtbl", "bkmkstart", "bkmkend", "nonshppict",
}  # fmt: skip
_WORDS = {
    "par": "\n\n", "sect": "\n\n", "page": "\n\n", "line": "\n", "tab": "\t", "cell": " | ", "row": "\n", "emdash": "—",
    "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•", "emspace": " ",
    "enspace": " ",
}  # fmt: skip


@dataclass(slots=True)
class _Group:
    """The state inside a pair of braces."""

    silent: bool = False
    title: bool = False
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
    text, title = _read(data)
    writer = Writer()
    for paragraph in re.split(r"\n{2,}", text):
        writer.paragraph("\n".join(line.strip().removesuffix("|").rstrip() for line in paragraph.split("\n")))
    return writer.parsed(title=title, facts={"kind": "rtf"})


def _read(data: bytes) -> tuple[str, str]:
    group, outer = _Group(), list[_Group]()
    text, title = list[str](), list[str]()
    encoding, skip = "cp1252", 0

    def put(words: str) -> None:
        if group.title:
            title.append(words)
        elif not group.silent:
            text.append(words)

    for found in _TOKEN.finditer(data):
        word, number, byte, symbol, brace, plain = found.groups()
        if brace == b"{":
            outer.append(group)
            group = _Group(silent=group.silent, title=group.title, fallback=group.fallback)
        elif brace == b"}":
            group, skip = outer.pop() if outer else _Group(), 0
        elif word:
            match word.decode():
                case "u" if number:
                    put(chr(int(number) & 0xFFFF))
                    skip = group.fallback
                case "uc" if number:
                    group.fallback = min(max(int(number), 0), 10)
                case "ansicpg" if number:
                    encoding = _known(f"cp{int(number)}")
                case "bin" if number:
                    group.silent = True  # Binary data of a picture follows.
                case "title" if group.silent:
                    group.title = True
                case name if name in _NO_TEXT:
                    group.silent, group.title = True, False
                case name if name in _WORDS:
                    put(_WORDS[name])
                case _:
                    pass
        elif symbol:
            if symbol == b"*":
                group.silent = True
            else:
                put(
                    {b"~": " ", b"_": "-", b"-": "", b"\n": "\n\n", b"\r": "\n\n"}.get(symbol, symbol.decode("latin-1"))
                )
        elif skip and (byte or plain):
            # Drop the characters that replace the Unicode character before.
            put(plain[skip:].decode(encoding, "replace") if plain else "")
            skip = max(0, skip - (len(plain) if plain else 1))
        elif byte:
            put(bytes.fromhex(byte.decode()).decode(encoding, "replace"))
        elif plain:
            put(plain.decode(encoding, "replace"))
    whole = "".join(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole, tidy("".join(title)).strip()


def _known(encoding: str) -> str:
    try:
        "".encode(encoding)
    except LookupError:
        return "cp1252"
    return encoding
