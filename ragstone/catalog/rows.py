"""Records as rows of the catalog's tables, the same in every database."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ragstone.catalog.filters import Value, stored_value
from ragstone.core.access import NOBODY, READERS
from ragstone.core.catalog import DocumentSummary
from ragstone.core.errors import Damaged, NotFound
from ragstone.core.filters import Scalar
from ragstone.core.layout import Placed, columns, unpacked
from ragstone.core.records import OF_READING, Chunk, Document, Mark, Metadata
from ragstone.storage.sqlite import crc32

if TYPE_CHECKING:
    from ragstone.core.records import Vector

K = TypeVar("K")
_UNREADABLE = (ValueError, TypeError, AttributeError)
"""What decoding a damaged value raises."""
TABLES = {
    "about": "built_with, crc",
    "commits": "generation, mark",
    "contents": "content, hash, text",
    "documents": "document, id, content, source, title, url, metadata, marks, chunks, signature, added_at",
    "files": "source, stamp",
    "vectors": "vector, hash, value, crc",
    "chunks": 'row, id, document, position, start, "end", context, facts, vector, generation',
    "removals": "row, generation",
    "facts": "document, chunk, key, value",
    "layouts": "document, value, crc",
    "skipped": "source, reason",
}
"""The tables and columns of a catalog, referenced tables first. A database may keep more columns for its indexes."""
DOCUMENTS = """
    SELECT d.id, t.text, d.source, d.title, d.url, d.metadata, d.marks FROM documents d JOIN contents t USING (content)
"""
"""The columns of `document_from`."""
CHUNKS = """
    SELECT c.row, c.id, d.id, c.position, d.chunks, c.start, c."end",
           substr(t.text, c.start + 1, c."end" - c.start), d.title, d.url, d.metadata, c.context, c.facts
    FROM chunks c JOIN documents d USING (document) JOIN contents t USING (content)
"""
"""The columns of `chunk_from`."""


def new_mark() -> str:
    """Return a mark that tells a commit from those with the same number in another history."""
    return secrets.token_hex(8)


def signature(document: Document) -> str:
    """Return a hash of everything about a document but the reading itself: with an equal hash, there is nothing to do.

    It includes boxes only if the document has them, so that the signatures of other documents stay the same.
    """
    facts = {key: value for key, value in document.metadata.items() if key not in OF_READING}
    written = json.dumps(facts, sort_keys=True, ensure_ascii=False)
    parts = [
        document.content_hash,
        document.source,
        document.title,
        document.url,
        written,
        marks_to_json(document.marks),
        *([hashlib.sha256(columns(document.placed)).hexdigest()] if document.placed else ()),
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def text_hash(text: str) -> str:
    """Return the hash by which equal texts, with their context, share one vector."""
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:32]


def facts_of(metadata: Metadata) -> Iterator[tuple[str, Value]]:
    """Yield metadata as filters see it: one row for each value."""
    for key, value in metadata.items():
        members = value if isinstance(value, tuple) else (value,)
        for member in (NOBODY,) if key == READERS and not members else members:
            yield key, stored_value(member)


def packed(vectors: Mapping[K, Vector]) -> Iterator[tuple[K, bytes]]:
    """Yield vectors as the database stores them."""
    return ((key, np.ascontiguousarray(vector, "<f4").tobytes()) for key, vector in vectors.items())


def stacked(values: Sequence[bytes], dimensions: int) -> Vector:
    """Return stored vectors as one array: shape (values, dimensions)."""
    return np.frombuffer(b"".join(values), "<f4").reshape(len(values), dimensions)


def chunk_from(row: Sequence[Any]) -> Chunk:
    """Return the chunk in a row of `CHUNKS`."""
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


def cut(rows: Iterable[Sequence[Any]]) -> Iterator[tuple[int, Chunk]]:
    """Yield row and chunk of rows of `Database.uncut`, which give each text once, with the first of its chunks.

    If the database cut the chunks, it would read a long document once for each of them.
    """
    text = ""
    for row in rows:
        text = text if row[7] is None else row[7]
        yield row[0], chunk_from([*row[:7], text[row[5] : row[6]], *row[8:]])


def document_from(row: Sequence[Any]) -> Document:
    """Return the document in a row of `DOCUMENTS`."""
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


def summary_from(row: Sequence[Any]) -> DocumentSummary:
    """Return the entry of a listing in a row of id, title, url, source, metadata, characters, chunks and time."""
    id, title, url, source, metadata, characters, chunks, added = row
    return DocumentSummary(
        document_id=id,
        title=title,
        url=url,
        source=source,
        metadata=metadata_from_json(metadata),
        characters=characters,
        chunks=chunks,
        added=added,
    )


def endings(id: str) -> list[str]:
    """Return the ends, all of one length, of full ids whose last part is ``id``."""
    return [id] if id[0] in "/#" else [f"/{id}", f"#{id}"]


def only(id: str, rows: Sequence[Sequence[Any]]) -> Document:
    """Return the document of the single row for an id; raise `NotFound` for none or several."""
    if len(rows) != 1:
        several = f"; it could be {', '.join(row[0] for row in rows)}" if rows else ""
        raise NotFound(f"there is no document '{id}'{several}")
    return document_from(rows[0])


def marks_to_json(marks: Sequence[Mark]) -> str:
    """Return the marks of a document as the database stores them.

    Only tables with column headings store how many, so that the signature of any other document stays the same.
    """
    return facts_to_json(
        [
            [mark.kind, mark.start, mark.end, mark.level, mark.label, *([mark.header] if mark.header else ())]
            for mark in marks
        ]
    )


def marks_from_json(text: str) -> tuple[Mark, ...]:
    """Return stored marks; raise `Damaged` if they cannot be read."""
    with _decoding():
        return tuple(
            Mark(kind=kind, start=start, end=end, level=level, label=label, header=header[0] if header else 0)
            for kind, start, end, level, label, *header in json.loads(text)
        )


def layout_from(value: bytes, crc: int) -> tuple[Placed, ...]:
    """Return the stored boxes of a document; raise `Damaged` if they cannot be read."""
    with _decoding():
        if crc32(value) != crc:
            raise ValueError("the boxes of the text are damaged")
        return unpacked(value)


def facts_to_json(facts: object) -> str:
    """Return the metadata of a chunk as the database stores it."""
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":"))


def metadata_from_json(text: str) -> Metadata:
    """Return stored metadata; raise `Damaged` if it cannot be read."""
    if text == "{}":
        return {}
    try:
        stored: dict[str, Scalar | list[Scalar]] = json.loads(text)
        return {key: tuple(value) if isinstance(value, list) else value for key, value in stored.items()}
    except _UNREADABLE as error:
        raise _damaged(error) from error


@contextmanager
def _decoding() -> Generator[None]:
    try:
        yield
    except _UNREADABLE as error:
        raise _damaged(error) from error


def _damaged(error: Exception) -> Damaged:
    return Damaged(f"a stored document cannot be read ({error}); to find out which, run: ragstone doctor")
