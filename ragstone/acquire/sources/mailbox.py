"""Mail folders (mbox): their messages, one at a time, without holding the folder in memory."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from ragstone.acquire.readers.decode import MEGABYTE, TooLarge, Unreadable, refuse_large
from ragstone.acquire.readers.parsed import File
from ragstone.core.records import Skipped

_FROM = re.compile(rb"From \S*.*\d\d:\d\d")
"""The line before each message, such as ``From ann@mill.example Mon May  6 07:08:09 2024``."""
_QUOTED = re.compile(rb">+From ")
_ID = re.compile(rb"^message-id:\s*(\S+)", re.IGNORECASE | re.MULTILINE)
_HEAD = 20_000
_LINE = 1_000_000


def messages(file: File) -> Iterator[File | Skipped]:
    """Yield the messages of a mail folder as files, each deleted when the next is requested.

    A message is named by its Message-ID, so it stays the same document when others are added or deleted.

    Raises:
        Unreadable: there are no messages.
    """
    names = Counter[str]()
    with tempfile.TemporaryDirectory(prefix="ragstone-") as folder, file.path.open("rb") as stream:
        for number, message in enumerate(_split(stream, int(file.settings.max_file_mb * MEGABYTE))):
            name = _name(message)
            names[name] += 1
            name = f"{name}-{names[name]}" if names[name] > 1 else name
            member = replace(
                file,
                path=Path(folder) / str(number),
                name=f"{file.name}/{name}.eml",
                source=f"{file.source}/{name}.eml",
                suffix=".eml",
            )
            try:
                refuse_large(len(message), file.settings, is_whole=False)
            except TooLarge as error:
                yield Skipped(source=member.source, reason=str(error))
                continue
            member.path.write_bytes(message)
            yield member
            member.path.unlink()
    if not names:
        raise Unreadable("not a mail folder: no message begins in it")


def _split(stream: BinaryIO, limit: int) -> Iterator[bytes]:
    """Yield the bytes of each message; of one above the limit, only its beginning and one byte too many."""
    lines: list[bytes] = []
    size, begun, blank = 0, False, True
    while line := stream.readline(_LINE):
        if blank and _FROM.match(line[:1000]):
            if begun:
                yield b"".join(lines)
            lines, size, begun, blank = [], 0, True, False
            continue
        blank = not line.strip()
        if begun and size <= limit:
            size += len(line)
            # Writers of mail folders put a ">" before such lines of the text.
            lines.append(line[1:] if _QUOTED.match(line[:100]) else line)
    if begun:
        yield b"".join(lines)


def _name(message: bytes) -> str:
    found = _ID.search(message[:_HEAD])
    return hashlib.sha256(found[1] if found else message).hexdigest()[:12]
