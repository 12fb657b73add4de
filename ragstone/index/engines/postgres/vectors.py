"""Vectors in PostgreSQL with pgvector: compared one by one if they are few, by an HNSW graph above.

A graph searched with a filter, or for more than it looks at, gives too few; so rows that are told are always compared
one by one, and a search without a filter goes on through the graph (``hnsw.iterative_scan``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragstone.index.engines.postgres.tables import IndexTable, quoted
from ragstone.index.follow.collection_names import CollectionNames
from ragstone.index.follow.protocol import StoreContext, unlike
from ragstone.services.postgres import Server

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.catalog import Stamp
    from ragstone.core.records import Vector
    from ragstone.services.postgres import Connection

    Rows = NDArray[np.int64]

LONGEST, LONGEST_HALF = 2000, 4000
"""Dimensions of which a graph can be made, and by numbers of half the precision."""
AT_ONCE = 5000
"""Rows in one transaction."""
EFFORT = 256
"""Candidates that are looked at, at least."""
LEAST = 64
"""Candidates that are looked at in each partition, at least."""
WIDEST = 1000
"""Most that ``hnsw.ef_search`` may be."""


class PostgresVectors:
    """Vectors in PostgreSQL, as a `VectorStore`."""

    least = 0
    worn = False

    def __init__(
        self,
        server: Server,
        names: CollectionNames,
        dimensions: int,
        *,
        exact_limit: int,
        partitions: int = 0,
        build_mb: int = 256,
    ) -> None:
        """
        Args:
            server: which has the extension pgvector.
            names: of the tables.
            dimensions: of the vectors.
            exact_limit: from more rows than these a graph is made.
            partitions: of a new table, each with a graph of its own; 0 makes none.
            build_mb: megabytes of the server's memory to build a graph in.
        """
        columns = f"row bigint PRIMARY KEY, embedding vector({dimensions}) NOT NULL"
        self._table = IndexTable(server, names, f"{dimensions} dimensions", columns, partitions=partitions)
        self._partitions, self._build_mb, self._held = partitions, build_mb, (0, "")
        self._server, self._dimensions, self._exact_limit = server, dimensions, exact_limit
        self._half = dimensions > LONGEST

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    @property
    def name(self) -> str:
        return self._server.name

    @property
    def refine(self) -> int:
        return 2 if self._half else 1

    def stamp(self) -> Stamp:
        return self._table.stamp()

    def unlike(self) -> str:
        partitions = self._held_partitions()
        if not self._partitions or self._partitions == partitions or not self._table.current:
            return ""
        return f"it was made with {partitions} partitions, and services.postgres.partitions is {self._partitions}"

    def _held_partitions(self) -> int:
        """Return the partitions of the table that is searched; the server is asked once for each table."""
        if self._held[1] != self._table.current:
            self._held = self._table.held_partitions(), self._table.current
        return self._held[0]

    def begin(self, sample: Vector) -> None:
        del sample  # a graph does not train
        with self._server.transaction() as db:
            db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        self._table.begin()

    def drop(self, rows: Rows) -> None:
        self._table.resume()
        if len(rows):
            with self._server.transaction(patient=True) as db:
                self._delete(db, rows)

    def put(self, rows: Rows, vectors: Vector) -> None:
        for start in range(0, len(rows), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            with self._server.transaction(patient=True) as db:
                self._delete(db, rows[part])  # left by an interrupted change
                table = quoted(self._table.target)
                with db.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN (FORMAT binary)".encode()) as copy:
                    copy.write(_binary(rows[part], vectors[part]))
                self._table.count(db, len(rows[part]))

    def seal(self, stamp: Stamp) -> None:
        with self._server.transaction(patient=True) as db:
            self._index(db)
            self._table.seal(db, stamp)
        self._table.switch()

    def publish(self) -> None:
        self._table.clear()

    def nearest(self, vector: Vector, k: int, allowed: Rows | None) -> Rows:
        asked = _literal(vector)
        if allowed is not None:
            sql = f"""
                WITH told AS MATERIALIZED (SELECT * FROM {self._table.table} WHERE row = ANY(%s))
                SELECT row FROM told ORDER BY embedding <=> %s::vector, row LIMIT %s
            """
            return self._rows(sql, [allowed.tolist(), asked, k], k, exact=True)
        operand, cast = self._operand()
        sql = f"SELECT row FROM {self._table.table} ORDER BY {operand} <=> %s::{cast} LIMIT %s"
        rows = self._rows(sql, [asked, k], k, exact=False)
        # The graph search may end with too few; then all are compared.
        return rows if len(rows) == k else self._rows(sql, [asked, k], k, exact=True)

    def rows(self) -> Rows:
        with self._server.transaction(patient=True) as db:
            rows = db.execute(f"SELECT row FROM {self._table.table} ORDER BY row".encode()).fetchall()
        return np.array([row for (row,) in rows], dtype=np.int64)

    def differing(self, rows: Rows, vectors: Vector) -> Rows:
        sql = f"SELECT row, embedding::real[] FROM {self._table.table} WHERE row = ANY(%s)"
        stored = np.full(vectors.shape, np.nan, dtype=np.float32)
        for start in range(0, len(rows), AT_ONCE):
            with self._server.transaction(patient=True) as db:
                for row, vector in db.execute(sql.encode(), [rows[start : start + AT_ONCE].tolist()]):
                    stored[np.searchsorted(rows, row)] = vector
        return rows[unlike(stored, vectors)]

    def _rows(self, sql: str, values: list[object], k: int, *, exact: bool) -> Rows:
        parts = 0 if exact else self._held_partitions()
        with self._server.transaction() as db:
            if exact:
                db.execute("SET LOCAL enable_indexscan = off")
                db.execute("SET LOCAL enable_bitmapscan = on")
            else:
                # Each partition gives candidates, so each may look at fewer.
                width = min(WIDEST, max(EFFORT, 2 * k) if parts < 2 else max(LEAST, 2 * max(EFFORT, 2 * k) // parts))
                db.execute(
                    "SELECT set_config('hnsw.iterative_scan', 'strict_order', true),"
                    " set_config('hnsw.ef_search', %s, true), set_config('hnsw.max_scan_tuples', %s, true)",
                    [str(width), str(max(20_000, 20 * k))],
                )
            rows = db.execute(sql.encode(), values).fetchall()
        return np.array([row for (row,) in rows], dtype=np.int64)

    def _delete(self, db: Connection, rows: Rows) -> None:
        sql = f"DELETE FROM {quoted(self._table.target)} WHERE row = ANY(%s)"
        self._table.count(db, -db.execute(sql.encode(), [rows.tolist()]).rowcount)

    def _operand(self) -> tuple[str, str]:
        """What is compared, as SQL, and the type of what it is compared with."""
        if self._half:
            kind = f"halfvec({self._dimensions})"
            return f"(embedding::{kind})", kind
        return "embedding", "vector"

    def _index(self, db: Connection) -> None:
        """Build the graph if there are enough rows; it takes minutes for 100,000, without blocking anyone."""
        table = quoted(self._table.target)
        has = db.execute(
            "SELECT count(*) FROM pg_index WHERE indrelid = %s::regclass AND NOT indisprimary", [table]
        ).fetchone()
        if self._table.count(db, 0) > self._exact_limit and has == (0,) and self._dimensions <= LONGEST_HALF:
            operand, cast = self._operand()
            kind = "halfvec" if cast != "vector" else "vector"
            db.execute("SELECT set_config('maintenance_work_mem', %s, true)", [f"{self._build_mb}MB"])
            db.execute(f"CREATE INDEX ON {table} USING hnsw ({operand} {kind}_cosine_ops)".encode())
        if self._table.making:
            db.execute(f"ANALYZE {table}".encode())


def _literal(vector: Vector) -> str:
    return f"[{','.join(map(str, vector.tolist()))}]"


def _binary(rows: Rows, vectors: Vector) -> bytes:
    """Yield rows in the binary format of COPY, which is fast and keeps every bit of a vector."""
    count, dimensions = vectors.shape
    layout = np.dtype(
        [
            ("fields", ">i2"),
            ("row_size", ">i4"),
            ("row", ">i8"),
            ("vector_size", ">i4"),
            ("dimensions", ">i2"),
            ("unused", ">i2"),
            ("vector", ">f4", (dimensions,)),
        ]
    )
    out = np.zeros(count, dtype=layout)
    out["fields"], out["row_size"], out["row"] = 2, 8, rows
    out["vector_size"], out["dimensions"], out["vector"] = 4 + 4 * dimensions, dimensions, vectors
    return b"PGCOPY\n\xff\r\n\0" + bytes(8) + out.tobytes() + b"\xff\xff"


def build(context: StoreContext) -> PostgresVectors:
    """Return the store of a version."""
    names = CollectionNames(context.version, "postgres-vectors", "vectors", context.shelf)
    server = Server(context.services.postgres, seconds=context.services.engine_seconds)
    return PostgresVectors(
        server,
        names,
        context.dimensions,
        exact_limit=context.exact_limit,
        partitions=context.services.postgres.partitions,
        build_mb=context.services.postgres.build_mb,
    )
