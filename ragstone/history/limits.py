"""The request limits of keys: token buckets and requests in progress, for one process or for several.

Several server processes count in ``limits.db``, a file next to the journal. It is separate because a count need not
survive a power cut: nothing is synced, so a request waits about 50 microseconds. The file is disposable. If it fails,
each process counts for itself.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from ragstone.history.count_file import CountFile

NAME = "limits.db"
MOST_BUCKETS = 50_000
"""Keys and visitors that a process remembers; the quietest are forgotten first."""
QUIET_SECONDS = 3_600.0
"""How long the shared file remembers who asks for nothing; by then most buckets are full again."""
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS buckets (
        key TEXT PRIMARY KEY, tokens REAL NOT NULL, filled REAL NOT NULL  -- seconds since 1970
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS running (
        key TEXT NOT NULL, server TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (key, server)
    ) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """The requests a key may make: a rate and a burst, and how many at once; 0 sets no limit."""

    per_minute: int = 0
    burst: int = 1
    concurrent: int = 0

    @property
    def is_unlimited(self) -> bool:
        return not self.per_minute and not self.concurrent


@dataclass(frozen=True, slots=True, kw_only=True)
class Exceeded:
    """The limit that a request would exceed, and the seconds after which it is worth trying again, if known."""

    limit: Literal["rate", "concurrent"]
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Bucket:
    """A token bucket: a request takes a token, and tokens come back at the rate of the quota up to its burst."""

    tokens: float
    filled: float

    def take(self, quota: Quota, now: float) -> tuple[Bucket, float]:
        """Return the bucket after a request, and 0, or the seconds until there is a token.

        A clock that was set back must not stop requests, so time never runs backwards here.
        """
        rate = quota.per_minute / 60
        tokens = min(float(quota.burst), self.tokens + max(0.0, now - self.filled) * rate)
        if tokens >= 1:
            return Bucket(tokens - 1, now), 0.0
        return Bucket(tokens, now), (1 - tokens) / rate


class Limits(Protocol):
    """Counts the requests of all keys. A request that `begin` admits is followed by one `end`."""

    def begin(self, key: str, quota: Quota) -> Exceeded | None:
        """Count a request, or return the limit that it would exceed."""
        ...

    def end(self, key: str) -> None:
        """Count an admitted request as over."""
        ...

    def close(self) -> None:
        """Close what is open."""
        ...


class OwnLimits:
    """The limits of one process, in memory."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Take a clock of seconds."""
        self._clock = clock
        self._buckets: dict[str, Bucket] = {}
        self._running: dict[str, int] = {}

    def begin(self, key: str, quota: Quota) -> Exceeded | None:
        running = self._running.get(key, 0)
        if quota.concurrent and running >= quota.concurrent:
            return Exceeded(limit="concurrent")
        if quota.per_minute:
            now = self._clock()
            bucket = self._buckets.pop(key, None) or Bucket(float(quota.burst), now)
            self._buckets[key], wait = bucket.take(quota, now)  # the most recent stands last
            if len(self._buckets) > MOST_BUCKETS:
                del self._buckets[next(iter(self._buckets))]
            if wait:
                return Exceeded(limit="rate", seconds=wait)
        self._running[key] = running + 1
        return None

    def end(self, key: str) -> None:
        self._running[key] -= 1
        if not self._running[key]:
            del self._running[key]

    def close(self) -> None:
        pass


class SharedLimits:
    """The limits of all processes that serve a knowledge base on this machine."""

    def __init__(
        self,
        folder: Path,
        server: Callable[[], str],
        alive: Callable[[], Collection[str]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Name the folder of the knowledge base; the file is made when it is first used.

        Args:
            folder: of the knowledge base.
            server: returns the id of this process.
            alive: returns the ids of all processes that run; the requests of others were lost with them.
            clock: returns seconds since 1970, because the file outlives a restart of the machine.
        """
        self._file, self._server, self._alive, self._clock = CountFile(folder / NAME, _SCHEMA), server, alive, clock
        self._own = OwnLimits(clock)
        self._counted_here: dict[str, int] = {}
        self._lock = threading.Lock()
        self._new = 0

    def begin(self, key: str, quota: Quota) -> Exceeded | None:
        with self._lock:
            exceeded = self._begin_shared(key, quota)
            if exceeded is None and quota.concurrent:
                self._counted_here[key] = self._counted_here.get(key, 0) + 1
            return exceeded

    def end(self, key: str) -> None:
        with self._lock:
            if key not in self._counted_here:  # its requests in progress have no limit
                return
            left = self._counted_here[key] = self._counted_here[key] - 1
            if not left:
                del self._counted_here[key]
            # The count of this process is set, not lowered, so that one failed write does not last.
            with suppress(sqlite3.Error, OSError), self._file.transaction() as db:
                self._note_running(db, key, left)

    def close(self) -> None:
        with self._lock:
            with suppress(sqlite3.Error, OSError):
                if self._file.is_open:
                    with self._file.transaction() as db:
                        db.execute("DELETE FROM running WHERE server = ?", [self._server()])
            self._file.close()

    def _begin_shared(self, key: str, quota: Quota) -> Exceeded | None:
        try:
            with self._file.transaction() as db:
                return self._begin_in(db, key, quota)
        except sqlite3.OperationalError:  # busy, full or not writable
            pass
        except (sqlite3.Error, OSError, TypeError, ValueError):  # damaged
            self._file.drop()
        if quota.concurrent and self._counted_here.get(key, 0) >= quota.concurrent:
            return Exceeded(limit="concurrent")
        exceeded = self._own.begin(key, quota)
        if exceeded is None:
            self._own.end(key)
        return exceeded

    def _begin_in(self, db: sqlite3.Connection, key: str, quota: Quota) -> Exceeded | None:
        if quota.concurrent and self._running_of(db, key) >= quota.concurrent:
            alive = [self._server(), *self._alive()]
            marks = ", ".join("?" * len(alive))
            db.execute(f"DELETE FROM running WHERE server NOT IN ({marks})", alive)  # noqa: S608
            if self._running_of(db, key) >= quota.concurrent:
                return Exceeded(limit="concurrent")
        if quota.per_minute:
            now = self._clock()
            row = db.execute("SELECT tokens, filled FROM buckets WHERE key = ?", [key]).fetchone()
            if row is None:
                self._forget_quiet(db, now)
            bucket, wait = (Bucket(*row) if row else Bucket(float(quota.burst), now)).take(quota, now)
            db.execute("INSERT OR REPLACE INTO buckets VALUES (?, ?, ?)", [key, bucket.tokens, bucket.filled])
            if wait:
                return Exceeded(limit="rate", seconds=wait)
        if quota.concurrent:
            self._note_running(db, key, self._counted_here.get(key, 0) + 1)
        return None

    def _forget_quiet(self, db: sqlite3.Connection, now: float) -> None:
        """Keep the file small, whoever comes by; now and then, because it looks at every bucket."""
        self._new += 1
        if self._new % 1_000 == 0:
            db.execute("DELETE FROM buckets WHERE filled < ?", [now - QUIET_SECONDS])

    def _running_of(self, db: sqlite3.Connection, key: str) -> int:
        return db.execute("SELECT ifnull(sum(count), 0) FROM running WHERE key = ?", [key]).fetchone()[0]

    def _note_running(self, db: sqlite3.Connection, key: str, count: int) -> None:
        if count:
            db.execute("INSERT OR REPLACE INTO running VALUES (?, ?, ?)", [key, self._server(), count])
        else:
            db.execute("DELETE FROM running WHERE key = ? AND server = ?", [key, self._server()])
