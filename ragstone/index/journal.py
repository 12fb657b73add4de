"""The journal's file: what people did with a knowledge base, and cannot be computed again.

It lies beside the versions, because a rebuild replaces those. Any process writes to it, a few rows at a time; every
write is synced before it counts. What the rows mean is known above; here are their format and their safety.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from ragstone.errors import Damaged, KnowledgeBaseError
from ragstone.index.catalog.migrations import connect, crc32
from ragstone.index.disk import drop, put_in_place
from ragstone.index.journal_tables import FORMAT, MIGRATIONS, SUMS
from ragstone.index.records import Finding

NAME = "journal.db"


def row_crc(*values: object) -> int:
    """The checksum of a row."""
    return crc32(json.dumps(values))


class Journal:
    """One process's view of the journal of the knowledge base in ``home``. The file is made with the first write."""

    def __init__(self, home: Path) -> None:
        self.path = home / NAME
        self._lock = threading.RLock()
        self._db: sqlite3.Connection | None = None
        self._inode = 0

    def close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """The database, to be read; nothing where there is none yet.

        Raises:
            Damaged: it is not what was written.
            KnowledgeBaseError: it cannot be read.
        """
        with self._lock, self._told("read"):
            yield self._connected() if self.path.is_file() else None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The database in a transaction: all that is done inside, durable when this ends, or nothing.

        Raises:
            Damaged: it is not what was written.
            KnowledgeBaseError: it cannot be written; nothing was.
        """
        with self._lock, self._told("written"):
            if not self.path.is_file():
                make(self.path)
            db = self._connected()
            try:
                db.execute("BEGIN IMMEDIATE")
                yield db
                db.execute("COMMIT")
            except BaseException as error:
                with suppress(sqlite3.Error):
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):  # what it holds in memory is not to be trusted then
                    self.close()
                raise

    def forget_pages(self) -> None:
        """Let nothing of what was deleted lie in the log; the pages themselves are overwritten as they are freed."""
        with self._lock, self._told("written"):
            if self._db is not None:
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _connected(self) -> sqlite3.Connection:
        inode = self.path.stat().st_ino
        if self._db is None or inode != self._inode:  # put back from a copy, or taken away
            self.close()
            db = connect(self.path)
            try:
                db.execute("PRAGMA secure_delete=ON")
                _bring_up(db, self.path)
                # What a killed process left in the log may have failed to sync. Nothing is put behind it before it
                # stands in the database.
                db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            except BaseException:
                db.close()
                raise
            self._db, self._inode = db, inode
        return self._db

    @contextmanager
    def _told(self, done: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.OperationalError, OSError) as error:
            raise KnowledgeBaseError(f"{self.path} cannot be {done}: {error}") from error
        except sqlite3.DatabaseError as error:
            raise Damaged(f"{self.path} cannot be {done}: {error}; {_remedy(self.path)}") from error


def make(path: Path) -> None:
    """An empty journal, in one step; one that another process has made meanwhile stays.

    Raises:
        OSError, sqlite3.Error: it could not be made; nothing is left of it.
    """
    folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with suppress(OSError):  # some network disks have no such locks
            fcntl.flock(folder, fcntl.LOCK_EX)
        if path.is_file():
            return
        drop(beside)
        with closing(connect(beside)) as db:
            db.execute("PRAGMA journal_mode=WAL")
            _bring_up(db, beside)
        put_in_place(beside, path)
    except BaseException:
        drop(beside)
        raise
    finally:
        os.close(folder)


def findings(home: Path) -> list[Finding]:
    """What is wrong with the journal of a knowledge base: its structure, and every row against its checksum."""
    path = home / NAME
    if not path.is_file():
        return []
    wrong: list[str] = []
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.text_factory = lambda value: value.decode(errors="surrogateescape")
            db.execute("BEGIN")
            wrong += [line for (line,) in db.execute("PRAGMA integrity_check") if line != "ok"][:1]
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if not 0 < version <= FORMAT:
                wrong.append(f"it has format {version}, and this Ragstone reads {FORMAT}")
            else:
                wrong += _damaged_rows(db)
    except sqlite3.Error as error:
        wrong.append(str(error))
    return [Finding(part="journal", what=f"{path}: {what}", remedy=_remedy(path)) for what in wrong]


def _damaged_rows(db: sqlite3.Connection) -> Iterator[str]:
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table, columns in SUMS.items():
        if table in there:
            rows = db.execute(f"SELECT crc, {', '.join(columns)} FROM {table}")  # noqa: S608
            count = sum(crc != row_crc(*values) for crc, *values in rows)
            if count:
                yield f"{count} of its {table} are not what was written"


def _bring_up(db: sqlite3.Connection, path: Path) -> None:
    """Bring a database to the present format, in one transaction."""
    if _version(db, path) == FORMAT:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        for migration in MIGRATIONS[_version(db, path) :]:  # asked again: another process may have been faster
            migration(db)
        db.execute(f"PRAGMA user_version={FORMAT}")
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


def _version(db: sqlite3.Connection, path: Path) -> int:
    version: Any
    ((version,),) = db.execute("PRAGMA user_version")
    if version == 0 and path.name == NAME:
        raise Damaged(f"{path} is not a journal; {_remedy(path)}")
    if version > FORMAT:
        raise KnowledgeBaseError(
            f"{path} has format {version}; this Ragstone reads format {FORMAT}: install the newer Ragstone"
        )
    return version


def _remedy(path: Path) -> str:
    lost = "conversations, costs and what was learned are lost then"
    return f"put the {path.name} of a backup in its place; or remove {path}: {lost}"
