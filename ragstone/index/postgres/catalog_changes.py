"""The change log of a catalog in PostgreSQL; see `ragstone.index.catalog.changes`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.contracts import Chunk
from ragstone.index.catalog.changes import PART
from ragstone.index.catalog.store import chunk_from, stacked
from ragstone.index.postgres.catalog_database import PostgresDatabase
from ragstone.index.records import Stamp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.contracts import Vector

CHUNKS = """
    SELECT c.row, c.id, d.id, c.position, d.chunks, c.start, c."end",
           substr(t.text, c.start + 1, c."end" - c.start), d.title, d.url, d.metadata, c.context, c.facts
    FROM chunks c JOIN documents d USING (document) JOIN contents t USING (content)
"""
"""What a chunk is made of."""
UNCUT = """
    SELECT c.row, c.id, d.id, c.position, d.chunks, c.start, c."end",
           CASE WHEN lag(d.content) OVER (ORDER BY c.generation, c.row) IS DISTINCT FROM d.content THEN t.text END,
           d.title, d.url, d.metadata, c.context, c.facts
    FROM chunks c JOIN documents d USING (document) JOIN contents t USING (content)
"""
"""The same for many chunks in the order of their rows, which is that of generations; see `cut`."""


class PostgresChanges(PostgresDatabase):
    """What indexes follow."""

    def generation(self) -> int:
        return self.stamp().generation

    def knows(self, stamp: Stamp) -> bool:
        """Whether this commit is one of this catalog's, so that what changed since can be told."""
        sql = "SELECT 1 FROM commits WHERE generation = %s AND mark = %s"
        return bool(self._rows(sql, [stamp.generation, stamp.mark]))

    def removed_since(self, generation: int) -> list[int]:
        """Rows, ascending, of the chunks removed after a generation."""
        return sorted(row for (row,) in self._stream("SELECT row FROM removals WHERE generation > %s", [generation]))

    def changes_since(self, generation: int) -> int:
        """How many chunks were added, and are there, and how many were removed after a generation."""
        sql = """
            SELECT (SELECT count(*) FROM chunks WHERE generation > %(since)s)
            + (SELECT count(*) FROM removals WHERE generation > %(since)s)
        """
        return self._one(sql, {"since": generation})

    def rows_since(self, generation: int) -> NDArray[np.int64]:
        """Rows, ascending, of the chunks added after a generation."""
        sql = "SELECT row FROM chunks WHERE generation > %s ORDER BY generation, row"
        return np.array([row for (row,) in self._stream(sql, [generation])], dtype=np.int64)

    def vectors_since(self, generation: int, dimensions: int) -> Iterator[tuple[NDArray[np.int64], Vector]]:
        """Of the chunks added after a generation: rows (n,), ascending, and vectors (n, dimensions), part by part."""
        sql = """
            SELECT c.row, v.value FROM chunks c JOIN vectors v USING (vector)
            WHERE c.generation > %s ORDER BY c.generation, c.row
        """
        found = self._stream(sql, [generation], binary=True)
        while part := list(islice(found, PART)):
            rows = np.array([row for row, _ in part], dtype=np.int64)
            yield rows, stacked([value for _, value in part], dimensions)

    def some_vectors(self, count: int, dimensions: int) -> Vector:
        """About so many of the vectors (n, dimensions), evenly chosen; all where there are no more."""
        last = self._one("SELECT coalesce(max(vector), 0) FROM vectors")
        chosen = np.unique(np.linspace(1, last, min(count, last), dtype=np.int64)).tolist()
        found = self._stream("SELECT value FROM vectors WHERE vector = ANY(%s)", [chosen], binary=True)
        return stacked([value for (value,) in found], dimensions)

    def chunks_since(self, generation: int) -> Iterator[tuple[int, Chunk]]:
        """Row and chunk of everything added after a generation."""
        return cut(self._stream(f"{UNCUT} WHERE c.generation > %s ORDER BY c.generation, c.row", [generation]))


def cut(rows: Iterable[Sequence[Any]]) -> Iterator[tuple[int, Chunk]]:
    """Row and chunk of rows of `UNCUT`: each text comes once, with the first of its chunks in a row."""
    text = ""
    for row in rows:
        text = text if row[7] is None else row[7]
        yield row[0], chunk_from([*row[:7], text[row[5] : row[6]], *row[8:]])
