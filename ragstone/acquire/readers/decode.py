"""The encoding of a text file, found without holding the file in memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from ragstone.acquire.readers.encodings import guess_encoding, is_western
from ragstone.core.errors import SourceError
from ragstone.core.frozen import frozen
from ragstone.core.reading import GUESSED, REPLACED, note_of
from ragstone.core.record import file_of
from ragstone.core.records import Decoded, Document
from ragstone.settings import AcquireSettings

_BLOCK = 1 << 20
MEGABYTE = 1_000_000
LONGEST_LINE = 8 * MEGABYTE

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    # Before UTF-16, because its mark is a prefix of these.
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b"))
_NOT_IN_CP1252 = b"\x81\x8d\x8f\x90\x9d"
_MOST_CONTROLS = 0.02
_MOST_REPLACED = 0.1
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


@frozen
class Encoding:
    """An encoding to open a file with. ``note`` says what was guessed or lost; it is empty if nothing was."""

    name: str
    note: str = ""


class Unreadable(SourceError):
    """A file, or the rest of it, is skipped; the message says why."""


class TooLarge(Unreadable):
    """A file is larger than ``acquire.max_file_mb``."""


class Blank(Unreadable):
    """A picture shows nothing, such as a line or an area of one colour."""


def refuse_large(size: int, settings: AcquireSettings, *, is_whole: bool = True) -> None:
    """Refuse a file of so many bytes; or of more, if it is not read to its end.

    Raises:
        TooLarge: it is too large.
    """
    if size > settings.max_file_mb * MEGABYTE:
        known = f"{size / MEGABYTE:.0f} MB, " if is_whole else ""
        raise TooLarge(f"{known}above acquire.max_file_mb={settings.max_file_mb:g}")


def detect(path: Path, settings: AcquireSettings) -> Encoding:
    """Return the encoding of a text file.

    A byte order mark decides. Without one, the file is UTF-8 if that fits. If most of it is UTF-8, the bytes that do
    not fit are replaced; a file with single accented bytes is Windows-1252.

    Raises:
        Unreadable: the file is empty, binary, too large, has too long a line, or is in an unknown encoding.
    """
    refuse_large(path.stat().st_size, settings)
    _refuse_long_lines(path, LONGEST_LINE)
    with path.open("rb") as stream:
        start = stream.read(4)
    if not start:
        raise Unreadable("empty")
    marked = next((name for mark, name in _BYTE_ORDER_MARKS.items() if start.startswith(mark)), None)
    if marked is None:
        _refuse_binary(path)
    name = marked or "utf-8"
    if _is_valid(path, name):
        return Encoding(name=name)
    replaced, beyond_ascii, total = _count_characters(path, name)
    mostly_wrong = replaced > beyond_ascii
    if mostly_wrong and marked is None:
        if settings.encoding:
            return _named(settings.encoding)
        if guess := guess_encoding(path):
            return Encoding(name=guess, note=f"{guess}, {GUESSED}")
        if is_western(path) and not _has_any(path, _NOT_IN_CP1252):
            return Encoding(name="cp1252", note=f"windows-1252, {GUESSED}")
    if mostly_wrong and replaced > _MOST_REPLACED * total:
        raise Unreadable("its encoding is unclear; name it, as in --set acquire.encoding=gb18030, or save it as UTF-8")
    return Encoding(name=name, note=f"{name.removesuffix('-sig')}, {replaced} {REPLACED}")


def _named(encoding: str) -> Encoding:
    try:
        return Encoding(name=codecs.lookup(encoding).name)
    except LookupError:
        raise Unreadable(f"there is no encoding '{encoding}'; correct acquire.encoding") from None


def start_of(path: Path, count: int) -> str:
    """Return up to ``count`` bytes from the start of a file as text; empty if it is no text."""
    with path.open("rb") as stream:
        start = stream.read(count)
    marked = next((name for mark, name in _BYTE_ORDER_MARKS.items() if start.startswith(mark)), None)
    return "" if marked is None and b"\0" in start else clean(start.decode(marked or "utf-8", "replace"))


def decoded_file(document: Document) -> Decoded | None:
    """Return the file of a document and why its text may be wrong or lack parts; None if nothing says so."""
    if not (note := note_of(document)):
        return None
    return Decoded(source=document.source.removesuffix(document.id.removeprefix(file_of(document))), note=note)


def clean(text: str) -> str:
    """Return text with ``\\n`` as its line ending, and without characters that no database or UTF-8 file can hold."""
    return _UNSTORABLE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            yield block


def _refuse_long_lines(path: Path, limit: int) -> None:
    length = 0
    for block in _blocks(path):
        first, *others = block.replace(b"\r", b"\n").split(b"\n")
        length += len(first)
        longest = max(length, *map(len, others)) if others else length
        if longest > limit:
            raise Unreadable(f"a line longer than {limit / MEGABYTE:g} MB")
        if others:
            length = len(others[-1])


def _refuse_binary(path: Path) -> None:
    controls = total = 0
    for block in _blocks(path):
        controls += len(block) - len(block.translate(None, _CONTROLS))
        total += len(block)
    # A few stray control characters do not make a file binary.
    if controls > 3 and controls > _MOST_CONTROLS * total:
        raise Unreadable("binary, not text")


def _has_any(path: Path, unwanted: bytes) -> bool:
    return any(len(block.translate(None, unwanted)) < len(block) for block in _blocks(path))


def _is_valid(path: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for block in _blocks(path):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True


def _count_characters(path: Path, encoding: str) -> tuple[int, int, int]:
    """Return how many characters were replaced, how many others are not ASCII, and how many there are in total."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    replaced = ascii_only = total = 0
    for block in chain(_blocks(path), [b""]):
        text = decoder.decode(block, final=not block)
        replaced += text.count("\ufffd")
        ascii_only += len(text.encode("ascii", "ignore"))
        total += len(text)
    return replaced, total - ascii_only - replaced, total
