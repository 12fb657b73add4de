"""What a catalog in PostgreSQL tells others, and takes from them; see `ragstone.index.catalog.beside`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.contracts import Chunk
from ragstone.index.catalog.migrations import crc32
from ragstone.index.catalog.store import TABLES, chunk_from, facts_of, metadata_from_json, packed, text_hash
from ragstone.index.catalog.verify import IdOf
from ragstone.index.postgres.catalog_changes import CHUNKS, UNCUT, cut
from ragstone.index.postgres.catalog_database import PostgresDatabase
from ragstone.index.postgres.catalog_store import copy, put_facts, put_files, put_skipped
from ragstone.index.postgres.catalog_verify import verify
from ragstone.index.records import Finding, Notes

if TYPE_CHECKING:
    from ragstone.contracts import Vector
    from ragstone.index.postgres.connection import Connection

_BINARY = {"vectors": ("int8", "text", "bytea", "int8")}
_LARGE = 200
"""Rows at once of tables whose rows may be long."""


class PostgresBeside(PostgresDatabase):
    """The part of a catalog that only other versions of it, and copies, ask for."""

    def in_order(self) -> Iterator[tuple[str, str, int]]:
        """Id, signature and number of every document, in the order of the ids."""
        return self._stream("SELECT id, signature, document FROM documents ORDER BY left(id, 500), id")

    def notes(self) -> Notes:
        """What reading the documents again would not tell."""
        with self.snapshot():
            return Notes(
                files=tuple(self._stream("SELECT source, stamp FROM files")),
                skipped=tuple(self._stream("SELECT source, reason FROM skipped")),
                added=tuple(self._stream("SELECT id, signature, added_at FROM documents")),
            )

    def put_notes(self, notes: Notes) -> None:
        """Take over what another version of the same documents has noted."""
        with self.transaction(counted=False) as (db, _):
            db.execute("DELETE FROM files")
            db.execute("DELETE FROM skipped")
            put_files(db, notes.files)
            put_skipped(db, notes.skipped)
            columns = zip(*((text_hash(id), signature, at) for id, signature, at in notes.added), strict=True)
            if values := list(map(list, columns)):
                sql = """
                    UPDATE documents d SET signature = n.signature, added_at = n.added_at
                    FROM unnest(%s::text[], %s::text[], %s::text[]) AS n (id_hash, signature, added_at)
                    WHERE d.id_hash = n.id_hash
                """
                db.execute(sql, values)

    def vectors_of(self, hashes: Sequence[str]) -> dict[str, Vector]:
        """The vectors of texts by their hash, as far as they are there."""
        sql = "SELECT hash, value FROM vectors WHERE hash = ANY(%s)"
        return {hash: np.frombuffer(value, "<f4") for hash, value in self._rows(sql, [list(hashes)], binary=True)}

    def chunks_named(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """The chunks with these ids; one removed meanwhile is left out."""
        return {row[1]: chunk_from(row) for row in self._rows(f"{CHUNKS} WHERE c.id = ANY(%s)", [list(ids)])}

    def chunks_of(self, ids: Sequence[str]) -> dict[int, Chunk]:
        """Row and chunk of everything that these documents have."""
        sql = f"{UNCUT} WHERE d.id_hash = ANY(%s) ORDER BY c.generation, c.row"
        return dict(cut(self._rows(sql, [[text_hash(id) for id in ids]])))

    def settle(self, built_with: Mapping[str, Any]) -> None:
        """Note what was left open when a version was made: an embedder, while nothing is stored; rules."""
        text = json.dumps(built_with)
        with self.transaction(counted=False) as (db, _):
            db.execute("UPDATE about SET built_with = %s, crc = %s", [text, crc32(text)])

    def begin_history(self) -> None:
        """A commit of its own: no index and no cache of another history takes this one for its own."""
        with self.transaction():
            pass

    # ------------------------------------------------------------ copies

    def dump(self) -> Iterator[tuple[str, Iterator[Sequence[Any]]]]:
        """Every table of `TABLES` with its rows, at one moment only inside of a `snapshot`."""
        for table, columns in TABLES.items():
            if table == "facts":
                yield table, self._facts()
                continue
            sql = f"SELECT {_quoted(columns)} FROM {table}"  # noqa: S608
            yield table, self._stream(sql, binary=table in _BINARY, at_once=_LARGE)

    def _facts(self) -> Iterator[Sequence[Any]]:
        """From what they were made of: that tells 1 from 1.0."""
        for document, facts in self._stream("SELECT document, metadata FROM documents"):
            yield from ((document, None, *fact) for fact in facts_of(metadata_from_json(facts)))
        for document, row, facts in self._stream("SELECT document, row, facts FROM chunks"):
            yield from ((document, row, *fact) for fact in facts_of(metadata_from_json(facts)))

    def fill(self, tables: Iterable[tuple[str, Iterable[Sequence[Any]]]]) -> None:
        """Put all that another catalog holds into this one, which is empty; all of it or nothing."""
        with self.transaction(counted=False) as (db, _):
            db.execute("DELETE FROM about")
            db.execute("DELETE FROM commits")
            for table, rows in tables:
                _fill(db, table, rows)
            for table, number in (("contents", "content"), ("documents", "document"), ("vectors", "vector")):
                _set_number(db, table, f"SELECT max({number}) FROM {table}")  # noqa: S608
            _set_number(db, "chunks", "SELECT greatest((SELECT max(row) FROM chunks), (SELECT max(row) FROM removals))")
            for table in TABLES:
                db.execute(f"ANALYZE {table}".encode())

    # ------------------------------------------------------------ mending

    def verify(self, id_of: IdOf) -> list[Finding]:
        """Read everything and tell what is wrong with it; one state of it, whoever writes meanwhile."""
        with self.snapshot():
            return list(verify(self._rows, id_of))

    def reindex(self) -> None:
        """Make the database's own indexes again from its tables."""
        with self.transaction(counted=False) as (db, _):
            for table in TABLES:
                db.execute(f"REINDEX TABLE {table}".encode())

    def put_vectors(self, vectors: Mapping[int, Vector]) -> None:
        """Replace the vectors of the chunks with these rows."""
        with self.transaction() as (db, _):
            for row, value in packed(vectors):
                sql = (
                    "UPDATE vectors SET value = %s, crc = %s WHERE vector = (SELECT vector FROM chunks WHERE row = %s)"
                )
                db.execute(sql, [value, crc32(value), row])


def _fill(db: Connection, table: str, rows: Iterable[Sequence[Any]]) -> None:
    """Rows as `TABLES` has them, with what only PostgreSQL keeps."""
    columns = _quoted(TABLES[table])
    if table == "facts":
        put_facts(db, rows)
    elif table in ("files", "skipped"):
        copy(db, f"{table} ({columns}, source_hash)", ((*row, text_hash(row[0])) for row in rows))
    elif table == "documents":
        hashed = ((*row, text_hash(row[1]), text_hash(row[3])) for row in rows)
        copy(db, f"documents ({columns}, id_hash, source_hash)", hashed)
    else:
        copy(db, f"{table} ({columns})", rows, _BINARY.get(table, ()))


def _set_number(db: Connection, table: str, last: str) -> None:
    """Go on with numbers never used before."""
    db.execute(f"SELECT setval('{table}_numbers', coalesce(({last}), 0) + 1, false)".encode())


def _quoted(columns: str) -> str:
    return columns.replace("end,", '"end",')
