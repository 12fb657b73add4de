"""The connections to an SQLite database, and what becomes of them when something fails."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ragstone.errors import Damaged, KnowledgeBaseError
from ragstone.index.catalog.migrations import connect, new_mark


class Database:
    """One process's view of the database: a connection for each thread that reads, and one that writes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._readers: dict[threading.Thread, sqlite3.Connection] = {}
        self._connecting, self._writing = threading.Lock(), threading.Lock()
        self._open_writer: sqlite3.Connection | None = None

    def close(self) -> None:
        for connection in (self._open_writer, *self._readers.values()):
            if connection is not None:
                connection.close()
        self._open_writer = None
        self._readers.clear()

    @contextmanager
    def transaction(self, *, counted: bool = True) -> Iterator[tuple[sqlite3.Connection, int]]:
        """A write, all or nothing, with the generation it will have; indexes need not know of one not counted."""
        with self._writing, self._writable():
            db = self._writer
            try:
                db.execute("BEGIN IMMEDIATE")
                (generation,) = db.execute("SELECT max(generation) + 1 FROM commits").fetchone()
                if counted:
                    db.execute("INSERT INTO commits VALUES (?, ?)", [generation, new_mark()])
                yield db, generation
                db.execute("COMMIT")
            except BaseException as error:
                with suppress(sqlite3.Error):
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):  # after an I/O error, what it holds in memory is not to be trusted
                    self._open_writer = None
                    with suppress(sqlite3.Error):
                        db.close()
                raise

    @contextmanager
    def _writable(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise KnowledgeBaseError(
                f"could not write {self._path}: {error}; nothing of this step was stored, and what was stored before"
                " is as it was"
            ) from error

    @property
    def _writer(self) -> sqlite3.Connection:
        """The connection that writes, made when it is needed."""
        if self._open_writer is None:
            writer = self._connect()
            try:
                # What a killed process left in the log may be there only in the memory of the system, its sync having
                # failed. Nothing is put behind it before it stands in the database.
                writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            except sqlite3.Error:
                writer.close()
                raise
            self._open_writer = writer
        return self._open_writer

    def _connect(self) -> sqlite3.Connection:
        with self._readable():
            return connect(self._path)

    @property
    def _reader(self) -> sqlite3.Connection:
        """This thread's connection. Those of threads that have ended are closed: every event loop has new ones."""
        thread = threading.current_thread()
        if thread not in self._readers:
            with self._connecting:
                for ended in [one for one in self._readers if not one.is_alive()]:
                    self._readers.pop(ended).close()
                self._readers[thread] = self._connect()
        return self._readers[thread]

    def _rows(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Iterator[Any]:
        with self._readable():
            yield from self._reader.execute(sql, values)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise KnowledgeBaseError(f"{self._path} cannot be read: {error}") from error
        except sqlite3.DatabaseError as error:
            raise Damaged(
                f"{self._path} cannot be read ({error}); restore it from a backup: ragstone restore"
            ) from error

    def _text(self, content: int) -> str | None:
        """A text; nothing where it is gone."""
        found = list(self._rows("SELECT text FROM contents WHERE content = ?", [content]))
        return found[0][0] if found else None

    def _one(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
        ((value,),) = self._rows(sql, values)
        return value
