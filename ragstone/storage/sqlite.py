"""SQLite as every durable file here uses it: private files, commits that survive a power cut, and checksums."""

from __future__ import annotations

import sqlite3
import zlib
from pathlib import Path

from ragstone.storage.files import identity, is_writable

PATIENCE = 30.0
"""Seconds to wait for another process that writes."""


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
