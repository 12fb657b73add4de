"""The calls that change what a disk holds: everything written here, but for SQLite's and tantivy's own files.

They are few and in one place so that tests can put another `Disk` there: one that records the calls, to see what
a power cut between any two of them leaves, or one whose calls fail. A sync that failed is never tried again: the
system may have forgotten what it could not write, and would report success.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_FULL_SYNC = getattr(fcntl, "F_FULLFSYNC", None)
"""On macOS, what makes the drive write; its fsync only hands over."""


class Disk:
    """The real one."""

    def create(self, path: Path) -> int:
        """An empty file, in the place of one that is there; gives its descriptor."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)

    def write(self, descriptor: int, path: Path, data: bytes | memoryview) -> None:
        """All of the data."""
        del path  # for those who record
        rest = memoryview(data).cast("B")
        while rest:
            rest = rest[os.write(descriptor, rest) :]

    def sync(self, descriptor: int, path: Path) -> None:
        """What was written to a file, or the names in a folder, survives a power cut when this returns."""
        del path
        if _FULL_SYNC is None:
            os.fsync(descriptor)
        else:
            fcntl.fcntl(descriptor, _FULL_SYNC)

    def rename(self, old: Path, new: Path) -> None:
        """In one step, in the place of what has the new name."""
        old.replace(new)

    def unlink(self, path: Path) -> None:
        path.unlink()

    def mkdir(self, folder: Path) -> None:
        folder.mkdir()

    def rmdir(self, folder: Path) -> None:
        folder.rmdir()


disk = Disk()


class NewFile:
    """A file being written; has the ``write`` that numpy and others ask for."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor, self._path = descriptor, path

    def write(self, data: bytes | memoryview) -> int:
        disk.write(self._descriptor, self._path, data)
        return len(data)


@contextmanager
def new_file(path: Path) -> Iterator[NewFile]:
    """Write a file; its content is durable afterwards, its name once the folder is synced. Gone where that failed."""
    descriptor = disk.create(path)
    try:
        try:
            yield NewFile(descriptor, path)
            disk.sync(descriptor, path)
        finally:
            os.close(descriptor)
    except BaseException:
        with suppress(OSError):
            disk.unlink(path)
        raise


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file: write beside it, sync, rename, sync the folder. The old one or the new one, never a piece."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with new_file(beside) as file:
        file.write(content)
    put_in_place(beside, path)


def put_in_place(beside: Path, path: Path) -> None:
    """Give a file that is whole, and synced, the name it is known by; in the place of what had it."""
    disk.rename(beside, path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        disk.sync(descriptor, folder)
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """A folder, and those it lies in, where they are missing; their names are durable."""
    if not folder.is_dir():
        make_folder(folder.parent)
        with suppress(FileExistsError):
            disk.mkdir(folder)
        try:
            sync_folder(folder.parent)
        except OSError:  # were it left there, the next one would take it for durable
            with suppress(OSError):
                disk.rmdir(folder)
            raise


def drop(file: Path) -> None:
    """Remove a file that can be made again, or is not needed; where that cannot be done, it stays."""
    with suppress(OSError):
        disk.unlink(file)


def clear_away(folder: Path) -> None:
    """Remove a folder with all that is in it, as far as that can be done."""
    with suppress(OSError):
        for part in folder.iterdir():
            if part.is_dir() and not part.is_symlink():
                clear_away(part)
            else:
                drop(part)
        disk.rmdir(folder)
