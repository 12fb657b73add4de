"""Making again, inside the catalog, what the rest of it determines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ragstone.contracts import Chunk
from ragstone.index.catalog import Catalog
from ragstone.index.migrations import crc32
from ragstone.index.store import CHUNKS, chunk_from, packed

if TYPE_CHECKING:
    from ragstone.contracts import Vector


def reindex(catalog: Catalog) -> None:
    """Make the database's own indexes again from its tables."""
    with catalog.transaction(counted=False) as (db, _):
        db.execute("REINDEX")


def chunks_of(catalog: Catalog, ids: tuple[str, ...]) -> dict[int, Chunk]:
    """Row and chunk of everything that these documents have."""
    with catalog.transaction(counted=False) as (db, _):
        sql = CHUNKS + "WHERE d.id IN (SELECT value FROM json_each(?)) ORDER BY c.row"  # noqa: S608
        return {row[0]: chunk_from(row) for row in db.execute(sql, [json.dumps(ids)])}


def put_vectors(catalog: Catalog, vectors: Mapping[int, Vector]) -> None:
    """Replace the vectors of the chunks with these rows."""
    with catalog.transaction() as (db, _):
        sql = "UPDATE vectors SET value = ?, crc = ? WHERE vector = (SELECT vector FROM chunks WHERE row = ?)"
        db.executemany(sql, [(value, crc32(value), row) for row, value in packed(vectors)])
