"""The terms of chunks in PostgreSQL, with BM25 in SQL.

A chunk's terms are a ``tsvector``, each with as many positions as it occurs; they are those of the analyzer, so a
dictionary of the server changes nothing. How often a term occurs in a chunk is read off ``ts_rank``, which is done in
C: of one term with weight 1 it is the sum of 1/j² for j up to that number, divided by that sum for all j.

The rarest terms are looked up first. As soon as no chunk without any of them can reach the best ``k``, the others need
not be looked up; they count all the same where they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.catalog import NO_MATCHES, Stamp
from ragstone.core.frozen import frozen
from ragstone.core.records import Matches
from ragstone.index.engines.postgres.tables import IndexTable, counts_of, quoted
from ragstone.index.follow.collection_names import CollectionNames
from ragstone.index.keyword.analyze import MARKS
from ragstone.index.keyword.scoring import Weighed
from ragstone.services.postgres import Server

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.services.postgres import Connection

    Rows = NDArray[np.int64]

COLUMNS = "row bigint PRIMARY KEY, length integer NOT NULL, terms tsvector NOT NULL"
LANGUAGE = "\x03"
"""Beginning of a mark for the language of a chunk, which is stored like a term and is no part of the length."""
MOST_OCCURRENCES = 255
"""Of a term in a chunk; a tsvector notes no more."""
LONGEST = 2000
"""Bytes of a term; a tsvector allows 2046."""
LOOKED_UP, MOST_LOOKED_UP = 4000, 16_000
"""Chunks that the rarest terms may be in at first; and at most, if the best have been found by then.

In searches for 200 of 100,000 chunks, 16,000 gave .99 of the best ten that 64,000 give, and .96 of the 200, in a third
of the time.
"""


@frozen
class Counted:
    """What is known of all chunks together at a commit: how many, their length in terms, how many in each language."""

    stamp: Stamp
    chunks: int
    length: int
    languages: Mapping[str, int]


class PostgresTerms:
    """Terms in PostgreSQL, as a `TermStore`."""

    def __init__(
        self, server: Server, names: CollectionNames, analyzer: str, *, k1: float, b: float, counts: bool = False
    ) -> None:
        """
        Args:
            server: where they are.
            names: of the tables.
            analyzer: fingerprint of what makes the terms.
            k1: BM25 term saturation.
            b: BM25 length normalisation.
            counts: whether to count in how many chunks each term is, in a second table.
        """
        self._table = IndexTable(server, names, f"{analyzer}, counted" if counts else analyzer, COLUMNS)
        self._server, self._k1, self._b, self._counts = server, k1, b, counts
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
                    copy.write_row((row, _length(terms), _vector(terms)))
            self._table.count(db, len(chunks), sum(_length(terms) for _, terms in chunks))
            if self._counts and not self._table.making:
                counted = Counter(_cut(term) for _, terms in chunks for term in set(terms))
                sql = f"""
                    INSERT INTO {counts_of(self._table.target)} AS held SELECT * FROM unnest(%s::text[], %s::bigint[])
                    ON CONFLICT (term) DO UPDATE SET chunks = held.chunks + excluded.chunks
                """
                db.execute(sql.encode(), [list(counted), list(counted.values())])

    def seal(self, stamp: Stamp) -> None:
        with self._server.transaction(patient=True) as db:
            table = quoted(self._table.target)
            if self._table.making:  # building the index last is fastest
                db.execute(f"CREATE INDEX ON {table} USING gin (terms)".encode())
                db.execute(f"ANALYZE {table}".encode())
                if self._counts:
                    counts = counts_of(self._table.target)
                    db.execute(f'CREATE TABLE {counts} (term text COLLATE "C" PRIMARY KEY, chunks bigint)'.encode())
                    self._count_all(db)
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
            matches = self._scored(rarest, rarest[:taken], k, allowed)
            rest = (self._k1 + 1) * sum(one.weight for one in rarest[taken:])
            enough = len(matches) == k and (float(matches.scores[-1]) > rest or budget >= MOST_LOOKED_UP)
            if taken == len(rarest) or enough:
                return matches
            budget = budget * 4 if budget < MOST_LOOKED_UP else len(rarest) * rarest[-1].chunks

    def rows(self) -> Rows:
        with self._server.transaction(patient=True) as db:
            rows = db.execute(f"SELECT row FROM {self._table.table} ORDER BY row".encode()).fetchall()
        return np.array([row for (row,) in rows], dtype=np.int64)

    def differing(self, chunks: Sequence[tuple[int, list[str]]]) -> Rows:
        sql = f"""
            SELECT c.row FROM {self._table.table} c
            JOIN unnest(%s::bigint[], %s::integer[], %s::text[]) AS w (row, length, terms) ON c.row = w.row
            WHERE c.length <> w.length OR c.terms <> w.terms::tsvector
            ORDER BY c.row
        """
        values = [
            [row for row, _ in chunks],
            [_length(terms) for _, terms in chunks],
            [_vector(terms) for _, terms in chunks],
        ]
        with self._server.transaction(patient=True) as db:
            rows = db.execute(sql.encode(), values).fetchall()
        return np.array([row for (row,) in rows], dtype=np.int64)

    def recount(self) -> None:
        """Correct the number and the length of all chunks, from which the mean length comes."""
        sql = f"""
            UPDATE ragstone.indexes
            SET (chunks, length) = (SELECT count(*), coalesce(sum(length), 0) FROM {self._table.table})
            WHERE name = %s
        """
        with self._server.transaction(patient=True) as db:
            db.execute(sql.encode(), [self._table.current])
            if self._counts:
                db.execute(f"DELETE FROM {counts_of(self._table.current)}".encode())
                self._count_all(db)

    # ------------------------------------------------------------ all chunks together

    def counted(self) -> Counted | None:
        """Return what is known of all chunks together; None before anything was sealed."""
        name = self._table.current
        if not name or self._table.stamp() == Stamp():
            return None
        with self._server.transaction() as db:
            sql = "SELECT generation, mark, chunks, length FROM ragstone.indexes WHERE name = %s"
            generation, mark, chunks, length = db.execute(sql, [name]).fetchone() or (0, "", 0, 0)
            sql = f"SELECT term, chunks FROM {counts_of(name)} WHERE term > %s AND term < %s AND chunks > 0"
            marks = db.execute(sql.encode(), [LANGUAGE, chr(ord(LANGUAGE) + 1)]).fetchall()
        languages = {term[len(LANGUAGE) :]: count for term, count in marks}
        return Counted(stamp=Stamp(generation=generation, mark=mark), chunks=chunks, length=length, languages=languages)

    def having(self, terms: Sequence[str]) -> dict[str, int]:
        """Return the number of chunks that have each of these terms; one that none has is left out."""
        cut = {_cut(term): term for term in terms}
        sql = f"SELECT term, chunks FROM {counts_of(self._table.current)} WHERE term = ANY(%s)"
        return {cut[term]: max(0, count) for term, count in self._server.rows(sql, [list(cut)])}

    def like(self, pieces: Sequence[str], length: int, errors: int, most: int) -> list[str]:
        """Return words of about this length, at most so many, that have one of these pieces."""
        sql = f"""
            SELECT term FROM {counts_of(self._table.current)}
            WHERE length(term) BETWEEN %s AND %s AND term LIKE ANY(%s) AND left(term, 1) <> ALL(%s) AND chunks > 0
            LIMIT %s
        """
        like = [f"%{piece}%" for piece in pieces]
        rows = self._server.rows(sql, [length - errors, length + errors, like, [*MARKS, LANGUAGE], most])
        return [term for (term,) in rows if term.isalpha()]

    def count_among(self, terms: Sequence[str], rows: Rows, most: int) -> int:
        """Count the rows that have one of these terms, up to ``most``."""
        sql = f"""
            SELECT count(*) FROM (
                SELECT 1 FROM {self._table.table} WHERE terms @@ %s::tsquery AND row = ANY(%s) LIMIT %s
            ) AS found
        """
        ((found,),) = self._server.rows(sql, [" | ".join(map(_quoted, terms)), rows.tolist(), most])
        return found

    def _count_all(self, db: Connection) -> None:
        """Count every term of the table that is written."""
        select = f"SELECT terms FROM {quoted(self._table.target)}"
        sql = f"INSERT INTO {counts_of(self._table.target)} SELECT word, ndoc FROM ts_stat(%s)"
        db.execute(sql.encode(), [select])

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
        """
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
        counting = self._counts and not self._table.making
        returned = "length, tsvector_to_array(terms)" if counting else "length, NULL"
        sql = f"DELETE FROM {quoted(self._table.target)} WHERE row = ANY(%s) RETURNING {returned}"
        deleted = db.execute(sql.encode(), [rows.tolist()]).fetchall()
        if counting:
            counted = Counter(term for _, terms in deleted for term in terms)
            sql = f"""
                UPDATE {counts_of(self._table.target)} AS held SET chunks = held.chunks - gone.chunks
                FROM unnest(%s::text[], %s::bigint[]) AS gone (term, chunks) WHERE held.term = gone.term
            """
            db.execute(sql.encode(), [list(counted), list(counted.values())])
        gone = [(length,) for length, _ in deleted]
        self._table.count(db, -len(gone), -sum(length for (length,) in gone))


def _within(rarest: Sequence[Weighed], budget: int) -> int:
    """Return how many of the rarest terms occur in this many chunks together; at least one."""
    together = np.cumsum([one.chunks for one in rarest])
    return max(1, int(np.searchsorted(together, budget, side="right")))


def _length(terms: Sequence[str]) -> int:
    return sum(not term.startswith(LANGUAGE) for term in terms)


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
