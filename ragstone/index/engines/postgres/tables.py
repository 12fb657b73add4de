"""A table that holds an index, and the commit of the catalog it was synced to.

The schema ``ragstone`` has one table for each knowledge base, version and leg; `CollectionNames` knows which is which.
The commits are in ``ragstone.indexes``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.core.catalog import Stamp
from ragstone.index.follow.collection_names import CollectionNames
from ragstone.services.postgres import Server

if TYPE_CHECKING:
    from ragstone.services.postgres import Connection

_TABLES = b"""
    CREATE SCHEMA IF NOT EXISTS ragstone;
    CREATE TABLE IF NOT EXISTS ragstone.indexes (
        name       text PRIMARY KEY,            -- of the table
        made_with  text NOT NULL,               -- what is made with something else is made anew
        generation bigint NOT NULL DEFAULT 0,
        mark       text NOT NULL DEFAULT '',
        chunks     bigint NOT NULL DEFAULT 0,
        length     bigint NOT NULL DEFAULT 0,   -- of all chunks together, in terms
        sealed_at  timestamptz
    );
"""
_OURS = 4_116_702_559
"""Number of the lock for creating and dropping tables."""


class IndexTable:
    """The table of one index on one server."""

    def __init__(
        self, server: Server, names: CollectionNames, made_with: str, columns: str, *, partitions: int = 0
    ) -> None:
        """
        Args:
            server: that has the table.
            names: of the tables.
            made_with: a table made with something else is made anew.
            columns: as SQL; the first is ``row``.
            partitions: of a new table, by the hash of its rows; 0 makes none.
        """
        self.server, self._names = server, names
        self._made_with, self._columns, self._partitions = made_with, columns, partitions
        self._making = False

    @property
    def current(self) -> str:
        """The name of the table that is searched."""
        return self._names.current

    @property
    def table(self) -> str:
        """The table that is searched, as SQL."""
        return quoted(self._names.current)

    @property
    def target(self) -> str:
        """The name of the table that is written: the one being built here, if any."""
        return self._names.coming if self._making else self._names.current

    @property
    def making(self) -> bool:
        """Whether a table is being built that is not searched yet."""
        return self._making

    def stamp(self) -> Stamp:
        """Return what was last sealed; the stamp before all commits without a table, or with one of another kind."""
        name = self._names.current
        if not name:
            return Stamp()
        with self.server.transaction() as db:
            if not exists(db, "indexes") or not exists(db, name):
                return Stamp()
            sql = "SELECT generation, mark FROM ragstone.indexes WHERE name = %s AND made_with = %s"
            row = db.execute(sql, [name, self._made_with]).fetchone()
        return Stamp(generation=row[0], mark=row[1]) if row else Stamp()

    def begin(self) -> None:
        """Create an empty table, which is not searched before it is sealed, and drop tables that nobody needs."""
        name = self._names.begin()
        with self.server.transaction(patient=True) as db:
            db.execute("SELECT pg_advisory_xact_lock(%s)", [_OURS])
            db.execute(_TABLES)
            self._drop_stale(db)
            self._create(db, name)
            db.execute("INSERT INTO ragstone.indexes (name, made_with) VALUES (%s, %s)", [name, self._made_with])
        self._making = True

    def _create(self, db: Connection, name: str) -> None:
        # Rows up to the size of a page stay whole, so that a scan does not fetch values from elsewhere.
        whole = "WITH (toast_tuple_target = 8160)"
        if not self._partitions:
            db.execute(f"CREATE TABLE {quoted(name)} ({self._columns}) {whole}".encode())
            return
        db.execute(f"CREATE TABLE {quoted(name)} ({self._columns}) PARTITION BY HASH (row)".encode())
        for number in range(self._partitions):
            part = f"FOR VALUES WITH (MODULUS {self._partitions}, REMAINDER {number})"
            db.execute(
                f"CREATE TABLE {quoted(f'{name}-p{number}')} PARTITION OF {quoted(name)} {part} {whole}".encode()
            )

    def held_partitions(self) -> int:
        """Return the number of partitions of the table that is searched; 0 if it has none."""
        if not self._names.current:
            return 0
        sql = "SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass(%s)"
        with self.server.transaction() as db:
            row = db.execute(sql, [self.table]).fetchone()
        return row[0] if row else 0

    def resume(self) -> None:
        """Change the table that is searched from now on, and give up one that was being built."""
        self._making = False

    def count(self, db: Connection, chunks: int, length: int = 0) -> int:
        """Record more rows, in the transaction that puts them, and return the number of all."""
        sql = "UPDATE ragstone.indexes SET chunks = chunks + %s, length = length + %s WHERE name = %s RETURNING chunks"
        row = db.execute(sql, [chunks, length, self.target]).fetchone()
        return row[0] if row else 0

    def seal(self, db: Connection, stamp: Stamp) -> None:
        """Record the commit, in the transaction of its changes."""
        db.execute(
            "UPDATE ragstone.indexes SET generation = %s, mark = %s, sealed_at = now() WHERE name = %s",
            [stamp.generation, stamp.mark, self.target],
        )

    def switch(self) -> None:
        """Make the new table the one that is searched, once it is sealed."""
        if self._making:
            self._names.switch()
        self._making = False

    def clear(self) -> None:
        """Drop the tables that no version of this knowledge base needs."""
        with self.server.transaction(patient=True) as db:
            if exists(db, "indexes"):
                db.execute("SELECT pg_advisory_xact_lock(%s)", [_OURS])
                self._drop_stale(db)

    def _drop_stale(self, db: Connection) -> None:
        for name in self._names.stale([name for (name,) in db.execute("SELECT name FROM ragstone.indexes")]):
            db.execute(f"DROP TABLE IF EXISTS {quoted(name)}, {counts_of(name)}".encode())
            db.execute("DELETE FROM ragstone.indexes WHERE name = %s", [name])


def quoted(name: str) -> str:
    """Return the name of a table as SQL; without a name, one that does not exist."""
    return 'ragstone."{}"'.format((name or "none").replace('"', ""))


def counts_of(name: str) -> str:
    """Return the name of the table that counts what another one holds, as SQL."""
    return quoted(f"{name}-counts")


def exists(db: Connection, name: str) -> bool:
    return db.execute("SELECT to_regclass(%s)", [quoted(name)]).fetchone() != (None,)
