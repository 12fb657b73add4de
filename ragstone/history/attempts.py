"""Failed attempts of names and addresses: of one process, or of all that serve a knowledge base on this host."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ragstone.history.count_file import CountFile

NAME = "attempts.db"
MOST_KNOWN = 50_000
"""Names and addresses that are remembered; the quietest are forgotten first."""
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS attempts (
        who TEXT PRIMARY KEY, count INTEGER NOT NULL, last REAL NOT NULL  -- a hash; seconds since 1970
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS attempts_last ON attempts (last);
"""


@dataclass(frozen=True, slots=True)
class Failures:
    """How many attempts failed, and when the last one was, in seconds."""

    count: int = 0
    last: float = 0.0


Change = Callable[[Failures], Failures]


class Attempts(Protocol):
    """Remembers the failures of each name or address."""

    def change(self, who: tuple[str, ...], change: Change) -> None:
        """Replace what is known by what a function makes of it; nothing changes if it raises an error."""
        ...

    def close(self) -> None:
        """Close what is open."""
        ...


class OwnAttempts:
    """The failures of one process, in memory."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], Failures] = {}

    def change(self, who: tuple[str, ...], change: Change) -> None:
        after = change(self._known.get(who, Failures()))
        self._known.pop(who, None)
        if after.count:
            self._known[who] = after  # the most recent stands last
        if len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]

    def close(self) -> None:
        pass


class SharedAttempts:
    """The failures of all processes, in a file. If it fails, each process counts for itself."""

    def __init__(self, folder: Path) -> None:
        """Name the folder of the knowledge base."""
        self._file, self._own, self._lock = CountFile(folder / NAME, _SCHEMA), OwnAttempts(), threading.Lock()

    def change(self, who: tuple[str, ...], change: Change) -> None:
        with self._lock:
            try:
                with self._file.transaction() as db:
                    _change_in(db, hashlib.sha256(json.dumps(who).encode()).hexdigest(), change)
                return
            except sqlite3.OperationalError:  # busy, full or not writable
                pass
            except (sqlite3.Error, OSError, TypeError, ValueError):  # damaged
                self._file.drop()
            self._own.change(who, change)

    def close(self) -> None:
        with self._lock, suppress(sqlite3.Error):
            self._file.close()


def _change_in(db: sqlite3.Connection, who: str, change: Change) -> None:
    row = db.execute("SELECT count, last FROM attempts WHERE who = ?", [who]).fetchone()
    after = change(Failures(*row) if row else Failures())
    if not after.count:
        db.execute("DELETE FROM attempts WHERE who = ?", [who])
        return
    db.execute("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?)", [who, after.count, after.last])
    if row is None:
        oldest = "SELECT last FROM attempts ORDER BY last DESC LIMIT 1 OFFSET ?"
        db.execute(f"DELETE FROM attempts WHERE last <= ({oldest})", [MOST_KNOWN])  # noqa: S608
