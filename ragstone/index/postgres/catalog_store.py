"""What a transaction does to the tables of a catalog in PostgreSQL: many documents in, or out, at once.

The same as `ragstone.index.catalog.store` does to SQLite's, in as few statements as can be, for each takes a journey.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ragstone.contracts import Document
from ragstone.errors import NotFound
from ragstone.index.catalog.migrations import crc32
from ragstone.index.catalog.store import (
    Orphans,
    Prepared,
    facts_of,
    facts_to_json,
    marks_to_json,
    packed,
    signature,
    text_hash,
)
from ragstone.index.postgres.catalog_facts import columns_of

if TYPE_CHECKING:
    from ragstone.contracts import Vector
    from ragstone.index.postgres.connection import Connection

_UNDER = """(source_hash = {hash} OR (left(source, 500) >= left({root} || '/', 500)
    AND left(source, 500) <= left({root} || '0', 500) AND source > {root} || '/' AND source < {root} || '0')
    OR (left(source, 500) >= left({root} || '#', 500) AND left(source, 500) <= left({root} || '$', 500)
    AND source > {root} || '#' AND source < {root} || '$'))"""
UNDER = _UNDER.format(root="%(root)s::text", hash="%(hash)s")
"""Whether a source is another one or lies in it; see `ragstone.index.catalog.store`."""
UNDER_NAMED = _UNDER.format(root="named.root", hash="named.hash")
"""The same of a table ``named``."""


def under(root: str) -> dict[str, str]:
    """The values for `UNDER`."""
    return {"root": root, "hash": text_hash(root)}


def put(
    db: Connection, prepared: Sequence[Prepared], vectors: Mapping[str, Vector], generation: int, orphans: Orphans
) -> None:
    """Store documents, in the place of those with the same ids; of two with one id the later counts."""
    by_id = {one.document.id: one for one in prepared}
    if not by_id:
        return
    wanted = list(by_id.values())
    _put_vectors(db, {hash for one in wanted for hash in one.hashes}, vectors)
    numbers = _put_documents(db, [one.document for one in wanted], [len(one.chunks) for one in wanted], orphans)
    facts = _put_chunks(db, numbers, wanted, generation, orphans)
    db.execute("DELETE FROM facts WHERE document = ANY(%s) AND chunk IS NULL", [list(numbers.values())])
    facts += [(numbers[one.document.id], None, *fact) for one in wanted for fact in facts_of(one.document.metadata)]
    put_facts(db, facts)
    sources = [text_hash(one.document.source) for one in prepared]
    db.execute("DELETE FROM skipped WHERE source_hash = ANY(%s)", [sources])


def take_out(db: Connection, ids: Sequence[str], generation: int, orphans: Orphans) -> None:
    """Remove documents; `NotFound` where one is not there."""
    asked = [text_hash(id) for id in ids]
    found = db.execute(
        "SELECT document, id, content, source FROM documents WHERE id_hash = ANY(%s)", [asked]
    ).fetchall()
    there = {id for _, id, _, _ in found}
    if missing := [id for id in ids if id not in there] or [id for n, id in enumerate(ids) if id in ids[:n]]:
        raise NotFound(f"there is no document '{missing[0]}'")
    # Their files are no longer stored whole: the next one who reads the folder reads them again.
    around = {
        source[:end]
        for *_, source in found
        for end in (*(i for i, char in enumerate(source) if char in "/#"), len(source))
    }
    db.execute("DELETE FROM files WHERE source_hash = ANY(%s)", [[text_hash(source) for source in around]])
    db.execute("DELETE FROM skipped WHERE source_hash = ANY(%s)", [[text_hash(source) for *_, source in found]])
    documents = [document for document, *_ in found]
    rows = db.execute("SELECT row FROM chunks WHERE document = ANY(%s)", [documents]).fetchall()
    _drop_chunks(db, [row for (row,) in rows], generation, orphans)
    db.execute("DELETE FROM facts WHERE document = ANY(%s)", [documents])
    db.execute("DELETE FROM documents WHERE document = ANY(%s)", [documents])
    orphans.contents |= {content for _, _, content, _ in found}


def clear(db: Connection, orphans: Orphans) -> None:
    """Delete what has no reference left."""
    if orphans.vectors:
        sql = "DELETE FROM vectors v WHERE vector = ANY(%s)"
        sql += " AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.vector = v.vector)"
        db.execute(sql.encode(), [list(orphans.vectors)])
    if orphans.contents:
        sql = "DELETE FROM contents t WHERE content = ANY(%s)"
        sql += " AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.content = t.content)"
        db.execute(sql.encode(), [list(orphans.contents)])


def put_files(db: Connection, files: Iterable[tuple[str, str]]) -> None:
    """Note files of which everything is stored, and their states."""
    rows = {text_hash(source): (source, stamp) for source, stamp in files}
    if rows:
        sql = """
            INSERT INTO files (source_hash, source, stamp) SELECT * FROM unnest(%s::text[], %s::text[], %s::text[])
            ON CONFLICT (source_hash) DO UPDATE SET stamp = excluded.stamp
        """
        db.execute(sql, [list(rows), *map(list, zip(*rows.values(), strict=True))])


def put_skipped(db: Connection, skipped: Iterable[tuple[str, str]]) -> None:
    """Note what could not be read, and why."""
    rows = {text_hash(source): (source, reason) for source, reason in skipped}
    if rows:
        sql = """
            INSERT INTO skipped (source_hash, source, reason) SELECT * FROM unnest(%s::text[], %s::text[], %s::text[])
            ON CONFLICT (source_hash) DO UPDATE SET reason = excluded.reason
        """
        db.execute(sql, [list(rows), *map(list, zip(*rows.values(), strict=True))])


def put_facts(db: Connection, facts: Iterable[Sequence[Any]]) -> None:
    """Metadata, a row for each value: document, chunk or nothing, key, value."""
    rows = ((document, chunk, key, *columns_of(value)) for document, chunk, key, value in facts)
    copy(db, "facts (document, chunk, key, kind, value, number)", rows)


def copy(db: Connection, table: str, rows: Iterable[Sequence[Any]], types: Sequence[str] = ()) -> None:
    """Many rows at once; with the types of their columns in the binary form."""
    form = " (FORMAT binary)" if types else ""
    with db.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN{form}".encode()) as into:
        if types:
            into.set_types(types)
        for row in rows:
            into.write_row(row)


def _put_vectors(db: Connection, hashes: set[str], vectors: Mapping[str, Vector]) -> None:
    new = {hash: vectors[hash] for hash in sorted(hashes) if hash in vectors}
    if not new:
        return
    known = db.execute("SELECT hash FROM vectors WHERE hash = ANY(%s)", [list(new)]).fetchall()
    for (hash,) in known:
        del new[hash]
    rows = ((hash, value, crc32(value)) for hash, value in packed(new))
    copy(db, "vectors (hash, value, crc)", rows, ("text", "bytea", "int8"))


def _put_documents(
    db: Connection, documents: Sequence[Document], chunks: Sequence[int], orphans: Orphans
) -> dict[str, int]:
    """The rows of the documents; gives their numbers by their ids."""
    texts = {one.content_hash: one.text for one in documents}
    sql = "INSERT INTO contents (hash, text) SELECT * FROM unnest(%s::text[], %s::text[]) ON CONFLICT DO NOTHING"
    db.execute(sql, [list(texts), list(texts.values())])
    found = db.execute("SELECT hash, content FROM contents WHERE hash = ANY(%s)", [list(texts)]).fetchall()
    content_of = dict(found)
    hashes = [text_hash(one.id) for one in documents]
    before = db.execute("SELECT content FROM documents WHERE id_hash = ANY(%s)", [hashes]).fetchall()
    orphans.contents |= {content for (content,) in before}
    now = datetime.now(UTC).isoformat(timespec="seconds")
    rows = [
        (
            one.id,
            hash,
            content_of[one.content_hash],
            one.source,
            text_hash(one.source),
            one.title,
            one.url,
            json.dumps(one.metadata, ensure_ascii=False),
            marks_to_json(one.marks),
            count,
            signature(one),
            now,
        )
        for one, hash, count in zip(documents, hashes, chunks, strict=True)
    ]
    columns = (
        "content",
        "source",
        "source_hash",
        "title",
        "url",
        "metadata",
        "marks",
        "chunks",
        "signature",
        "added_at",
    )
    kinds = ", ".join(f"%s::{'bigint' if name in ('content', 'chunks') else 'text'}[]" for name in columns)
    sql = f"""
        INSERT INTO documents (id, id_hash, {", ".join(columns)}) SELECT * FROM unnest(%s::text[], %s::text[], {kinds})
        ON CONFLICT (id_hash) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in columns)}
        RETURNING id, document
    """  # noqa: S608
    return dict(db.execute(sql.encode(), list(map(list, zip(*rows, strict=True)))).fetchall())


def _put_chunks(
    db: Connection, numbers: Mapping[str, int], prepared: Sequence[Prepared], generation: int, orphans: Orphans
) -> list[Sequence[Any]]:
    """Make the stored chunks those of the documents; a chunk that is the same keeps its row. Gives facts to be put."""
    hashes = list({hash for one in prepared for hash in one.hashes})
    vector_of = dict(db.execute("SELECT hash, vector FROM vectors WHERE hash = ANY(%s)", [hashes]).fetchall())
    columns = 'document, id, start, "end", context, facts, vector'
    sql = f"SELECT row, {columns} FROM chunks WHERE document = ANY(%s)"  # noqa: S608
    before = {tuple(key): row for row, *key in db.execute(sql.encode(), [list(numbers.values())])}
    wanted = {
        (
            numbers[one.document.id],
            chunk.id,
            chunk.start,
            chunk.end,
            chunk.context,
            facts_to_json(chunk.facts),
            v,
        ): chunk
        for one in prepared
        for chunk, v in zip(one.chunks, (vector_of[hash] for hash in one.hashes), strict=True)
    }
    _drop_chunks(db, [row for key, row in before.items() if key not in wanted], generation, orphans)
    new = [(key, chunk) for key, chunk in wanted.items() if key not in before]
    rows = _numbers(db, "chunks_numbers", len(new))
    placed = [(row, *key, chunk.index, generation) for row, (key, chunk) in zip(rows, new, strict=True)]
    if placed:
        copy(db, f"chunks (row, {columns}, position, generation)", placed)
    return [(key[0], row, *fact) for row, (key, chunk) in zip(rows, new, strict=True) for fact in facts_of(chunk.facts)]


def _numbers(db: Connection, sequence: str, count: int) -> list[int]:
    """Numbers never used before, ascending."""
    found: Iterator[Any] = iter(
        db.execute("SELECT nextval(%s::text::regclass) FROM generate_series(1, %s)", [sequence, count])
    )
    return sorted(number for (number,) in found)


def _drop_chunks(db: Connection, rows: Sequence[int], generation: int, orphans: Orphans) -> None:
    if not rows:
        return
    rows = sorted(rows)
    found = db.execute("SELECT vector FROM chunks WHERE row = ANY(%s)", [rows]).fetchall()
    orphans.vectors |= {vector for (vector,) in found}
    db.execute("INSERT INTO removals SELECT row, %s FROM unnest(%s::bigint[]) AS gone (row)", [generation, rows])
    db.execute("DELETE FROM facts WHERE chunk = ANY(%s)", [rows])
    db.execute("DELETE FROM chunks WHERE row = ANY(%s)", [rows])
