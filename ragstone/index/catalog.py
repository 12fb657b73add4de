"""The catalog: one SQLite database that holds documents, chunks and vectors, and is the truth.

A document is acknowledged when the transaction that holds it, with all its chunks and vectors, has
been committed and synced (WAL, ``synchronous=FULL``). Indexes follow: every commit has a number, its
*generation*, and an index that knows the commit it was made from asks for what changed since.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.contracts import Chunk, Document, Filter, Finished, Skipped
from ragstone.errors import Damaged, KnowledgeBaseError, NotFound
from ragstone.index.filters import to_sql
from ragstone.index.records import Counts, Stamp
from ragstone.index.store import Orphans, Prepared, clear, marks_from_json, metadata_from_json, put, take_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.contracts import Vector

FORMAT = 1
_UNDER = """(source = :root OR (source > :root || '/' AND source < :root || '0')
    OR (source > :root || '#' AND source < :root || '$'))"""
"""Whether a source is another one or lies in it: a file in a folder, a row in a table, a part in an archive.

What begins with ``/`` stands before ``0`` and what begins with ``#`` before ``$``, so an index finds it.
"""
_CHUNK = """
    SELECT c.row, c.id, d.id, c.position, d.chunks, c.start, c.end,
           substr(t.text, c.start + 1, c.end - c.start), d.title, d.url, d.metadata, c.context, c.facts
    FROM chunks c JOIN documents d USING (document) JOIN contents t USING (content)
"""


class Catalog:
    """One process's view of the database. Reads from any thread; writes from one at a time."""

    def __init__(self, path: Path) -> None:
        """Open an existing catalog.

        Raises:
            NotFound: there is none.
            Damaged: the file is not a catalog.
            KnowledgeBaseError: it was written by a newer Ragstone.
        """
        if not path.is_file():
            raise NotFound(f"there is no knowledge base at {path.parent}; make one with: ragstone add SOURCE")
        self._path = path
        self._readers: dict[threading.Thread, sqlite3.Connection] = {}
        self._connecting, self._writing = threading.Lock(), threading.Lock()
        self._writer = self._connect()
        try:
            version = self._one("PRAGMA user_version")
            if version < 1:
                raise Damaged(f"{path} is not a catalog; restore it from a copy")
            if version > FORMAT:
                raise KnowledgeBaseError(
                    f"{path} has format {version}; this Ragstone reads format {FORMAT}: install the newer Ragstone"
                )
        except KnowledgeBaseError:
            self.close()
            raise

    @classmethod
    def create(cls, path: Path, built_with: Mapping[str, Any]) -> Catalog:
        """Make an empty catalog; all of it or nothing."""
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            schema = (Path(__file__).parent / "schema.sql").read_text()
            connection.executescript(f"BEGIN IMMEDIATE; {schema} PRAGMA user_version={FORMAT};")
            connection.execute("INSERT INTO about VALUES (1, ?)", [json.dumps(built_with)])
            connection.execute("INSERT INTO commits VALUES (0, ?)", [secrets.token_hex(8)])
            connection.execute("COMMIT")
        finally:
            connection.close()
        return cls(path)

    def close(self) -> None:
        for connection in (self._writer, *self._readers.values()):
            connection.close()
        self._readers.clear()

    # ------------------------------------------------------------ reading

    def built_with(self) -> dict[str, Any]:
        """The preset and index settings the knowledge base was made with."""
        return json.loads(self._one("SELECT built_with FROM about"))

    def generation(self) -> int:
        return self.stamp().generation

    def stamp(self) -> Stamp:
        """The last commit."""
        sql = "SELECT generation, mark FROM commits ORDER BY generation DESC LIMIT 1"
        (last,) = self._rows(sql)
        return Stamp(generation=last[0], mark=last[1])

    def knows(self, stamp: Stamp) -> bool:
        """Whether this commit is one of this catalog's, so that what changed since can be told."""
        return any(
            self._rows("SELECT 1 FROM commits WHERE generation = ? AND mark = ?", [stamp.generation, stamp.mark])
        )

    def counts(self) -> Counts:
        tables = (
            "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM chunks), (SELECT count(*) FROM vectors)"
        )
        ((documents, chunks, vectors),) = self._rows(tables)
        return Counts(documents=documents, chunks=chunks, vectors=vectors, generation=self.generation())

    def select(self, where: Filter) -> NDArray[np.int64]:
        """Rows, ascending, of the chunks that ``where`` lets through, by their own facts or their document's."""
        condition, values = to_sql(where)
        rows = f"SELECT c.row FROM chunks c JOIN documents d USING (document) WHERE {condition} ORDER BY c.row"  # noqa: S608
        # As one text: a million rows are read several times faster than one by one.
        text = self._one(f"SELECT group_concat(row) FROM ({rows})", values)  # noqa: S608
        return np.fromstring(text or "", dtype=np.int64, sep=",")

    def chunks(self, rows: Sequence[int]) -> dict[int, Chunk]:
        """The chunks with these rows; one removed meanwhile is left out."""
        sql = _CHUNK + "WHERE c.row IN (SELECT value FROM json_each(?))"  # noqa: S608
        found = self._rows(sql, [json.dumps(rows)])
        return {row[0]: _chunk(row) for row in found}

    def vectors(self, rows: Sequence[int]) -> dict[int, Vector]:
        """The vectors of the chunks with these rows."""
        sql = """
            SELECT c.row, v.value FROM chunks c JOIN vectors v USING (vector)
            WHERE c.row IN (SELECT value FROM json_each(?))
        """
        return {row: np.frombuffer(value, "<f4") for row, value in self._rows(sql, [json.dumps(rows)])}

    def document(self, id: str) -> Document:
        """A document by its id, or by the end of its id, from a ``/`` or ``#`` on, where only one ends so.

        Raises:
            NotFound: none, or more than one.
        """
        columns = (
            "SELECT d.id, t.text, d.source, d.title, d.url, d.metadata, d.marks"
            " FROM documents d JOIN contents t USING (content)"
        )
        found = list(self._rows(f"{columns} WHERE d.id = ?", [id]))
        if not found and id:
            ends = [id] if id[0] in "/#" else [f"/{id}", f"#{id}"]
            sql = f"{columns} WHERE substr(d.id, ?) IN (SELECT value FROM json_each(?)) LIMIT 3"  # noqa: S608
            found = list(self._rows(sql, [-len(ends[0]), json.dumps(ends)]))
        if len(found) != 1:
            several = f"; it could be {', '.join(row[0] for row in found)}" if found else ""
            raise NotFound(f"there is no document '{id}'{several}")
        name, text, source, title, url, metadata, marks = found[0]
        return Document(
            id=name,
            text=text,
            source=source,
            title=title,
            url=url,
            metadata=metadata_from_json(metadata),
            marks=marks_from_json(marks),
        )

    def documents(self) -> Iterator[Document]:
        """Every document, in the order of adding."""
        ids = [id for (id,) in self._rows("SELECT id FROM documents ORDER BY document")]
        for id in ids:
            yield self.document(id)

    def signatures(self, ids: Sequence[str]) -> dict[str, str]:
        """The signature of each of these documents that is stored."""
        sql = "SELECT id, signature FROM documents WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self._rows(sql, [json.dumps(ids)]))

    def known(self, ids: Sequence[str]) -> list[str]:
        """Those of the ids that are stored."""
        return list(self.signatures(ids))

    def holds(self, ids: Sequence[str]) -> bool:
        """Whether all of these documents are stored."""
        return len(self.signatures(ids)) == len(set(ids))

    def embedded(self, hashes: Sequence[str]) -> set[str]:
        """Which of these texts already have a vector."""
        sql = "SELECT hash FROM vectors WHERE hash IN (SELECT value FROM json_each(?))"
        return {row[0] for row in self._rows(sql, [json.dumps(list(hashes))])}

    def held(self, names: Sequence[str]) -> set[str]:
        """Which of these are the source, or the id, of a stored document."""
        sql = """
            SELECT value FROM json_each(?)
            WHERE value IN (SELECT source FROM documents) OR value IN (SELECT id FROM documents)
        """
        return {name for (name,) in self._rows(sql, [json.dumps(names)])}

    def has_file(self, source: str, stamp: str) -> bool:
        """Whether everything of a file, in this state, is stored."""
        return any(self._rows("SELECT 1 FROM files WHERE source = ? AND stamp = ?", [source, stamp]))

    def under(self, root: str) -> list[tuple[str, str]]:
        """Id and source of every document that came from a file or folder, or from within it."""
        sql = f"SELECT id, source FROM documents WHERE {_UNDER}"  # noqa: S608
        return list(self._rows(sql, {"root": root}))

    def skipped(self, root: str | None = None) -> list[Skipped]:
        """What could not be read when it was tried last; of a file or folder, or of everything."""
        where = "TRUE" if root is None else _UNDER
        rows = self._rows(f"SELECT source, reason FROM skipped WHERE {where} ORDER BY source", {"root": root})  # noqa: S608
        return [Skipped(source=source, reason=reason) for source, reason in rows]

    def removed_since(self, generation: int) -> list[int]:
        sql = "SELECT row FROM removals WHERE generation > ? ORDER BY row"
        return [row for (row,) in self._rows(sql, [generation])]

    def vectors_since(self, generation: int, dimensions: int) -> tuple[NDArray[np.int64], Vector]:
        """Rows (n,), ascending, and vectors (n, dimensions) of the chunks added after a generation."""
        sql = "SELECT c.row, v.value FROM chunks c JOIN vectors v USING (vector) WHERE c.generation > ? ORDER BY c.row"
        count = self._one("SELECT count(*) FROM chunks WHERE generation > ?", [generation])
        rows, vectors = np.empty(count, dtype=np.int64), np.empty((count, dimensions), dtype=np.float32)
        for i, (row, value) in enumerate(self._rows(sql, [generation])):
            rows[i], vectors[i] = row, np.frombuffer(value, "<f4")
        return rows, vectors

    def chunks_since(self, generation: int) -> Iterator[tuple[int, Chunk]]:
        """Row and chunk of everything added after a generation."""
        for row in self._rows(_CHUNK + "WHERE c.generation > ? ORDER BY c.row", [generation]):
            yield row[0], _chunk(row)

    @contextmanager
    def snapshot(self) -> Iterator[Stamp]:
        """One state of the database for several reads of this thread; gives its last commit."""
        list(self._rows("BEGIN"))
        try:
            yield self.stamp()
        finally:
            list(self._rows("COMMIT"))

    # ------------------------------------------------------------ writing

    def commit(
        self, prepared: Sequence[Prepared], vectors: Mapping[str, Vector], finished: Sequence[Finished] = ()
    ) -> int:
        """Store documents with their chunks, in one transaction; replaces those of the same id.

        Args:
            prepared: the documents; each text either has a vector already or one in ``vectors``.
            vectors: hash of an embedded text to its vector.
            finished: files of which, with this commit, everything is stored.

        Returns:
            The generation, durable now.
        """
        with self._transaction() as (db, generation):
            db.executemany(
                "INSERT OR IGNORE INTO vectors (hash, value) VALUES (?, ?)",
                [(hash, np.ascontiguousarray(vector, "<f4").tobytes()) for hash, vector in vectors.items()],
            )
            orphans = Orphans()
            for one in prepared:
                put(db, one, generation, orphans)
                db.execute("DELETE FROM skipped WHERE source = ?", [one.document.source])
            for file in finished:
                db.execute("INSERT OR REPLACE INTO files VALUES (?, ?)", [file.source, file.stamp])
                sql = f"DELETE FROM skipped WHERE {_UNDER}"  # noqa: S608
                db.execute(sql, {"root": file.source})
            clear(db, orphans)
        return generation

    def remove(self, ids: Sequence[str], finished: Sequence[Finished] = ()) -> int:
        """Take documents out, with their chunks and all that no other document shares.

        Args:
            ids: the documents.
            finished: files of which, without these documents, exactly what is in them is stored.

        Raises:
            NotFound: one of them is not there; then none is removed.
        """
        with self._transaction() as (db, generation):
            orphans = Orphans()
            for id in ids:
                if not take_out(db, id, generation, orphans):
                    raise NotFound(f"there is no document '{id}'")
            db.executemany("INSERT OR REPLACE INTO files VALUES (?, ?)", [(f.source, f.stamp) for f in finished])
            clear(db, orphans)
        return generation

    def note_skipped(self, skipped: Sequence[Skipped]) -> None:
        if not skipped:
            return
        with self._transaction(counted=False) as (db, _):
            db.executemany("INSERT OR REPLACE INTO skipped VALUES (?, ?)", [(s.source, s.reason) for s in skipped])

    def forget_skipped(self, sources: Sequence[str]) -> None:
        """These are no longer there to be skipped."""
        if sources:
            with self._transaction(counted=False) as (db, _):
                db.executemany("DELETE FROM skipped WHERE source = ?", [(source,) for source in sources])

    @contextmanager
    def _transaction(self, *, counted: bool = True) -> Iterator[tuple[sqlite3.Connection, int]]:
        """A write, all or nothing, with the generation it will have; indexes need not know of one not counted."""
        with self._writing:
            db = self._writer
            try:
                db.execute("BEGIN IMMEDIATE")
                (generation,) = db.execute("SELECT max(generation) + 1 FROM commits").fetchone()
                if counted:
                    db.execute("INSERT INTO commits VALUES (?, ?)", [generation, secrets.token_hex(8)])
                yield db, generation
                db.execute("COMMIT")
            except BaseException as error:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise KnowledgeBaseError(
                        f"could not write {self._path}: {error}; nothing of this step was stored"
                    ) from error
                raise

    def _connect(self) -> sqlite3.Connection:
        with self._readable():
            connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=30)
            try:
                connection.execute("PRAGMA synchronous=FULL")
                connection.execute("PRAGMA foreign_keys=ON")
            except sqlite3.Error:
                connection.close()
                raise
            return connection

    @property
    def _reader(self) -> sqlite3.Connection:
        """This thread's connection. Those of threads that have ended are closed: every event loop has new ones."""
        thread = threading.current_thread()
        if thread not in self._readers:
            with self._connecting:
                for ended in [one for one in self._readers if not one.is_alive()]:
                    self._readers.pop(ended).close()
                self._readers[thread] = self._connect()
        return self._readers[thread]

    def _rows(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Iterator[Any]:
        with self._readable():
            yield from self._reader.execute(sql, values)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise KnowledgeBaseError(f"{self._path} cannot be read: {error}") from error
        except sqlite3.DatabaseError as error:
            raise Damaged(f"{self._path} cannot be read ({error}); restore it from a copy") from error

    def _one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        ((value,),) = self._rows(sql, values)
        return value


def _chunk(row: Sequence[Any]) -> Chunk:
    _, id, document_id, position, total, start, end, text, title, url, metadata, context, facts = row
    return Chunk(
        id=id,
        document_id=document_id,
        index=position,
        total=total,
        start=start,
        end=end,
        text=text,
        title=title,
        url=url,
        metadata=metadata_from_json(metadata),
        context=context,
        facts=metadata_from_json(facts),
    )
