"""Everything the catalog says, compared with what it says of itself: checksums, counts, spans, references.

SQLite checks the structure of its file; a bit that flips inside a value it does not notice. Here every value that an
answer could rest on is checked against a hash stored elsewhere in the file.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ragstone.errors import Damaged
from ragstone.index.catalog.filters import Value
from ragstone.index.catalog.store import document_from, facts_of, metadata_from_json, signature, text_hash
from ragstone.index.records import Finding

IdOf = Callable[[str, int, str], str]
"""The id of a chunk, from its document's id, its position and its text."""

RESTORE = "restore a backup: ragstone restore SOURCE --replace"
AGAIN = "take them out and add them again: ragstone remove ID, then ragstone add SOURCE; or " + RESTORE


def verify(path: Path, id_of: IdOf) -> list[Finding]:
    """Read the whole database at ``path`` and tell what is wrong with it; one state of it, whoever writes meanwhile."""
    findings: list[Finding] = []
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        # A flipped bit may leave bytes that are no text; they are compared as they are.
        db.text_factory = lambda value: value.decode(errors="surrogateescape")
        try:
            db.execute("BEGIN")
            for check in (_structure, _about, _counts, _documents):
                findings += check(db, id_of)
        except sqlite3.DatabaseError as error:
            findings.append(Finding(part="catalog", what=f"cannot be read: {error}", remedy=RESTORE))
    return findings


def _structure(db: sqlite3.Connection, _: IdOf) -> Iterator[Finding]:
    lines = [line for (line,) in db.execute("PRAGMA integrity_check") if line != "ok"]
    of_index = [line for line in lines if " index " in line]
    if of_index:
        yield Finding(part="database indexes", what=of_index[0])
    for line in lines:
        if line not in of_index:
            yield Finding(part="catalog", what=line, remedy=RESTORE)
    for table, row, parent, _number in db.execute("PRAGMA foreign_key_check"):
        what = f"row {row} of {table} belongs to a row of {parent} that is not there"
        yield Finding(part="catalog", what=what, remedy=RESTORE)


def _about(db: sqlite3.Connection, _: IdOf) -> Iterator[Finding]:
    about = db.execute("SELECT built_with, crc FROM about").fetchall()
    if len(about) != 1 or crc_of(about[0][0]) != about[0][1]:
        yield Finding(part="catalog", what="what it was built with is not what was written", remedy=RESTORE)
    generations = [generation for (generation,) in db.execute("SELECT generation FROM commits ORDER BY generation")]
    if not generations or generations != list(range(generations[0], generations[-1] + 1)):
        yield Finding(part="catalog", what="the list of commits has a gap", remedy=RESTORE)


_ORPHANS = {
    "vectors that no chunk has": "SELECT count(*) FROM vectors WHERE vector NOT IN (SELECT vector FROM chunks)",
    "texts that no document has": "SELECT count(*) FROM contents WHERE content NOT IN (SELECT content FROM documents)",
    "chunks that no document has": "SELECT count(*) FROM chunks WHERE document NOT IN (SELECT document FROM documents)",
    "metadata of no document": "SELECT count(*) FROM facts WHERE document NOT IN (SELECT document FROM documents)",
    "chunks that are noted as removed": "SELECT count(*) FROM chunks WHERE row IN (SELECT row FROM removals)",
    "chunks of a commit that is not there": (
        "SELECT count(*) FROM chunks WHERE generation NOT IN (SELECT generation FROM commits)"
    ),
    "row numbers that will be given twice": (
        "SELECT count(*) FROM sqlite_sequence WHERE name = 'chunks' AND seq < max("
        "(SELECT coalesce(max(row), 0) FROM chunks), (SELECT coalesce(max(row), 0) FROM removals))"
    ),
}


def _counts(db: sqlite3.Connection, _: IdOf) -> Iterator[Finding]:
    for what, sql in _ORPHANS.items():
        ((count,),) = db.execute(sql).fetchall()
        if count:
            yield Finding(part="catalog", what=f"there are {what}: {count}", remedy=RESTORE)


def _documents(db: sqlite3.Connection, id_of: IdOf) -> Iterator[Finding]:
    """Document by document, so that one that cannot be read hides no other."""
    for_each = db.execute("SELECT document, id FROM documents ORDER BY document").fetchall()
    yield from told((id, _wrong(db, number, id_of)) for number, id in for_each)


def told(documents: Iterable[tuple[str, Iterator[str]]]) -> Iterator[Finding]:
    """What is wrong with each document, by its id, as findings; each is looked at here, so that its failing is told."""
    bad: dict[str, list[str]] = {}
    vectors: list[str] = []
    for id, looked in documents:
        try:
            wrong = set(looked)
        except (sqlite3.DatabaseError, Damaged, ValueError, TypeError, AttributeError, KeyError) as error:
            wrong = {f"they cannot be read: {error}"}
        if "vector" in wrong:
            vectors.append(id)
        for what in wrong - {"vector"}:
            bad.setdefault(what, []).append(id)
    for what, ids in bad.items():
        yield Finding(part="documents", what=what, documents=tuple(ids), remedy=AGAIN)
    if vectors:
        yield Finding(part="stored vectors", what="they are not what was written", documents=tuple(vectors))


DOCUMENT = "d.id, d.source, d.title, d.url, d.metadata, d.marks, d.chunks, d.signature, t.text, t.hash"
"""What is looked at of a document ``d`` with the text ``t``."""


def _wrong(db: sqlite3.Connection, number: int, id_of: IdOf) -> Iterator[str]:
    sql = f"SELECT {DOCUMENT} FROM documents d JOIN contents t USING (content) WHERE d.document = ?"  # noqa: S608
    found = db.execute(sql, [number]).fetchall()
    if len(found) != 1:
        yield "their texts are not there"
        return
    chunks = db.execute(
        "SELECT c.row, c.id, c.position, c.start, c.end, c.context, c.facts, v.hash, v.value, v.crc"
        " FROM chunks c LEFT JOIN vectors v USING (vector) WHERE c.document = ? ORDER BY c.position",
        [number],
    ).fetchall()
    facts: dict[int | None, list[Fact]] = {}
    for row, key, value in db.execute(
        "SELECT NULL, key, value FROM facts WHERE document = ? AND chunk IS NULL"
        " UNION ALL SELECT chunk, key, value FROM facts WHERE chunk IN (SELECT row FROM chunks WHERE document = ?)",
        [number, number],
    ):
        facts.setdefault(row, []).append((key, value))
    yield from wrong_with(found[0], chunks, facts, id_of)


Fact = tuple[str, object]


def wrong_with(
    document: Sequence[Any],
    chunks: Sequence[Sequence[Any]],
    facts: Mapping[int | None, Sequence[Fact]],
    id_of: IdOf,
    shaped: Callable[[Value], object] = lambda value: value,
) -> Iterator[str]:
    """What is wrong with a document; ``vector`` for what can be computed again.

    Args:
        document: the columns of `DOCUMENT`.
        chunks: number, id, position, start, end, context, facts, and hash, value and checksum of the vector.
        facts: by the number of the chunk, or nothing for the document's own.
        id_of: the id of a chunk.
        shaped: a value as the database gives it in ``facts``.
    """
    id, source, title, url, metadata, marks, count, signed, text, hash = document
    if hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest() != hash:
        yield "their texts are not what was written"
        return
    stored = document_from((id, text, source, title, url, metadata, marks))
    if signature(stored) != signed:
        yield "their titles, sources or metadata are not what was written"
    if not _same(((key, shaped(value)) for key, value in facts_of(stored.metadata)), facts.get(None, ())):
        yield "what filters see of them is not their metadata"
    if [row[2] for row in chunks] != list(range(count)):
        yield "they have lost chunks"
    for row, chunk_id, position, start, end, context, told_facts, embedded, value, crc in chunks:
        piece = text[start:end]
        headed = f"{context}\n{piece}" if context else piece
        if text_hash(headed) != embedded or id_of(id, position, piece) != chunk_id or not 0 <= start < end <= len(text):
            yield "their chunks are not what was written"
        own = ((key, shaped(value)) for key, value in facts_of(metadata_from_json(told_facts)))
        if not _same(own, facts.get(row, ())):
            yield "what filters see of their chunks is not what was written"
        if zlib.crc32(value) != crc or not all(map(math.isfinite, struct.unpack(f"<{len(value) // 4}f", value))):
            yield "vector"


def _same(expected: Iterable[Fact], found: Iterable[Fact]) -> bool:
    return sorted(map(repr, expected)) == sorted(map(repr, found))


def crc_of(text: str) -> int:
    """The checksum of a text of JSON; none that is stored where it is none."""
    try:
        json.loads(text)
    except ValueError:
        return -1
    return zlib.crc32(text.encode(errors="surrogateescape"))
