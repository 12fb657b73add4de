"""Small files and checksums of the indexes, which are rebuilt if they are damaged."""

from __future__ import annotations

import json
import os
import stat
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from ragstone.core.errors import KnowledgeBaseError
from ragstone.storage.disk import disk, make_folder, replace_file


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Replace a file by a value as JSON, durably."""
    replace_file(path, json.dumps(value).encode())


def note_json(path: Path, value: dict[str, Any]) -> None:
    """Replace a file by a value as JSON; other processes see one of the two, but a power cut may lose both."""
    make_folder(path.parent)
    temporary = path.with_name(f".{path.name}")
    descriptor = disk.create(temporary)
    try:
        disk.write(descriptor, temporary, json.dumps(value).encode())
    finally:
        os.close(descriptor)
    disk.rename(temporary, path)


def read_json(path: Path) -> dict[str, Any]:
    """Return the value in a file that can be rewritten; empty if the file is missing or damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def state(version: Path) -> tuple[bytes, ...]:
    """Return a value that changes whenever the indexes of a version do; a merge changes weights without a commit."""
    contents: list[bytes] = []
    for name in ("terms/meta.json", "terms/manifest.json", "vectors/manifest.json"):
        path = version / name
        try:
            contents.append(path.read_bytes())
        except OSError:
            contents.append(b"")
    return tuple(contents)


def identity(path: Path) -> tuple[int, int, int]:
    """Return a value that changes whenever `write_json` replaces the file; zeros if it is missing."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_mtime_ns, found.st_size


def pointed(folder: Path, pointer: str) -> str:
    """Return the version that a pointer of a knowledge base names, such as ``CURRENT``; empty if it names none."""
    try:
        return (folder / pointer).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def is_writable(path: Path) -> bool:
    """Return whether this process may write an existing file, and create files next to it."""
    effective = os.access in os.supports_effective_ids
    return all(os.access(one, os.W_OK, effective_ids=effective) for one in (path, path.absolute().parent))


def is_public(path: Path) -> bool:
    """Return whether every account of this machine can read a file."""
    try:
        file, folders = path.stat(), [folder.stat() for folder in path.absolute().parents]
    except OSError:
        return False
    return bool(file.st_mode & stat.S_IROTH) and all(one.st_mode & stat.S_IXOTH for one in folders)


def checksum(path: Path) -> int:
    """Return the CRC-32 of a file; half a second for a gigabyte."""
    value = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            value = zlib.crc32(block, value)
    return value


@contextmanager
def disposable(folder: Path) -> Generator[None]:
    """Translate the errors of updating an index; tantivy raises ``ValueError`` for everything."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise KnowledgeBaseError(
            f"the index in {folder} could not be written: {error}; the documents are stored, and the next command"
            " that asks or adds updates the index"
        ) from error
