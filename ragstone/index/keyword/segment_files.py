"""The files of a keyword index, as tantivy writes them, and the checksums that it does not read."""

from __future__ import annotations

import json
import mmap
import tempfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.storage.disk import drop
from ragstone.storage.files import is_writable

if TYPE_CHECKING:
    import tantivy

HEAP = 256_000_000
"""Bytes that indexing holds before it writes a segment. Fewer segments are searched faster."""
PARTS = ("fast", "fieldnorm", "idx", "pos", "store", "term")
"""The files of every segment."""


def segment_files(folder: Path) -> list[Path]:
    """Return the files that tantivy's list of segments names.

    Raises:
        ValueError: one is missing. tantivy treats some as empty and fails only when it writes.
    """
    segments = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["segments"]
    names = {segment["segment_id"].replace("-", "") for segment in segments}
    files = [file for file in folder.iterdir() if file.name.partition(".")[0] in names]
    missing = {f"{name}.{part}" for name in names for part in PARTS} - {file.name for file in files}
    if missing:
        raise ValueError(f"{folder} lacks {', '.join(sorted(missing))}")
    return files


@contextmanager
def lockable(folder: Path) -> Generator[Path]:
    """Yield a folder through which tantivy can open an index; it creates a lock file even to read.

    For a folder that cannot be written, that is a temporary one with links to the files.
    """
    if is_writable(folder / "meta.json"):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="ragstone-") as name:
        for file in folder.iterdir():
            if not file.name.endswith(".lock"):
                (Path(name) / file.name).symlink_to(file.absolute())
        yield Path(name)


def unwatched(index: tantivy.Index) -> tantivy.Index:
    """Have an index look for commits only when it is told to reload.

    Otherwise a thread of tantivy's own looks twice a second, and writes its lock file into the folder even after the
    knowledge base was closed.
    """
    index.config_reader("manual", 0)
    return index


def chunks_held(folder: Path) -> int:
    """Return the number of chunks in all segments, removed ones included.

    Raises:
        KeyError, TypeError, ValueError, OSError: the list of segments cannot be read.
    """
    segments = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["segments"]
    return sum(int(segment["max_doc"]) for segment in segments)


def clear_killed(folder: Path) -> None:
    """Remove the lists of removed chunks that a killed process wrote and no commit names; tantivy would stumble.

    Call it only under the lock. Their names carry the number of the commit that they were meant for.

    Raises:
        KeyError, TypeError, ValueError, OSError: the list of segments cannot be read.
    """
    committed = int(json.loads((folder / "meta.json").read_text(encoding="utf-8"))["opstamp"])
    for file in folder.glob("*.del"):
        if int(file.name.split(".")[1]) > committed:
            drop(file)


def verify_segment(file: Path) -> None:
    """Compare a file with the checksum at its end, which tantivy writes and does not read.

    Raises:
        ValueError: they differ.
    """
    with file.open("rb") as opened:
        content = memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
    length = int.from_bytes(content[-8:-4], "little")
    footer = json.loads(bytes(content[-8 - length : -8]))
    if zlib.crc32(content[: -8 - length]) != footer["crc"]:
        raise ValueError(f"{file} is not what was written")


@contextmanager
def writing(index: tantivy.Index) -> Generator[tantivy.IndexWriter]:
    """Yield a writer and release it in any case; tantivy's own context manager commits even after an exception."""
    writer = index.writer(heap_size=HEAP, num_threads=1)
    try:
        yield writer
    finally:
        writer.wait_merging_threads()
