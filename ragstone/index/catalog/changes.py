"""The change log of the catalog: its commits, and what was added and removed since any of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ragstone.contracts import Chunk
from ragstone.index.catalog.database import Database
from ragstone.index.catalog.store import UNCUT, cut, stacked
from ragstone.index.records import Stamp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.contracts import Vector

PART = 65_536
"""Vectors read at once."""


class ChangeLog(Database):
    """What indexes follow."""

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

    def removed_since(self, generation: int) -> list[int]:
        """Rows, ascending, of the chunks removed after a generation."""
        # Sorted here: asked for the order, SQLite would read all removals there ever were.
        return sorted(row for (row,) in self._rows("SELECT row FROM removals WHERE generation > ?", [generation]))

    def changes_since(self, generation: int) -> int:
        """How many chunks were added, and are there, and how many were removed after a generation."""
        sql = """
            SELECT (SELECT count(*) FROM chunks WHERE generation > :since)
            + (SELECT count(*) FROM removals WHERE generation > :since)
        """
        return self._one(sql, {"since": generation})

    def rows_since(self, generation: int) -> NDArray[np.int64]:
        """Rows, ascending, of the chunks added after a generation."""
        sql = "SELECT row FROM chunks WHERE generation > ? ORDER BY generation, row"
        return np.array([row for (row,) in self._rows(sql, [generation])], dtype=np.int64)

    def vectors_since(self, generation: int, dimensions: int) -> Iterator[tuple[NDArray[np.int64], Vector]]:
        """Of the chunks added after a generation: rows (n,), ascending, and vectors (n, dimensions), part by part."""
        # In this order the index gives them, without sorting; rows ascend as generations do.
        sql = """
            SELECT c.row, v.value FROM chunks c JOIN vectors v USING (vector)
            WHERE c.generation > ? ORDER BY c.generation, c.row
        """
        found = self._rows(sql, [generation])
        while part := list(islice(found, PART)):
            rows = np.array([row for row, _ in part], dtype=np.int64)
            yield rows, stacked([value for _, value in part], dimensions)

    def some_vectors(self, count: int, dimensions: int) -> Vector:
        """About so many of the vectors (n, dimensions), evenly chosen; all where there are no more."""
        last = self._one("SELECT ifnull(max(vector), 0) FROM vectors")
        chosen = json.dumps(np.unique(np.linspace(1, last, min(count, last), dtype=np.int64)).tolist())
        sql = "SELECT value FROM vectors WHERE vector IN (SELECT value FROM json_each(?))"
        return stacked([value for (value,) in self._rows(sql, [chosen])], dimensions)

    def chunks_since(self, generation: int) -> Iterator[tuple[int, Chunk]]:
        """Row and chunk of everything added after a generation."""
        found = self._rows(UNCUT + "WHERE c.generation > ? ORDER BY c.generation, c.row", [generation])
        yield from cut(found, self._text)

    @contextmanager
    def snapshot(self) -> Iterator[Stamp]:
        """One state of the database for several reads of this thread; gives its last commit."""
        list(self._rows("BEGIN"))
        try:
            yield self.stamp()
        finally:
            list(self._rows("COMMIT"))
