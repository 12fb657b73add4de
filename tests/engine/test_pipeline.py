"""Reading runs ahead of embedding, but not far; what is told is durable; a failure stops everything in order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from hash_embedder import HashEmbedder
from kb import CHUNKS, check_whole, look, open_fast

from ragstone.contracts import Document
from ragstone.engine import Engine
from ragstone.keeping import ingest as pipeline
from ragstone.keeping.ingest import COMMITTED, LOOKED_AT, READ_AT_ONCE, ingest
from ragstone.reports import Progress


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = open_fast(tmp_path / "kb")
    yield engine
    engine.close()


def path_of(engine: Engine) -> Path:
    return engine._version / "catalog.db"


class Source:
    """Documents of a chunk each, made when they are asked for; knows how many were."""

    def __init__(self, count: int) -> None:
        self.count, self.made = count, 0

    def __iter__(self) -> Iterator[Document]:
        for i in range(self.count):
            self.made += 1
            yield Document(id=f"d{i}", text=f"text number {i}")


def test_a_source_is_pulled_one_commit_ahead_and_no_further(engine: Engine) -> None:
    source, ahead = Source(10 * COMMITTED), []

    class Watching(HashEmbedder):
        async def embed(self, texts, *, role):  # pyright: ignore[reportMissingParameterType]
            before = source.made
            for _ in range(200):  # time enough to run away
                await asyncio.sleep(0.001)
            ahead.append((source.made - len(self.seen), source.made - before))
            return await super().embed(texts, role=role)

    report = asyncio.run(ingest(source, engine._catalog, Watching(), CHUNKS))
    assert report.added == source.made == source.count
    assert max(pulled for pulled, _ in ahead) <= 2 * COMMITTED + LOOKED_AT
    assert any(during > 0 for _, during in ahead), "nothing was read while embedding"


def test_few_large_texts_are_read_at_once() -> None:
    large = Document(id="d", text="x" * (READ_AT_ONCE // 2))
    assert len(pipeline._taken(iter([large] * 9))) == 2


def test_what_is_told_is_durable_and_in_order(engine: Engine) -> None:
    told: list[str] = []

    def tell(progress: Progress) -> None:
        told.extend(progress.committed)
        stored = {id for (id,) in look(path_of(engine), "SELECT id FROM documents")}
        assert set(told) == stored
        assert progress.documents == len(told) == progress.chunks == progress.embedded

    asyncio.run(engine.add(list(Source(3 * COMMITTED + 5)), on_progress=tell))
    assert told == [f"d{i}" for i in range(3 * COMMITTED + 5)]


def test_versions_of_a_document_in_commits_under_way_end_with_the_last(engine: Engine) -> None:
    def stream() -> Iterator[Document]:
        for text in ("one", "two", "one", "two", "two"):
            yield Document(id="same", text=text)
            yield from Source(COMMITTED)

    report = asyncio.run(ingest(stream(), engine._catalog, HashEmbedder(), CHUNKS))
    assert (report.added, report.updated) == (COMMITTED + 1, 3)
    assert engine.document("same").text == "two"
    check_whole(path_of(engine))


@pytest.mark.parametrize("kind", [RuntimeError, asyncio.CancelledError])
def test_an_embedder_that_fails_leaves_what_was_committed(engine: Engine, kind: type[BaseException]) -> None:
    class Failing(HashEmbedder):
        async def embed(self, texts, *, role):  # pyright: ignore[reportMissingParameterType]
            if len(self.seen) >= COMMITTED:
                raise kind("enough")
            return await super().embed(texts, role=role)

    source = Source(20 * COMMITTED)
    with pytest.raises(kind):
        asyncio.run(ingest(source, engine._catalog, Failing(), CHUNKS))
    assert source.made < 5 * COMMITTED
    assert look(path_of(engine), "SELECT count(*) FROM documents") == [(COMMITTED,)]
    check_whole(path_of(engine))
