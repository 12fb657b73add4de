"""The calls that write to a disk, except those of SQLite and tantivy.

They are in one place so that tests can replace `Disk` by one that records the calls, to see what a power cut between
any two of them leaves, or by one whose calls fail. A failed sync is never repeated: the system may have dropped what it
could not write and would report success.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from ragstone.storage.locks import CLOSED_ON_EXEC, full_sync


class Disk:
    """The real disk."""

    def create(self, path: Path) -> int:
        """Create an empty file, replacing any other, and return its descriptor."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | CLOSED_ON_EXEC, 0o600)

    def write(self, descriptor: int, path: Path, data: bytes | memoryview) -> None:
        """Write all of the data."""
        del path  # used by recorders
        rest = memoryview(data).cast("B")
        while rest:
            rest = rest[os.write(descriptor, rest) :]

    def sync(self, descriptor: int, path: Path) -> None:
        """Make the content of a file, or the names in a folder, survive a power cut."""
        del path
        full_sync(descriptor)

    def rename(self, old: Path, new: Path) -> None:
        """Rename a file in one step, replacing what has the new name."""
        old.replace(new)

    def unlink(self, path: Path) -> None:
        path.unlink()

    def mkdir(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)

    def rmdir(self, folder: Path) -> None:
        folder.rmdir()


disk = Disk()


def private(path: str | Path, flags: int) -> int:
    """Open a file, created if it is missing so that only its owner can read it; an ``opener`` for `open`."""
    return os.open(path, flags | CLOSED_ON_EXEC, 0o600)


class NewFile:
    """A file being written, with the ``write`` that numpy and others call."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor, self._path = descriptor, path

    def write(self, data: bytes | memoryview) -> int:
        disk.write(self._descriptor, self._path, data)
        return len(data)


@contextmanager
def new_file(path: Path) -> Generator[NewFile]:
    """Write a file; its content is durable at the end, its name once the folder is synced. On failure it is removed."""
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
    """Replace a file by writing another, syncing and renaming it: a power cut leaves the old file or the new one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with new_file(temporary) as file:
        file.write(content)
    put_in_place(temporary, path)


def put_in_place(temporary: Path, path: Path) -> None:
    """Rename a complete, synced file to its final name, replacing any other."""
    disk.rename(temporary, path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable; Windows does that when it renames."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY | CLOSED_ON_EXEC)
    try:
        disk.sync(descriptor, folder)
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, if they are missing, durably and for their owner alone."""
    if not folder.is_dir():
        make_folder(folder.parent)
        with suppress(FileExistsError):
            disk.mkdir(folder)
        try:
            sync_folder(folder.parent)
        except OSError:  # otherwise the next caller takes it for durable
            with suppress(OSError):
                disk.rmdir(folder)
            raise


def drop(file: Path) -> None:
    """Remove a file that is not needed, if possible."""
    with suppress(OSError):
        disk.unlink(file)


def clear_away(folder: Path) -> None:
    """Remove a folder with everything in it, as far as possible."""
    with suppress(OSError):
        for part in folder.iterdir():
            if part.is_dir() and not part.is_symlink():
                clear_away(part)
            else:
                drop(part)
        disk.rmdir(folder)
