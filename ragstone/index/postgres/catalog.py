"""The catalog in PostgreSQL, for several hosts: the same truth as `index.catalog.sqlite`, in a schema of a server.

Each version of a knowledge base has a schema of its own. Whoever writes holds the lock of the knowledge base
(`ragstone.index.postgres.shared_lock`); anybody reads. Commits are numbered in the order in which they are seen, so the
indexes of every host follow them as they follow those of a file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.access import READERS, groups_in
from ragstone.conditions import Filter
from ragstone.contracts import Chunk, Document, Finished, Skipped
from ragstone.errors import Damaged
from ragstone.index.catalog.listing import MOST, Listing, listed
from ragstone.index.catalog.migrations import crc32, new_mark
from ragstone.index.catalog.selections import Selections
from ragstone.index.catalog.store import (
    DOCUMENTS,
    Orphans,
    Prepared,
    chunk_from,
    endings,
    metadata_from_json,
    only,
    text_hash,
)
from ragstone.index.postgres.catalog_beside import PostgresBeside
from ragstone.index.postgres.catalog_changes import CHUNKS, PostgresChanges
from ragstone.index.postgres.catalog_database import Fence, unfenced
from ragstone.index.postgres.catalog_facts import POSTGRES, readable
from ragstone.index.postgres.catalog_store import (
    UNDER,
    UNDER_NAMED,
    clear,
    put,
    put_files,
    put_skipped,
    take_out,
    under,
)
from ragstone.index.postgres.connection import Server
from ragstone.index.records import Counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.contracts import Vector
    from ragstone.index.postgres.connection import Connection

Connect = Callable[[str], Server]
"""The server, for whom unqualified names are in a schema."""


class PostgresCatalog(PostgresChanges, PostgresBeside):
    """One process's view of the catalog in a schema. Opening asks nothing."""

    def __init__(self, server: Server, fence: Fence = unfenced) -> None:
        super().__init__(server, fence)
        self._selections = Selections(self._one, POSTGRES)

    # ------------------------------------------------------------ reading

    def built_with(self) -> dict[str, Any]:
        """The preset and index settings the knowledge base was made with."""
        found = self._rows("SELECT built_with, crc FROM about")
        if len(found) != 1 or crc32(found[0][0]) != found[0][1]:
            raise Damaged("the catalog does not tell what it was built with; restore a backup: ragstone restore")
        return json.loads(found[0][0])

    def counts(self) -> Counts:
        sql = """
            SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM chunks), (SELECT count(*) FROM vectors),
                   (SELECT max(generation) FROM commits)
        """
        ((documents, chunks, vectors, generation),) = self._rows(sql)
        return Counts(documents=documents, chunks=chunks, vectors=vectors, generation=generation)

    def select(self, where: Filter) -> NDArray[np.int64]:
        """Rows, ascending, of the chunks that ``where`` lets through, by their own facts or their document's."""
        with self.snapshot() as now:
            return self._selections.passing(where, now)

    def chunks(self, rows: Sequence[int]) -> dict[int, Chunk]:
        """The chunks with these rows; one removed meanwhile is left out."""
        found = self._rows(f"{CHUNKS} WHERE c.row = ANY(%s)", [_numbers(rows)])
        return {row[0]: chunk_from(row) for row in found}

    def vectors(self, rows: Sequence[int]) -> dict[int, Vector]:
        """The vectors of the chunks with these rows."""
        sql = "SELECT c.row, v.value FROM chunks c JOIN vectors v USING (vector) WHERE c.row = ANY(%s)"
        return {row: np.frombuffer(value, "<f4") for row, value in self._rows(sql, [_numbers(rows)], binary=True)}

    def document(self, id: str, groups: Sequence[str] | None = None) -> Document:
        """A document by its id, or by the end of its id; see `ragstone.index.catalog.sqlite.Catalog.document`."""
        allowed, values = readable(groups)
        found = self._rows(f"{DOCUMENTS} WHERE d.id_hash = %s AND {allowed}", [text_hash(id), *values])
        if not found and id:
            ends = endings(id)
            sql = f"{DOCUMENTS} WHERE right(d.id, %s) = ANY(%s) AND {allowed} LIMIT 3"
            found = self._rows(sql, [len(ends[0]), ends, *values])
        return only(id, found)

    def documents(self) -> Iterator[Document]:
        """Every document, in the order of adding."""
        ids = [id for (id,) in self._rows("SELECT id FROM documents ORDER BY document")]
        for id in ids:
            yield self.document(id)

    def listing(self, groups: Sequence[str] | None, wanted: str, after: str, limit: int) -> Listing:
        """Documents in the order of their ids; see `ragstone.index.catalog.listing`."""
        allowed, values = readable(groups)
        if wanted:
            forms = sorted({wanted, wanted.lower(), wanted.upper(), wanted.title(), wanted.capitalize()})
            likes = [form.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") for form in forms]
            columns = " OR ".join(f"d.{name} ILIKE ANY(%s)" for name in ("id", "title", "url", "source"))
            allowed, values = f"{allowed} AND ({columns})", [*values, *[[f"%{like}%" for like in likes]] * 4]
        limit = max(1, min(limit, MOST))
        with self.snapshot():
            total = self._one(f"SELECT count(*) FROM documents d WHERE {allowed}", values)  # noqa: S608
            sql = f"""
                SELECT d.id, d.title, d.url, d.source, d.metadata, length(t.text), d.chunks
                FROM documents d JOIN contents t USING (content)
                WHERE left(d.id, 500) >= left(%s, 500) AND d.id > %s AND {allowed}
                ORDER BY left(d.id, 500), d.id LIMIT %s
            """  # noqa: S608
            found = [listed(*row) for row in self._rows(sql, [after, after, *values, limit + 1])]
        more = len(found) > limit
        return Listing(documents=tuple(found[:limit]), total=total, next=found[limit - 1].document_id if more else "")

    def names_readers(self) -> bool:
        """Whether any document names the groups that may read it."""
        sql = "SELECT 1 FROM facts WHERE left(key, 100) = %s AND key = %s LIMIT 1"
        return bool(self._rows(sql, [READERS, READERS]))

    def readers(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Of those of these documents that name groups, which; an empty list is no group's."""
        sql = """
            SELECT d.id, d.metadata FROM documents d WHERE d.id_hash = ANY(%s)
            AND EXISTS (SELECT 1 FROM facts f WHERE f.document = d.document AND f.chunk IS NULL AND f.key = %s)
        """
        found = self._rows(sql, [_hashes(ids), READERS])
        return {id: groups_in(metadata_from_json(facts)[READERS]) for id, facts in found}

    def signatures(self, ids: Sequence[str]) -> dict[str, str]:
        """The signature of each of these documents that is stored."""
        return dict(self._rows("SELECT id, signature FROM documents WHERE id_hash = ANY(%s)", [_hashes(ids)]))

    def known(self, ids: Sequence[str]) -> list[str]:
        """Those of the ids that are stored."""
        return list(self.signatures(ids))

    def holds(self, ids: Sequence[str]) -> bool:
        """Whether all of these documents are stored."""
        return len(self.signatures(ids)) == len(set(ids))

    def embedded(self, hashes: Sequence[str]) -> set[str]:
        """Which of these texts already have a vector."""
        return {hash for (hash,) in self._rows("SELECT hash FROM vectors WHERE hash = ANY(%s)", [list(hashes)])}

    def held(self, names: Sequence[str]) -> set[str]:
        """Which of these are the source, or the id, of a stored document, or have one within them."""
        sql = f"""
            SELECT root FROM unnest(%s::text[], %s::text[]) AS named (root, hash)
            WHERE EXISTS (SELECT 1 FROM documents WHERE id_hash = named.hash)
                OR EXISTS (SELECT 1 FROM documents WHERE {UNDER_NAMED})
        """  # noqa: S608
        return {name for (name,) in self._rows(sql, [list(names), _hashes(names)])}

    def has_file(self, source: str, stamp: str) -> bool:
        """Whether everything of a file, in this state, is stored."""
        sql = "SELECT 1 FROM files WHERE source_hash = %s AND stamp = %s"
        return bool(self._rows(sql, [text_hash(source), stamp]))

    def under(self, root: str) -> list[tuple[str, str]]:
        """Id and source of every document that came from a file or folder, or from within it."""
        return self._rows(f"SELECT id, source FROM documents WHERE {UNDER}", under(root))  # noqa: S608

    def skipped(self, root: str | None = None) -> list[Skipped]:
        """What could not be read when it was tried last; of a file or folder, or of everything."""
        where = "TRUE" if root is None else UNDER
        sql = f"SELECT source, reason FROM skipped WHERE {where} ORDER BY source"  # noqa: S608
        rows = self._rows(sql, {} if root is None else under(root))
        return [Skipped(source=source, reason=reason) for source, reason in rows]

    # ------------------------------------------------------------ writing

    def commit(
        self, prepared: Sequence[Prepared], vectors: Mapping[str, Vector], finished: Sequence[Finished] = ()
    ) -> int:
        """Store documents with their chunks, in one transaction; see `ragstone.index.catalog.sqlite.Catalog.commit`."""
        with self.transaction() as (db, generation):
            orphans = Orphans()
            put(db, prepared, vectors, generation, orphans)
            put_files(db, ((one.source, one.stamp) for one in finished))
            if finished and db.execute("SELECT 1 FROM skipped LIMIT 1").fetchone():
                for one in finished:
                    db.execute(f"DELETE FROM skipped WHERE {UNDER}".encode(), under(one.source))  # noqa: S608
            clear(db, orphans)
        return generation

    def remove(self, ids: Sequence[str], finished: Sequence[Finished] = ()) -> int:
        """Take documents out, with their chunks and all that no other document shares; all of them or none."""
        with self.transaction() as (db, generation):
            orphans = Orphans()
            take_out(db, ids, generation, orphans)
            put_files(db, ((one.source, one.stamp) for one in finished))
            clear(db, orphans)
        return generation

    def note_skipped(self, skipped: Sequence[Skipped]) -> None:
        if skipped:
            with self.transaction(counted=False) as (db, _):
                put_skipped(db, ((one.source, one.reason) for one in skipped))

    def forget_skipped(self, sources: Sequence[str]) -> None:
        """These are no longer there to be skipped."""
        if sources:
            with self.transaction(counted=False) as (db, _):
                db.execute("DELETE FROM skipped WHERE source_hash = ANY(%s)", [_hashes(sources)])


def make_tables(db: Connection, built_with: Mapping[str, Any]) -> None:
    """An empty catalog in the schema that unqualified names are in; part of the caller's transaction."""
    db.execute((files("ragstone.index.postgres") / "catalog.sql").read_bytes())
    text = json.dumps(built_with)
    db.execute("INSERT INTO about (built_with, crc) VALUES (%s, %s)", [text, crc32(text)])
    db.execute("INSERT INTO commits VALUES (0, %s)", [new_mark()])


def _numbers(rows: Sequence[int]) -> list[int]:
    return list(map(int, rows))


def _hashes(texts: Sequence[str]) -> list[str]:
    return [text_hash(text) for text in texts]
