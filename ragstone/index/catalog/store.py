"""What a transaction does to the catalog's tables: a document in, a document out, and what nobody needs any more."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ragstone.access import NOBODY, READERS
from ragstone.contracts import Chunk, Document, Mark, Metadata
from ragstone.errors import Damaged, NotFound
from ragstone.index.catalog.filters import Value, stored

if TYPE_CHECKING:
    from ragstone.contracts import Vector


K = TypeVar("K")
DOCUMENTS = """
    SELECT d.id, t.text, d.source, d.title, d.url, d.metadata, d.marks FROM documents d JOIN contents t USING (content)
"""
"""What a document is made of."""
CHUNKS = """
    SELECT c.row, c.id, d.id, c.position, d.chunks, c.start, c.end,
           substr(t.text, c.start + 1, c.end - c.start), d.title, d.url, d.metadata, c.context, c.facts
    FROM chunks c JOIN documents d USING (document) JOIN contents t USING (content)
"""
"""What a chunk is made of."""
UNCUT = """
    SELECT c.row, c.id, d.id, c.position, d.chunks, c.start, c.end,
           d.content, d.title, d.url, d.metadata, c.context, c.facts
    FROM chunks c JOIN documents d USING (document)
"""
"""The same for many chunks in a row; see `cut`."""

TABLES = {
    "about": "built_with, crc",
    "commits": "generation, mark",
    "contents": "content, hash, text",
    "documents": "document, id, content, source, title, url, metadata, marks, chunks, signature, added_at",
    "files": "source, stamp",
    "vectors": "vector, hash, value, crc",
    "chunks": "row, id, document, position, start, end, context, facts, vector, generation",
    "removals": "row, generation",
    "facts": "document, chunk, key, value",
    "skipped": "source, reason",
}
"""What a catalog consists of, wherever it lies: tables and columns, what is referred to before what refers to it."""

UNDER = """(source = :root OR (source > :root || '/' AND source < :root || '0')
    OR (source > :root || '#' AND source < :root || '$'))"""
"""Whether a source is another one or lies in it: a file in a folder, a row in a table, a part in an archive.

What begins with ``/`` stands before ``0`` and what begins with ``#`` before ``$``, so an index finds it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A document ready to be committed: its chunks, and the hash of the text each is embedded from."""

    document: Document
    chunks: tuple[Chunk, ...]
    hashes: tuple[str, ...]


@dataclass(slots=True)
class Orphans:
    """Vectors and texts that lost a reference. They go at the end of the transaction, where none is left.

    Not before: a paragraph that moved, within its document or to the next one, needs its vector again.
    """

    vectors: set[int] = field(default_factory=set)
    contents: set[int] = field(default_factory=set)


def signature(document: Document) -> str:
    """Hash of everything about a document that is stored: equal means there is nothing to do."""
    facts = json.dumps(document.metadata, sort_keys=True, ensure_ascii=False)
    parts = [document.content_hash, document.source, document.title, document.url, facts, marks_to_json(document.marks)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def text_hash(text: str) -> str:
    """By which a text, under its context, shares its vector with all that are the same."""
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:32]


def put(db: sqlite3.Connection, one: Prepared, generation: int, orphans: Orphans) -> None:
    """Store a document, in the place of the one with the same id."""
    document = one.document
    db.execute("INSERT OR IGNORE INTO contents (hash, text) VALUES (?, ?)", [document.content_hash, document.text])
    (content,) = db.execute("SELECT content FROM contents WHERE hash = ?", [document.content_hash]).fetchone()
    orphans.contents |= {old for (old,) in db.execute("SELECT content FROM documents WHERE id = ?", [document.id])}
    (number,) = db.execute(
        """
        INSERT INTO documents (id, content, source, title, url, metadata, marks, chunks, signature, added_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET content = excluded.content, source = excluded.source, title = excluded.title,
            url = excluded.url, metadata = excluded.metadata, marks = excluded.marks, chunks = excluded.chunks,
            signature = excluded.signature, added_at = excluded.added_at
        RETURNING document
        """,
        [
            document.id,
            content,
            document.source,
            document.title,
            document.url,
            json.dumps(document.metadata, ensure_ascii=False),
            marks_to_json(document.marks),
            len(one.chunks),
            signature(document),
            datetime.now(UTC).isoformat(timespec="seconds"),
        ],
    ).fetchone()
    _put_chunks(db, number, one, generation, orphans)
    db.execute("DELETE FROM facts WHERE document = ? AND chunk IS NULL", [number])
    _put_facts(db, number, None, document.metadata)


def take_out(db: sqlite3.Connection, id: str, generation: int, orphans: Orphans) -> bool:
    """Remove a document; false where there is none."""
    found = db.execute("SELECT document, content, source FROM documents WHERE id = ?", [id]).fetchone()
    if found is None:
        return False
    document, content, source = found
    # Its file is no longer stored whole: the next one who reads the folder reads it again.
    around = [source[:end] for end in (*(i for i, char in enumerate(source) if char in "/#"), len(source))]
    db.execute("DELETE FROM files WHERE source IN (SELECT value FROM json_each(?))", [json.dumps(around)])
    db.execute("DELETE FROM skipped WHERE source = ?", [source])
    rows = [row for (row,) in db.execute("SELECT row FROM chunks WHERE document = ?", [document])]
    _drop_chunks(db, rows, generation, orphans)
    db.execute("DELETE FROM facts WHERE document = ?", [document])
    db.execute("DELETE FROM documents WHERE document = ?", [document])
    orphans.contents.add(content)
    return True


def clear(db: sqlite3.Connection, orphans: Orphans) -> None:
    """Delete what has no reference left."""
    db.execute(
        """
        DELETE FROM vectors WHERE vector IN (SELECT value FROM json_each(?))
        AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.vector = vectors.vector)
        """,
        [json.dumps(list(orphans.vectors))],
    )
    db.execute(
        """
        DELETE FROM contents WHERE content IN (SELECT value FROM json_each(?))
        AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.content = contents.content)
        """,
        [json.dumps(list(orphans.contents))],
    )


def _put_chunks(db: sqlite3.Connection, number: int, one: Prepared, generation: int, orphans: Orphans) -> None:
    """Make the stored chunks those of the document; a chunk that is the same keeps its row."""
    hashes = json.dumps(one.hashes)
    vector_of = dict(
        db.execute("SELECT hash, vector FROM vectors WHERE hash IN (SELECT value FROM json_each(?))", [hashes])
    )
    wanted = {
        (chunk.id, chunk.start, chunk.end, chunk.context, facts_to_json(chunk.facts), vector_of[hash]): chunk
        for chunk, hash in zip(one.chunks, one.hashes, strict=True)
    }
    columns = "id, start, end, context, facts, vector"
    stored_chunks = db.execute(f"SELECT row, {columns} FROM chunks WHERE document = ?", [number])  # noqa: S608
    before = {tuple(rest): row for row, *rest in stored_chunks}
    _drop_chunks(db, [row for key, row in before.items() if key not in wanted], generation, orphans)
    for key, chunk in wanted.items():
        if key not in before:
            placed = db.execute(
                f"INSERT INTO chunks ({columns}, document, position, generation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
                [*key, number, chunk.index, generation],
            )
            _put_facts(db, number, placed.lastrowid, chunk.facts)


def _drop_chunks(db: sqlite3.Connection, rows: Sequence[int], generation: int, orphans: Orphans) -> None:
    chosen = json.dumps(rows)
    vectors = db.execute("SELECT vector FROM chunks WHERE row IN (SELECT value FROM json_each(?))", [chosen])
    orphans.vectors |= {vector for (vector,) in vectors}
    db.executemany("INSERT INTO removals VALUES (?, ?)", [(row, generation) for row in rows])
    db.execute("DELETE FROM facts WHERE chunk IN (SELECT value FROM json_each(?))", [chosen])
    db.execute("DELETE FROM chunks WHERE row IN (SELECT value FROM json_each(?))", [chosen])


def _put_facts(db: sqlite3.Connection, document: int, chunk: int | None, metadata: Metadata) -> None:
    rows = [(document, chunk, key, value) for key, value in facts_of(metadata)]
    db.executemany("INSERT INTO facts VALUES (?, ?, ?, ?)", rows)


def facts_of(metadata: Metadata) -> Iterator[tuple[str, Value]]:
    """Metadata as filters see it: a row for each value."""
    for key, value in metadata.items():
        members = value if isinstance(value, tuple) else (value,)
        for member in (NOBODY,) if key == READERS and not members else members:
            yield key, stored(member)


def packed(vectors: Mapping[K, Vector]) -> Iterator[tuple[K, bytes]]:
    """Vectors as the database keeps them."""
    return ((key, np.ascontiguousarray(vector, "<f4").tobytes()) for key, vector in vectors.items())


def chunk_from(row: Sequence[Any]) -> Chunk:
    """The chunk in a row of `CHUNKS`."""
    _, id, document_id, position, total, start, end, text, title, url, metadata, context, facts = row
    return Chunk(
        id=id,
        document_id=document_id,
        index=position,
        total=total,
        start=start,
        end=end,
        text=text,
        title=title,
        url=url,
        metadata=metadata_from_json(metadata),
        context=context,
        facts=metadata_from_json(facts),
    )


def document_from(row: Sequence[Any]) -> Document:
    """A row of `DOCUMENTS` as a document."""
    id, text, source, title, url, metadata, marks = row
    return Document(
        id=id,
        text=text,
        source=source,
        title=title,
        url=url,
        metadata=metadata_from_json(metadata),
        marks=marks_from_json(marks),
    )


def endings(id: str) -> list[str]:
    """How a document's id may end where this is its last part; all of one length."""
    return [id] if id[0] in "/#" else [f"/{id}", f"#{id}"]


def only(id: str, found: Sequence[Sequence[Any]]) -> Document:
    """The one row of `DOCUMENTS` that was found for an id; `NotFound` where there is none, or more than one."""
    if len(found) != 1:
        several = f"; it could be {', '.join(row[0] for row in found)}" if found else ""
        raise NotFound(f"there is no document '{id}'{several}")
    return document_from(found[0])


def cut(rows: Iterable[Sequence[Any]], text_of: Callable[[int], str | None]) -> Iterator[tuple[int, Chunk]]:
    """Row and chunk of rows of `UNCUT`. To have each cut by the database would read a document once for each chunk.

    Args:
        rows: those of a document one after the other.
        text_of: gives the text of a content; nothing where it was removed meanwhile, and the chunk with it.
    """
    content, text = None, None
    for row in rows:
        if row[7] != content:
            content = row[7]
            text = text_of(content)
        if text is not None:
            yield row[0], chunk_from([*row[:7], text[row[5] : row[6]], *row[8:]])


def marks_to_json(marks: Sequence[Mark]) -> str:
    """The marks of a document as the database keeps them."""
    return _json([[mark.kind, mark.start, mark.end, mark.level, mark.label] for mark in marks])


def marks_from_json(text: str) -> tuple[Mark, ...]:
    """The marks again; `Damaged` where they are none."""
    with _written():
        return tuple(
            Mark(kind=kind, start=start, end=end, level=level, label=label)
            for kind, start, end, level, label in json.loads(text)
        )


def facts_to_json(facts: Metadata) -> str:
    """What a chunk tells of itself as the database keeps it."""
    return _json(facts)


def metadata_from_json(text: str) -> Metadata:
    """Metadata again; `Damaged` where it is none."""
    if text == "{}":
        return {}
    with _written():
        return {key: tuple(value) if isinstance(value, list) else value for key, value in json.loads(text).items()}


@contextmanager
def _written() -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, AttributeError) as error:
        raise Damaged(f"a document is not what was written ({error}); ragstone doctor tells which") from error


def stacked(values: Sequence[bytes], dimensions: int) -> Vector:
    """Vectors as the database has them, as one array: shape (values, dimensions)."""
    return np.frombuffer(b"".join(values), "<f4").reshape(len(values), dimensions)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
