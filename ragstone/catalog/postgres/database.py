"""The catalog in a schema of PostgreSQL, for several hosts.

Each version of a knowledge base has a schema of its own. A writer holds the lock of the knowledge base; anyone can
read. Commits become visible in the order of their numbers, so the indexes of every host can follow them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from decimal import Decimal
from importlib.resources import files
from math import isinf
from typing import TYPE_CHECKING, Any

from ragstone.catalog.catalog import SqlCatalog
from ragstone.catalog.database import Query
from ragstone.catalog.filters import Value, stored_value
from ragstone.catalog.protocol import IdOf
from ragstone.catalog.rows import TABLES, new_mark, text_hash
from ragstone.catalog.verify import verify
from ragstone.core.access import deciding_key
from ragstone.core.catalog import FIELDS, Finding
from ragstone.core.errors import EngineError, KnowledgeBaseError
from ragstone.core.filters import Scalar
from ragstone.services.postgres import STREAMED, Server
from ragstone.storage.sqlite import crc32

if TYPE_CHECKING:
    from ragstone.services.postgres import Connection

Fence = Callable[["Connection"], None]
"""Called within every transaction that writes; raises if the lock that allows it has been lost."""

LARGE = 200
"""Rows to fetch at once if they may be long."""
UNCUT = """
    SELECT c.row, c.id, d.id, c.position, d.chunks, c.start, c."end",
           CASE WHEN lag(d.content) OVER (ORDER BY c.generation, c.row) IS DISTINCT FROM d.content THEN t.text END,
           d.title, d.url, d.metadata, c.context, c.facts
    FROM chunks c JOIN documents d USING (document) JOIN contents t USING (content)
"""
_BINARY = {
    "vectors": {"vector": "int8", "hash": "text", "value": "bytea", "crc": "int8"},
    "layouts": {"document": "int8", "value": "bytea", "crc": "int8"},
}
"""Types of the columns of tables that are copied in the binary format."""
_HASHED = {"documents": {"id": "id_hash", "source": "source_hash"}, "files": {"source": "source_hash"}}
_HASHED["skipped"] = _HASHED["files"]
"""Columns of hashes: an index of PostgreSQL cannot hold texts of any length."""


def _unfenced(db: Connection) -> None:
    del db


def open_catalog(server: Server, fence: Fence = _unfenced) -> SqlCatalog:
    """Return the catalog in the schema of a server, without connecting yet."""
    return SqlCatalog(PostgresDatabase(server, fence))


def create_tables(db: Connection, built_with: Mapping[str, Any]) -> None:
    """Create an empty catalog in the schema of unqualified names, within the caller's transaction."""
    db.execute((files("ragstone.catalog.postgres") / "catalog.sql").read_bytes())
    text = json.dumps(built_with)
    db.execute("INSERT INTO about (built_with, crc) VALUES (%s, %s)", [text, crc32(text)])
    db.execute("INSERT INTO commits VALUES (0, %s)", [new_mark()])


class PostgresDatabase:
    """One process's connections to the schema of a catalog."""

    def __init__(self, server: Server, fence: Fence = _unfenced) -> None:
        """
        Args:
            server: its unqualified names are those of the schema.
            fence: called in every transaction that writes.
        """
        self.server, self._fence = server, fence
        self.dialect = PostgresDialect()
        self._writing = threading.Lock()
        self._snapshots: dict[int, Connection] = {}

    @property
    def name(self) -> str:
        return f"the catalog in {self.server.name}"

    def close(self) -> None:
        self.server.close()

    # ------------------------------------------------------------ reading

    def rows(self, sql: str, values: Sequence[Any] = (), *, binary: bool = False) -> list[Any]:
        held = self._snapshots.get(threading.get_ident())
        with _translated("read"):
            if held is not None:
                return self.server.asked(held, _placed(sql), values, binary=binary)
            return self.server.rows(_placed(sql), values, binary=binary)

    def stream(
        self, sql: str, values: Sequence[Any] = (), *, binary: bool = False, large: bool = False
    ) -> Iterator[Any]:
        held, at_once = self._snapshots.get(threading.get_ident()), LARGE if large else STREAMED
        with _translated("read"):
            if held is not None:
                yield from self.server.stream(held, _placed(sql), values, binary=binary, at_once=at_once)
                return
            with self.server.snapshot() as db:
                rows = self.server.stream(db, _placed(sql), values, binary=binary, at_once=at_once)
                with closing(rows):  # pyright: ignore[reportArgumentType]
                    yield from rows

    def uncut(self, where: str, values: Sequence[Any]) -> Iterator[Sequence[Any]]:
        return self.stream(f"{UNCUT} WHERE {where} ORDER BY c.generation, c.row", values)

    @contextmanager
    def snapshot(self) -> Generator[None]:
        thread = threading.get_ident()
        if thread in self._snapshots:
            yield
            return
        with _translated("read"), self.server.snapshot() as db:
            self._snapshots[thread] = db
            try:
                yield
            finally:
                del self._snapshots[thread]

    def verify(self, id_of: IdOf) -> list[Finding]:
        # The server checks the structure of its files itself.
        with self.snapshot():
            return list(verify(self.rows, self.dialect, id_of))

    # ------------------------------------------------------------ writing

    @contextmanager
    def transaction(self, *, counted: bool = True) -> Generator[PostgresTransaction]:
        with self._writing, _translated("written"), self.server.transaction(patient=True) as db:
            # Commits are numbered in the order in which others see them: one at a time.
            db.execute("LOCK TABLE commits IN EXCLUSIVE MODE")
            self._fence(db)
            # A commit is durable when it returns, even on a server that trades that for speed.
            db.execute(
                "SELECT set_config('synchronous_commit', 'on', true)"
                " WHERE current_setting('synchronous_commit') = 'off'"
            )
            found = db.execute("SELECT coalesce(max(generation) + 1, 0) FROM commits").fetchone()
            generation = found[0] if found else 0
            if counted:
                db.execute("INSERT INTO commits VALUES (%s, %s)", [generation, new_mark()])
            yield PostgresTransaction(db, generation)

    def compact(self) -> None:
        with _translated("written"):
            self.server.rewrite()


class PostgresTransaction:
    """A write in progress."""

    def __init__(self, db: Connection, generation: int) -> None:
        self._db, self.generation = db, generation

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        found = self._db.execute(_placed(sql).encode(), values or None)
        return found.fetchall() if found.description else []

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._db.cursor() as cursor:
            cursor.executemany(_placed(sql).encode(), rows)

    def insert(self, table: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
        types = _BINARY.get(table, {})
        if table == "facts":
            columns = "document, chunk, key, kind, value, number"
            rows = ((*row[:3], *columns_of(row[3])) for row in rows)
        names, rows = _with_hashes(table, columns, rows)
        form = " (FORMAT binary)" if types else ""
        sql = f"COPY {table} ({', '.join(names)}) FROM STDIN{form}"
        with self._db.cursor() as cursor, cursor.copy(sql.encode()) as into:
            if types:
                into.set_types([types[name] for name in names])
            for row in rows:
                into.write_row(row)

    def upsert(self, table: str, columns: str, rows: Sequence[Sequence[Any]]) -> None:
        if not rows:
            return
        key = _HASHED[table][columns.split(", ")[0]]
        names, hashed = _with_hashes(table, columns, rows)
        update = ", ".join(f"{name} = excluded.{name}" for name in names if name != key)
        kinds = ", ".join(f"?::{'bigint' if name in ('content', 'chunks') else 'text'}[]" for name in names)
        sql = f"""
            INSERT INTO {table} ({", ".join(names)}) SELECT * FROM unnest({kinds})
            ON CONFLICT ({key}) DO UPDATE SET {update}
        """
        self.rows(sql, [list(column) for column in zip(*hashed, strict=True)])

    def new_rows(self, count: int) -> list[int]:
        sql = "SELECT nextval('chunks_numbers') FROM generate_series(1, ?)"
        return sorted(number for (number,) in self.rows(sql, [count]))

    def continue_numbers(self) -> None:
        last = {table: f"SELECT max({column}) FROM {table}" for table, column in _NUMBERED.items()}
        last["chunks"] = "SELECT greatest((SELECT max(row) FROM chunks), (SELECT max(row) FROM removals))"
        for table, sql in last.items():
            self.rows(f"SELECT setval('{table}_numbers', coalesce(({sql}), 0) + 1, false)")
        for table in TABLES:
            self.rows(f"ANALYZE {table}")

    def reindex(self) -> None:
        for table in TABLES:
            self.rows(f"REINDEX TABLE {table}")


_NUMBERED = {"contents": "content", "documents": "document", "vectors": "vector"}


def _placed(sql: str) -> str:
    """Return SQL with the placeholders of psycopg."""
    return sql.replace("?", "%s")


def _with_hashes(table: str, columns: str, rows: Iterable[Sequence[Any]]) -> tuple[list[str], Iterable[Sequence[Any]]]:
    """Return columns and rows of a table with those that hold hashes."""
    names, hashed = columns.split(", "), _HASHED.get(table)
    if not hashed:
        return names, rows
    places = [names.index(column) for column in hashed]
    return [*names, *hashed.values()], [(*row, *(text_hash(row[place]) for place in places)) for row in rows]


@contextmanager
def _translated(done: str) -> Generator[None]:
    try:
        yield
    except EngineError as error:
        what = "; this step was stored completely or not at all" if done == "written" else ""
        raise KnowledgeBaseError(f"the catalog cannot be {done}: {error}{what}") from error


_ORPHANS = {
    "row numbers that could be reused": (
        "SELECT count(*) FROM chunks_numbers WHERE last_value - (NOT is_called)::int"
        " < greatest((SELECT max(row) FROM chunks), (SELECT max(row) FROM removals))"
    ),
}


class PostgresDialect:
    """The SQL of PostgreSQL; implements `ragstone.catalog.database.Dialect`.

    A metadata value has a kind: text, number, or neither for truth values and NaN, which equal no number. Numbers are
    ``numeric``, so that integers and floats compare exactly, as in SQLite.
    """

    is_text = "kind = 't'"
    id_column, source_column, by_id, fact_value = (
        "id_hash",
        "source_hash",
        "left(d.id, 500), d.id",
        "kind, value, number",
    )
    in_values = "= ANY(?)"
    joined = "SELECT string_agg(row::text, ',') FROM ({}) AS found (row)"
    metadata_keys = "SELECT DISTINCT key FROM facts"
    _under = """(source_hash = {hash} OR (left(source, 500) >= left({root} || '/', 500)
        AND left(source, 500) <= left({root} || '0', 500) AND source > {root} || '/' AND source < {root} || '0')
        OR (left(source, 500) >= left({root} || '#', 500) AND left(source, 500) <= left({root} || '$', 500)
        AND source > {root} || '#' AND source < {root} || '$'))"""
    stored_names = f"""
        SELECT root FROM unnest(?::text[], ?::text[]) AS named (root, hash)
        WHERE EXISTS (SELECT 1 FROM documents WHERE id_hash = named.hash)
            OR EXISTS (SELECT 1 FROM documents WHERE {_under.format(root="named.root", hash="named.hash")})
    """

    @property
    def orphans(self) -> dict[str, str]:
        return _ORPHANS

    def key(self, text: str) -> str:
        return text_hash(text)

    def values(self, values: Iterable[Any]) -> list[Any]:
        return [*values]

    def keys(self, texts: Iterable[str]) -> list[str]:
        return [text_hash(text) for text in texts]

    def names(self, names: Sequence[str]) -> list[Any]:
        return [[*names], self.keys(names)]

    def has_key(self, key: str) -> Query:
        return "left(key, 100) = left(?, 100) AND key = ?", [key, key]

    def after(self, id: str) -> Query:
        return "left(d.id, 500) >= left(?, 500) AND d.id > ?", [id, id]

    def ending(self, ends: Sequence[str]) -> Query:
        return "right(d.id, ?) = ANY(?)", [len(ends[0]), [*ends]]

    def containing(self, forms: Sequence[str], fields: Sequence[str]) -> Query:
        columns = " OR ".join(f"d.{name} ILIKE ANY(?)" for name in fields)
        return f"({columns})", [[*forms] for _ in fields]

    def named(self, name: str, field: str) -> Query:
        last = name.rpartition("/")[2]
        indexed = f"left(lower(regexp_replace({field}, '^.*/', '')), 500)"
        return f'{indexed} IN (left(lower(?::text COLLATE "C"), 500), left(?, 500))', [last, last.lower()]

    def readable(self, groups: Sequence[str] | None) -> Query:
        if groups is None:
            return "TRUE", []
        names = "SELECT 1 FROM facts f WHERE f.document = d.document AND f.chunk IS NULL AND f.key = ?"
        own = "AND f.kind = 't' AND f.value = ANY(?)"
        return f"(NOT EXISTS ({names}) OR EXISTS ({names} {own}))", [*[deciding_key(groups)] * 2, [*groups]]

    def under(self, root: str) -> Query:
        return self._under.format(root="?::text", hash="?"), [text_hash(root), *[root] * 8]

    def exact(self, *columns: Any) -> object:
        kind, text, number = columns
        if number is None:
            return kind, text, ""
        exact = Decimal(number)
        return kind, text, str(exact if exact.is_infinite() else exact.as_integer_ratio())

    def exact_value(self, value: Value) -> object:
        return self.exact(*columns_of(value))

    def fact(self, key: str, op: str, value: Scalar | None) -> tuple[str, list[Value]]:
        test, values = _test(op, value)
        having = f"FROM facts WHERE left(key, 100) = left(?, 100) AND key = ?{test}"
        sql = (
            f"SELECT row FROM chunks WHERE document IN (SELECT document {having} AND chunk IS NULL)"
            f" UNION ALL SELECT chunk {having} AND chunk IS NOT NULL"
        )
        asked: list[Value] = [key, key, *values]
        if key not in FIELDS or not (value is None or isinstance(value, str)):
            return sql, [*asked, *asked]
        own = "" if value is None else f" AND left(d.{key}, 500) {_LOOSE[op]} left(?, 500) AND d.{key} {op} ?"
        sql += f" UNION ALL SELECT c.row FROM chunks c JOIN documents d USING (document) WHERE d.{key} <> ''{own}"
        return sql, [*asked, *asked, *values]


_LOOSE = {"=": "=", "<": "<=", "<=": "<=", ">": ">=", ">=": ">="}
"""How the beginnings of two texts compare if the texts compare so; the indexes hold beginnings."""


def _test(op: str, value: Scalar | None) -> tuple[str, list[Value]]:
    """Return the condition on a fact, and its parameters."""
    if value is None:
        return "", []
    kind, text, number = columns_of(stored_value(value))
    if number is not None:
        return f" AND kind = 'n' AND number {op} ?::numeric", [number]
    if kind == "b":
        return " AND kind = 'b' AND left(value, 100) = left(?, 100) AND value = ?", [text, text]
    return f" AND kind = 't' AND left(value, 100) {_LOOSE[op]} left(?, 100) AND value {op} ?", [text, text]


def columns_of(value: Value) -> tuple[str, str, str | None]:
    """Return kind, text and number of a metadata value; the number is exact, in decimal digits."""
    if isinstance(value, str):
        return "t", value, None
    if isinstance(value, bytes):
        return "b", value.hex(), None
    if isinstance(value, float) and isinf(value):
        return "n", "", "Infinity" if value > 0 else "-Infinity"
    return "n", "", format(Decimal(value), "f")
