"""The catalog in SQL: documents, chunks and vectors, and the log of their changes.

A document is acknowledged once the transaction with all its chunks and vectors is committed and synced. Every commit
has a number, its *generation*; an index that knows the commit it was built from asks for the changes since then.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.catalog.database import Database, Transaction
from ragstone.catalog.filters import Selections
from ragstone.catalog.listing import common_values, first_rows, listing
from ragstone.catalog.protocol import IdOf, Prepared
from ragstone.catalog.readable import ReadableDocuments, readable_keys
from ragstone.catalog.rows import (
    CHUNKS,
    DOCUMENTS,
    TABLES,
    chunk_from,
    cut,
    endings,
    facts_of,
    layout_from,
    metadata_from_json,
    only,
    packed,
    stacked,
)
from ragstone.catalog.verify import RESTORE
from ragstone.catalog.write import Orphans, erase, put, put_files, put_skipped, take_out, withdraw
from ragstone.core.access import READERS, REMOVED, deciding_key, groups_in
from ragstone.core.catalog import FIELDS, Counts, Finding, Listing, ListingOrder, Notes, Stamp
from ragstone.core.errors import Damaged
from ragstone.core.filters import Filter
from ragstone.core.layout import Placed
from ragstone.core.records import ATTACHED, Chunk, Document, Finished, Skipped
from ragstone.storage.sqlite import crc32

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.records import Vector

    Rows = NDArray[np.int64]

PART = 65_536
"""Vectors to read at once."""


class SqlCatalog:
    """One process's view of a catalog; implements `ragstone.catalog.protocol.Catalog`, which describes the methods."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.selections = Selections(self._one, database.dialect)
        self._dialect = database.dialect
        self._readable = ReadableDocuments(database)
        self._keys = dict[tuple[str, ...] | None, frozenset[str]]()
        self._keys_stamp, self._asking_keys = Stamp(), threading.Lock()

    def close(self) -> None:
        self.database.close()

    # ------------------------------------------------------------ reading

    def counts(self) -> Counts:
        tables = ", ".join(f"(SELECT count(*) FROM {table})" for table in ("documents", "chunks", "vectors"))
        ((documents, chunks, vectors),) = self.database.rows(f"SELECT {tables}")
        return Counts(documents=documents, chunks=chunks, vectors=vectors, generation=self.generation())

    def select(self, where: Filter) -> Rows:
        if (known := self.selected(where)) is not None:
            return known
        with self.snapshot() as now:
            return self.selections.rows(where, now)

    def selected(self, where: Filter) -> Rows | None:
        return self.selections.known(where, self.stamp())

    def metadata_keys(self, groups: Sequence[str] | None = None) -> frozenset[str]:
        named = self._named(groups)
        reader = None if named is None else tuple(sorted(named))
        with self._asking_keys, self.snapshot() as now:
            if now != self._keys_stamp:
                self._keys.clear()
                self._keys_stamp = now
            if reader not in self._keys:
                self._keys[reader] = frozenset({*FIELDS, *readable_keys(self.database, reader)})
            return self._keys[reader]

    def chunks(self, rows: Sequence[int]) -> dict[int, Chunk]:
        sql = f"{CHUNKS} WHERE c.row {self._dialect.in_values}"
        return {row[0]: chunk_from(row) for row in self.database.rows(sql, [self._dialect.values(map(int, rows))])}

    def chunks_by_id(self, ids: Sequence[str]) -> dict[str, Chunk]:
        found = self.database.rows(f"{CHUNKS} WHERE c.id {self._dialect.in_values}", [self._dialect.values(ids)])
        return {row[1]: chunk_from(row) for row in found}

    def chunks_of(self, ids: Sequence[str]) -> dict[int, Chunk]:
        where = f"d.{self._dialect.id_column} {self._dialect.in_values}"
        return dict(cut(self.database.uncut(where, [self._dialect.keys(ids)])))

    def first_chunks(self, ids: Sequence[str]) -> dict[str, Chunk]:
        sql = f"{CHUNKS} WHERE c.position = 0 AND d.{self._dialect.id_column} {self._dialect.in_values}"
        return {row[2]: chunk_from(row) for row in self.database.rows(sql, [self._dialect.keys(ids)])}

    def vectors(self, rows: Sequence[int]) -> dict[int, Vector]:
        sql = f"SELECT c.row, v.value FROM chunks c JOIN vectors v USING (vector) WHERE c.row {self._dialect.in_values}"
        found = self.database.rows(sql, [self._dialect.values(map(int, rows))], binary=True)
        return {row: np.frombuffer(value, "<f4") for row, value in found}

    def document(self, id: str, groups: Sequence[str] | None = None) -> Document:
        allowed, values = self._dialect.readable(groups)
        sql = f"{DOCUMENTS} WHERE d.{self._dialect.id_column} = ? AND {allowed}"
        rows = self.database.rows(sql, [self._dialect.key(id), *values])
        if not rows and id:
            ending, ends = self._dialect.ending(endings(id))
            rows = self.database.rows(f"{DOCUMENTS} WHERE {ending} AND {allowed} LIMIT 3", [*ends, *values])
        return only(id, rows)

    def layout(self, id: str) -> tuple[Placed, ...]:
        sql = "SELECT l.value, l.crc FROM layouts l JOIN documents d USING (document) WHERE d"
        found = self.database.rows(f"{sql}.{self._dialect.id_column} = ?", [self._dialect.key(id)], binary=True)
        return layout_from(*found[0]) if found else ()

    def documents(self) -> Iterator[Document]:
        for (id,) in self.database.rows("SELECT id FROM documents ORDER BY document"):
            yield self.document(id)

    def listing(
        self,
        groups: Sequence[str] | None,
        wanted: str,
        after: str,
        limit: int,
        *,
        fields: Sequence[str] = FIELDS,
        where: Filter | None = None,
        order: ListingOrder = "id",
        exactly: bool = False,
    ) -> Listing:
        with self.snapshot() as now:
            rows = None if where is None else self.selections.rows(where, now)
            return listing(
                self.database,
                self._named(groups),
                wanted,
                after,
                limit,
                fields=fields,
                rows=rows,
                order=order,
                exactly=exactly,
                hidden=self._readable,
                stamp=now,
            )

    def common_values(
        self, groups: Sequence[str] | None, key: str, limit: int, *, where: Filter | None = None
    ) -> list[tuple[str, int]]:
        with self.snapshot() as now:
            rows = None if where is None else self.selections.rows(where, now)
            return common_values(self.database, self._named(groups), key, limit, rows=rows)

    def _named(self, groups: Sequence[str] | None) -> Sequence[str] | None:
        """Return the groups of a reader; None if there is nothing to check."""
        return None if groups is None or not self.restricts(groups) else groups

    def sources(self, ids: Sequence[str]) -> dict[str, str]:
        sql = f"SELECT id, source FROM documents WHERE {self._dialect.id_column} {self._dialect.in_values}"
        return dict(self.database.rows(sql, [self._dialect.keys(ids)]))

    def restricts(self, groups: Sequence[str]) -> bool:
        having, values = self._dialect.has_key(deciding_key(groups))
        return bool(self.database.rows(f"SELECT 1 FROM facts WHERE {having} LIMIT 1", values))

    def access_groups(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        sql = f"SELECT id, metadata FROM documents WHERE {self._dialect.id_column} {self._dialect.in_values}"
        found = self.database.rows(sql, [self._dialect.keys(ids)])
        metadata = {id: metadata_from_json(facts) for id, facts in found if f'"{READERS}"' in facts}
        return {id: groups_in(facts[READERS]) for id, facts in metadata.items() if READERS in facts}

    # ------------------------------------------------------------ the change log

    def generation(self) -> int:
        return self.stamp().generation

    def stamp(self) -> Stamp:
        (last,) = self.database.rows("SELECT generation, mark FROM commits ORDER BY generation DESC LIMIT 1")
        return Stamp(generation=last[0], mark=last[1])

    def knows(self, stamp: Stamp) -> bool:
        sql = "SELECT 1 FROM commits WHERE generation = ? AND mark = ?"
        return bool(self.database.rows(sql, [stamp.generation, stamp.mark]))

    @contextmanager
    def snapshot(self) -> Generator[Stamp]:
        with self.database.snapshot():
            yield self.stamp()

    def removed_since(self, generation: int) -> list[int]:
        # Sorted here: SQLite would read all removals ever made to order them.
        found = self.database.stream("SELECT row FROM removals WHERE generation > ?", [generation])
        return sorted(row for (row,) in found)

    def changes_since(self, generation: int) -> int:
        count = "(SELECT count(*) FROM {} WHERE generation > ?)"
        return self._one(f"SELECT {count.format('chunks')} + {count.format('removals')}", [generation, generation])

    def rows_since(self, generation: int) -> Rows:
        sql = "SELECT row FROM chunks WHERE generation > ? ORDER BY generation, row"
        return np.array([row for (row,) in self.database.stream(sql, [generation])], dtype=np.int64)

    def vectors_since(self, generation: int, dimensions: int) -> Iterator[tuple[Rows, Vector]]:
        # In this order an index gives them, without sorting; rows ascend as generations do.
        sql = """
            SELECT c.row, v.value FROM chunks c JOIN vectors v USING (vector)
            WHERE c.generation > ? ORDER BY c.generation, c.row
        """
        found = self.database.stream(sql, [generation], binary=True)
        while part := list(islice(found, PART)):
            rows = np.array([row for row, _ in part], dtype=np.int64)
            yield rows, stacked([value for _, value in part], dimensions)

    def chunks_since(self, generation: int) -> Iterator[tuple[int, Chunk]]:
        return cut(self.database.uncut("c.generation > ?", [generation]))

    def sample_vectors(self, count: int, dimensions: int) -> Vector:
        last = self._one("SELECT coalesce(max(vector), 0) FROM vectors")
        chosen = np.unique(np.linspace(1, last, min(count, last), dtype=np.int64)).tolist()
        sql = f"SELECT value FROM vectors WHERE vector {self._dialect.in_values}"
        found = self.database.stream(sql, [self._dialect.values(chosen)], binary=True)
        return stacked([value for (value,) in found], dimensions)

    def ordered_signatures(self) -> Iterator[tuple[str, str, int]]:
        return self.database.stream(f"SELECT id, signature, document FROM documents d ORDER BY {self._dialect.by_id}")

    # ------------------------------------------------------------ writing

    def commit(
        self, prepared: Sequence[Prepared], vectors: Mapping[str, Vector], finished: Sequence[Finished] = ()
    ) -> int:
        with self.database.transaction() as tx:
            orphans = Orphans()
            put(tx, self._dialect, prepared, vectors, orphans)
            self._finish(tx, finished, orphans)
            if finished and tx.rows("SELECT 1 FROM skipped LIMIT 1"):
                for file in finished:
                    under, values = self._dialect.under(file.source)
                    tx.rows(f"DELETE FROM skipped WHERE {under}", values)
        return tx.generation

    def remove(self, ids: Sequence[str], finished: Sequence[Finished] = ()) -> int:
        with self.database.transaction() as tx:
            orphans = Orphans()
            take_out(tx, self._dialect, ids, orphans)
            self._finish(tx, finished, orphans)
        return tx.generation

    def withdraw(self, ids: Sequence[str]) -> None:
        left = [*ids]
        while left:
            with self.snapshot():
                before = self.signatures(left)
                hidden = [replace(self.document(id), placed=self.layout(id)) for id in before]
            hidden = [one for one in hidden if one.metadata.get(ATTACHED) != REMOVED]
            if hidden:
                with self.database.transaction() as tx:
                    withdraw(tx, self._dialect, hidden, before)
            left = [one.id for one in hidden]  # one that an ingest replaced meanwhile is not hidden yet

    def erase(self, ids: Sequence[str], sources: Sequence[str]) -> None:
        with self.database.transaction() as tx:
            erase(tx, self._dialect, ids, sources)
        self.database.compact()

    def _finish(self, tx: Transaction, finished: Sequence[Finished], orphans: Orphans) -> None:
        put_files(tx, ((file.source, file.stamp) for file in finished))
        orphans.delete(tx, self._dialect)

    def note_skipped(self, skipped: Sequence[Skipped]) -> None:
        if skipped:
            with self.database.transaction(counted=False) as tx:
                put_skipped(tx, ((one.source, one.reason) for one in skipped))

    def forget_skipped(self, sources: Sequence[str]) -> None:
        if sources:
            with self.database.transaction(counted=False) as tx:
                sql = f"DELETE FROM skipped WHERE {self._dialect.source_column} {self._dialect.in_values}"
                tx.rows(sql, [self._dialect.keys(sources)])

    def skipped(self, root: str | None = None) -> list[Skipped]:
        where, values = ("TRUE", []) if root is None else self._dialect.under(root)
        found = self.database.rows(f"SELECT source, reason FROM skipped WHERE {where} ORDER BY source", values)
        return [Skipped(source=source, reason=reason) for source, reason in found]

    def built_with(self) -> dict[str, Any]:
        rows = self.database.rows("SELECT built_with, crc FROM about")
        if len(rows) != 1 or not isinstance(rows[0][0], str) or crc32(rows[0][0]) != rows[0][1]:
            raise Damaged(f"{self.database.name} has lost the settings it was built with; {RESTORE}")
        return json.loads(rows[0][0])

    def set_built_with(self, built_with: Mapping[str, Any]) -> None:
        with self.database.transaction(counted=False) as tx:
            text = json.dumps(built_with)
            tx.rows("UPDATE about SET built_with = ?, crc = ?", [text, crc32(text)])

    def signatures(self, ids: Sequence[str]) -> dict[str, str]:
        sql = f"SELECT id, signature FROM documents WHERE {self._dialect.id_column} {self._dialect.in_values}"
        return dict(self.database.rows(sql, [self._dialect.keys(ids)]))

    def contains(self, ids: Sequence[str]) -> bool:
        return len(self.signatures(ids)) == len(set(ids))

    def embedded(self, hashes: Sequence[str]) -> set[str]:
        sql = f"SELECT hash FROM vectors WHERE hash {self._dialect.in_values}"
        return {hash for (hash,) in self.database.rows(sql, [self._dialect.values(hashes)])}

    def stored_names(self, names: Sequence[str]) -> set[str]:
        found = self.database.rows(self._dialect.stored_names, self._dialect.names(names))
        return {name for (name,) in found}

    def has_file(self, source: str, stamp: str) -> bool:
        return self.file_stamps([source]).get(source) == stamp

    def file_stamps(self, sources: Sequence[str]) -> dict[str, str]:
        sql = f"SELECT source, stamp FROM files WHERE {self._dialect.source_column} {self._dialect.in_values}"
        return dict(self.database.rows(sql, [self._dialect.keys(sources)]))

    def documents_under(self, root: str) -> list[tuple[str, str]]:
        under, values = self._dialect.under(root)
        return self.database.rows(f"SELECT id, source FROM documents WHERE {under}", values)

    def first_rows_under(self, root: str) -> Rows:
        return first_rows(self.database, *self._dialect.under(root))

    # ------------------------------------------------------------ copies and repairs

    def notes(self) -> Notes:
        with self.snapshot():
            return Notes(
                files=tuple(self.database.stream("SELECT source, stamp FROM files")),
                skipped=tuple(self.database.stream("SELECT source, reason FROM skipped")),
                added=tuple(self.database.stream("SELECT id, signature, added_at FROM documents")),
            )

    def put_notes(self, notes: Notes) -> None:
        with self.database.transaction(counted=False) as tx:
            tx.rows("DELETE FROM files")
            tx.rows("DELETE FROM skipped")
            put_files(tx, notes.files)
            put_skipped(tx, notes.skipped)
            sql = f"UPDATE documents SET signature = ?, added_at = ? WHERE {self._dialect.id_column} = ?"
            tx.many(sql, ((signature, at, self._dialect.key(id)) for id, signature, at in notes.added))

    def vectors_by_hash(self, hashes: Sequence[str]) -> dict[str, Vector]:
        sql = f"SELECT hash, value FROM vectors WHERE hash {self._dialect.in_values}"
        found = self.database.rows(sql, [self._dialect.values(hashes)], binary=True)
        return {hash: np.frombuffer(value, "<f4") for hash, value in found}

    def dump(self) -> Iterator[tuple[str, Iterator[Sequence[Any]]]]:
        for table, columns in TABLES.items():
            if table == "facts":
                yield table, self._facts()
            else:
                sql = f"SELECT {columns} FROM {table}"
                yield table, self.database.stream(sql, binary=table in ("vectors", "layouts"), large=True)

    def _facts(self) -> Iterator[Sequence[Any]]:
        # From the metadata, which tells 1 from 1.0.
        for document, facts in self.database.stream("SELECT document, metadata FROM documents"):
            yield from ((document, None, *fact) for fact in facts_of(metadata_from_json(facts)))
        for document, row, facts in self.database.stream("SELECT document, row, facts FROM chunks"):
            yield from ((document, row, *fact) for fact in facts_of(metadata_from_json(facts)))

    def fill(self, tables: Iterable[tuple[str, Iterable[Sequence[Any]]]]) -> None:
        with self.database.transaction(counted=False) as tx:
            tx.rows("DELETE FROM about")
            tx.rows("DELETE FROM commits")
            for table, rows in tables:
                tx.insert(table, TABLES[table], rows)
            tx.continue_numbers()

    def start_new_history(self) -> None:
        with self.database.transaction():
            pass

    def verify(self, id_of: IdOf) -> list[Finding]:
        return self.database.verify(id_of)

    def reindex(self) -> None:
        with self.database.transaction(counted=False) as tx:
            tx.reindex()

    def put_vectors(self, vectors: Mapping[int, Vector]) -> None:
        with self.database.transaction() as tx:
            sql = "UPDATE vectors SET value = ?, crc = ? WHERE vector = (SELECT vector FROM chunks WHERE row = ?)"
            tx.many(sql, ((value, crc32(value), row) for row, value in packed(vectors)))

    # ------------------------------------------------------------ the database

    def _one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        return self.database.rows(sql, values)[0][0]
