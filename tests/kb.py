"""Knowledge bases for tests: an engine with the fast embedder, and looks behind the curtain."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hash_embedder import HashEmbedder

from ragstone import index
from ragstone.acquire import read_given
from ragstone.catalog.lock import Patience
from ragstone.catalog.protocol import Catalog, Prepared
from ragstone.catalog.sqlite import open_catalog
from ragstone.chunk import split
from ragstone.core.access import OWNER, Reader
from ragstone.core.answers import Answer, Answered
from ragstone.core.protocols import Embedder
from ragstone.core.records import OF_READING, Chunk, Document
from ragstone.core.reports import AddReport
from ragstone.core.request import Request
from ragstone.engine.ask import Ask
from ragstone.engine.components import Components
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.settings import AcquireSettings, ChunkSettings

READY = "respond.abstain_below=0.05"
"""Answers although the embedder of tests has no coefficients, so that estimates are low."""
FAST = ("index.embedder=hash_embedder:HashEmbedder", "chunk.strategy=paragraph", "chunk.size=200", "chunk.overlap=0")
CHUNKS = ChunkSettings(strategy="paragraph", size=200, overlap=0)


def timeless(document: Document) -> Document:
    """Return a document without what differs each time that it is read, to compare it with one read at another time."""
    kept = {name: value for name, value in document.metadata.items() if name not in OF_READING}
    return replace(document, metadata=kept)


def derived(document: Document) -> Document:
    """Return a document with the metadata that it gets when it is added."""
    found = read_given(document, AcquireSettings())
    assert isinstance(found, Document)
    return found


def _timeless(documents: Mapping[str, Document]) -> dict[str, Document]:
    return {id: timeless(document) for id, document in documents.items()}


def open_fast(
    folder: Path,
    *settings: str,
    create: bool = True,
    embedder: Embedder | None = None,
    patience: Patience | None = None,
) -> KnowledgeBase:
    """Open a knowledge base with the fast embedder, or with one that a test brings."""
    overrides = (*FAST, *settings) if create else settings
    build = index.build_embedder if embedder is None else lambda *_: embedder
    return KnowledgeBase.open(folder, overrides, create=create, patience=patience, build_embedder=build)


def parts(engine: KnowledgeBase) -> Components:
    """Return the parts of the version in use; they stay open as long as the knowledge base does."""
    with engine.current() as version:
        return version


def calls_on_the_loop(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> list[str]:
    """Return the calls of a function from the thread of an event loop, which they would block; a test makes them."""
    called, noted = getattr(owner, name), list[str]()

    def calling(*args: Any, **options: Any) -> Any:
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            noted.append(name)
        return called(*args, **options)

    monkeypatch.setattr(owner, name, calling)
    return noted


async def answered(version: Components, question: str, reader: Reader = OWNER) -> Answer:
    """Answer a question from these parts, which a test may have replaced."""
    async for event in Ask(version).stream(question, None, version.request(reader)):
        if isinstance(event, Answered):
            return event.answer
    raise AssertionError("the stream ended without an answer")


def add(engine: KnowledgeBase, *documents: Document | str) -> AddReport:
    return asyncio.run(engine.documents.add(list(documents)))


def embedder_of(engine: KnowledgeBase) -> HashEmbedder:
    embedder = parts(engine).models.embedder()
    assert isinstance(embedder, HashEmbedder)
    return embedder


def prepare(document: Document, settings: ChunkSettings = CHUNKS) -> Prepared:
    chunks = tuple(split(document, settings, HashEmbedder().tokens))
    return Prepared(document=document, chunks=chunks, hashes=tuple(hash_of(chunk) for chunk in chunks))


def hash_of(chunk: Chunk) -> str:
    return hashlib.sha256(chunk.embedded.encode()).hexdigest()[:32]


def commit(catalog: Catalog, *documents: Document, settings: ChunkSettings = CHUNKS) -> None:
    """Store documents with the vectors that are missing."""
    prepared = [prepare(document, settings) for document in documents]
    texts = {hash: one.embedded for p in prepared for hash, one in zip(p.hashes, p.chunks, strict=True)}
    known = catalog.embedded(list(texts))
    missing = {hash: text for hash, text in texts.items() if hash not in known}
    vectors = asyncio.run(HashEmbedder().embed(list(missing.values()), role="passage", request=Request.by_owner()))
    catalog.commit(prepared, dict(zip(missing, vectors, strict=True)))


def look(path: Path, sql: str, values: Sequence[object] = ()) -> list[tuple]:
    """Read the database itself, past the class that is tested."""
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.close()


def check_whole(
    path: Path,
    expected: Mapping[str, Document] | None = None,
    settings: ChunkSettings = CHUNKS,
    *,
    contexts: bool = True,
) -> None:
    """The catalog holds what it should, all of that, and nothing that nobody refers to.

    Contexts that an older Ragstone gave to chunks, and vectors with them, stay until they are rebuilt.
    """
    assert look(path, "PRAGMA integrity_check") == [("ok",)]
    assert look(path, "PRAGMA foreign_key_check") == []
    for orphans in (
        "SELECT * FROM vectors WHERE vector NOT IN (SELECT vector FROM chunks)",
        "SELECT * FROM contents WHERE content NOT IN (SELECT content FROM documents)",
        "SELECT * FROM facts WHERE document NOT IN (SELECT document FROM documents)",
        "SELECT * FROM chunks WHERE row IN (SELECT row FROM removals)",
        "SELECT * FROM documents d WHERE chunks <> (SELECT count(*) FROM chunks c WHERE c.document = d.document)",
    ):
        assert look(path, orphans) == [], orphans
    catalog = open_catalog(path)
    try:
        stored = {document.id: document for document in catalog.documents()}
        if expected is not None:
            assert _timeless(stored) == _timeless({id: derived(one) for id, one in expected.items()})
        rows = [row for (row,) in look(path, "SELECT row FROM chunks")]
        chunks = catalog.chunks(rows)
        wanted = {
            chunk.id: chunk
            for document in stored.values()
            for chunk in split(document, settings, HashEmbedder().tokens)
        }
        if not contexts:
            wanted = {chunk.id: replace(wanted[chunk.id], context=chunk.context) for chunk in chunks.values()}
        assert {chunk.id: chunk for chunk in chunks.values()} == wanted
        vectors = catalog.vectors(rows)
        for row, chunk in chunks.items():
            texts = [chunk.embedded] if contexts else [chunk.embedded, chunk.headed]
            possible = asyncio.run(HashEmbedder().embed(texts, role="passage", request=Request.by_owner()))
            assert any(np.allclose(vectors[row], one, atol=1e-6) for one in possible)
    finally:
        catalog.close()
