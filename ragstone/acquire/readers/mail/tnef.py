"""What Outlook packs into winmail.dat (TNEF): the text of a message, and its attachments, which become documents.

The format is [MS-OXTNEF]: attributes of the message and of each attachment, some of which hold properties of MAPI.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.encodings import decoded
from ragstone.acquire.readers.mail.eml import MOST_PARTS
from ragstone.acquire.readers.mail.outlook import write_message
from ragstone.acquire.readers.office.ole import codepage
from ragstone.acquire.readers.parsed import File, Parsed, Part, Writer, tidy

_SIGNATURE = 0x223E9F78
_TEXT, _HTML, _RTF, _LONG_NAME = 0x1000, 0x1013, 0x1009, 0x3707
_WIDTHS = {2: 4, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8, 10: 4, 11: 4, 20: 8, 64: 8, 72: 16}
"""Bytes of a value by its type; values of other types say how long they are."""
_WIDE, _SEVERAL, _NAMED = 31, 0x1000, 0x8000
_MOST_PROPERTIES = 5000


class _Name(IntEnum):
    """The attributes that are read."""

    SUBJECT = 0x8004
    BODY = 0x800C
    PROPERTIES = 0x9003
    CODEPAGE = 0x9007
    NEW_ATTACHMENT = 0x9002
    TITLE = 0x8010
    DATA = 0x800F
    PROPERTIES_OF_ATTACHMENT = 0x9005


@dataclass(slots=True)
class _Attachment:
    title: str = ""
    name: str = ""
    data: bytes = b""


@dataclass(slots=True)
class _Message:
    """The attributes of a message. ``properties`` are those of MAPI with their types, by number."""

    encoding: str = "cp1252"
    subject: str = ""
    body: str = ""
    properties: dict[int, tuple[int, bytes]] = field(default_factory=dict[int, "tuple[int, bytes]"])
    attachments: list[_Attachment] = field(default_factory=list[_Attachment])

    def text(self, number: int) -> str:
        """Return a property that is a text; empty if there is none."""
        kind, data = self.properties.get(number, (0, b""))
        return _text(data, "utf-16-le" if kind == _WIDE else self.encoding)


def parse(file: File) -> Parsed:
    """Return the text of a message, preferring plain text to HTML and RTF. Its title is the subject.

    Raises:
        Unreadable: the file is of another format.
    """
    data = file.path.read_bytes()
    if len(data) < 6 or struct.unpack_from("<I", data)[0] != _SIGNATURE:
        raise Unreadable("damaged: it does not begin like winmail.dat")
    message = _read(data)
    writer = Writer()
    page, packed = (message.properties.get(which, (0, b""))[1] for which in (_HTML, _RTF))
    write_message(writer, message.body or message.text(_TEXT), decoded(page), packed)
    parts = [Part(name=one.name or one.title, data=one.data) for one in message.attachments]
    named = [one for one in parts if one.name and one.data]
    writer.left_out("attachment", len(parts) - len(named))
    return writer.parsed(title=" ".join(tidy(message.subject).split()), facts={"kind": "tnef"}, parts=named)


def _read(data: bytes) -> _Message:
    """Return the attributes as far as they are intact."""
    message, at = _Message(), 6
    while at + 9 <= len(data):
        _, name, _, size = struct.unpack_from("<BHHI", data, at)
        value = data[at + 9 : at + 9 + size]
        at += 9 + size + 2
        with suppress(struct.error):
            _take(message, name, value)
    return message


def _take(message: _Message, name: int, value: bytes) -> None:
    last = message.attachments[-1] if message.attachments else _Attachment()
    match name:
        case _Name.CODEPAGE:
            message.encoding = codepage(struct.unpack_from("<I", value)[0])
        case _Name.SUBJECT:
            message.subject = _text(value, message.encoding)
        case _Name.BODY:
            message.body = _text(value, message.encoding)
        case _Name.PROPERTIES:
            message.properties = dict(_properties(value))
        case _Name.NEW_ATTACHMENT if len(message.attachments) < MOST_PARTS:
            message.attachments.append(_Attachment())
        case _Name.TITLE:
            last.title = _text(value, message.encoding)
        case _Name.DATA:
            last.data = value
        case _Name.PROPERTIES_OF_ATTACHMENT:
            kind, long = dict(_properties(value)).get(_LONG_NAME, (0, b""))
            last.name = _text(long, "utf-16-le" if kind == _WIDE else message.encoding)
        case _:
            pass


def _properties(data: bytes) -> Iterator[tuple[int, tuple[int, bytes]]]:
    """Yield the number, the type and the bytes of each property that says how long it is."""
    (count,), at = struct.unpack_from("<I", data), 4
    for _ in range(min(count, _MOST_PROPERTIES)):
        kind, number = struct.unpack_from("<HH", data, at)
        at += 4
        if number >= _NAMED:
            (is_text, size) = struct.unpack_from("<II", data, at + 16)
            at += 24 + (_padded(size) if is_text else 0)
        values, width = 1, _WIDTHS.get(kind & ~_SEVERAL)
        if kind & _SEVERAL or width is None:
            (values,) = struct.unpack_from("<I", data, at)
            at += 4
        if width is not None:
            at += values * width
            continue
        for _ in range(values):
            (size,) = struct.unpack_from("<I", data, at)
            yield number, (kind & ~_SEVERAL, data[at + 4 : at + 4 + size])
            at += 4 + _padded(size)


def _padded(size: int) -> int:
    return -(-size // 4) * 4


def _text(data: bytes, encoding: str) -> str:
    return data.decode(encoding, "replace").rstrip("\0").replace("\0", "")
