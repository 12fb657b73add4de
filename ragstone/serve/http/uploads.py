"""Uploaded files: written to disk as they arrive, within limits, under harmless names.

An upload counts only once all of it has arrived. Then each file is moved into its place in one step and replaces one of
the same name.
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
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from ragstone import acquire
from ragstone.core.access import Reader
from ragstone.serve.http.errors import Refused
from ragstone.settings import UploadSettings
from ragstone.storage import locks

MEGABYTE = 1_000_000
MAX_FILES = 50
"""Files of one request."""
INCOMING = ".incoming-"
PAUSE = 0.02
"""Seconds between two tries to be alone."""
MAX_NAME_BYTES = 200
"""File systems allow 255."""
MAX_FIELD_BYTES = 10_000
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*#\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]')


def form(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the body of a request with files and these fields, as OpenAPI describes it."""
    files = {
        "type": "array",
        "minItems": 1,
        "items": {"type": "string", "format": "binary"},
        "description": "files that Ragstone can read; the suffix of a name tells the kind",
    }
    schema = {
        "type": "object",
        "required": ["files"],
        "additionalProperties": False,
        "properties": {"files": files, **fields},
    }
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


@dataclass(slots=True)
class Upload:
    """Received files, by their names, in a folder of their own, and the groups that the form names."""

    folder: Path
    files: dict[str, Path] = field(default_factory=dict[str, Path])
    groups: list[str] | None = None

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(path.stat().st_size for path in self.files.values())

    def discard(self) -> None:
        """Delete all that was received."""
        shutil.rmtree(self.folder, ignore_errors=True)


def safe_name(sent: str) -> str:
    """Return the last part of a file name without characters that mean something to a system or mislead a reader.

    Raises:
        Refused: no name is left.
    """
    last = re.split(r"[/\\]", sent)[-1]
    plain = _UNSAFE.sub("", unicodedata.normalize("NFC", last)).strip(" .")
    stem, dot, suffix = plain.rpartition(".")
    if not stem or not suffix:
        raise Refused("usage", "a file needs a name with a suffix, such as handbook.pdf")
    room = MAX_NAME_BYTES - len(f".{suffix}".encode())
    if room < 1:
        raise Refused("usage", "the name of a file is too long")
    return stem.encode()[:room].decode(errors="ignore").rstrip(" .") + dot + suffix


def folder_of(reader: Reader, uploads: str) -> str:
    """Return the folder of a reader's files, below that of the knowledge base.

    Readers of different groups have different folders, so that none replaces a file they may not read.
    """
    if reader.groups is None:
        return uploads
    digest = hashlib.sha256(json.dumps(sorted(reader.groups)).encode()).hexdigest()
    return f"{uploads}/{digest[:12]}"


async def receive(
    body: AsyncIterable[bytes], content_type: str, root: Path, settings: UploadSettings, server: str
) -> Upload:
    """Receive the files of a form.

    Args:
        body: the body of the request.
        content_type: of the request.
        root: the folder of all uploaded files.
        settings: the limits.
        server: the id of this server, by which `clear_leftovers` knows whose upload it was.

    Raises:
        Refused: it is not a form with files, or exceeds a limit; nothing of it is kept.
        OSError: the disk is full or fails; nothing of it is kept.
    """
    boundary = _boundary(content_type)
    root.mkdir(parents=True, exist_ok=True)
    room = settings.total_mb * MEGABYTE - await asyncio.to_thread(used_bytes, root)
    upload = Upload(root / f"{INCOMING}{server}-{secrets.token_hex(8)}")
    upload.folder.mkdir(mode=0o700)
    try:
        await _Form(upload, settings, room).read(body, boundary)
        if not upload.files:
            raise Refused("usage", "the form has no file; send files as parts named 'files'")
    except BaseException:
        upload.discard()
        raise
    return upload


def _boundary(content_type: str) -> bytes:
    kind, options = parse_options_header(content_type)
    if kind != b"multipart/form-data":
        raise Refused("unsupported", "send files as multipart/form-data")
    if not options.get(b"boundary"):
        raise Refused("usage", "the content type of the form has no boundary")
    return options[b"boundary"]


class _Form:
    """Writes the parts of a form to disk as the parser reports them.

    python-multipart's own FormParser would write a file before its name and size could be checked.
    """

    def __init__(self, upload: Upload, settings: UploadSettings, room: float) -> None:
        self._upload, self._settings, self._room = upload, settings, room
        self._header, self._header_value, self._disposition = bytearray(), bytearray(), b""
        self._name, self._value, self._field_bytes = "", bytearray(), 0
        self._file: IO[bytes] | None = None
        self._file_bytes = 0
        self._is_complete = False

    async def read(self, body: AsyncIterable[bytes], boundary: bytes) -> None:
        try:
            parser = MultipartParser(
                boundary,
                {
                    "on_header_field": self._on_header_field,
                    "on_header_value": self._on_header_value,
                    "on_header_end": self._on_header_end,
                    "on_headers_finished": self._on_headers_finished,
                    "on_part_data": self._on_part_data,
                    "on_part_end": self._on_part_end,
                    "on_end": self._on_end,
                },
            )
            async for chunk in body:
                parser.write(chunk)
            parser.finalize()
        except FormParserError as error:
            raise Refused("usage", "the form is malformed") from error
        finally:
            self._close()
        if not self._is_complete:
            raise Refused("usage", "the form is cut off")

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _on_header_end(self) -> None:
        if bytes(self._header).lower() == b"content-disposition":
            self._disposition = bytes(self._header_value)
        self._header, self._header_value = bytearray(), bytearray()

    def _on_headers_finished(self) -> None:
        _, options = parse_options_header(self._disposition)
        self._disposition = b""
        name, filename = options.get(b"name"), options.get(b"filename")
        if name is None:
            raise Refused("usage", "a part of the form has no name")
        self._name, self._value = name.decode(errors="replace"), bytearray()
        if filename is not None:
            self._file, self._file_bytes = self._open(filename.decode(errors="replace")), 0

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        size = end - start
        if self._file:
            self._file_bytes += size
            self._room -= size
            if self._file_bytes > self._settings.file_mb * MEGABYTE:
                raise Refused("too_large", f"a file is larger than {self._settings.file_mb:g} MB")
            if self._room < 0:
                raise Refused("too_large", f"all uploaded files may take {self._settings.total_mb:g} MB in total")
            self._file.write(data[start:end])
        else:
            self._field_bytes += size
            if self._field_bytes > MAX_FIELD_BYTES:
                raise Refused("too_large", f"the fields of the form have more than {MAX_FIELD_BYTES:,} bytes")
            self._value += data[start:end]

    def _on_part_end(self) -> None:
        if self._file:
            self._close()
            if not self._file_bytes:
                raise Refused("usage", f"{[*self._upload.files][-1]} was not added: it is empty")
        elif self._name == "groups":
            groups = re.split("[;,|]", self._value.decode(errors="replace"))
            self._upload.groups = [*(self._upload.groups or []), *(group for group in groups if group.strip())]
        else:
            raise Refused("usage", "a form may have only files and groups")

    def _on_end(self) -> None:
        self._is_complete = True

    def _close(self) -> None:
        if self._file:
            self._file.close()
            self._file = None

    def _open(self, sent: str) -> IO[bytes]:
        name, files = safe_name(sent), self._upload.files
        if name in files:
            raise Refused("usage", "two files have the same name")
        if len(files) >= MAX_FILES:
            raise Refused("too_large", f"one request may have {MAX_FILES} files")
        if reason := acquire.left_out(name):
            raise Refused("unsupported", f"{name} was not added: {reason}")
        path = files[name] = self._upload.folder / str(len(files))
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def store(upload: Upload, folder: Path, target: str) -> tuple[str, ...]:
    """Move the files into their place, where they replace those of the same names; durable when this returns.

    Args:
        upload: what was received.
        folder: of the knowledge base.
        target: the folder of the files, below that.

    Returns:
        Their paths below the folder of the knowledge base.
    """
    place = folder / target
    place.mkdir(parents=True, exist_ok=True)
    for name, path in upload.files.items():
        _sync(path)
        path.replace(place / name)
    _sync(place)
    upload.discard()
    return tuple(f"{target}/{name}" for name in upload.files)


@asynccontextmanager
async def alone(folder: Path) -> AsyncGenerator[None]:
    """Store files as the only request of all processes of this host, so that several cannot exceed a limit together.

    Args:
        folder: of the files; it is created if it is missing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = locks.open_folder(folder)
    try:
        while not _has_lock(handle):  # not in a thread, which would go on if the request is cancelled
            await asyncio.sleep(PAUSE)
        yield
    finally:
        os.close(handle)


def clear_leftovers(root: Path, alive: Callable[[], Collection[str]]) -> None:
    """Delete what killed servers had received in part; it would count against the limit forever.

    Args:
        root: the folder of all uploaded files.
        alive: returns the ids of the servers that run.
    """
    incoming = list(root.glob(f"{INCOMING}*"))  # before `alive`: a server that starts meanwhile counts as running
    if incoming:
        servers = alive()
        for path in incoming:
            if path.name.removeprefix(INCOMING).rpartition("-")[0] not in servers:
                shutil.rmtree(path, ignore_errors=True)


def used_bytes(root: Path) -> int:
    """Return the size of all uploaded files. Other requests may store and delete files meanwhile."""
    used = 0
    for folder, _, names in os.walk(root):
        for name in names:
            with suppress(FileNotFoundError):
                used += Path(folder, name).stat().st_size
    return used


def _has_lock(handle: int) -> bool:
    try:
        locks.lock(handle)
    except BlockingIOError:
        return False
    except OSError:  # some network disks have no such locks
        pass
    return True


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
