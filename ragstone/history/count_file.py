"""A small file in which the processes of a host count together.

It is not the journal because a count need not survive a power cut: nothing is synced, so a change takes about 50
microseconds. The file is disposable.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from ragstone.storage.disk import drop
from ragstone.storage.sqlite import connect_private

PATIENCE = 0.2
"""Seconds to wait for another process that counts."""


class CountFile:
    """An SQLite file and this process's connection to it. Its users take turns."""

    def __init__(self, path: Path, schema: str) -> None:
        """Name the file, which is made when it is first used, and the statements that make its tables if needed."""
        self._path, self._schema = path, schema
        self._db: sqlite3.Connection | None = None
        self._file = 0

    @property
    def is_open(self) -> bool:
        return self._db is not None

    def close(self) -> None:
        """Close the connection."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def drop(self) -> None:
        """Remove the file, because it is damaged; the next transaction makes another."""
        self.close()
        for end in ("", "-wal", "-shm"):
            with suppress(OSError):
                drop(self._path.with_name(self._path.name + end))

    @contextmanager
    def transaction(self) -> Generator[sqlite3.Connection]:
        """Give the connection; all changes are made at the end, or none.

        Raises:
            sqlite3.Error, OSError: the file is busy, full, damaged or cannot be written.
        """
        db = self._connected()
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                db.execute("ROLLBACK")
            raise

    def _connected(self) -> sqlite3.Connection:
        if self._db is None or self._path.stat().st_ino != self._file:  # another process replaced a damaged file
            self.close()
            db = connect_private(self._path, PATIENCE)
            try:
                db.execute("PRAGMA synchronous=OFF")
                db.execute("PRAGMA journal_mode=WAL")
                db.executescript(self._schema)
            except sqlite3.Error:
                db.close()
                raise
            self._db, self._file = db, self._path.stat().st_ino
        return self._db
