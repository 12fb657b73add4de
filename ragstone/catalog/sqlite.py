"""The catalog in an SQLite database (WAL, ``synchronous=FULL``): a connection for each reading thread, one to write."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from ragstone.catalog.catalog import SqlCatalog
from ragstone.catalog.database import Query
from ragstone.catalog.filters import Value, stored_value
from ragstone.catalog.protocol import IdOf
from ragstone.catalog.rows import new_mark
from ragstone.catalog.verify import RESTORE, verify
from ragstone.core.access import deciding_key
from ragstone.core.catalog import FIELDS, Finding
from ragstone.core.errors import Damaged, KnowledgeBaseError, NotFound
from ragstone.core.filters import Scalar
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
    fixed_state,
    is_damage,
    reason_of,
    transaction,
)

FORMAT = 1
FETCHED = 64
"""Rows to read in one call."""
_ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_UNCUT = """
    SELECT c.row, c.id, d.id, c.position, d.chunks, c.start, c."end",
           d.content, d.title, d.url, d.metadata, c.context, c.facts
    FROM chunks c JOIN documents d USING (document)
"""


def open_catalog(path: Path) -> SqlCatalog:
    """Open a catalog.

    Raises:
        NotFound: the file does not exist.
        Damaged: the file is not a catalog.
        KnowledgeBaseError: another version of Ragstone wrote it.
    """
    if not path.is_file():
        raise NotFound(f"there is no knowledge base at {path.parent}; create one with: ragstone add SOURCE")
    database = SqliteDatabase(path)
    try:
        with database.reading():
            require_format(database.reader.db, path, FORMAT)
    except BaseException:
        database.close()
        raise
    return SqlCatalog(database)


def create_catalog(path: Path, built_with: Mapping[str, Any]) -> SqlCatalog:
    """Create an empty catalog, completely or not at all.

    Raises:
        KnowledgeBaseError: it cannot be written.
    """
    try:
        with closing(connect(path)) as connection:
            _create(connection, built_with)
    except Failed as error:
        raise KnowledgeBaseError(
            f"could not write {path}: {reason_of(error, path)}; no knowledge base was created"
        ) from error
    return open_catalog(path)


def _create(db: sqlite3.Connection, built_with: Mapping[str, Any]) -> None:
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    schema = (files("ragstone.catalog") / "schema.sql").read_text(encoding="utf-8")
    db.executescript(f"BEGIN IMMEDIATE; {schema} {stamp(FORMAT)}")
    text = json.dumps(built_with)
    db.execute("INSERT INTO about VALUES (1, ?, ?)", [text, crc32(text)])
    db.execute("INSERT INTO commits VALUES (0, ?)", [new_mark()])
    db.execute("COMMIT")


class _Reader:
    """The connection of one reading thread. Another thread may close it: between two calls of SQLite, never in one."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db, self._calling = db, threading.Lock()

    def rows(self, sql: str, values: Sequence[Any]) -> list[Any]:
        with self._calling:
            return self.db.execute(sql, values).fetchall()

    def stream(self, sql: str, values: Sequence[Any]) -> Iterator[Any]:
        with self._calling:
            rows = self.db.execute(sql, values)
        while True:
            with self._calling:
                fetched = rows.fetchmany(FETCHED)
            yield from fetched
            if len(fetched) < FETCHED:
                return

    def close(self) -> None:
        with self._calling:
            self.db.close()


class SqliteDatabase:
    """The connections of one process to a database file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.dialect = SqliteDialect()
        self._readers: dict[threading.Thread, _Reader] = {}
        self._connecting, self._writing = threading.Lock(), threading.Lock()
        self._open_writer: sqlite3.Connection | None = None
        self._is_fixed = path.is_file() and not is_writable(path)
        self._state, self._retired = fixed_state(path), list[_Reader]()
        self._is_closed = False

    @property
    def name(self) -> str:
        return str(self.path)

    def close(self) -> None:
        """Close the connections, each when its call of SQLite ends: a question that was given up may still read."""
        with self._connecting:
            self._is_closed = True
            for reader in (*self._readers.values(), *self._retired):
                reader.close()
            self._readers.clear()
        with self._writing:
            if self._open_writer is not None:
                self._open_writer.close()
                self._open_writer = None

    # ------------------------------------------------------------ reading

    @property
    def reader(self) -> _Reader:
        """This thread's connection. Those of ended threads are closed: every event loop has new threads."""
        thread = threading.current_thread()
        if self._is_fixed and not self._holds_snapshot(thread) and (now := fixed_state(self.path)) != self._state:
            with self._connecting:  # running reads end on the connections they began with
                self._state, self._retired, self._readers = now, [*self._retired, *self._readers.values()], {}
        if reader := self._readers.get(thread):
            return reader
        with self._connecting:
            for ended in [one for one in self._readers if not one.is_alive()]:
                self._readers.pop(ended).close()
            self._refuse_closed()
            reader = self._readers[thread] = _Reader(self._connect())
        return reader

    def rows(self, sql: str, values: Sequence[Any] = (), *, binary: bool = False) -> list[Any]:
        del binary
        with self.reading():
            return self.reader.rows(sql, values)

    def stream(
        self, sql: str, values: Sequence[Any] = (), *, binary: bool = False, large: bool = False
    ) -> Iterator[Any]:
        del binary, large  # SQLite reads rows as they are asked for
        with self.reading():
            yield from self.reader.stream(sql, values)

    def uncut(self, where: str, values: Sequence[Any]) -> Iterator[Sequence[Any]]:
        content, exists = None, False
        for row in self.stream(f"{_UNCUT} WHERE {where} ORDER BY c.generation, c.row", values):
            text = None
            if row[7] != content:
                content = row[7]
                found = self.rows("SELECT text FROM contents WHERE content = ?", [content])
                exists = bool(found)  # outside a snapshot, a document may be removed in the meantime
                text = found[0][0] if found else None
            if exists:
                yield (*row[:7], text, *row[8:])

    @contextmanager
    def snapshot(self) -> Generator[None]:
        if self.reader.db.in_transaction:
            yield
            return
        self.rows("BEGIN")
        try:
            yield
        finally:
            self.rows("COMMIT")

    def verify(self, id_of: IdOf) -> list[Finding]:
        findings: list[Finding] = []
        with closing(connect_to_check(self.path)) as db:
            # A flipped bit may leave bytes that are not text; they are compared as they are.
            db.text_factory = _as_stored
            try:
                db.execute("BEGIN")
                findings.extend(_structure(db))
                findings.extend(verify(lambda sql, values: db.execute(sql, values).fetchall(), self.dialect, id_of))
            except Failed as error:
                what = f"cannot be read: {reason_of(error, self.path)}"
                findings.append(Finding(part="catalog", what=what, remedy=RESTORE if is_damage(error) else LATER))
        return findings

    @contextmanager
    def reading(self) -> Generator[None]:
        """Translate the errors of a read."""
        try:
            yield
        except Failed as error:
            reason = f"{self.path} cannot be read: {reason_of(error, self.path)}"
            if is_damage(error):
                raise Damaged(f"{reason}; {RESTORE}") from error
            raise KnowledgeBaseError(reason) from error

    # ------------------------------------------------------------ writing

    @contextmanager
    def transaction(self, *, counted: bool = True) -> Generator[SqliteTransaction]:
        with self._writing, self._translated():
            db = self.writer
            try:
                with transaction(db):
                    (generation,) = db.execute("SELECT max(generation) + 1 FROM commits").fetchone()
                    if counted:
                        db.execute("INSERT INTO commits VALUES (?, ?)", [generation, new_mark()])
                    yield SqliteTransaction(db, generation)
            except sqlite3.Error:  # after an I/O error, its memory cannot be trusted
                self._open_writer = None
                with suppress(sqlite3.Error):
                    db.close()
                raise

    def compact(self) -> None:
        with self._writing, self._translated():
            compact(self.writer)

    @property
    def writer(self) -> sqlite3.Connection:
        """The connection that writes, opened on first use."""
        if self._open_writer is None:
            self._refuse_closed()
            writer = self._connect()
            try:
                # A killed process may have left commits in the log whose sync failed and which only the memory of the
                # system holds. They must reach the database before anything is written behind them.
                writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            except sqlite3.Error:
                writer.close()
                raise
            self._open_writer = writer
        return self._open_writer

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except Failed as error:
            raise KnowledgeBaseError(
                f"could not write {self.path}: {reason_of(error, self.path)}; nothing of this step was stored, and"
                " earlier data is unchanged"
            ) from error

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise KnowledgeBaseError(f"{self.path} was closed")

    def _connect(self) -> sqlite3.Connection:
        with self.reading():
            return connect_fixed(self.path) if self._is_fixed else connect(self.path)

    def _holds_snapshot(self, thread: threading.Thread) -> bool:
        return thread in self._readers and self._readers[thread].db.in_transaction


class SqliteTransaction:
    """A write in progress."""

    def __init__(self, db: sqlite3.Connection, generation: int) -> None:
        self._db, self.generation = db, generation

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._db.execute(sql, values).fetchall()

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        self._db.executemany(sql, rows)

    def insert(self, table: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
        self._db.executemany(f"INSERT INTO {table} ({columns}) VALUES ({_places(columns)})", rows)

    def upsert(self, table: str, columns: str, rows: Sequence[Sequence[Any]]) -> None:
        key, *others = columns.split(", ")
        update = ", ".join(f"{name} = excluded.{name}" for name in others)
        sql = f"INSERT INTO {table} ({columns}) VALUES ({_places(columns)}) ON CONFLICT ({key}) DO UPDATE SET {update}"
        self._db.executemany(sql, rows)

    def new_rows(self, count: int) -> list[int]:
        found = self.rows("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'")
        last = found[0][0] if found else 0
        return list(range(last + 1, last + 1 + count))

    def continue_numbers(self) -> None:
        last = "max((SELECT ifnull(max(row), 0) FROM chunks), (SELECT ifnull(max(row), 0) FROM removals))"
        self.rows("DELETE FROM sqlite_sequence WHERE name = 'chunks'")
        self.rows(f"INSERT INTO sqlite_sequence (name, seq) VALUES ('chunks', {last})")

    def reindex(self) -> None:
        self.rows("REINDEX")


_ORPHANS = {
    "chunks without a document": ("SELECT count(*) FROM chunks WHERE document NOT IN (SELECT document FROM documents)"),
    "metadata without a document": "SELECT count(*) FROM facts WHERE document NOT IN (SELECT document FROM documents)",
    "row numbers that could be reused": (
        "SELECT count(*) FROM sqlite_sequence WHERE name = 'chunks' AND seq < max("
        "(SELECT coalesce(max(row), 0) FROM chunks), (SELECT coalesce(max(row), 0) FROM removals))"
    ),
}


class SqliteDialect:
    """The SQL of SQLite; implements `ragstone.catalog.database.Dialect`."""

    id_column, source_column, by_id, fact_value = "id", "source", "d.id", "value"
    is_text = "typeof(value) = 'text'"
    in_values = "IN (SELECT value FROM json_each(?))"
    joined = "SELECT group_concat(row) FROM ({})"
    _under = """(source = {0} OR (source > {0} || '/' AND source < {0} || '0')
        OR (source > {0} || '#' AND source < {0} || '$'))"""
    """Text that begins with ``/`` sorts before ``0``, and with ``#`` before ``$``, so an index finds it."""
    stored_names = f"""
        SELECT value FROM json_each(?) AS named
        WHERE EXISTS (SELECT 1 FROM documents WHERE {_under.format("named.value")})
            OR value IN (SELECT id FROM documents)
    """
    # Jumps from key to key; DISTINCT would read the whole index.
    metadata_keys = """
        WITH RECURSIVE found (key) AS (
            SELECT min(key) FROM facts
            UNION ALL SELECT (SELECT min(key) FROM facts WHERE key > found.key) FROM found WHERE found.key IS NOT NULL
        )
        SELECT key FROM found WHERE key IS NOT NULL
    """

    @property
    def orphans(self) -> dict[str, str]:
        return _ORPHANS

    def key(self, text: str) -> str:
        return text

    def values(self, values: Iterable[Any]) -> str:
        return json.dumps([*values])

    def keys(self, texts: Iterable[str]) -> str:
        return self.values(texts)

    def names(self, names: Sequence[str]) -> list[Any]:
        return [self.values(names)]

    def has_key(self, key: str) -> Query:
        return "key = ?", [key]

    def after(self, id: str) -> Query:
        return "d.id > ?", [id]

    def ending(self, ends: Sequence[str]) -> Query:
        return f"substr(d.id, ?) {self.in_values}", [-len(ends[0]), self.values(ends)]

    def containing(self, forms: Sequence[str], fields: Sequence[str]) -> Query:
        # LIKE folds the case of ASCII letters itself. Patterns in a table of their own would take ten times as long.
        patterns = list({form.translate(_ASCII_LOWER): form for form in forms}.values())
        like = [f"d.{name} LIKE ? ESCAPE '\\'" for name in fields for _ in patterns]
        return f"({' OR '.join(like)})", patterns * len(fields)

    def named(self, name: str, field: str) -> Query:
        last = name.rpartition("/")[2]
        indexed = f"lower(substr({field}, length(rtrim({field}, replace({field}, '/', ''))) + 1))"
        return f"{indexed} IN (lower(?), ?)", [last, last.lower()]  # SQLite knows the case of ASCII letters only

    def readable(self, groups: Sequence[str] | None) -> Query:
        if groups is None:
            return "TRUE", []
        # The plus keeps SQLite from using the index by key: it would read everything the groups may read, for each
        # document.
        names = "SELECT 1 FROM facts f WHERE f.document = d.document AND f.chunk IS NULL AND +f.key = ?"
        own = f"AND f.value {self.in_values}"
        return f"(NOT EXISTS ({names}) OR EXISTS ({names} {own}))", [*[deciding_key(groups)] * 2, self.values(groups)]

    def under(self, root: str) -> Query:
        return self._under.format("?"), [root] * 5

    def exact(self, *columns: Any) -> object:
        return columns[0]

    def exact_value(self, value: Value) -> object:
        return value

    def fact(self, key: str, op: str, value: Scalar | None) -> tuple[str, list[Value]]:
        """Return the query; SQLite orders values of different types among each other, so types are compared too."""
        test = "TRUE" if value is None else f"{{0}} {op} ? AND typeof({{0}}) IN ({_types(value)})"
        values = [] if value is None else [stored_value(value)]
        having = f"FROM facts WHERE key = ? AND {test.format('value')}"
        sql = (
            f"SELECT row FROM chunks WHERE document IN (SELECT document {having} AND chunk IS NULL)"
            f" UNION ALL SELECT chunk {having} AND chunk IS NOT NULL"
        )
        if key not in FIELDS:
            return sql, [key, *values, key, *values]
        own = f"d.{key} <> '' AND {test.format(f'd.{key}')}"
        sql = f"{sql} UNION ALL SELECT c.row FROM chunks c JOIN documents d USING (document) WHERE {own}"
        return sql, [key, *values, key, *values, *values]


def _types(value: Scalar) -> str:
    if isinstance(value, bool):
        return "'blob'"
    return "'text'" if isinstance(value, str) else "'integer', 'real'"


def _places(columns: str) -> str:
    return ", ".join("?" for _ in columns.split(", "))


def _as_stored(value: bytes) -> str:
    return value.decode(errors="surrogateescape")


def _structure(db: sqlite3.Connection) -> Iterator[Finding]:
    lines = [line for (line,) in db.execute("PRAGMA integrity_check") if line != "ok"]
    of_index = [line for line in lines if " index " in line]
    if of_index:
        yield Finding(part="database indexes", what=of_index[0])
    for line in lines:
        if line not in of_index:
            yield Finding(part="catalog", what=line, remedy=RESTORE)
    for table, row, parent, _number in db.execute("PRAGMA foreign_key_check"):
        what = f"row {row} of {table} belongs to a missing row of {parent}"
        yield Finding(part="catalog", what=what, remedy=RESTORE)
