"""File locks that end with their process, on every system.

POSIX has ``flock``. Windows has locks on bytes: other processes cannot read a locked byte, so one far beyond the end of
the file is locked. It has no handles of folders and no shared locks here; a folder is locked by a file in it, and a
version in use is protected because Windows does not delete files that are open. The tests run on Linux; the branch for
Windows has not been run.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import IO

CLOSED_ON_EXEC = getattr(os, "O_CLOEXEC", 0)
"""The flag that keeps a file from being inherited by other programs; Windows does that anyway."""

if sys.platform == "win32":
    import msvcrt

    _BYTE = 1 << 30
    """The position of the byte that is locked."""

    def _lock(descriptor: int, *, shared: bool, wait: bool) -> None:
        if shared:
            return
        before = os.lseek(descriptor, 0, os.SEEK_CUR)
        try:
            os.lseek(descriptor, _BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(error.errno, error.strerror) from error
        finally:
            os.lseek(descriptor, before, os.SEEK_SET)

    def open_folder(folder: Path) -> int:
        """Return a descriptor to lock a folder by."""
        return os.open(folder / ".lock", os.O_RDWR | os.O_CREAT)

    def full_sync(descriptor: int) -> None:
        """Make a file survive a power cut."""
        os.fsync(descriptor)

else:
    import fcntl

    _FULL_SYNC = getattr(fcntl, "F_FULLFSYNC", None)
    """The call that makes the drive write on macOS, where fsync does not."""

    def _lock(descriptor: int, *, shared: bool, wait: bool) -> None:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(descriptor, kind if wait else kind | fcntl.LOCK_NB)

    def open_folder(folder: Path) -> int:
        """Return a descriptor to lock a folder by."""
        return os.open(folder, os.O_RDONLY | CLOSED_ON_EXEC)

    def full_sync(descriptor: int) -> None:
        """Make a file or the names in a folder survive a power cut."""
        if _FULL_SYNC is None:
            os.fsync(descriptor)
        else:
            fcntl.fcntl(descriptor, _FULL_SYNC)


def lock(file: int | IO[str], *, shared: bool = False, wait: bool = False) -> None:
    """Lock an open file until it is closed.

    Args:
        file: the file, or its descriptor.
        shared: let others hold the lock too, if they share it.
        wait: wait for the current holder.

    Raises:
        BlockingIOError: another process holds it, and ``wait`` is false.
        OSError: the file system has no locks.
    """
    _lock(file if isinstance(file, int) else file.fileno(), shared=shared, wait=wait)
