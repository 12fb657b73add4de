"""Locks among all hosts, one to index and one to rebuild.

A lock is an advisory lock of the server, held by a connection: when its process is killed or its host is lost, the
server closes the connection and frees the lock. A holder may not notice that its connection broke. So each acquisition
has a number, and every write compares it, in its transaction, with the latest one and is refused if it is older.
"""

from __future__ import annotations

import hashlib
import os
import socket
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.catalog.lock import Patience
from ragstone.core.errors import EngineError, KnowledgeBaseError, Locked
from ragstone.services.postgres import Server

if TYPE_CHECKING:
    from ragstone.services.postgres import Connection


class PostgresLocks:
    """The locks of a knowledge base. Processes of one host are kept apart by the lock of their folder first."""

    def __init__(self, server: Server, name: str, folder: Path) -> None:
        self._server, self._name, self._folder = server, name, folder
        self._taken: dict[str, int] = {}

    @contextmanager
    def held(self, lock: str, doing: str, patience: Patience | None = None) -> Generator[None]:
        """Hold a lock.

        Raises:
            Locked: another process held it until the patience ended; the message names it and its host.
            KnowledgeBaseError: the server cannot be reached.
        """
        pause = (patience or Patience()).pauses()
        with reaching_catalog(), self._server.kept() as db:
            while not self._tried(db, lock):
                (holder,) = db.execute("SELECT holder FROM locks WHERE lock = %s", [lock]).fetchone() or ("",)
                time.sleep(pause(Locked(self._folder, holder or "another process", doing)))
            sql = "UPDATE locks SET taken = taken + 1, holder = %s WHERE lock = %s RETURNING taken"
            self._taken[lock] = (db.execute(sql, [_who(), lock]).fetchone() or (0,))[0]
            try:
                yield
            finally:
                del self._taken[lock]

    def fence(self, db: Connection) -> None:
        """Refuse a write whose lock was lost; until the write is done, nobody else can acquire the lock.

        Raises:
            KnowledgeBaseError: it was lost.
        """
        for lock, taken in self._taken.items():
            sql = f'SELECT taken, holder FROM "{self._name}".locks WHERE lock = %s FOR SHARE'
            found = db.execute(sql.encode(), [lock]).fetchone()
            if found is None or found[0] != taken:
                holder = found[1] if found else "another process"
                raise KnowledgeBaseError(
                    f"the connection that held the lock of {self._folder} broke, and {holder} holds it now; nothing"
                    " more was stored. Run the command again"
                )

    def _tried(self, db: Connection, lock: str) -> bool:
        key = number_of(f"{self._name}/{lock}")
        return db.execute("SELECT pg_try_advisory_lock(%s)", [key]).fetchone() == (True,)


@contextmanager
def reaching_catalog() -> Generator[None]:
    """Translate the errors of a server that cannot be reached."""
    try:
        yield
    except EngineError as error:
        raise KnowledgeBaseError(f"the catalog cannot be reached: {error}") from error


def number_of(name: str) -> int:
    """Return the number that identifies an advisory lock, which has no name."""
    return int.from_bytes(hashlib.sha256(f"ragstone/{name}".encode()).digest()[:8], "big", signed=True)


def _who() -> str:
    where = f"process {os.getpid()} ({Path(sys.argv[0]).name}) on {socket.gethostname()}"
    return f"{where} since {datetime.now():%Y-%m-%d %H:%M:%S}"
