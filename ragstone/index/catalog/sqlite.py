"""The catalog: one SQLite database that holds documents, chunks and vectors, and is the truth.

A document is acknowledged when the transaction that holds it, with all its chunks and vectors, has
been committed and synced (WAL, ``synchronous=FULL``). Indexes follow: every commit has a number, its
*generation*, and an index that knows the commit it was made from asks for what changed since.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.access import READERS, groups_in
from ragstone.conditions import Filter
from ragstone.contracts import Chunk, Document, Finished, Skipped
from ragstone.errors import Damaged, KnowledgeBaseError, NotFound
from ragstone.index.catalog.beside import Beside
from ragstone.index.catalog.changes import ChangeLog
from ragstone.index.catalog.filters import SQLITE
from ragstone.index.catalog.listing import Listing, listing, readable
from ragstone.index.catalog.migrations import crc32, create, migrate
from ragstone.index.catalog.selections import Selections
from ragstone.index.catalog.store import (
    CHUNKS,
    DOCUMENTS,
    UNDER,
    Orphans,
    Prepared,
    chunk_from,
    clear,
    endings,
    metadata_from_json,
    only,
    packed,
    put,
    take_out,
)
from ragstone.index.records import Counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.contracts import Vector


class Catalog(ChangeLog, Beside):
    """One process's view of the database. Reads from any thread; writes from one at a time."""

    def __init__(self, path: Path) -> None:
        """Open an existing catalog; one of an older format is brought to the present one.

        Raises:
            NotFound: there is none.
            Damaged: the file is not a catalog.
            KnowledgeBaseError: it was written by a newer Ragstone.
        """
        if not path.is_file():
            raise NotFound(f"there is no knowledge base at {path.parent}; make one with: ragstone add SOURCE")
        super().__init__(path)
        self._selections = Selections(self._one, SQLITE)
        try:
            with self._readable():
                migrate(self._reader, path)
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, path: Path, built_with: Mapping[str, Any]) -> Catalog:
        """Make an empty catalog; all of it or nothing.

        Raises:
            KnowledgeBaseError: it cannot be written.
        """
        try:
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                create(connection, built_with)
        except sqlite3.Error as error:
            raise KnowledgeBaseError(f"could not write {path}: {error}; nothing was made") from error
        return cls(path)

    # ------------------------------------------------------------ reading

    def built_with(self) -> dict[str, Any]:
        """The preset and index settings the knowledge base was made with."""
        found = list(self._rows("SELECT built_with, crc FROM about"))
        if len(found) != 1 or not isinstance(found[0][0], str) or crc32(found[0][0]) != found[0][1]:
            raise Damaged(f"{self._path} does not tell what it was built with; restore a backup: ragstone restore")
        return json.loads(found[0][0])

    def counts(self) -> Counts:
        tables = (
            "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM chunks), (SELECT count(*) FROM vectors)"
        )
        ((documents, chunks, vectors),) = self._rows(tables)
        return Counts(documents=documents, chunks=chunks, vectors=vectors, generation=self.generation())

    def select(self, where: Filter) -> NDArray[np.int64]:
        """Rows, ascending, of the chunks that ``where`` lets through, by their own facts or their document's."""
        with self.snapshot() as now:
            return self._selections.passing(where, now)

    def chunks(self, rows: Sequence[int]) -> dict[int, Chunk]:
        """The chunks with these rows; one removed meanwhile is left out."""
        sql = CHUNKS + "WHERE c.row IN (SELECT value FROM json_each(?))"  # noqa: S608
        found = self._rows(sql, [json.dumps(rows)])
        return {row[0]: chunk_from(row) for row in found}

    def vectors(self, rows: Sequence[int]) -> dict[int, Vector]:
        """The vectors of the chunks with these rows."""
        sql = """
            SELECT c.row, v.value FROM chunks c JOIN vectors v USING (vector)
            WHERE c.row IN (SELECT value FROM json_each(?))
        """
        return {row: np.frombuffer(value, "<f4") for row, value in self._rows(sql, [json.dumps(rows)])}

    def document(self, id: str, groups: Sequence[str] | None = None) -> Document:
        """A document by its id, or by the end of its id, from a ``/`` or ``#`` on, where only one ends so.

        Args:
            id: the whole, or the end of it.
            groups: of whoever asks, for whom all others are not there; nothing for who may read everything.

        Raises:
            NotFound: none, or more than one.
        """
        allowed, values = readable(groups)
        found = list(self._rows(f"{DOCUMENTS} WHERE d.id = ? AND {allowed}", [id, *values]))
        if not found and id:
            ends = endings(id)
            sql = f"{DOCUMENTS} WHERE substr(d.id, ?) IN (SELECT value FROM json_each(?)) AND {allowed} LIMIT 3"  # noqa: S608
            found = list(self._rows(sql, [-len(ends[0]), json.dumps(ends), *values]))
        return only(id, found)

    def documents(self) -> Iterator[Document]:
        """Every document, in the order of adding."""
        ids = [id for (id,) in self._rows("SELECT id FROM documents ORDER BY document")]
        for id in ids:
            yield self.document(id)

    def listing(self, groups: Sequence[str] | None, wanted: str, after: str, limit: int) -> Listing:
        """Documents in the order of their ids; see `ragstone.index.catalog.listing`."""
        with self.snapshot():
            return listing(self._rows, groups, wanted, after, limit)

    def names_readers(self) -> bool:
        """Whether any document names the groups that may read it."""
        return any(self._rows("SELECT 1 FROM facts WHERE key = ? LIMIT 1", [READERS]))

    def readers(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Of those of these documents that name groups, which; an empty list is no group's."""
        sql = """
            SELECT d.id, d.metadata FROM documents d WHERE d.id IN (SELECT value FROM json_each(?))
            AND EXISTS (SELECT 1 FROM facts f WHERE f.document = d.document AND f.chunk IS NULL AND +f.key = ?)
        """
        found = self._rows(sql, [json.dumps(list(ids)), READERS])
        return {id: groups_in(metadata_from_json(facts)[READERS]) for id, facts in found}

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
        """Which of these are the source, or the id, of a stored document, or have one within them."""
        under = UNDER.replace(":root", "named.value")
        sql = f"""
            SELECT value FROM json_each(?) AS named
            WHERE EXISTS (SELECT 1 FROM documents WHERE {under}) OR value IN (SELECT id FROM documents)
        """  # noqa: S608
        return {name for (name,) in self._rows(sql, [json.dumps(names)])}

    def has_file(self, source: str, stamp: str) -> bool:
        """Whether everything of a file, in this state, is stored."""
        return any(self._rows("SELECT 1 FROM files WHERE source = ? AND stamp = ?", [source, stamp]))

    def under(self, root: str) -> list[tuple[str, str]]:
        """Id and source of every document that came from a file or folder, or from within it."""
        sql = f"SELECT id, source FROM documents WHERE {UNDER}"  # noqa: S608
        return list(self._rows(sql, {"root": root}))

    def skipped(self, root: str | None = None) -> list[Skipped]:
        """What could not be read when it was tried last; of a file or folder, or of everything."""
        where = "TRUE" if root is None else UNDER
        rows = self._rows(f"SELECT source, reason FROM skipped WHERE {where} ORDER BY source", {"root": root})  # noqa: S608
        return [Skipped(source=source, reason=reason) for source, reason in rows]

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
        with self.transaction() as (db, generation):
            db.executemany(
                "INSERT OR IGNORE INTO vectors (hash, value, crc) VALUES (?, ?, ?)",
                [(hash, value, crc32(value)) for hash, value in packed(vectors)],
            )
            orphans = Orphans()
            for one in prepared:
                put(db, one, generation, orphans)
                db.execute("DELETE FROM skipped WHERE source = ?", [one.document.source])
            for file in finished:
                db.execute("INSERT OR REPLACE INTO files VALUES (?, ?)", [file.source, file.stamp])
                sql = f"DELETE FROM skipped WHERE {UNDER}"  # noqa: S608
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
        with self.transaction() as (db, generation):
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
        with self.transaction(counted=False) as (db, _):
            db.executemany("INSERT OR REPLACE INTO skipped VALUES (?, ?)", [(s.source, s.reason) for s in skipped])

    def forget_skipped(self, sources: Sequence[str]) -> None:
        """These are no longer there to be skipped."""
        if sources:
            with self.transaction(counted=False) as (db, _):
                db.executemany("DELETE FROM skipped WHERE source = ?", [(source,) for source in sources])
