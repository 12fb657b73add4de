"""The keys of cached values: everything that determines a value, and the code that computed it."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import cast


def key(*parts: object) -> bytes:
    """Return the key for everything that determines a value: texts, numbers, bytes, and records and tuples of them."""
    return hashlib.blake2b(repr(_spelled(parts)).encode(), digest_size=20).digest()


def _spelled(part: object) -> object:
    """Return a value whose ``repr`` holds all of it; that of a record may be a summary."""
    kind = type(part)
    if (names := _field_names(kind)) is not None:
        return kind.__qualname__, *[(name, _spelled(getattr(part, name))) for name in names]
    if isinstance(part, (tuple, list)):
        return tuple(map(_spelled, cast("Sequence[object]", part)))
    return part


@cache
def _field_names(kind: type) -> tuple[str, ...] | None:
    """Return the names of the fields of a record; None for any other value."""
    return tuple(one.name for one in fields(kind)) if is_dataclass(kind) else None


@cache
def code_version() -> str:
    """Return a text that changes with any file of this package, so that no value outlives the code that made it."""
    return stamp_of(Path(__file__).parents[1])


def stamp_of(package: Path) -> str:
    """Return a text that changes whenever a file below a folder is added, removed or written."""
    stamp = hashlib.blake2b(digest_size=12)
    for folder, folders, files in os.walk(package):
        folders[:] = sorted(one for one in folders if one != "__pycache__")
        for name in sorted(files):
            about = os.stat(f"{folder}/{name}")  # noqa: PTH116 - every process does it for a thousand files
            stamp.update(f"\0{folder}\0{name}\0{about.st_size}\0{about.st_mtime_ns}".encode())
    return stamp.hexdigest()


def checksum(kind: str, key: bytes, value: bytes) -> int:
    """Return the checksum of a value under its kind and key."""
    return zlib.crc32(value, zlib.crc32(key, zlib.crc32(kind.encode())))
