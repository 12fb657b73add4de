"""A schema of PostgreSQL as a catalog reads and writes it: statements, snapshots, and transactions that are counted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from ragstone.errors import EngineError, KnowledgeBaseError
from ragstone.index.catalog.migrations import new_mark
from ragstone.index.postgres.connection import STREAMED, Server, Values
from ragstone.index.records import Stamp

if TYPE_CHECKING:
    from ragstone.index.postgres.connection import Connection

Fence = Callable[["Connection"], None]
"""Asked within every transaction that writes; raises where the lock that allows it has been lost."""


def unfenced(db: Connection) -> None:
    """For a catalog that nobody else knows of."""
    del db


class PostgresDatabase:
    """One process's view of it. Reads from any thread; writes from one at a time."""

    def __init__(self, server: Server, fence: Fence = unfenced) -> None:
        """
        Args:
            server: whose unqualified names are those of the schema.
            fence: asked in every transaction that writes.
        """
        self._server, self._fence = server, fence
        self._writing = threading.Lock()
        self._snapshots: dict[int, Connection] = {}

    def close(self) -> None:
        self._server.close()

    def stamp(self) -> Stamp:
        """The last commit."""
        (last,) = self._rows("SELECT generation, mark FROM commits ORDER BY generation DESC LIMIT 1")
        return Stamp(generation=last[0], mark=last[1])

    @contextmanager
    def snapshot(self) -> Iterator[Stamp]:
        """One state of the database for several reads of this thread; gives its last commit."""
        thread = threading.get_ident()
        if thread in self._snapshots:
            yield self.stamp()
            return
        with self._told("read"), self._server.snapshot() as db:
            self._snapshots[thread] = db
            try:
                yield self.stamp()
            finally:
                del self._snapshots[thread]

    @contextmanager
    def transaction(self, *, counted: bool = True) -> Iterator[tuple[Connection, int]]:
        """A write, all or nothing, with the generation it will have; indexes need not know of one not counted."""
        with self._writing, self._told("written"), self._server.transaction(patient=True) as db:
            # Commits are numbered in the order in which others see them: one at a time.
            db.execute("LOCK TABLE commits IN EXCLUSIVE MODE")
            self._fence(db)
            # What is acknowledged must be durable, also where the server's usual is to be quicker.
            db.execute(
                "SELECT set_config('synchronous_commit', 'on', true)"
                " WHERE current_setting('synchronous_commit') = 'off'"
            )
            found = db.execute("SELECT coalesce(max(generation) + 1, 0) FROM commits").fetchone()
            generation = found[0] if found else 0
            if counted:
                db.execute("INSERT INTO commits VALUES (%s, %s)", [generation, new_mark()])
            yield db, generation

    def _rows(self, sql: str, values: Values = (), *, binary: bool = False) -> list[Any]:
        held = self._snapshots.get(threading.get_ident())
        with self._told("read"):
            if held is not None:
                return self._server.asked(held, sql, values, binary=binary)
            return self._server.rows(sql, values, binary=binary)

    def _one(self, sql: str, values: Values = ()) -> Any:
        ((value,),) = self._rows(sql, values)
        return value

    def _stream(self, sql: str, values: Values = (), *, binary: bool = False, at_once: int = STREAMED) -> Iterator[Any]:
        """Rows of which there may be many, some at a time; of the state when the first is asked for."""
        held = self._snapshots.get(threading.get_ident())
        with self._told("read"):
            if held is not None:
                yield from self._server.stream(held, sql, values, binary=binary, at_once=at_once)
                return
            with self._server.snapshot() as db:
                rows = self._server.stream(db, sql, values, binary=binary, at_once=at_once)
                with closing(rows):  # pyright: ignore[reportArgumentType]
                    yield from rows

    @contextmanager
    def _told(self, done: str) -> Iterator[None]:
        try:
            yield
        except EngineError as error:
            what = "; of this step all was stored or nothing" if done == "written" else ""
            raise KnowledgeBaseError(f"the catalog cannot be {done}: {error}{what}") from error
