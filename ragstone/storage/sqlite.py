"""SQLite as every durable file here uses it: private files, commits that survive a power cut, and checksums."""

from __future__ import annotations

import errno
import shutil
import sqlite3
import zlib
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from ragstone.storage.files import identity, is_writable

PATIENCE = 30.0
"""Seconds to wait for another process that writes."""


Failed = (sqlite3.Error, UnicodeDecodeError, OSError)
"""What a call of SQLite raises; a text in the schema that is no UTF-8 ends in a `UnicodeDecodeError`."""
LATER = "after that, run ragstone doctor again"
"""The remedy of a finding that `reason_of` explains and that is no damage."""
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT)
_FULL_BYTES = 1 << 20
"""Free bytes below which a disk counts as full: SQLite needs some even to read, and reports an I/O error instead."""


def is_damage(error: Exception) -> bool:
    """Return whether an error of SQLite means that the file is damaged, rather than out of reach for now."""
    if isinstance(error, UnicodeDecodeError) or str(error).startswith(("no such ", "Could not decode", "unsupported")):
        return True
    return _code(error) in _DAMAGED


def reason_of(error: Exception, path: Path) -> str:
    """Return why a database cannot be read or written, and what to do if it is not damaged."""
    code, number = _code(error), error.errno if isinstance(error, OSError) else None
    if is_damage(error):
        return f"it is damaged ({error})"
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) or number == errno.ENOSPC:
        if code == sqlite3.SQLITE_IOERR and not _is_full(path):
            return f"the disk fails ({error}); check the disk and the log of the system"
        return "the disk is full; nothing stored is lost: free some space, then run the command again"
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"another process is writing ({error}); run the command again"
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM) or number in (errno.EROFS, errno.EACCES, errno.EPERM):
        return f"the file system is read-only, or this account may not write there ({error})"
    if code == sqlite3.SQLITE_CANTOPEN and path.exists():
        return f"this account may not open it ({error}); use the account that owns it"
    return str(error)


def _code(error: Exception) -> int:
    """Return the primary result code of SQLite; 0 if the error has none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _is_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _FULL_BYTES
    except OSError:
        return False


def crc32(value: bytes | str) -> int:
    """Return the checksum of a value."""
    return zlib.crc32(value if isinstance(value, bytes) else value.encode())


def connect_private(path: Path, timeout: float = PATIENCE) -> sqlite3.Connection:
    """Return a connection to a database; one that is created can be read by its owner alone.

    SQLite creates its log and its shared memory with the mode of the database.
    """
    is_new = not path.exists()
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=timeout)
    if is_new:
        try:
            path.chmod(0o600)
        except OSError as error:
            connection.close()
            raise sqlite3.OperationalError(f"unable to open database file: {error}") from error
    return connection


@contextmanager
def transaction(db: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE") -> Generator[None]:
    """Do what follows in one transaction, which may write if it begins so; after an error, undo it."""
    db.execute(begin)
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            if db.in_transaction:
                db.execute("ROLLBACK")
        raise


def files_of(path: Path) -> list[Path]:
    """Return the files of a database: its own, its log and its shared memory."""
    return [path.with_name(path.name + end) for end in ("", "-wal", "-shm")]


def fixed_state(path: Path) -> tuple[int, ...]:
    """Return a value that changes when another process writes a database that this one may only read."""
    return *identity(path), *identity(_log_of(path))


def connect_fixed(path: Path) -> sqlite3.Connection:
    """Return a connection to a database that this process may only read; it writes nothing.

    SQLite would create a log. A database without one is read as a file that does not change, so the caller has to
    connect again when `fixed_state` changes. One with a log is being written, or was when its process died; it is
    read together with the log if that can be done without writing.

    Raises:
        sqlite3.OperationalError: it cannot be read.
    """
    has_log = identity(_log_of(path))[2] > 0
    uri = f"{path.absolute().as_uri()}?{'mode=ro' if has_log else 'immutable=1'}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=PATIENCE)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        if not has_log:
            raise
        raise sqlite3.OperationalError(
            f"the folder cannot be written, and commits in {_log_of(path).name} are not in the file yet; open it once"
            " with an account that may write"
        ) from error
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def connect_to_check(path: Path) -> sqlite3.Connection:
    """Return a connection that reads an existing database, whether or not it may be written."""
    return sqlite3.connect(path, isolation_level=None) if is_writable(path) else connect_fixed(path)


def compact(db: sqlite3.Connection) -> None:
    """Write a database anew, without the remains of deleted rows, and empty its log.

    Raises:
        sqlite3.Error: it cannot be written, or another process keeps reading an older state.
    """
    db.execute(f"PRAGMA busy_timeout={PATIENCE * 1000:.0f}")
    db.execute("PRAGMA secure_delete=ON")
    db.execute("VACUUM")
    (is_busy, *_) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if is_busy:
        raise sqlite3.OperationalError("another process keeps reading it; try again when that is done")


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def connect(path: Path) -> sqlite3.Connection:
    """Return a connection whose commits survive a power cut; a new file can be read by its owner alone."""
    connection = connect_private(path)
    try:
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA fullfsync=ON")  # needed on macOS; no effect elsewhere
        connection.execute("PRAGMA checkpoint_fullfsync=ON")
        connection.execute("PRAGMA foreign_keys=ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection
