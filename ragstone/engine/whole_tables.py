"""All rows of the tables that a question compares: "Which station has the highest capacity?".

A search finds some rows of a table; the largest value may be in another. They are read only for a question that
compares, and only from tables of a bounded size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragstone.core.access import both
from ragstone.core.ascending import intersection
from ragstone.core.filters import Filter
from ragstone.core.record import file_of, record_of
from ragstone.core.records import Chunk, Evidence, Hit
from ragstone.core.request import Request
from ragstone.engine.components import Components

MOST_ROWS = 5000
"""Rows of data files that are read for a question."""
MOST_CHUNKS = 500
"""Chunks of a document whose tables are read."""
MOST_TABLES = 3
"""Data files and documents that may be meant, the best found first."""


def with_rows(version: Components, evidence: Evidence, where: Filter | None, request: Request) -> Evidence:
    """Return the evidence with all rows of the tables that the question may compare; unchanged if it compares none.

    Args:
        version: whose catalog has the rows.
        evidence: what the search found.
        where: which documents may be used.
        request: who asks.
    """
    if evidence.question.asks.comparison is None:
        return evidence
    return replace(evidence, rows=rows_of(version, evidence, where, request))


def rows_of(
    version: Components, evidence: Evidence, where: Filter | None, request: Request
) -> tuple[tuple[Hit, ...], ...]:
    """Return all rows of each table that the evidence may mean, the best found first; the arguments are as above."""
    chunks = [hit.chunk for hit in (*evidence.hits, *evidence.tables)]
    rows = list[tuple[Hit, ...]]()
    with version.catalog.snapshot():  # all rows of a table are of the same commit
        left = MOST_ROWS
        for file, chunk in _meant(version, chunks)[:MOST_TABLES]:
            found = _rows(version, file, both(request.allowed, where), left) if file else _tables(version, chunk, left)
            left -= len(found)
            rows.append(tuple(Hit(chunk=one, score=0.0) for one in found if request.reader.may_read(one.metadata)))
    return tuple(rows)


def _meant(version: Components, chunks: Sequence[Chunk]) -> list[tuple[str, Chunk]]:
    """Return the data files and documents that chunks are of, in their order, each with its first chunk.

    A data file is known by its source, because files in different folders may have the same name; the source of a
    document is left empty.
    """
    sources = version.catalog.sources([one.document_id for one in chunks if record_of(one)])
    tables = dict[tuple[str, str], tuple[str, Chunk]]()
    for chunk in chunks:
        if source := sources.get(chunk.document_id):
            key = chunk.document_id.removeprefix(file_of(chunk))
            file = source.removesuffix(key)
            tables.setdefault((file, ""), (file, chunk))
        elif chunk.facts.get("is_table"):
            tables.setdefault(("", chunk.document_id), ("", chunk))
    return [*tables.values()]


def _rows(version: Components, file: str, where: Filter | None, most: int) -> list[Chunk]:
    """Return all rows of a data file that may be used; none if there are too many."""
    catalog = version.catalog
    numbers = catalog.first_rows_under(file)
    if where:
        numbers = intersection(numbers, catalog.select(where))
    if len(numbers) > most:
        return []
    found = catalog.chunks(numbers.tolist())
    return [found[one] for one in sorted(found)]


def _tables(version: Components, chunk: Chunk, most: int) -> list[Chunk]:
    """Return the tables of the document of a chunk; none if it is too long."""
    if chunk.total == 1:
        return [chunk]
    if chunk.total > min(most, MOST_CHUNKS):
        return []
    return [one for one in version.catalog.chunks_of([chunk.document_id]).values() if one.facts.get("is_table")]
