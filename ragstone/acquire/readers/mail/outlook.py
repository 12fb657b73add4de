"""Messages of Outlook (msg): the text, its sender, recipients, date and subject. Attachments become documents.

The format is [MS-OXMSG]: each property is a stream whose name holds its number and type, in hexadecimal.
"""

from __future__ import annotations

import re
import struct

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.encodings import decoded
from ragstone.acquire.readers.mail.eml import MOST_PARTS, thread_of, write_body
from ragstone.acquire.readers.office.ole import Compound, codepage, codepage_of_language, filetime
from ragstone.acquire.readers.office.rtf import parse_rtf
from ragstone.acquire.readers.parsed import File, Parsed, Part, Writer, tidy
from ragstone.acquire.readers.web.html import parse_page
from ragstone.core.filters import Scalar

_TEXT, _WIDE, _BINARY = "001E", "001F", "0102"
_SUBJECT, _BODY, _HTML, _RTF = "0037", "1000", "1013", "1009"
_SENDER, _SENDER_ADDRESS, _SENDER_SMTP, _TO, _CC = "0C1A", "0C1F", "5D01", "0E04", "0E03"
_MESSAGE_ID, _IN_REPLY_TO, _REFERENCES = "1035", "1042", "1039"
_DATA, _LONG_NAME, _NAME = "3701", "3707", "3704"
_SENT, _DELIVERED, _CODEPAGE, _BODY_CODEPAGE, _LANGUAGE = 0x0039, 0x0E06, 0x3FFD, 0x3FDE, 0x3FF1
_PROPERTIES = "__properties_version1.0"
_HEADER = 32
"""Bytes before the properties of fixed size in a message that is not inside another."""
_LZFU = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans Serif"
    rb"SymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0" + b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
"""The text that compressed RTF refers back to before its own first bytes."""


def parse(file: File) -> Parsed:
    """Return the text of a message, preferring plain text to HTML and RTF. Its title is the subject.

    Raises:
        Unreadable: the file is damaged, or no message.
    """
    with Compound(file.path) as compound:
        if not any(name[0].startswith("__substg1.0_") or name[0] == _PROPERTIES for name in compound.names):
            raise Unreadable("not a message of Outlook")
        return _Message(compound).parsed()


class _Message:
    """The properties of a message."""

    def __init__(self, compound: Compound) -> None:
        self._compound = compound
        self._numbers = _numbers(compound.bytes(_PROPERTIES))
        number, language = self._numbers.get(_CODEPAGE, 0), self._numbers.get(_LANGUAGE, 0)
        self._encoding = codepage(number) if number else codepage_of_language(language)

    def parsed(self) -> Parsed:
        writer = Writer()
        page = self._text(_HTML, tidied=False) or self._html()
        write_message(writer, self._text(_BODY, tidied=False), page, self._bytes(_RTF + _BINARY))
        sender, address = self._text(_SENDER), self._text(_SENDER_SMTP) or self._text(_SENDER_ADDRESS)
        address = address if "@" in address and address != sender else ""
        ids = (self._text(_REFERENCES), self._text(_IN_REPLY_TO), self._text(_MESSAGE_ID))
        facts: dict[str, Scalar] = {
            "kind": "msg",
            "from": f"{sender} <{address}>" if sender and address else sender or address,
            "to": self._text(_TO),
            "cc": self._text(_CC),
            "date": filetime(self._numbers.get(_SENT, 0)) or filetime(self._numbers.get(_DELIVERED, 0)),
            "thread": thread_of(*ids),
        }
        return writer.parsed(title=self._text(_SUBJECT), facts=facts, parts=self._attachments())

    def _html(self) -> str:
        data = self._bytes(_HTML + _BINARY)
        number = self._numbers.get(_BODY_CODEPAGE, 0)
        return data.decode(codepage(number), "replace") if number else decoded(data)

    def _bytes(self, name: str, *folder: str) -> bytes:
        return self._compound.bytes(*folder, f"__substg1.0_{name}")

    def _text(self, number: str, *folder: str, tidied: bool = True) -> str:
        wide = self._bytes(number + _WIDE, *folder)
        text = wide.decode("utf-16-le", "replace") if wide else self._narrow(number, *folder)
        text = text.rstrip("\0")
        return " ".join(tidy(text.replace("\0", " ")).split()) if tidied else text.replace("\0", "")

    def _narrow(self, number: str, *folder: str) -> str:
        data = self._bytes(number + _TEXT, *folder)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return data.decode(self._encoding, "replace")

    def _attachments(self) -> list[Part]:
        folders = dict.fromkeys(name[0] for name in self._compound.names if name[0].startswith("__attach_"))
        parts: list[Part] = []
        for folder in [*folders][:MOST_PARTS]:
            name = self._text(_LONG_NAME, folder) or self._text(_NAME, folder)
            data = self._bytes(_DATA + _BINARY, folder)
            # A message inside has no bytes of its own, and names without a suffix are pictures of signatures.
            if name and data:
                parts.append(Part(name=name, data=data))
        return parts


def _numbers(data: bytes) -> dict[int, int]:
    """Return the properties of fixed size as whole numbers."""
    numbers: dict[int, int] = {}
    for at in range(_HEADER, len(data) - 15, 16):
        _, number, _, value = struct.unpack_from("<HHIQ", data, at)
        numbers[number] = value if number in (_SENT, _DELIVERED) else value & 0xFFFFFFFF
    return numbers


def write_message(writer: Writer, plain: str, page: str, packed: bytes) -> None:
    """Write the body of a message: its plain text and its page, or its compressed RTF if it has neither."""
    if plain.strip() or page.strip():
        write_body(writer, plain, [parse_page(page, whole=True)] if page.strip() else [])
    elif packed:
        rtf = parse_rtf(decompressed(packed))
        writer.marked(rtf.text, rtf.marks)


def decompressed(data: bytes) -> bytes:
    """Return RTF from its compressed form, which [MS-OXRTFCP] describes.

    Raises:
        Unreadable: it is damaged.
    """
    if len(data) < 16:
        raise Unreadable("damaged: its text is cut off")
    _, size, kind, _ = struct.unpack_from("<4I", data)
    if kind == 0x414C454D:  # not compressed
        return data[16 : 16 + size]
    out = bytearray(_LZFU)
    at, limit = 16, len(_LZFU) + min(size, 100 * len(data))
    while at < len(data) and len(out) < limit:
        flags, at = data[at], at + 1
        for bit in range(8):
            if at >= len(data):
                break
            if not flags >> bit & 1:
                out.append(data[at])
                at += 1
                continue
            if at + 1 >= len(data):
                break
            place, length = (data[at] << 4) | (data[at + 1] >> 4), (data[at + 1] & 15) + 2
            at += 2
            back = (len(out) - place) % 4096  # the window is a ring of 4,096 bytes
            if not back or back > len(out):
                return bytes(out[len(_LZFU) :])
            for _ in range(length):
                out.append(out[-back])
    return re.sub(rb"\0+$", b"", bytes(out[len(_LZFU) :]))
