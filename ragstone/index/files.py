"""Small files written so that a power cut leaves the old one or the new one, never a piece."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ragstone.errors import KnowledgeBaseError


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Replace a file by a value as JSON; durable when this returns."""
    replace_text(path, json.dumps(value))


def replace_text(path: Path, text: str) -> None:
    """Replace a file: write beside it, sync, rename, sync the folder."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with beside.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    sync_folder(path.parent)


def read_json(path: Path) -> dict[str, Any]:
    """The value of a small file; empty where it is missing or damaged, for files that can be made again."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def sync_folder(folder: Path) -> None:
    """Make renames in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
