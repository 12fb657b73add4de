"""The journal: what people did with a knowledge base, which cannot be recomputed.

It is stored apart from the versions, because a rebuild replaces those. Any process writes to it, a few rows at a time;
every write is synced before it is acknowledged. Other modules know the meaning of the rows; this one keeps them safe.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path

from ragstone.core.catalog import Finding
from ragstone.core.errors import Damaged, KnowledgeBaseError
from ragstone.history.copying import copy_rows
from ragstone.history.journal_tables import FORMAT, SUMS, schema
from ragstone.history.store import JournalDatabase
from ragstone.storage import locks
from ragstone.storage.disk import drop, put_in_place
from ragstone.storage.files import is_writable
from ragstone.storage.formats import require_format, stamp
from ragstone.storage.sqlite import (
    LATER,
    Failed,
    compact,
    connect,
    connect_fixed,
    connect_to_check,
    crc32,
    files_of,
    fixed_state,
    is_damage,
    reason_of,
    transaction,
)

NAME = "journal.db"
MOVED = f"{NAME}.moved"
"""The name of a host's own journal after the catalog's server took its rows over."""


def row_crc(*values: object) -> int:
    """Return the checksum of a row."""
    return crc32(json.dumps(values))


class Journal:
    """One process's connection to the journal in a folder, as a `JournalStore`. The first write creates the file."""

    is_local = True

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / NAME
        self.clock: Callable[[], float] = time.time
        self._lock = threading.RLock()
        self._db: sqlite3.Connection | None = None
        self._state: tuple[int, ...] = ()

    def close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    @property
    def exists(self) -> bool:
        return self.path.is_file()

    def another(self) -> Journal:
        return Journal(self.folder)

    def findings(self) -> list[Finding]:
        return findings(self.folder)

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection | None]:
        with self._lock, self._translated("read"):
            yield self._connected() if self.path.is_file() else None

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        with self._lock, self._translated("written"):
            if not self.path.is_file():
                make(self.path)
            db = self._connected()
            try:
                with transaction(db):
                    yield db
            except sqlite3.Error:  # its memory can no longer be trusted
                self.close()
                raise

    @contextmanager
    def snapshot(self) -> Generator[sqlite3.Connection | None]:
        with self.reading() as db:
            if db is None:
                yield None
                return
            db.execute("BEGIN")
            try:
                yield db
            finally:
                db.execute("ROLLBACK")

    def fill(self, rows: JournalDatabase) -> None:
        with self.writing() as db:
            copy_rows(rows, db)

    def forget_pages(self) -> None:
        """Remove deleted data from the log; the pages themselves are overwritten when they are freed."""
        with self._lock, self._translated("written"):
            if self._db is not None:
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def compact(self) -> None:
        with self.reading() as db:
            if db is not None:
                compact(db)
        drop(self.path.with_name(MOVED))

    def _connected(self) -> sqlite3.Connection:
        may_write = is_writable(self.path)
        state = (self.path.stat().st_ino,) if may_write else fixed_state(self.path)
        if self._db is None or state != self._state:  # replaced by a copy, or removed
            self.close()
            db = connect(self.path) if may_write else connect_fixed(self.path)
            try:
                require_format(db, self.path, FORMAT)
                if may_write:
                    db.execute("PRAGMA secure_delete=ON")
                    # A killed process may have left commits in the log whose sync failed. They must reach the
                    # database before anything is written behind them.
                    db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            except BaseException:
                db.close()
                raise
            self._db, self._state = db, state
        return self._db

    @contextmanager
    def _translated(self, done: str) -> Generator[None]:
        try:
            yield
        except Failed as error:
            reason = f"{self.path} cannot be {done}: {reason_of(error, self.path)}"
            if is_damage(error):
                raise Damaged(f"{reason}; {_remedy(self.path)}") from error
            raise KnowledgeBaseError(reason) from error


def make(path: Path) -> None:
    """Create an empty journal in one step, unless another process has created it in the meantime.

    Raises:
        OSError, sqlite3.Error: it failed; nothing is left behind.
    """
    folder = locks.open_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    _, log, shared = files_of(temporary)
    try:
        with suppress(OSError):  # some network disks have no such locks
            locks.lock(folder, wait=True)
        if path.is_file():
            return
        for part in (temporary, log):
            drop(part)
        with closing(connect(temporary)) as db:
            db.executescript(f"BEGIN IMMEDIATE; {schema()} {stamp(FORMAT)} COMMIT;")
            db.execute("PRAGMA journal_mode=WAL")
        if (
            log.exists()
        ):  # closing could not merge it into the file, for example on a full disk, and it would stay behind
            raise OSError(f"{log} could not be merged into the file")
        put_in_place(temporary, path)
    except BaseException:
        for part in (temporary, log, shared):
            drop(part)
        raise
    finally:
        os.close(folder)


def findings(folder: Path) -> list[Finding]:
    """Return the faults of the journal in a folder: its structure, and rows that do not match their checksums."""
    path = folder / NAME
    if not path.is_file():
        return []
    wrong: list[str] = []
    try:
        with closing(connect_to_check(path)) as db:
            db.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
            db.execute("BEGIN")
            wrong += [line for (line,) in db.execute("PRAGMA integrity_check") if line != "ok"][:1]
            require_format(db, path, FORMAT)
            wrong += damaged_rows(db, SUMS)
    except KnowledgeBaseError as error:
        return [Finding(part="journal", what=str(error), remedy=LATER)]
    except Failed as error:
        if not is_damage(error):
            return [Finding(part="journal", what=f"{path} cannot be read: {reason_of(error, path)}", remedy=LATER)]
        wrong.append(str(error))
    return [Finding(part="journal", what=f"{path}: {what}", remedy=_remedy(path)) for what in wrong]


def damaged_rows(db: JournalDatabase, tables: Iterable[str]) -> Iterator[str]:
    """Yield the tables with rows that do not match their checksums."""
    for table in tables:
        rows = db.execute(f"SELECT crc, {', '.join(SUMS[table])} FROM {table}")  # noqa: S608
        count = sum(crc != row_crc(*values) for crc, *values in rows)
        if count:
            yield f"{count} of its {table} {'is' if count == 1 else 'are'} damaged"


def _remedy(path: Path) -> str:
    lost = "which loses conversations, costs and learned policies"
    return f"replace it by the {path.name} of a backup, or remove {path}, {lost}"
