"""Files of the indexes: described by JSON, checked by checksums, made again where they are not what was written."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ragstone.errors import KnowledgeBaseError
from ragstone.index.disk import replace_file


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Replace a file by a value as JSON; durable when this returns."""
    replace_file(path, json.dumps(value).encode())


def read_json(path: Path) -> dict[str, Any]:
    """The value of a small file; empty where it is missing or damaged, for files that can be made again."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def state(version: Path) -> tuple[bytes, ...]:
    """Changes whenever the indexes of a version do, even at one commit: merged segments weigh words a bit otherwise."""
    found = []
    for name in ("terms/meta.json", "terms/manifest.json", "vectors/manifest.json"):
        path = version / name
        try:
            found.append(path.read_bytes())
        except OSError:
            found.append(b"")
    return tuple(found)


def identity(path: Path) -> tuple[int, int, int]:
    """Changes whenever `write_json` replaces the file; nothing but zeros where there is none."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_mtime_ns, found.st_size


def checksum(path: Path) -> int:
    """CRC-32 of a file; half a second for a gigabyte."""
    value = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            value = zlib.crc32(block, value)
    return value


@contextmanager
def disposable(folder: Path) -> Iterator[None]:
    """Translate what goes wrong while an index is brought up to date; tantivy reports all as ``ValueError``."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise KnowledgeBaseError(
            f"the index in {folder} could not be written: {error}; the documents are stored, and the next command"
            " that asks or adds tries again"
        ) from error
