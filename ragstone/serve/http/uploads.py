"""Files that are sent to the server: onto the disk as they come, bounded, under names that do no harm.

Nothing of a request counts before all of it has come. Then its files are put in their places, each in one step, and
those of the same names are replaced.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import secrets
import shutil
import unicodedata
from collections.abc import AsyncIterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from ragstone import acquire
from ragstone.access import Reader
from ragstone.sections import UploadSettings
from ragstone.serve.http.multipart import Part, Received, parts
from ragstone.serve.http.problems import Refused

MEGABYTE = 1_000_000
INCOMING = ".incoming-"
LONGEST_NAME = 200
"""Bytes; file systems take 255."""
FIELD = 10_000
"""Bytes of all fields that are no files."""
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]')


@dataclass(slots=True)
class Upload:
    """What came: files in a folder of their own, by their names, and the groups that were named."""

    folder: Path
    files: dict[str, Path] = field(default_factory=dict)
    groups: list[str] | None = None


def safe_name(sent: str) -> str:
    """The name of a file as it is kept: its last part, without what means something to a system or a reader.

    Raises:
        Refused: nothing is left of it.
    """
    last = re.split(r"[/\\]", sent)[-1]
    plain = _UNSAFE.sub("", unicodedata.normalize("NFC", last)).strip(" .")
    stem, dot, suffix = plain.rpartition(".")
    if not stem or not suffix:
        raise Refused("usage", "a file needs a name with a suffix, such as handbook.pdf")
    room = LONGEST_NAME - len(f".{suffix}".encode())
    if room < 1:
        raise Refused("usage", "the name of a file is too long")
    return stem.encode()[:room].decode(errors="ignore").rstrip(" .") + dot + suffix


def home_of(reader: Reader, uploads: str) -> str:
    """The folder of a reader's files, from that of the knowledge base: nobody replaces what they may not read."""
    if reader.groups is None:
        return uploads
    told = json.dumps(sorted(reader.groups))
    return f"{uploads}/{hashlib.sha256(told.encode()).hexdigest()[:12]}"


async def receive(body: AsyncIterable[bytes], content_type: str, root: Path, settings: UploadSettings) -> Upload:
    """Take in what is sent.

    Args:
        body: of the request.
        content_type: of the request.
        root: folder of all uploaded files.
        settings: limits.

    Raises:
        Refused: it is no form with files, or goes beyond a limit; nothing is left of it.
        OSError: the disk does not take it; nothing is left of it.
    """
    root.mkdir(parents=True, exist_ok=True)
    upload = Upload(root / f"{INCOMING}{secrets.token_hex(8)}")
    room = settings.total_mb * MEGABYTE - await asyncio.to_thread(_taken, root)
    upload.folder.mkdir(mode=0o700)
    try:
        await _Receiver(upload, settings, room).take(parts(body, content_type))
        if not upload.files:
            raise Refused("usage", "no file was sent; send them as parts named 'files' of a form")
    except BaseException:
        discard(upload)
        raise
    return upload


class _Receiver:
    def __init__(self, upload: Upload, settings: UploadSettings, room: float) -> None:
        self._upload, self._settings, self._room = upload, settings, room
        self._fields = 0

    async def take(self, received: AsyncIterable[Received]) -> None:
        """Everything of the request, in order."""
        out: IO[bytes] | None = None
        part, size, value = Part(name="", filename=None), 0, bytearray()
        try:
            async for one in received:
                if isinstance(one, Part):
                    part, size, value = one, 0, bytearray()
                    out = self._opened(one.filename) if one.filename is not None else None
                elif one is None:
                    if out:
                        out.close()
                        out = None
                    else:
                        self._noted(part.name, bytes(value))
                elif out:
                    size += len(one)
                    self._weigh(size, len(one))
                    out.write(one)
                else:
                    self._fields += len(one)
                    if self._fields > FIELD:
                        raise Refused("too_large", f"the fields beside the files have more than {FIELD:,} bytes")
                    value += one
        finally:
            if out:
                out.close()

    def _opened(self, sent: str) -> IO[bytes]:
        name = safe_name(sent)
        if name in self._upload.files:
            raise Refused("usage", "two of the files have the same name")
        if len(self._upload.files) >= self._settings.files:
            raise Refused("too_large", f"at most {self._settings.files} files can be sent at once")
        if not acquire.is_known(name):
            raise Refused("unsupported", f"files of this kind cannot be read; those that can: {acquire.kinds()}")
        path = self._upload.folder / str(len(self._upload.files))
        self._upload.files[name] = path
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")

    def _weigh(self, size: int, more: int) -> None:
        if size > self._settings.file_mb * MEGABYTE:
            raise Refused("too_large", f"a file is larger than {self._settings.file_mb:g} MB")
        self._room -= more
        if self._room < 0:
            raise Refused("too_large", f"all uploaded files would take more than {self._settings.total_mb:g} MB")

    def _noted(self, name: str, value: bytes) -> None:
        if name != "groups":
            raise Refused("usage", "a form has files, and groups; nothing else")
        text = value.decode(errors="replace")
        self._upload.groups = [*(self._upload.groups or []), *(one for one in re.split("[;,|]", text) if one.strip())]


def put_in_place(upload: Upload, folder: Path, home: str) -> tuple[str, ...]:
    """Put the files where they belong, in place of those of the same names; durable when this returns.

    Args:
        upload: what came.
        folder: of the knowledge base.
        home: folder of the files, within that.

    Returns:
        Their paths within the knowledge base.
    """
    to = folder / home
    to.mkdir(parents=True, exist_ok=True)
    for name, path in upload.files.items():
        _sync(path)
        path.replace(to / name)
    _sync(to)
    discard(upload)
    return tuple(f"{home}/{name}" for name in upload.files)


def discard(upload: Upload) -> None:
    """Leave nothing of it."""
    shutil.rmtree(upload.folder, ignore_errors=True)


def clear_leftovers(root: Path) -> None:
    """Clear away what a server that was killed had received in part. No other may receive meanwhile."""
    for path in root.glob(f"{INCOMING}*"):
        shutil.rmtree(path, ignore_errors=True)


def _taken(root: Path) -> int:
    """Bytes of all files. Others are put in their places, and taken away, meanwhile."""
    taken = 0
    for folder, _, names in os.walk(root):
        for name in names:
            with suppress(FileNotFoundError):
                taken += Path(folder, name).stat().st_size
    return taken


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
