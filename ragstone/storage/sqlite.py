"""SQLite as every durable file here uses it: private files, commits that survive a power cut, and checksums."""

from __future__ import annotations

import sqlite3
import zlib
from pathlib import Path

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
