"""Reading runs ahead of embedding, but not far; what is told is durable; a failure stops everything in order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from hash_embedder import HashEmbedder
from kb import CHUNKS, check_whole, look, open_fast, parts

from ragstone.core.access import OWNER
from ragstone.core.records import Document
from ragstone.core.reports import Progress
from ragstone.core.request import Request
from ragstone.engine import pipeline
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.pipeline import BATCH_CHARACTERS, BATCH_DOCUMENTS, MAX_COMMIT_CHUNKS, ingest


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[KnowledgeBase]:
    engine = open_fast(tmp_path / "kb")
    yield engine
    engine.close()


def path_of(engine: KnowledgeBase) -> Path:
    return parts(engine).source.path / "catalog.db"


class Source:
    """Documents of a chunk each, made when they are asked for; knows how many were."""

    def __init__(self, count: int) -> None:
        self.count, self.made = count, 0

    def __iter__(self) -> Iterator[Document]:
        for i in range(self.count):
            self.made += 1
            yield Document(id=f"d{i}", text=f"text number {i}")


def test_a_source_is_pulled_one_commit_ahead_and_no_further(engine: KnowledgeBase) -> None:
    source, ahead = Source(10 * MAX_COMMIT_CHUNKS), []

    class Watching(HashEmbedder):
        async def embed(self, texts, *, role, request: Request):  # pyright: ignore[reportMissingParameterType]
            before = source.made
            for _ in range(200):  # time enough to run away
                await asyncio.sleep(0.001)
            ahead.append((source.made - len(self.seen), source.made - before))
            return await super().embed(texts, role=role, request=request)

    report = asyncio.run(ingest(source, parts(engine).catalog, Watching(), CHUNKS, Request.by_owner("ingest")))
    assert report.added == source.made == source.count
    assert max(pulled for pulled, _ in ahead) <= 2 * MAX_COMMIT_CHUNKS + BATCH_DOCUMENTS
    assert any(during > 0 for _, during in ahead), "nothing was read while embedding"


def test_few_large_texts_are_read_at_once() -> None:
    large = Document(id="d", text="x" * (BATCH_CHARACTERS // 2))
    assert len(pipeline._read_batch(iter([large] * 9), Event())) == 2


def test_what_is_told_is_durable_and_in_order(engine: KnowledgeBase) -> None:
    told: list[str] = []

    def tell(progress: Progress) -> None:
        told.extend(progress.committed)
        stored = {id for (id,) in look(path_of(engine), "SELECT id FROM documents")}
        assert set(told) == stored
        assert progress.documents == len(told) == progress.chunks == progress.embedded

    asyncio.run(engine.documents.add(list(Source(3 * MAX_COMMIT_CHUNKS + 5)), on_progress=tell))
    assert told == [f"d{i}" for i in range(3 * MAX_COMMIT_CHUNKS + 5)]


def test_versions_of_a_document_in_commits_under_way_end_with_the_last(engine: KnowledgeBase) -> None:
    def stream() -> Iterator[Document]:
        for text in ("one", "two", "one", "two", "two"):
            yield Document(id="same", text=text)
            yield from Source(MAX_COMMIT_CHUNKS)

    report = asyncio.run(ingest(stream(), parts(engine).catalog, HashEmbedder(), CHUNKS, Request.by_owner("ingest")))
    assert (report.added, report.updated) == (MAX_COMMIT_CHUNKS + 1, 3)
    assert engine.documents.get("same", reader=OWNER).text == "two"
    check_whole(path_of(engine))


@pytest.mark.parametrize("kind", [RuntimeError, asyncio.CancelledError])
def test_an_embedder_that_fails_leaves_what_was_committed(engine: KnowledgeBase, kind: type[BaseException]) -> None:
    class Failing(HashEmbedder):
        async def embed(self, texts, *, role, request: Request):  # pyright: ignore[reportMissingParameterType]
            if len(self.seen) >= MAX_COMMIT_CHUNKS:
                raise kind("enough")
            return await super().embed(texts, role=role, request=request)

    source, embedder = Source(20 * MAX_COMMIT_CHUNKS), Failing()
    with pytest.raises(kind):
        asyncio.run(ingest(source, parts(engine).catalog, embedder, CHUNKS, Request.by_owner("ingest")))
    assert source.made < 5 * MAX_COMMIT_CHUNKS
    assert look(path_of(engine), "SELECT count(*) FROM documents") == [(len(embedder.seen),)]
    check_whole(path_of(engine))
