"""The terms of chunks in PostgreSQL, with BM25 in SQL.

A chunk's terms are a ``tsvector``, each with as many positions as it occurs; they are those of the analyzer, so a
dictionary of the server changes nothing. How often a term occurs in a chunk is read off ``ts_rank``, which is done in
C: of one term with weight 1 it is the sum of 1/j² for j up to that number, divided by that sum for all j.

The rarest terms are looked up first. As soon as no chunk without any of them can reach the best ``k``, the others need
not be looked up; they count all the same where they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.catalog import NO_MATCHES
from ragstone.core.records import Matches
from ragstone.index.engines.postgres.tables import IndexTable, quoted
from ragstone.index.follow.collection_names import CollectionNames
from ragstone.index.keyword.scoring import Weighed
from ragstone.services.postgres import Server

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.catalog import Stamp
    from ragstone.services.postgres import Connection

    Rows = NDArray[np.int64]

COLUMNS = "row bigint PRIMARY KEY, length integer NOT NULL, terms tsvector NOT NULL"
MOST_OCCURRENCES = 255
"""Of a term in a chunk; a tsvector notes no more."""
LONGEST = 2000
"""Bytes of a term; a tsvector allows 2046."""
LOOKED_UP, MOST_LOOKED_UP = 4000, 64_000
"""Chunks that the rarest terms may be in at first; and at most, if the best have been found by then."""


class PostgresTerms:
    """Terms in PostgreSQL, as a `TermStore`."""

    def __init__(self, server: Server, names: CollectionNames, analyzer: str, *, k1: float, b: float) -> None:
        """
        Args:
            server: where they are.
            names: of the tables.
            analyzer: fingerprint of what makes the terms.
            k1: BM25 term saturation.
            b: BM25 length normalisation.
        """
        self._table = IndexTable(server, names, analyzer, COLUMNS)
        self._server, self._k1, self._b = server, k1, b
        self.worn = False

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    @property
    def name(self) -> str:
        return self._server.name

    def stamp(self) -> Stamp:
        return self._table.stamp()

    def begin(self) -> None:
        self._table.begin()

    def drop(self, rows: Rows) -> None:
        self._table.resume()
        if len(rows):
            with self._server.transaction(patient=True) as db:
                self._delete(db, rows)

    def put(self, chunks: Sequence[tuple[int, list[str]]]) -> None:
        """Store rows with their terms; in one transaction, whatever was there before."""
        with self._server.transaction(patient=True) as db:
            self._delete(db, np.array([row for row, _ in chunks], dtype=np.int64))
            table = quoted(self._table.target)
            with db.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN".encode()) as copy:
                for row, terms in chunks:
                    copy.write_row((row, len(terms), _vector(terms)))
            self._table.count(db, len(chunks), sum(len(terms) for _, terms in chunks))

    def seal(self, stamp: Stamp) -> None:
        with self._server.transaction(patient=True) as db:
            table = quoted(self._table.target)
            if self._table.making:  # building the index last is fastest
                db.execute(f"CREATE INDEX ON {table} USING gin (terms)".encode())
                db.execute(f"ANALYZE {table}".encode())
            self._table.seal(db, stamp)
        self._table.switch()

    def publish(self) -> None:
        self._table.clear()

    def best(self, terms: Iterable[Weighed], k: int, allowed: Rows | None) -> Matches:
        """Return the ``k`` best by BM25, best first; only of ``allowed``, if given."""
        rarest = sorted((one for one in terms if one.chunks), key=lambda one: (one.chunks, one.term))
        if not rarest or k < 1 or (allowed is not None and not len(allowed)):
            return NO_MATCHES
        budget = MOST_LOOKED_UP if allowed is not None and len(allowed) <= LOOKED_UP else LOOKED_UP
        while True:
            taken = _within(rarest, budget)
            found = self._scored(rarest, rarest[:taken], k, allowed)
            rest = (self._k1 + 1) * sum(one.weight for one in rarest[taken:])
            enough = len(found) == k and (float(found.scores[-1]) > rest or budget >= MOST_LOOKED_UP)
            if taken == len(rarest) or enough:
                return found
            budget = budget * 4 if budget < MOST_LOOKED_UP else len(rarest) * rarest[-1].chunks

    def rows(self) -> Rows:
        with self._server.transaction(patient=True) as db:
            found = db.execute(f"SELECT row FROM {self._table.table} ORDER BY row".encode()).fetchall()  # noqa: S608
        return np.array([row for (row,) in found], dtype=np.int64)

    def differing(self, chunks: Sequence[tuple[int, list[str]]]) -> Rows:
        sql = f"""
            SELECT c.row FROM {self._table.table} c
            JOIN unnest(%s::bigint[], %s::integer[], %s::text[]) AS w (row, length, terms) ON c.row = w.row
            WHERE c.length <> w.length OR c.terms <> w.terms::tsvector
            ORDER BY c.row
        """  # noqa: S608
        values = [
            [row for row, _ in chunks],
            [len(terms) for _, terms in chunks],
            [_vector(terms) for _, terms in chunks],
        ]
        with self._server.transaction(patient=True) as db:
            found = db.execute(sql.encode(), values).fetchall()
        return np.array([row for (row,) in found], dtype=np.int64)

    def recount(self) -> None:
        """Correct the number and the length of all chunks, from which the mean length comes."""
        sql = f"""
            UPDATE ragstone.indexes
            SET (chunks, length) = (SELECT count(*), coalesce(sum(length), 0) FROM {self._table.table})
            WHERE name = %s
        """  # noqa: S608
        with self._server.transaction(patient=True) as db:
            db.execute(sql.encode(), [self._table.current])

    def _scored(self, terms: Sequence[Weighed], some: Sequence[Weighed], k: int, allowed: Rows | None) -> Matches:
        """Those that have some of the terms, by what all of them count."""
        among = "" if allowed is None else "AND c.row = ANY(%(allowed)s)"
        sql = f"""
            WITH asked AS MATERIALIZED (
                SELECT a.term::tsquery AS term, a.weight
                FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS a (term, weight)
            ), whole AS MATERIALIZED (
                SELECT greatest(length::float8 / greatest(chunks, 1), 1e-9) AS average
                FROM ragstone.indexes WHERE name = %(name)s
            )
            SELECT c.row, s.score
            FROM {self._table.table} c, whole w, LATERAL (
                SELECT sum(a.weight * o.tf * (%(k1)s + 1) / (o.tf + %(k1)s * (
                    1 - %(b)s + %(b)s * c.length / w.average
                ))) AS score
                FROM asked a, LATERAL (
                    SELECT round(1 / (1.64493406685 * (1 - ts_rank('{{1,1,1,1}}', c.terms, a.term))) - 0.5) AS tf
                ) o
                WHERE c.terms @@ a.term
            ) s
            WHERE c.terms @@ %(any)s::tsquery {among}
            ORDER BY s.score DESC, c.row
            LIMIT %(k)s
        """  # noqa: S608
        values = {
            "terms": [_quoted(one.term) for one in terms],
            "weights": [one.weight for one in terms],
            "any": " | ".join(_quoted(one.term) for one in some),
            "name": self._table.current,
            "k1": self._k1,
            "b": self._b,
            "k": min(k, 2**31),
            "allowed": None if allowed is None else allowed.tolist(),
        }
        with self._server.transaction() as db:
            found = db.execute(sql.encode(), values).fetchall()
        rows = np.array([row for row, _ in found], dtype=np.int64)
        return Matches(rows=rows, scores=np.array([score for _, score in found], dtype=np.float32))

    def _delete(self, db: Connection, rows: Rows) -> None:
        sql = f"DELETE FROM {quoted(self._table.target)} WHERE row = ANY(%s) RETURNING length"  # noqa: S608
        gone = db.execute(sql.encode(), [rows.tolist()]).fetchall()
        self._table.count(db, -len(gone), -sum(length for (length,) in gone))


def _within(rarest: Sequence[Weighed], budget: int) -> int:
    """Return how many of the rarest terms occur in this many chunks together; at least one."""
    together = np.cumsum([one.chunks for one in rarest])
    return max(1, int(np.searchsorted(together, budget, side="right")))


def _vector(terms: Sequence[str]) -> str:
    """Return terms as a tsvector."""
    counted = Counter(map(_cut, terms)).items()
    return " ".join(f"{_marked(term)}:{_positions(min(count, MOST_OCCURRENCES))}" for term, count in counted)


def _positions(count: int) -> str:
    return _POSITIONS[count - 1]


_POSITIONS = [",".join(map(str, range(1, count + 1))) for count in range(1, MOST_OCCURRENCES + 1)]


def _quoted(term: str) -> str:
    """Return a term as a tsquery."""
    return _marked(_cut(term))


def _marked(term: str) -> str:
    return "'{}'".format(term.replace("\\", "\\\\").replace("'", "''"))


def _cut(term: str) -> str:
    """A term that fits, and has no character that no text of PostgreSQL may have."""
    term = term.replace("\0", "")
    if len(term) * 4 <= LONGEST:
        return term or "\x01"
    return term.encode()[:LONGEST].decode(errors="ignore")
