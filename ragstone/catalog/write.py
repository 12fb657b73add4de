"""What a transaction does to the catalog's tables: documents in, documents out, and what loses its last reference.

Each step is one statement for all documents of a commit, because a statement may be a journey to a server.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ragstone.catalog.database import Dialect, Transaction
from ragstone.catalog.protocol import Prepared
from ragstone.catalog.rows import TABLES, facts_of, facts_to_json, marks_to_json, new_mark, packed, signature
from ragstone.core import layout
from ragstone.core.access import READERS, REMOVED
from ragstone.core.errors import NotFound
from ragstone.core.layout import Placed
from ragstone.core.records import ATTACHED, Document
from ragstone.storage.sqlite import crc32

if TYPE_CHECKING:
    from ragstone.core.records import Vector


@dataclass(slots=True)
class Orphans:
    """Vectors and texts that lost a reference, to be deleted at the end of the transaction if none is left.

    Not before: a paragraph that moves to another document needs its vector again.
    """

    vectors: set[int] = field(default_factory=set[int])
    contents: set[int] = field(default_factory=set[int])

    def delete(self, tx: Transaction, dialect: Dialect) -> None:
        """Delete what has no reference left."""
        for table, column, used_by, numbers in (
            ("vectors", "vector", "chunks", self.vectors),
            ("contents", "content", "documents", self.contents),
        ):
            if numbers:
                unused = f"NOT EXISTS (SELECT 1 FROM {used_by} u WHERE u.{column} = {table}.{column})"
                tx.rows(
                    f"DELETE FROM {table} WHERE {column} {dialect.in_values} AND {unused}", [dialect.values(numbers)]
                )


def put(
    tx: Transaction, dialect: Dialect, prepared: Sequence[Prepared], vectors: Mapping[str, Vector], orphans: Orphans
) -> None:
    """Store documents in place of those with the same ids; the later of two with one id counts."""
    wanted = list({one.document.id: one for one in prepared}.values())
    if not wanted:
        return
    _put_vectors(tx, dialect, [hash for one in wanted for hash in one.hashes], vectors)
    documents = [one.document for one in wanted]
    numbers = _put_documents(tx, dialect, documents, [len(one.chunks) for one in wanted], orphans)
    _put_layouts(tx, dialect, {numbers[one.id]: one.placed for one in documents})
    facts = _put_chunks(tx, dialect, numbers, wanted, orphans)
    tx.rows(
        f"DELETE FROM facts WHERE document {dialect.in_values} AND chunk IS NULL",
        [dialect.values(numbers.values())],
    )
    facts += [(numbers[one.id], None, *fact) for one in documents for fact in facts_of(one.metadata)]
    tx.insert("facts", TABLES["facts"], facts)
    sources = {one.document.source for one in prepared}
    tx.rows(f"DELETE FROM skipped WHERE {dialect.source_column} {dialect.in_values}", [dialect.keys(sources)])


def take_out(tx: Transaction, dialect: Dialect, ids: Sequence[str], orphans: Orphans) -> None:
    """Remove documents; raise `NotFound` if one does not exist."""
    found = tx.rows(
        f"SELECT document, id, content, source FROM documents WHERE {dialect.id_column} {dialect.in_values}",
        [dialect.keys(ids)],
    )
    stored = {id for _, id, _, _ in found}
    if missing := [id for n, id in enumerate(ids) if id not in stored or id in ids[:n]]:
        raise NotFound(f"there is no document '{missing[0]}'")
    # Their files are no longer stored completely: whoever reads the folder next reads them again.
    around = {
        source[:end]
        for *_, source in found
        for end in (*(i for i, char in enumerate(source) if char in "/#"), len(source))
    }
    tx.rows(f"DELETE FROM files WHERE {dialect.source_column} {dialect.in_values}", [dialect.keys(around)])
    sources = {source for *_, source in found}
    tx.rows(f"DELETE FROM skipped WHERE {dialect.source_column} {dialect.in_values}", [dialect.keys(sources)])
    documents = dialect.values([document for document, *_ in found])
    rows = tx.rows(f"SELECT row FROM chunks WHERE document {dialect.in_values}", [documents])
    _drop_chunks(tx, dialect, [row for (row,) in rows], orphans)
    tx.rows(f"DELETE FROM facts WHERE document {dialect.in_values}", [documents])
    tx.rows(f"DELETE FROM layouts WHERE document {dialect.in_values}", [documents])
    tx.rows(f"DELETE FROM documents WHERE document {dialect.in_values}", [documents])
    orphans.contents |= {content for _, _, content, _ in found}


def withdraw(tx: Transaction, dialect: Dialect, documents: Iterable[Document], before: Mapping[str, str]) -> None:
    """Put attached documents into the group of removed ones, unless their signature is another than ``before``."""
    sql = (
        f"UPDATE documents SET metadata = ?, signature = ? WHERE {dialect.id_column} = ? AND signature = ?"
        " RETURNING document"
    )
    for document in documents:
        metadata = {**document.metadata, READERS: (REMOVED,), ATTACHED: REMOVED}
        signed = signature(replace(document, metadata=metadata))
        values = [json.dumps(metadata, ensure_ascii=False), signed, dialect.key(document.id), before[document.id]]
        for (number,) in tx.rows(sql, values):
            tx.rows("DELETE FROM facts WHERE document = ? AND chunk IS NULL", [number])
            tx.insert("facts", TABLES["facts"], [(number, None, *fact) for fact in facts_of(metadata)])


def erase(tx: Transaction, dialect: Dialect, ids: Sequence[str], sources: Sequence[str]) -> None:
    """Remove documents and notes on files, as far as they are stored, and give every commit a new mark."""
    orphans = Orphans()
    stored = tx.rows(f"SELECT id FROM documents WHERE {dialect.id_column} {dialect.in_values}", [dialect.keys(ids)])
    take_out(tx, dialect, [id for (id,) in stored], orphans)
    orphans.delete(tx, dialect)
    for source in sources:
        under, values = dialect.under(source)
        for table in ("files", "skipped"):
            tx.rows(f"DELETE FROM {table} WHERE {under}", values)
    tx.rows("UPDATE commits SET mark = ?", [new_mark()])


def put_files(tx: Transaction, files: Iterable[tuple[str, str]]) -> None:
    """Record files that are completely stored, with their states."""
    tx.upsert("files", "source, stamp", list(dict(files).items()))


def put_skipped(tx: Transaction, skipped: Iterable[tuple[str, str]]) -> None:
    """Record sources that could not be read, with the reasons."""
    tx.upsert("skipped", "source, reason", list(dict(skipped).items()))


def _put_vectors(tx: Transaction, dialect: Dialect, hashes: Sequence[str], vectors: Mapping[str, Vector]) -> None:
    # In the order of the documents, so that vectors that are read together lie together.
    new = {hash: vectors[hash] for hash in hashes if hash in vectors}
    for (hash,) in tx.rows(f"SELECT hash FROM vectors WHERE hash {dialect.in_values}", [dialect.values(new)]):
        del new[hash]
    tx.insert("vectors", "hash, value, crc", ((hash, value, crc32(value)) for hash, value in packed(new)))


def _put_documents(
    tx: Transaction, dialect: Dialect, documents: Sequence[Document], chunks: Sequence[int], orphans: Orphans
) -> dict[str, int]:
    """Store the rows of the documents and return their numbers by their ids."""
    texts = {one.content_hash: one.text for one in documents}
    stored = f"SELECT hash, content FROM contents WHERE hash {dialect.in_values}"
    content_of = dict(tx.rows(stored, [dialect.values(texts)]))
    new = {hash: text for hash, text in texts.items() if hash not in content_of}
    tx.insert("contents", "hash, text", new.items())
    content_of |= dict(tx.rows(stored, [dialect.values(new)]))
    ids = dialect.keys([one.id for one in documents])
    before = tx.rows(f"SELECT content FROM documents WHERE {dialect.id_column} {dialect.in_values}", [ids])
    orphans.contents |= {content for (content,) in before}
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    rows = [
        (
            one.id,
            content_of[one.content_hash],
            one.source,
            one.title,
            one.url,
            json.dumps(one.metadata, ensure_ascii=False),
            marks_to_json(one.marks),
            count,
            signature(one),
            now,
        )
        for one, count in zip(documents, chunks, strict=True)
    ]
    tx.upsert("documents", "id, content, source, title, url, metadata, marks, chunks, signature, added_at", rows)
    return dict(tx.rows(f"SELECT id, document FROM documents WHERE {dialect.id_column} {dialect.in_values}", [ids]))


def _put_layouts(tx: Transaction, dialect: Dialect, layouts: Mapping[int, Sequence[Placed]]) -> None:
    """Replace the boxes of the documents with these numbers."""
    tx.rows(f"DELETE FROM layouts WHERE document {dialect.in_values}", [dialect.values(layouts)])
    values = {number: layout.packed(placed) for number, placed in layouts.items() if placed}
    tx.insert("layouts", TABLES["layouts"], ((number, value, crc32(value)) for number, value in values.items()))


def _put_chunks(
    tx: Transaction, dialect: Dialect, numbers: Mapping[str, int], prepared: Sequence[Prepared], orphans: Orphans
) -> list[Sequence[Any]]:
    """Make the stored chunks those of the documents and return the metadata of the new ones.

    A chunk that is unchanged keeps its row.
    """
    hashes = dialect.values({hash for one in prepared for hash in one.hashes})
    vector_of = dict(tx.rows(f"SELECT hash, vector FROM vectors WHERE hash {dialect.in_values}", [hashes]))
    columns = 'document, id, start, "end", context, facts, vector'
    documents = dialect.values(numbers.values())
    stored = tx.rows(f"SELECT row, {columns} FROM chunks WHERE document {dialect.in_values}", [documents])
    before = {tuple(key): row for row, *key in stored}
    wanted = {
        (
            numbers[one.document.id],
            chunk.id,
            chunk.start,
            chunk.end,
            chunk.context,
            facts_to_json(chunk.facts),
            vector_of[hash],
        ): chunk
        for one in prepared
        for chunk, hash in zip(one.chunks, one.hashes, strict=True)
    }
    _drop_chunks(tx, dialect, [row for key, row in before.items() if key not in wanted], orphans)
    new = [(key, chunk) for key, chunk in wanted.items() if key not in before]
    rows = tx.new_rows(len(new))
    placed = [(row, *key, chunk.index, tx.generation) for row, (key, chunk) in zip(rows, new, strict=True)]
    tx.insert("chunks", f"row, {columns}, position, generation", placed)
    return [(key[0], row, *fact) for row, (key, chunk) in zip(rows, new, strict=True) for fact in facts_of(chunk.facts)]


def _drop_chunks(tx: Transaction, dialect: Dialect, rows: Sequence[int], orphans: Orphans) -> None:
    if not rows:
        return
    chosen = dialect.values(sorted(rows))
    vectors = tx.rows(f"SELECT vector FROM chunks WHERE row {dialect.in_values}", [chosen])
    orphans.vectors |= {vector for (vector,) in vectors}
    tx.insert("removals", "row, generation", ((row, tx.generation) for row in sorted(rows)))
    tx.rows(f"DELETE FROM facts WHERE chunk {dialect.in_values}", [chosen])
    tx.rows(f"DELETE FROM chunks WHERE row {dialect.in_values}", [chosen])
