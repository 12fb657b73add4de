"""A layer under SQLite that sees every call that changes a file and can make it fail.

SQLite reaches files through a *VFS*. `Shim` registers a copy of the default VFS as the new default, in the library that
Python's ``sqlite3`` is linked to. The functions that open, write, truncate, sync and delete are replaced; all others,
such as locks and shared memory, stay SQLite's own. The code under test is unchanged.
"""

from __future__ import annotations

import ctypes
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_int64, c_void_p, cast
from pathlib import Path
from typing import Any, Protocol

READ_ONLY, CREATE, JOURNALS = 0x1, 0x4, 0x800 | 0x4000 | 0x80000
OK, FULL, CANTOPEN = 0, 13, 14
IOERR_WRITE, IOERR_FSYNC, IOERR_TRUNCATE, IOERR_DELETE = 778, 1034, 1546, 2570


class _File(Structure):
    _fields_ = (("methods", c_void_p),)


OPEN = CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(_File), c_int, POINTER(c_int))
DELETE = CFUNCTYPE(c_int, c_void_p, c_char_p, c_int)
CLOSE = CFUNCTYPE(c_int, c_void_p)
WRITE = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
TRUNCATE = CFUNCTYPE(c_int, c_void_p, c_int64)
SYNC = CFUNCTYPE(c_int, c_void_p, c_int)


class _Methods(Structure):
    """``sqlite3_io_methods``, version 3."""

    _fields_ = (
        ("version", c_int),
        ("close", CLOSE),
        ("read", c_void_p),
        ("write", WRITE),
        ("truncate", TRUNCATE),
        ("sync", SYNC),
        ("rest", c_void_p * 13),
    )


class _Vfs(Structure):
    """``sqlite3_vfs``, version 3."""

    _fields_ = (
        ("version", c_int),
        ("file_size", c_int),
        ("longest_path", c_int),
        ("next", c_void_p),
        ("name", c_char_p),
        ("data", c_void_p),
        ("open", OPEN),
        ("delete", DELETE),
        ("rest", c_void_p * 14),
    )


class Watcher(Protocol):
    """Receives SQLite's calls before they are made. A code other than `OK` is returned instead of the call."""

    def created(self, path: Path) -> int: ...
    def written(self, path: Path, offset: int, data: bytes) -> int: ...
    def cut(self, path: Path, size: int) -> int: ...
    def synced(self, path: Path, *, folder: bool) -> int: ...
    def deleted(self, path: Path, *, synced: bool) -> int: ...


def library() -> ctypes.CDLL | None:
    """Return the library of Python's ``sqlite3``, or None if it is not a shared library of its own."""
    maps = Path("/proc/self/maps")
    if not maps.is_file():
        return None
    sqlite3.connect(":memory:").close()
    paths = {line.split(maxsplit=5)[5].strip() for line in maps.read_text().splitlines() if "libsqlite3" in line}
    for path in paths:
        found = ctypes.CDLL(path)
        found.sqlite3_libversion.restype = c_char_p
        if found.sqlite3_libversion().decode() == sqlite3.sqlite_version:
            return found
    return None


class Shim:
    """The layer. Connections that are opened while it is in place report their calls to `watcher`."""

    def __init__(self) -> None:
        """Copy the default VFS.

        Raises:
            OSError: the library cannot be reached.
        """
        found = library()
        if found is None:
            raise OSError("Python's sqlite3 has no shared library of its own here")
        self.watcher: Watcher | None = None
        self._library = found
        found.sqlite3_vfs_find.restype = POINTER(_Vfs)
        found.sqlite3_vfs_register.argtypes = [c_void_p, c_int]
        found.sqlite3_vfs_unregister.argtypes = [c_void_p]
        self._default = found.sqlite3_vfs_find(None)
        self._vfs = _Vfs.from_buffer_copy(self._default.contents)
        self._vfs.name, self._vfs.next = b"watched", None
        self._vfs.open, self._vfs.delete = OPEN(self._on_open), DELETE(self._on_delete)
        self._names: dict[int, Path] = {}
        self._unsynced_names: set[int] = set()
        self._methods: dict[int, tuple[_Methods, _Methods]] = {}

    @contextmanager
    def watched_by(self, watcher: Watcher) -> Iterator[None]:
        """Watch the connections that are opened inside. They should be closed inside too."""
        self._library.sqlite3_vfs_register(byref(self._vfs), 1)
        self.watcher = watcher
        try:
            yield
        finally:
            self.watcher = None
            self._library.sqlite3_vfs_register(self._default, 1)
            self._library.sqlite3_vfs_unregister(byref(self._vfs))

    def _ask(self, call: Callable[[Watcher], int]) -> int:
        return call(self.watcher) if self.watcher else OK

    def _on_open(self, _: Any, name: int | None, file: Any, flags: int, out: Any) -> int:
        # The name is passed on as the same address, because SQLite keeps it.
        path = Path(ctypes.string_at(name).decode()) if name else None
        if path and flags & CREATE and not path.exists() and (code := self._ask(lambda w: w.created(path))):
            file.contents.methods = None
            return code
        code = self._default.contents.open(cast(self._default, c_void_p), name, file, flags, out)
        if code == OK and path and file.contents.methods:
            address = ctypes.addressof(file.contents)
            self._names[address] = path
            if flags & CREATE and flags & JOURNALS:
                self._unsynced_names.add(address)  # SQLite's first sync of such a file syncs its folder too
            file.contents.methods = ctypes.addressof(self._ours(file.contents.methods))
        return code

    def _ours(self, methods: int) -> _Methods:
        """Return a copy of a table of functions with ours in it."""
        if methods not in self._methods:
            theirs = _Methods.from_address(methods)
            ours = _Methods.from_buffer_copy(theirs)
            ours.close, ours.write = CLOSE(self._closing(theirs)), WRITE(self._writing(theirs))
            ours.truncate, ours.sync = TRUNCATE(self._truncating(theirs)), SYNC(self._syncing(theirs))
            self._methods[methods] = (theirs, ours)
        return self._methods[methods][1]

    def _closing(self, theirs: _Methods) -> Callable[[int], int]:
        def close(file: int) -> int:
            self._names.pop(file, None)
            self._unsynced_names.discard(file)
            return theirs.close(file)

        return close

    def _writing(self, theirs: _Methods) -> Callable[[int, int, int, int], int]:
        def write(file: int, data: int, count: int, offset: int) -> int:
            content = ctypes.string_at(data, count)
            return self._ask(lambda w: w.written(self._names[file], offset, content)) or theirs.write(
                file, data, count, offset
            )

        return write

    def _truncating(self, theirs: _Methods) -> Callable[[int, int], int]:
        def truncate(file: int, size: int) -> int:
            return self._ask(lambda w: w.cut(self._names[file], size)) or theirs.truncate(file, size)

        return truncate

    def _syncing(self, theirs: _Methods) -> Callable[[int, int], int]:
        def sync(file: int, flags: int) -> int:
            folder = file in self._unsynced_names
            if code := self._ask(lambda w: w.synced(self._names[file], folder=folder)):
                return code
            self._unsynced_names.discard(file)
            return theirs.sync(file, flags)

        return sync

    def _on_delete(self, _: Any, name: bytes, sync: int) -> int:
        path = Path(name.decode())
        if path.exists() and (code := self._ask(lambda w: w.deleted(path, synced=bool(sync)))):
            return code
        return self._default.contents.delete(cast(self._default, c_void_p), name, sync)
