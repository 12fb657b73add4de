"""Vectors in PostgreSQL with pgvector: compared one by one while they are few, by an HNSW graph above.

A graph searched with a filter, or for more than it looks at, gives too few; so rows that are told are always compared
one by one, and a search without a filter goes on through the graph (``hnsw.iterative_scan``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragstone.index.following.collection_names import CollectionNames
from ragstone.index.postgres.connection import Server
from ragstone.index.postgres.holding import Holding, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.contracts import Vector
    from ragstone.index.postgres.connection import Connection
    from ragstone.index.records import Stamp

    Rows = NDArray[np.int64]

LONGEST, LONGEST_HALF = 2000, 4000
"""Dimensions of which a graph can be made, and by numbers of half the precision."""
AT_ONCE = 5000
"""Rows in one transaction."""
EFFORT = 256
"""Candidates that are looked at, at least."""
WIDEST = 1000
"""Most that ``hnsw.ef_search`` may be."""


class PostgresVectors:
    """Holds vectors for `ragstone.index.following.followed_vectors`."""

    least = 0
    worn = False

    def __init__(self, server: Server, names: CollectionNames, dimensions: int, *, exact_limit: int) -> None:
        """
        Args:
            server: which has the extension pgvector.
            names: of the tables.
            dimensions: of the vectors.
            exact_limit: from more rows than these a graph is made.
        """
        columns = f"row bigint PRIMARY KEY, embedding vector({dimensions}) NOT NULL"
        self._held = Holding(server, names, f"{dimensions} dimensions", columns)
        self._server, self._dimensions, self._exact_limit = server, dimensions, exact_limit
        self._half = dimensions > LONGEST

    @property
    def name(self) -> str:
        return self._server.name

    @property
    def refine(self) -> int:
        return 2 if self._half else 1

    def stamp(self) -> Stamp:
        return self._held.stamp()

    def begin(self, sample: Vector) -> None:
        del sample  # a graph learns nothing
        with self._server.transaction() as db:
            db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        self._held.begin()

    def drop(self, rows: Rows) -> None:
        self._held.resume()
        if len(rows):
            with self._server.transaction(patient=True) as db:
                self._delete(db, rows)

    def put(self, rows: Rows, vectors: Vector) -> None:
        for start in range(0, len(rows), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            with self._server.transaction(patient=True) as db:
                self._delete(db, rows[part])  # there already if it was cut short
                table = quoted(self._held.target)
                with db.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN (FORMAT binary)".encode()) as copy:
                    copy.write(_binary(rows[part], vectors[part]))
                self._held.count(db, len(rows[part]))

    def seal(self, stamp: Stamp) -> None:
        with self._server.transaction(patient=True) as db:
            self._index(db)
            self._held.seal(db, stamp)
        self._held.settle()

    def publish(self) -> None:
        self._held.clear()

    def nearest(self, vector: Vector, k: int, allowed: Rows | None) -> Rows:
        asked = _literal(vector)
        if allowed is not None:
            sql = f"""
                WITH told AS MATERIALIZED (SELECT * FROM {self._held.table} WHERE row = ANY(%s))
                SELECT row FROM told ORDER BY embedding <=> %s::vector, row LIMIT %s
            """  # noqa: S608
            return self._rows(sql, [allowed.tolist(), asked, k], k, exact=True)
        operand, cast = self._operand()
        sql = f"SELECT row FROM {self._held.table} ORDER BY {operand} <=> %s::{cast} LIMIT %s"  # noqa: S608
        found = self._rows(sql, [asked, k], k, exact=False)
        # The graph may end before it has enough; then all are compared.
        return found if len(found) == k else self._rows(sql, [asked, k], k, exact=True)

    def rows(self) -> Rows:
        with self._server.transaction(patient=True) as db:
            found = db.execute(f"SELECT row FROM {self._held.table} ORDER BY row".encode()).fetchall()  # noqa: S608
        return np.array([row for (row,) in found], dtype=np.int64)

    def _rows(self, sql: str, values: list[object], k: int, *, exact: bool) -> Rows:
        with self._server.transaction() as db:
            if exact:
                db.execute("SET LOCAL enable_indexscan = off")
                db.execute("SET LOCAL enable_bitmapscan = on")
            else:
                width = min(WIDEST, max(EFFORT, 2 * k))
                db.execute(
                    "SELECT set_config('hnsw.iterative_scan', 'strict_order', true),"
                    " set_config('hnsw.ef_search', %s, true), set_config('hnsw.max_scan_tuples', %s, true)",
                    [str(width), str(max(20_000, 20 * k))],
                )
            found = db.execute(sql.encode(), values).fetchall()
        return np.array([row for (row,) in found], dtype=np.int64)

    def _delete(self, db: Connection, rows: Rows) -> None:
        sql = f"DELETE FROM {quoted(self._held.target)} WHERE row = ANY(%s)"  # noqa: S608
        self._held.count(db, -db.execute(sql.encode(), [rows.tolist()]).rowcount)

    def _operand(self) -> tuple[str, str]:
        """What is compared, as SQL, and the type of what it is compared with."""
        if self._half:
            kind = f"halfvec({self._dimensions})"
            return f"(embedding::{kind})", kind
        return "embedding", "vector"

    def _index(self, db: Connection) -> None:
        """Make the graph where there are enough; it takes minutes for a hundred thousand, and keeps nobody waiting."""
        table = quoted(self._held.target)
        has = db.execute(
            "SELECT count(*) FROM pg_index WHERE indrelid = %s::regclass AND NOT indisprimary", [table]
        ).fetchone()
        if self._held.count(db, 0) > self._exact_limit and has == (0,) and self._dimensions <= LONGEST_HALF:
            operand, cast = self._operand()
            kind = "halfvec" if cast != "vector" else "vector"
            db.execute("SET LOCAL maintenance_work_mem = '256MB'")
            db.execute(f"CREATE INDEX ON {table} USING hnsw ({operand} {kind}_cosine_ops)".encode())
        if self._held.making:
            db.execute(f"ANALYZE {table}".encode())


def _literal(vector: Vector) -> str:
    return f"[{','.join(map(str, vector.tolist()))}]"


def _binary(rows: Rows, vectors: Vector) -> bytes:
    """Rows in the binary form of COPY: as fast as they can be sent, and not a bit of a vector lost."""
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
