"""What one catalog tells another, and takes from it: versions side by side, copies, and what is made again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.contracts import Chunk
from ragstone.index.catalog.database import Database
from ragstone.index.catalog.migrations import crc32
from ragstone.index.catalog.store import CHUNKS, TABLES, UNCUT, chunk_from, cut, facts_of, metadata_from_json, packed
from ragstone.index.catalog.verify import IdOf, verify
from ragstone.index.records import Finding, Notes

if TYPE_CHECKING:
    from ragstone.contracts import Vector


class Beside(Database):
    """The part of a catalog that only other versions of it, and copies, ask for."""

    def in_order(self) -> Iterator[tuple[str, str, int]]:
        """Id, signature and number of every document, in the order of the ids."""
        return self._rows("SELECT id, signature, document FROM documents ORDER BY id")

    def notes(self) -> Notes:
        """What reading the documents again would not tell."""
        return Notes(
            files=tuple(self._rows("SELECT source, stamp FROM files")),
            skipped=tuple(self._rows("SELECT source, reason FROM skipped")),
            added=tuple(self._rows("SELECT id, signature, added_at FROM documents")),
        )

    def put_notes(self, notes: Notes) -> None:
        """Take over what another version of the same documents has noted."""
        with self.transaction(counted=False) as (db, _):
            for table, rows in (("files", notes.files), ("skipped", notes.skipped)):
                db.execute(f"DELETE FROM {table}")  # noqa: S608
                db.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)  # noqa: S608
            added = [(at, signature, id) for id, signature, at in notes.added]
            db.executemany("UPDATE documents SET added_at = ?, signature = ? WHERE id = ?", added)

    def vectors_of(self, hashes: Sequence[str]) -> dict[str, Vector]:
        """The vectors of texts by their hash, as far as they are there."""
        sql = "SELECT hash, value FROM vectors WHERE hash IN (SELECT value FROM json_each(?))"
        return {hash: np.frombuffer(value, "<f4") for hash, value in self._rows(sql, [json.dumps(list(hashes))])}

    def chunks_named(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """The chunks with these ids; one removed meanwhile is left out."""
        sql = CHUNKS + "WHERE c.id IN (SELECT value FROM json_each(?))"  # noqa: S608
        return {row[1]: chunk_from(row) for row in self._rows(sql, [json.dumps(list(ids))])}

    def settle(self, built_with: Mapping[str, Any]) -> None:
        """Note what was left open when a version was made: an embedder, while nothing is stored; rules."""
        with self.transaction(counted=False) as (db, _):
            text = json.dumps(built_with)
            db.execute("UPDATE about SET built_with = ?, crc = ?", [text, crc32(text)])

    def begin_history(self) -> None:
        """A commit of its own: no index and no cache of another history takes this one for its own."""
        with self.transaction():
            pass

    # ------------------------------------------------------------ copies

    def dump(self) -> Iterator[tuple[str, Iterator[Sequence[Any]]]]:
        """Every table of `TABLES` with its rows, at one moment only inside of a `snapshot`."""
        for table, columns in TABLES.items():
            rows = self._facts() if table == "facts" else self._rows(f"SELECT {columns} FROM {table}")  # noqa: S608
            yield table, rows

    def _facts(self) -> Iterator[Sequence[Any]]:
        """From what they were made of: that tells 1 from 1.0."""
        for document, facts in self._rows("SELECT document, metadata FROM documents"):
            yield from ((document, None, *fact) for fact in facts_of(metadata_from_json(facts)))
        for document, row, facts in self._rows("SELECT document, row, facts FROM chunks"):
            yield from ((document, row, *fact) for fact in facts_of(metadata_from_json(facts)))

    def fill(self, tables: Iterable[tuple[str, Iterable[Sequence[Any]]]]) -> None:
        """Put all that another catalog holds into this one, which is empty; all of it or nothing."""
        with self.transaction(counted=False) as (db, _):
            db.execute("DELETE FROM about")
            db.execute("DELETE FROM commits")
            for table, rows in tables:
                columns = TABLES[table]
                places = ", ".join("?" for _ in columns.split(", "))
                db.executemany(f"INSERT INTO {table} ({columns}) VALUES ({places})", rows)  # noqa: S608
            db.execute("UPDATE about SET one = 1")
            last = "max((SELECT ifnull(max(row), 0) FROM chunks), (SELECT ifnull(max(row), 0) FROM removals))"
            db.execute("DELETE FROM sqlite_sequence WHERE name = 'chunks'")
            db.execute(f"INSERT INTO sqlite_sequence (name, seq) VALUES ('chunks', {last})")  # noqa: S608

    # ------------------------------------------------------------ mending

    def verify(self, id_of: IdOf) -> list[Finding]:
        """Read everything and tell what is wrong with it."""
        return verify(self._path, id_of)

    def reindex(self) -> None:
        """Make the database's own indexes again from its tables."""
        with self.transaction(counted=False) as (db, _):
            db.execute("REINDEX")

    def chunks_of(self, ids: Sequence[str]) -> dict[int, Chunk]:
        """Row and chunk of everything that these documents have."""
        sql = UNCUT + "WHERE d.id IN (SELECT value FROM json_each(?)) ORDER BY c.row"  # noqa: S608
        return dict(cut(self._rows(sql, [json.dumps(list(ids))]), self._text))

    def put_vectors(self, vectors: Mapping[int, Vector]) -> None:
        """Replace the vectors of the chunks with these rows."""
        with self.transaction() as (db, _):
            sql = "UPDATE vectors SET value = ?, crc = ? WHERE vector = (SELECT vector FROM chunks WHERE row = ?)"
            db.executemany(sql, [(value, crc32(value), row) for row, value in packed(vectors)])
