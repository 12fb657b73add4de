"""Checks of a catalog against itself: checksums, counts, spans and references.

A database checks the structure of its files but does not notice a flipped bit inside a value. This module compares
every value that an answer may depend on with a hash stored elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragstone.catalog.database import Dialect
from ragstone.catalog.protocol import IdOf
from ragstone.catalog.rows import document_from, facts_of, layout_from, metadata_from_json, signature, text_hash
from ragstone.core.catalog import Finding
from ragstone.core.errors import Damaged
from ragstone.core.place import embedded_text

RESTORE = "restore a backup: ragstone restore SOURCE --replace"
ADD_AGAIN = "remove and add them again: ragstone remove ID, then ragstone add SOURCE; or " + RESTORE
AT_ONCE = 20
"""Documents to read at once."""
Rows = Callable[[str, Sequence[Any]], list[Any]]
"""Runs a query on one state of the catalog."""
_Fact = tuple[str, object]
_UNREADABLE = (sqlite3.DatabaseError, Damaged, ValueError, TypeError, AttributeError, KeyError)

_ORPHANS = {
    "vectors without a chunk": (
        "SELECT count(*) FROM vectors v WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.vector = v.vector)"
    ),
    "texts without a document": (
        "SELECT count(*) FROM contents t WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.content = t.content)"
    ),
    "chunks that are recorded as removed": "SELECT count(*) FROM chunks JOIN removals USING (row)",
    "chunks of a missing commit": (
        "SELECT count(*) FROM chunks c WHERE NOT EXISTS (SELECT 1 FROM commits o WHERE o.generation = c.generation)"
    ),
}


def verify(rows: Rows, dialect: Dialect, id_of: IdOf) -> Iterator[Finding]:
    """Read all tables and yield their faults."""
    about = rows("SELECT built_with, crc FROM about", [])
    if len(about) != 1 or _crc(about[0][0]) != about[0][1]:
        yield Finding(part="catalog", what="the settings it was built with are damaged", remedy=RESTORE)
    generations = [generation for (generation,) in rows("SELECT generation FROM commits ORDER BY generation", [])]
    if not generations or generations != list(range(generations[0], generations[-1] + 1)):
        yield Finding(part="catalog", what="the list of commits has a gap", remedy=RESTORE)
    for what, sql in {**_ORPHANS, **dialect.orphans}.items():
        ((count,),) = rows(sql, [])
        if count:
            yield Finding(part="catalog", what=f"it has {what}: {count}", remedy=RESTORE)
    yield from _documents(rows, dialect, id_of)


def _documents(rows: Rows, dialect: Dialect, id_of: IdOf) -> Iterator[Finding]:
    faults: dict[str, list[str]] = {}
    bad_vectors: list[str] = []
    names = rows("SELECT document, id FROM documents ORDER BY document", [])
    for start in range(0, len(names), AT_ONCE):
        for id, found in _faults(dict(names[start : start + AT_ONCE]), rows, dialect, id_of):
            if "vector" in found:
                bad_vectors.append(id)
            for what in found - {"vector"}:
                faults.setdefault(what, []).append(id)
    for what, ids in faults.items():
        yield Finding(part="documents", what=what, documents=tuple(ids), remedy=ADD_AGAIN)
    if bad_vectors:
        yield Finding(part="stored vectors", what="they are damaged", documents=tuple(bad_vectors))


def _faults(names: Mapping[int, str], rows: Rows, dialect: Dialect, id_of: IdOf) -> Iterator[tuple[str, set[str]]]:
    """Yield the faults of each document; an unreadable document does not hide the others."""
    try:
        faults = [
            (id, _one(*parts, dialect, id_of) if parts else {"their texts are missing"})
            for id, parts in _read(names, rows, dialect)
        ]
    except _UNREADABLE as error:
        if len(names) == 1:
            faults = [(id, {f"they cannot be read: {error}"}) for id in names.values()]
        else:
            faults = [one for number in names for one in _faults({number: names[number]}, rows, dialect, id_of)]
    yield from faults


_Parts = tuple[Sequence[Any], Sequence[Sequence[Any]], Mapping[int | None, Sequence[_Fact]]]


def _read(names: Mapping[int, str], rows: Rows, dialect: Dialect) -> Iterator[tuple[str, _Parts | None]]:
    """Yield each document's own row, those of its chunks, and its metadata by chunk."""
    numbers = [dialect.values(names)]
    sql = f"""
        SELECT d.document, d.id, d.source, d.title, d.url, d.metadata, d.marks, d.chunks, d.signature, t.text, t.hash,
            l.value, l.crc
        FROM documents d JOIN contents t USING (content) LEFT JOIN layouts l USING (document)
        WHERE d.document {dialect.in_values}
    """
    documents = {number: row for number, *row in rows(sql, numbers)}
    sql = f"""
        SELECT c.document, c.row, c.id, c.position, c.start, c."end", c.context, c.facts, v.hash, v.value, v.crc
        FROM chunks c LEFT JOIN vectors v USING (vector) WHERE c.document {dialect.in_values}
        ORDER BY c.document, c.position
    """
    chunks: dict[int, list[Any]] = {}
    for number, *chunk in rows(sql, numbers):
        chunks.setdefault(number, []).append(chunk)
    sql = f"SELECT document, chunk, key, {dialect.fact_value} FROM facts WHERE document {dialect.in_values}"
    facts: dict[int, dict[int | None, list[_Fact]]] = {}
    for number, row, key, *value in rows(sql, numbers):
        facts.setdefault(number, {}).setdefault(row, []).append((key, dialect.exact(*value)))
    for number, id in names.items():
        document = documents.get(number)
        yield id, None if document is None else (document, chunks.get(number, ()), facts.get(number, {}))


def _one(
    document: Sequence[Any],
    chunks: Sequence[Sequence[Any]],
    facts: Mapping[int | None, Sequence[_Fact]],
    dialect: Dialect,
    id_of: IdOf,
) -> set[str]:
    """Return the faults of a document; ``vector`` stands for what can be computed again."""
    id, source, title, url, metadata, marks, count, signed, text, hash, layout, crc = document
    if hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest() != hash:
        return {"their texts are damaged"}
    wrong: set[str] = set()
    try:
        placed = () if layout is None else layout_from(layout, crc)
    except Damaged:
        return {"the places of their words are damaged"}
    stored = replace(document_from((id, text, source, title, url, metadata, marks)), placed=placed)
    if signature(stored) != signed:
        wrong.add("their titles, sources or metadata are damaged")
    if not _same(_exact(facts_of(stored.metadata), dialect), facts.get(None, ())):
        wrong.add("filters do not see their metadata")
    if [row[2] for row in chunks] != list(range(count)):
        wrong.add("some of their chunks are missing")
    for row, chunk_id, position, start, end, context, own, embedded, value, checked in chunks:
        piece = text[start:end]
        headed = f"{context}\n{piece}" if context else piece
        # Older versions of Ragstone embedded the place, too.
        texts = {headed, embedded_text(headed, path=stored.metadata.get("path"), title=title)}
        if (
            embedded not in map(text_hash, texts)
            or id_of(id, position, piece) != chunk_id
            or not 0 <= start < end <= len(text)
        ):
            wrong.add("their chunks are damaged")
        if not _same(_exact(facts_of(metadata_from_json(own)), dialect), facts.get(row, ())):
            wrong.add("filters do not see the metadata of their chunks")
        if zlib.crc32(value) != checked or not all(map(math.isfinite, struct.unpack(f"<{len(value) // 4}f", value))):
            wrong.add("vector")
    return wrong


def _exact(facts: Iterable[tuple[str, Any]], dialect: Dialect) -> Iterator[_Fact]:
    return ((key, dialect.exact_value(value)) for key, value in facts)


def _same(expected: Iterable[_Fact], found: Iterable[_Fact]) -> bool:
    return sorted(map(repr, expected)) == sorted(map(repr, found))


def _crc(text: str) -> int:
    """Return the checksum of a text of JSON, or -1 for any other text."""
    try:
        json.loads(text)
    except ValueError:
        return -1
    return zlib.crc32(text.encode(errors="surrogateescape"))
