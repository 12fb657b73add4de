"""Compound files (OLE), the containers of older Microsoft formats, opened without trusting them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import olefile

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import tidy
from ragstone.core.filters import Scalar

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The first bytes of a compound file."""
_BIGGEST = 100_000_000
"""Bytes of a stream at most."""
_EPOCH = datetime(1601, 1, 1)
_SUMMARY = "\x05SummaryInformation"
_TITLE, _AUTHOR, _CREATED, _CODEPAGE = 2, 4, 12, 1
_LANGUAGES = {
    **dict.fromkeys((0x02, 0x19, 0x22, 0x23, 0x2F), 1251), **dict.fromkeys((0x05, 0x0E, 0x15, 0x18, 0x1A, 0x1B), 1250),
    **dict.fromkeys((0x25, 0x26, 0x27), 1257), 0x08: 1253, 0x1F: 1254, 0x0D: 1255, 0x01: 1256, 0x1E: 874, 0x11: 932,
    0x04: 936, 0x12: 949,
}  # fmt: skip
"""Code pages by the lower ten bits of the number of a language."""
_SHORT, _TEXT, _WIDE_TEXT, _TIME = 2, 30, 31, 64
"""Types of properties."""


class Compound:
    """The streams of a compound file, by their paths.

    Raises:
        Unreadable: the file is damaged, or no compound file.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._ole = olefile.OleFileIO(str(path))
        except (OSError, ValueError, IndexError, struct.error) as error:
            raise Unreadable(f"damaged: {error}") from error
        self.names = tuple(map(tuple, self._ole.listdir(streams=True, storages=False)))

    def __enter__(self) -> Compound:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ole.close()

    def bytes(self, *path: str) -> bytes:
        """Return the content of a stream; empty if there is no such stream.

        Raises:
            Unreadable: it is damaged or too large.
        """
        if not self._ole.exists([*path]):
            return b""
        try:
            if self._ole.get_size([*path]) > _BIGGEST:
                raise Unreadable(f"a part of it is larger than {_BIGGEST // 1_000_000} MB")
            return self._ole.openstream([*path]).read()
        except (OSError, ValueError, IndexError, struct.error) as error:
            raise Unreadable(f"damaged: {error}") from error

    def refuse_circles(self) -> None:
        """Refuse a file whose sectors lead in a circle: a library that trusts them reads it until memory is full.

        Raises:
            Unreadable: they do.
        """
        ole = cast("Any", self._ole)  # Its stubs leave these tables out.
        ole.loadminifat()
        streams = [one for one in ole.direntries if one is not None and one.entry_type == olefile.STGTY_STREAM]
        small = [one.isectStart for one in streams if one.is_minifat]
        large = [one.isectStart for one in streams if not one.is_minifat]
        large += [ole.first_dir_sector, ole.first_mini_fat_sector, ole.root.isectStart]
        if _lead_in_circle(ole.fat, large) or _lead_in_circle(ole.minifat, small):
            raise Unreadable("damaged: its parts lead in a circle")

    def properties(self) -> tuple[str, dict[str, Scalar]]:
        """Return the title of an office file, and the facts ``author`` and ``created``, as far as they are readable."""
        try:
            values = _properties(self.bytes(_SUMMARY))
        except (Unreadable, struct.error, ValueError, LookupError, OverflowError):
            return "", {}  # The text may still be intact.
        created = values.get(_CREATED, "")
        return values.get(_TITLE, ""), {"author": values.get(_AUTHOR, ""), "created": created[:19]}


def _lead_in_circle(following: Sequence[int], starts: Iterable[int]) -> bool:
    """Return whether a sector leads back to itself, given the sector that follows each one."""
    done = set[int]()
    for start in starts:
        at, own = start, set[int]()
        while 0 <= at < len(following) and at not in done:
            if at in own:
                return True
            own.add(at)
            at = following[at]
        done |= own
    return False


def filetime(ticks: int) -> str:
    """Return a Windows time, in units of 100 ns since 1601, as ISO 8601; empty if it is no date."""
    try:
        moment = _EPOCH + timedelta(microseconds=ticks // 10)
    except OverflowError:
        return ""
    return moment.isoformat(timespec="seconds") if 1970 <= moment.year < 2200 else ""


def codepage(number: int) -> str:
    """Return the name of a Windows code page for Python; Windows-1252 if it is unknown."""
    name = {65001: "utf-8", 1200: "utf-16-le", 20127: "ascii", 28591: "latin-1", 10000: "mac_roman"}.get(number)
    name = name or f"cp{number}"
    try:
        "".encode(name)
    except LookupError:
        return "cp1252"
    return name


def codepage_of_language(number: int) -> str:
    """Return the name of the code page in which Windows of this language (LCID) stores text."""
    return codepage(_LANGUAGES.get(number & 0x3FF, 1252))


def _properties(data: bytes) -> dict[int, str]:
    """Return the properties of the first set in a property stream that are texts or times."""
    if len(data) < 48:
        return {}
    (start,) = struct.unpack_from("<I", data, 44)
    _, count = struct.unpack_from("<II", data, start)
    places = dict(struct.unpack_from("<II", data, start + 8 + 8 * number) for number in range(min(count, 100)))
    encoding = "cp1252"
    if _CODEPAGE in places:
        kind, number = struct.unpack_from("<IH", data, start + places[_CODEPAGE])
        encoding = codepage(number) if kind == _SHORT else encoding
    values: dict[int, str] = {}
    for key in (_TITLE, _AUTHOR, _CREATED):
        if key not in places:
            continue
        at = start + places[key]
        kind, length = struct.unpack_from("<II", data, at)
        if kind == _TIME:
            values[key] = filetime(struct.unpack_from("<Q", data, at + 4)[0])
        elif kind in (_TEXT, _WIDE_TEXT):
            raw = data[at + 8 : at + 8 + length * (2 if kind == _WIDE_TEXT else 1)]
            text = raw.decode("utf-16-le" if kind == _WIDE_TEXT else encoding, "replace")
            values[key] = " ".join(tidy(text.partition("\0")[0]).split())
    return values
