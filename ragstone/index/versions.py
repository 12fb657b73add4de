"""Two versions of a knowledge base side by side: how they differ, and what one takes over from the other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.contracts import Chunk, Document
from ragstone.errors import NotFound
from ragstone.index.catalog import Catalog
from ragstone.index.migrations import crc32
from ragstone.index.store import CHUNKS, chunk_from

if TYPE_CHECKING:
    from ragstone.contracts import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """Ids of the documents that a catalog lacks or has otherwise, in order of adding, and of those it has too many."""

    changed: tuple[str, ...]
    gone: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.changed) + len(self.gone)


def behind(live: Catalog, other: Catalog) -> Behind:
    """What another version has yet to take in. Signatures are compared: they depend on no setting."""
    sql = "SELECT id, signature, document FROM documents ORDER BY id"
    missing: list[tuple[int, str]] = []
    gone: list[str] = []
    for id, ours, theirs in _side_by_side(live._rows(sql), other._rows(sql)):
        if ours is None:
            gone.append(id)
        elif theirs is None or ours[1] != theirs[1]:
            missing.append((ours[2], id))
    return Behind(changed=tuple(id for _, id in sorted(missing)), gone=tuple(gone))


_Row = tuple[str, str, int]


def _side_by_side(ours: Iterator[_Row], theirs: Iterator[_Row]) -> Iterator[tuple[str, _Row | None, _Row | None]]:
    """Rows of two tables in order of their ids, those with the same id together."""
    here, there = next(ours, None), next(theirs, None)
    while here or there:
        id = min(row[0] for row in (here, there) if row)
        mine, other = (row if row and row[0] == id else None for row in (here, there))
        yield id, mine, other
        here = next(ours, None) if mine else here
        there = next(theirs, None) if other else there


def documents(catalog: Catalog, ids: Sequence[str]) -> Iterator[Document]:
    """These documents, but for those that were removed meanwhile."""
    for id in ids:
        try:
            document = catalog.document(id)
        except NotFound:
            continue
        if document.id == id:  # not another one, whose id ends so
            yield document


def take_over(live: Catalog, other: Catalog) -> None:
    """What reading the documents again would not tell: states of files, what was skipped, and when each was added.

    The caller holds the lock, and the documents are the same in both.
    """
    with other.transaction(counted=False) as (db, _):
        for table, columns in (("files", "source, stamp"), ("skipped", "source, reason")):
            db.execute(f"DELETE FROM {table}")  # noqa: S608
            rows = live._rows(f"SELECT {columns} FROM {table}")  # noqa: S608
            db.executemany(f"INSERT INTO {table} ({columns}) VALUES (?, ?)", rows)  # noqa: S608
        rows = live._rows("SELECT added_at, signature, id FROM documents")
        db.executemany("UPDATE documents SET added_at = ?, signature = ? WHERE id = ?", rows)


def vectors_of(catalog: Catalog, hashes: Sequence[str]) -> dict[str, Vector]:
    """The vectors of texts by their hash, as far as they are there."""
    sql = "SELECT hash, value FROM vectors WHERE hash IN (SELECT value FROM json_each(?))"
    return {hash: np.frombuffer(value, "<f4") for hash, value in catalog._rows(sql, [json.dumps(list(hashes))])}


def chunks_named(catalog: Catalog, ids: Sequence[str]) -> dict[str, Chunk]:
    """The chunks with these ids; one removed meanwhile is left out."""
    sql = CHUNKS + "WHERE c.id IN (SELECT value FROM json_each(?))"  # noqa: S608
    return {row[1]: chunk_from(row) for row in catalog._rows(sql, [json.dumps(list(ids))])}


def settle(catalog: Catalog, built_with: Mapping[str, Any]) -> None:
    """Note what was left open when a version was made: an embedder, while nothing is stored; rules."""
    with catalog.transaction(counted=False) as (db, _):
        text = json.dumps(built_with)
        db.execute("UPDATE about SET built_with = ?, crc = ?", [text, crc32(text)])
