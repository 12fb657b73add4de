"""Counts that the server processes of a host share: tokens of rate limits, failed attempts, requests in progress.

They are in ``counts.db``, a file next to the journal. It is separate because a count need not survive a power cut:
nothing is synced, so a change takes about 50 microseconds. The file is disposable. If it fails, each process counts for
itself.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from ragstone.storage.disk import drop
from ragstone.storage.sqlite import connect_private, files_of, transaction

NAME = "counts.db"
MOST = 50_000
"""Keys that are remembered, about; those that changed least recently are forgotten first."""
TIDY = 100
"""New keys after which the oldest ones are forgotten."""
PATIENCE = 0.2
"""Seconds to wait for another process that counts."""
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS counts (
        key TEXT PRIMARY KEY, value REAL NOT NULL, at REAL NOT NULL  -- a hash; seconds since 1970
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS counts_at ON counts (at);
    CREATE TABLE IF NOT EXISTS running (
        key TEXT NOT NULL, server TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (key, server)
    ) WITHOUT ROWID;
"""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Count:
    """A value, and when it changed last, in seconds since 1970."""

    value: float
    at: float


Key = tuple[str, ...]
Change = Callable[[Count | None], Count | None]
"""Returns the new count of a key, or None to forget it; receives None for an unknown key."""


class Counts(Protocol):
    """Remembers a count for each key."""

    def get(self, key: Key) -> Count | None:
        """Return the count of a key, without waiting for those who change counts; None for an unknown key."""
        ...

    def change(self, key: Key, change: Change) -> None:
        """Replace the count of a key with what a function makes of it; nothing changes if it raises an error."""
        ...

    def close(self) -> None:
        """Close what is open."""
        ...


class Running(Protocol):
    """Counts the requests in progress of each key. A request that `begin` admits is followed by one `end`."""

    def begin(self, key: str, most: int) -> bool:
        """Count a request and return True, unless ``most`` are in progress."""
        ...

    def end(self, key: str) -> None:
        """Count a request as over; do nothing for a key without any."""
        ...

    def close(self) -> None:
        """Close what is open."""
        ...


# ---------------------------------------------------------------- one process
class OwnCounts:
    """The counts of one process, in memory."""

    def __init__(self) -> None:
        self._counts: dict[Key, Count] = {}

    def get(self, key: Key) -> Count | None:
        return self._counts.get(key)

    def change(self, key: Key, change: Change) -> None:
        after = change(self._counts.get(key))
        self._counts.pop(key, None)
        if after:
            self._counts[key] = after  # the most recent stands last
        if len(self._counts) > MOST:
            del self._counts[next(iter(self._counts))]

    def close(self) -> None:
        pass


class OwnRunning:
    """The requests in progress of one process, in memory."""

    def __init__(self) -> None:
        self._counts = Counter[str]()

    def begin(self, key: str, most: int) -> bool:
        if self._counts[key] >= most:
            return False
        self._counts[key] += 1
        return True

    def end(self, key: str) -> None:
        self._counts -= Counter({key: 1})  # which drops a count of 0

    def close(self) -> None:
        pass


# ---------------------------------------------------------------- the processes of a host
class SharedCounts:
    """The counts of all processes, in the file."""

    def __init__(self, folder: Path) -> None:
        """Name the folder of the knowledge base; the file is made when it is first used."""
        self._file, self._own, self._lock, self._new = _File(folder / NAME), OwnCounts(), threading.Lock(), 0

    def get(self, key: Key) -> Count | None:
        with self._lock:
            return self._file.run(lambda db: self._in(db, _name(key)), lambda: self._own.get(key), begin="BEGIN")

    def change(self, key: Key, change: Change) -> None:
        with self._lock:
            self._file.run(lambda db: self._change_in(db, _name(key), change), lambda: self._own.change(key, change))

    def close(self) -> None:
        with self._lock:
            self._file.close()

    def _in(self, db: sqlite3.Connection, key: str) -> Count | None:
        row = db.execute("SELECT value, at FROM counts WHERE key = ?", [key]).fetchone()
        return Count(*row) if row else None

    def _change_in(self, db: sqlite3.Connection, key: str, change: Change) -> None:
        before = self._in(db, key)
        after = change(before)
        if after is None:
            db.execute("DELETE FROM counts WHERE key = ?", [key])
            return
        db.execute("INSERT OR REPLACE INTO counts VALUES (?, ?, ?)", [key, after.value, after.at])
        self._new += before is None
        if before is None and self._new % TIDY == 0:  # now and then, because it looks at every key
            oldest = "SELECT at FROM counts ORDER BY at DESC LIMIT 1 OFFSET ?"
            db.execute(f"DELETE FROM counts WHERE at <= ({oldest})", [MOST])  # noqa: S608


class SharedRunning:
    """The requests in progress of all processes, in the file."""

    def __init__(self, folder: Path, server: Callable[[], str], alive: Callable[[], Collection[str]]) -> None:
        """
        Args:
            folder: of the knowledge base.
            server: returns the id of this process.
            alive: returns the ids of all processes that run; the requests of others were lost with them.
        """
        self._file, self._own, self._lock = _File(folder / NAME), Counter[str](), threading.Lock()
        self._server, self._alive = server, alive

    def begin(self, key: str, most: int) -> bool:
        with self._lock:
            is_admitted = self._file.run(lambda db: self._begin_in(db, key, most), lambda: self._own[key] < most)
            self._own += Counter({key: int(is_admitted)})
            return is_admitted

    def end(self, key: str) -> None:
        with self._lock:
            if self._own[key]:
                self._own -= Counter({key: 1})
                self._file.run(lambda db: self._note(db, key, self._own[key]), _nothing)

    def close(self) -> None:
        with self._lock:
            if self._file.is_open:
                server = [self._server()]
                self._file.run(lambda db: db.execute("DELETE FROM running WHERE server = ?", server), _nothing)
            self._file.close()

    def _begin_in(self, db: sqlite3.Connection, key: str, most: int) -> bool:
        if self._all_of(db, key) >= most:
            alive = [self._server(), *self._alive()]
            marks = ", ".join("?" * len(alive))
            db.execute(f"DELETE FROM running WHERE server NOT IN ({marks})", alive)  # noqa: S608
            if self._all_of(db, key) >= most:
                return False
        self._note(db, key, self._own[key] + 1)
        return True

    def _all_of(self, db: sqlite3.Connection, key: str) -> int:
        return db.execute("SELECT ifnull(sum(count), 0) FROM running WHERE key = ?", [key]).fetchone()[0]

    def _note(self, db: sqlite3.Connection, key: str, count: int) -> None:
        """Write the count of this process; it is set, not changed, so that one failed write does not last."""
        if count:
            db.execute("INSERT OR REPLACE INTO running VALUES (?, ?, ?)", [key, self._server(), count])
        else:
            db.execute("DELETE FROM running WHERE key = ? AND server = ?", [key, self._server()])


def _name(key: Key) -> str:
    return hashlib.sha256(json.dumps(key).encode()).hexdigest()


def _nothing() -> None:
    pass


class _File:
    """The file and this process's connection to it. Its users take turns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db: sqlite3.Connection | None = None
        self._inode = 0

    @property
    def is_open(self) -> bool:
        return self._db is not None

    def close(self) -> None:
        if self._db is not None:
            with suppress(sqlite3.Error):
                self._db.close()
            self._db = None

    def run(
        self, work: Callable[[sqlite3.Connection], T], alone: Callable[[], T], *, begin: str = "BEGIN IMMEDIATE"
    ) -> T:
        """Return what work in one transaction returns; if the file fails, remove a damaged one and work without it."""
        try:
            with self._transaction(begin) as db:
                return work(db)
        except (sqlite3.OperationalError, OSError):  # busy, full or not writable
            pass
        except (sqlite3.Error, TypeError, ValueError):  # damaged
            self.close()
            for file in files_of(self._path):
                with suppress(OSError):
                    drop(file)
        return alone()

    @contextmanager
    def _transaction(self, begin: str) -> Generator[sqlite3.Connection]:
        if self._db is None or self._path.stat().st_ino != self._inode:  # another process replaced a damaged file
            self._open()
        db = self._db
        assert db is not None
        with transaction(db, begin):
            yield db

    def _open(self) -> None:
        self.close()
        db = connect_private(self._path, PATIENCE)
        try:
            db.execute("PRAGMA synchronous=OFF")
            db.execute("PRAGMA journal_mode=WAL")
            db.executescript(_SCHEMA)
        except sqlite3.Error:
            db.close()
            raise
        self._db, self._inode = db, self._path.stat().st_ino
