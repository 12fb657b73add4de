"""Compound files (OLE) of a few streams, as olefile reads them."""

from __future__ import annotations

import struct
from collections.abc import Mapping

_SECTOR, _SMALL = 512, 4096
_END, _FREE, _TABLE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD


def compound(streams: Mapping[str, bytes]) -> bytes:
    """Return a file with these streams. Short ones are padded with zeros, so that they need no table of their own."""
    table: list[int] = []
    body = b""

    def stored(content: bytes) -> int:
        nonlocal body
        start, count = len(table), -(-len(content) // _SECTOR)
        table.extend([*range(start + 1, start + count), _END])
        body += content.ljust(count * _SECTOR, b"\0")
        return start

    entries = [_entry("Root Entry", 5, _FREE, _END, 0)]
    for number, (name, content) in enumerate(streams.items(), 1):
        whole = content.ljust(_SMALL, b"\0")
        after = number + 1 if number < len(streams) else _FREE
        entries.append(_entry(name, 2, after, stored(whole), len(whole)))
    entries[0] = _entry("Root Entry", 5, _FREE, _END, 0, child=1)
    directory = stored(b"".join(entries))
    place = len(table)
    table.append(_TABLE)
    assert len(table) <= _SECTOR // 4
    body += struct.pack(f"<{_SECTOR // 4}I", *table, *[_FREE] * (_SECTOR // 4 - len(table)))
    header = struct.pack(
        "<8s16xHHHHH6xIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        0x3E, 3, 0xFFFE, 9, 6, 0, 1, directory, 0, _SMALL, _END, 0, _END, 0,
    )  # fmt: skip
    return header + struct.pack("<109I", place, *[_FREE] * 108) + body


def _entry(name: str, kind: int, after: int, start: int, size: int, child: int = _FREE) -> bytes:
    words = name.encode("utf-16-le") + b"\0\0"
    return words.ljust(64, b"\0") + struct.pack(
        "<HBBIII16xI16xIQ", len(words), kind, 1, _FREE, after, child, 0, start, size
    )
