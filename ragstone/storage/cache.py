"""Results kept by key in one file, so that they are computed once.

The cache does not interpret its values. A key contains everything that determines a value, so a value can be missing
but never stale. The file is disposable: one that is damaged, of another format or not writable is deleted or ignored
without an error. Nothing is synced to disk; each value carries a checksum instead, and one that does not fit is a miss.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from ragstone.core.frozen import frozen
from ragstone.storage.cache_key import checksum
from ragstone.storage.sqlite import compact, connect_private, files_of, transaction

FORMAT = 2
"""The format of the file. A file of another format is deleted."""
PERIOD = 3_600_000
"""Milliseconds between two records of the use of a value, so that a read seldom writes."""
FREED = 0.9
"""The share of its limit to which a full kind shrinks, so that the next values fit without another purge."""
OVERHEAD = 100
"""Approximate overhead of an entry in bytes, without its value."""
PATIENCE = 0.05
"""Seconds to wait for another process that writes. After that, the value is dropped."""
COUNTED = 256
"""Hits and misses to count in memory before they are added to those on disk."""

_SCHEMA = """
    CREATE TABLE entries (
        kind TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, checksum INTEGER NOT NULL,
        used INTEGER NOT NULL, made INTEGER NOT NULL,  -- milliseconds since 1970
        PRIMARY KEY (kind, key)
    );
    CREATE INDEX entries_used ON entries (kind, used);
    CREATE TABLE totals (
        kind TEXT PRIMARY KEY, entries INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0,
        hits INTEGER NOT NULL DEFAULT 0, misses INTEGER NOT NULL DEFAULT 0
    );
"""
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_UNFIT = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN,
          sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM}  # fmt: skip
"""Errors of the disk, not of the file."""

R = TypeVar("R")


@frozen
class Limit:
    """The limits of one kind of value:

    ``bytes``, and, if they are not 0, ``entries`` and ``seconds`` until a value expires. With a limit of entries, the
    exactly least recently used one makes room; otherwise the order is exact to within `PERIOD`.
    """

    bytes: int
    entries: int = 0
    seconds: float = 0.0


@frozen
class CacheStatus:
    """Entries, size, hits and misses of one kind of value.

    The kind ``shared`` is the cache on a server; ``problem`` says what is wrong with it. ``level`` groups the kinds.
    """

    kind: str
    entries: int
    megabytes: float
    limit_mb: float
    hits: int
    misses: int
    problem: str = ""
    level: str = ""


class Cache(Protocol):
    """A bounded store of bytes by kind and key. No method raises: a cache that fails has no values."""

    def keeps(self, kind: str) -> bool:
        """Return whether values of a kind are kept, so that computing a key is worthwhile."""
        ...

    def get(self, kind: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values found; count hits and misses."""
        ...

    def put(self, kind: str, values: Mapping[bytes, bytes]) -> None:
        """Store values; the least recently used ones make room."""
        ...

    def latest(self, kind: str, count: int) -> list[bytes]:
        """Return the most recently used values, newest first; the order is exact to within `PERIOD`."""
        ...

    def status(self) -> tuple[CacheStatus, ...]:
        """Return the status of each kind that is kept."""
        ...

    def peek(self, kind: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values found, without counting."""
        ...

    def count(self, kind: str, *, hits: int = 0, misses: int = 0) -> None:
        """Count hits and misses of a kind that is kept."""
        ...

    def clear(self, kinds: Sequence[str] = ()) -> bool:
        """Delete these kinds with their statistics, all kinds if none is named; return whether nothing is left."""
        ...

    def close(self) -> None:
        """Save the statistics and close the connections."""
        ...


class FileCache:
    """A cache in a file, shared by all processes that open it; implements `Cache`, which describes the methods."""

    def __init__(self, path: Path, limits: Mapping[str, Limit]) -> None:
        """Name the file; it is opened, or created, when first used.

        Args:
            path: the file.
            limits: bytes of each kind of value; a kind of 0 bytes, or not named, is not kept.
        """
        self._path, self._limits = path, {kind: limit for kind, limit in limits.items() if limit.bytes > 0}
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._lost = False
        self._counts: Counter[tuple[str, str]] = Counter()
        self._used: dict[tuple[str, bytes], int] = {}

    def keeps(self, kind: str) -> bool:
        return kind in self._limits and not self._lost

    def lifetime(self, kind: str) -> float:
        """Return the seconds until a value of a kind expires; 0 if it does not."""
        limit = self._limits.get(kind)
        return limit.seconds if limit else 0.0

    def get(self, kind: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        found = self._read(kind, keys)
        self.count(kind, hits=len(found), misses=len(set(keys)) - len(found))
        return found

    def peek(self, kind: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return self._read(kind, keys)

    def count(self, kind: str, *, hits: int = 0, misses: int = 0) -> None:
        if self.keeps(kind):
            with self._lock:
                before = self._counts.total() // COUNTED
                self._counts[kind, "hits"] += hits
                self._counts[kind, "misses"] += misses
                is_due = self._counts.total() // COUNTED > before
            if is_due:
                self._try(self._save)

    def _read(self, kind: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        if not self.keeps(kind) or not keys:
            return {}

        limit = self._limits[kind]

        def read(db: sqlite3.Connection) -> dict[bytes, bytes]:
            now, values = _now(), dict[bytes, bytes]()
            since = _expired(limit, now)
            for key in dict.fromkeys(keys):
                sql = "SELECT value, checksum, used FROM entries WHERE kind = ? AND key = ? AND made > ?"
                row = db.execute(sql, [kind, key, since]).fetchone()
                if row is not None and isinstance(row[0], bytes) and row[1] == checksum(kind, key, row[0]):
                    values[key] = row[0]
                    if limit.entries or not isinstance(row[2], int) or now - row[2] >= PERIOD:
                        self._used[kind, key] = now
            return values

        return self._try(read) or {}

    def put(self, kind: str, values: Mapping[bytes, bytes]) -> None:
        if not self.keeps(kind):
            return
        limit = self._limits[kind]
        fitting = {key: value for key, value in values.items() if len(value) + OVERHEAD <= limit.bytes // 4}

        def write(db: sqlite3.Connection) -> None:
            now = _now()
            for key, value in fitting.items():
                sql = "SELECT length(value) FROM entries WHERE kind = ? AND key = ?"
                before = db.execute(sql, [kind, key]).fetchone()
                db.execute(
                    "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?)",
                    [kind, key, value, checksum(kind, key, value), now, now],
                )
                grown = len(value) - before[0] if before else len(value) + OVERHEAD
                _add(db, kind, entries=0 if before else 1, bytes=grown)
            _make_room(db, kind, limit)

        if fitting:
            self._try(lambda db: self._save(db, write))

    def latest(self, kind: str, count: int) -> list[bytes]:
        def read(db: sqlite3.Connection) -> list[bytes]:
            sql = "SELECT key, value, checksum FROM entries WHERE kind = ? ORDER BY used DESC, rowid DESC LIMIT ?"
            return [value for key, value, sum in db.execute(sql, [kind, count]) if sum == checksum(kind, key, value)]

        return (self._try(read) or []) if self.keeps(kind) else []

    def status(self) -> tuple[CacheStatus, ...]:
        def read(db: sqlite3.Connection) -> dict[str, list[int]]:
            rows = db.execute("SELECT kind, entries, bytes, hits, misses FROM totals")
            return {kind: [value if isinstance(value, int) else 0 for value in rest] for kind, *rest in rows}

        if self._limits and not self._path.is_file():  # a read creates no file
            counts = dict[str, list[int]]()
        else:
            self._try(self._save)
            counts = self._try(read) or {}
        out = list[CacheStatus]()
        for kind, limit in self._limits.items():
            entries, size, hits, misses = counts.get(kind, [0, 0, 0, 0])
            megabytes, limit_mb = round(size / 1e6, 2), limit.bytes / 1e6
            out.append(
                CacheStatus(
                    kind=kind, entries=entries, megabytes=megabytes, limit_mb=limit_mb, hits=hits, misses=misses
                )
            )
        return tuple(out)

    def clear(self, kinds: Sequence[str] = ()) -> bool:
        def empty(db: sqlite3.Connection) -> bool:
            which = f" WHERE kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
            for table in ("entries", "totals"):
                db.execute(f"DELETE FROM {table}{which}", list(kinds))  # noqa: S608
            self._counts = Counter({one: count for one, count in self._counts.items() if kinds and one[0] not in kinds})
            self._used = {one: at for one, at in self._used.items() if kinds and one[0] not in kinds}
            compact(db)
            db.execute(f"PRAGMA busy_timeout={PATIENCE * 1000:.0f}")
            return True

        if not self._path.is_file():
            return True
        if not self._limits:
            with self._lock:
                self._delete()
            return True
        return bool(self._try(empty))

    def close(self) -> None:
        if self._db is not None:
            self._try(self._save)
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def _save(self, db: sqlite3.Connection, write: Callable[[sqlite3.Connection], None] | None = None) -> None:
        """Write in a transaction, with the statistics, which are forgotten only once that is committed."""
        if not (write or self._counts or self._used):
            return
        with transaction(db):
            for (kind, what), count in self._counts.items():
                _add(db, kind, hits=count if what == "hits" else 0, misses=count if what == "misses" else 0)
            sql = "UPDATE entries SET used = ? WHERE kind = ? AND key = ?"
            db.executemany(sql, [(now, *one) for one, now in self._used.items()])
            if write:
                write(db)
        self._counts.clear()
        self._used.clear()

    # ------------------------------------------------------------ the file

    def _try(self, work: Callable[[sqlite3.Connection], R]) -> R | None:
        """Return the result, or None after an error; delete a damaged file."""
        with self._lock:
            for _ in range(2):
                if self._lost or not self._limits:
                    return None
                try:
                    self._db = self._db or self._open()
                    return work(self._db)
                # A damaged file can also hold values of the wrong type.
                except (sqlite3.Error, ValueError, TypeError, OverflowError, MemoryError) as error:
                    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                    if code in _BUSY | _UNFIT:
                        self._lost = self._db is None and code in _UNFIT
                        return None
                    self._delete()
                except OSError:
                    self._lost = True
            self._lost = True
            return None

    def _open(self) -> sqlite3.Connection:
        db = connect_private(self._path, PATIENCE)
        try:
            db.execute("PRAGMA synchronous=OFF")
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version != FORMAT:
                db.execute("PRAGMA journal_mode=WAL")
                with transaction(db):
                    _create(db)
            # The file cannot grow without end even if the totals in it are wrong.
            most = 2 * sum(one.bytes for one in self._limits.values()) + (1 << 24)
            db.execute(f"PRAGMA max_page_count={most // 4096}")
        except BaseException:
            db.close()
            raise
        return db

    def _delete(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None
        for file in files_of(self._path):
            file.unlink(missing_ok=True)


def _create(db: sqlite3.Connection) -> None:
    """Create empty tables in place of those of another format, unless another process already did."""
    if db.execute("PRAGMA user_version").fetchone() == (FORMAT,):
        return
    for kind, name in db.execute("SELECT type, name FROM sqlite_master WHERE type = 'table'").fetchall():
        if not name.startswith("sqlite_"):
            db.execute(f'DROP {kind} "{name}"')
    for statement in _SCHEMA.split(";"):
        db.execute(statement)
    db.execute(f"PRAGMA user_version={FORMAT}")


def _add(
    db: sqlite3.Connection, kind: str, *, entries: int = 0, bytes: int = 0, hits: int = 0, misses: int = 0
) -> None:
    db.execute(
        """
        INSERT INTO totals VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (kind) DO UPDATE SET
            entries = entries + ?2, bytes = bytes + ?3, hits = hits + ?4, misses = misses + ?5
        """,
        [kind, entries, bytes, hits, misses],
    )


def _now() -> int:
    """Return milliseconds since 1970."""
    return int(time.time() * 1000)


def _expired(limit: Limit, now: int) -> int:
    """Return the time of the latest value that has expired; before all if none does."""
    return now - int(limit.seconds * 1000) if limit.seconds else -1


def _make_room(db: sqlite3.Connection, kind: str, limit: Limit) -> None:
    """Delete expired values and, if a limit is exceeded, many of the least recently used ones at once."""
    expired = 0
    if limit.seconds:
        sql = "DELETE FROM entries WHERE kind = ? AND made <= ?"
        expired = db.execute(sql, [kind, _expired(limit, _now())]).rowcount
    count, bytes = db.execute("SELECT entries, bytes FROM totals WHERE kind = ?", [kind]).fetchone()
    if not expired and 0 <= bytes <= limit.bytes and (not limit.entries or 0 <= count <= limit.entries):
        return
    sql = "SELECT count(*), total(length(value)) FROM entries WHERE kind = ?"
    entries, values = db.execute(sql, [kind]).fetchone()  # counted again, so that no accounting error lasts
    used = int(values) + entries * OVERHEAD
    oldest = db.execute("SELECT rowid, length(value) FROM entries WHERE kind = ? ORDER BY used, rowid", [kind])
    gone = list[tuple[int]]()
    enough = limit.bytes if used <= limit.bytes else limit.bytes * FREED
    for row, length in oldest:
        if used <= enough and (not limit.entries or entries - len(gone) <= limit.entries):
            break
        gone.append((row,))
        used -= length + OVERHEAD
    db.executemany("DELETE FROM entries WHERE rowid = ?", gone)
    db.execute("UPDATE totals SET entries = ?, bytes = ? WHERE kind = ?", [entries - len(gone), used, kind])
