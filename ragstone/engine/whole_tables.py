"""All rows of the tables that a question compares: "Which station has the highest capacity?".

A search finds some rows of a table; the largest value may be in another. They are read only for a question that
compares, and only from tables of a bounded size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ragstone import respond
from ragstone.core.access import both
from ragstone.core.filters import And, Compare, Filter
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
    if respond.comparison_of(evidence.question) is None:
        return evidence
    found = dict[str, Chunk]()
    for hit in (*evidence.hits, *evidence.tables):
        chunk = hit.chunk
        if record_of(chunk):
            found.setdefault(file_of(chunk), chunk)
        elif chunk.facts.get("is_table"):
            found.setdefault(chunk.document_id, chunk)
    rows = list[Chunk]()
    with version.catalog.snapshot():  # all rows of a table are of the same commit
        for chunk in [*found.values()][:MOST_TABLES]:
            rows += _rows(version, chunk, both(request.allowed, where), MOST_ROWS - len(rows))
    readable = (one for one in rows if request.reader.may_read(one.metadata))
    return replace(evidence, rows=tuple(Hit(chunk=one, score=0.0) for one in readable))


def _rows(version: Components, chunk: Chunk, where: Filter | None, most: int) -> Iterator[Chunk]:
    """Yield all rows of the table of a chunk that may be used; none if there are too many."""
    catalog = version.catalog
    if not record_of(chunk):
        if 1 < chunk.total <= min(most, MOST_CHUNKS):
            yield from (one for one in catalog.chunks_of([chunk.document_id]).values() if one.facts.get("is_table"))
        elif chunk.total == 1:
            yield chunk
        return
    numbers = catalog.select(
        And(parts=(*((where,) if where else ()), Compare(key="path", op="=", value=file_of(chunk))))
    )
    if len(numbers) <= most:
        found = catalog.chunks(numbers.tolist())
        yield from (found[one] for one in sorted(found) if not found[one].index)
