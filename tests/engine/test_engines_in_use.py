"""Engines are taken into use while questions go on: whoever has the knowledge base open follows, or stays as it was."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kb import add, open_fast, parts

from ragstone.catalog.location import set_engines
from ragstone.catalog.lock import indexing
from ragstone.core.access import OWNER
from ragstone.core.errors import EngineError, Locked, SettingsError
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.storage.shelf import FolderShelf

pytest.importorskip("faiss", reason="needs faiss-cpu")
FAISS = {"vectors": "faiss:Flat"}
NOWHERE = "services.qdrant.url=http://127.0.0.1:9"
DOCUMENTS = [Document(id=f"d{i}", text=f"word{i} other{i}") for i in range(40)]
UNCACHED = "cache.enabled=false"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with closing(open_fast(tmp_path / "kb")) as engine:
        add(engine, *DOCUMENTS)
    return tmp_path / "kb"


@pytest.fixture
def reader(folder: Path) -> Iterator[KnowledgeBase]:
    """Somebody who has it open all the while."""
    with closing(open_fast(folder, UNCACHED, create=False)) as engine:
        assert best(engine) == "d7"
        yield engine


def best(engine: KnowledgeBase) -> str:
    """What is found by vectors and by keywords, and nothing is missing."""
    evidence = asyncio.run(engine.trace("word7 other7", reader=OWNER)).evidence
    assert evidence.missing == ()
    return evidence.hits[0].chunk.document_id


def asked(engine: KnowledgeBase) -> list[str]:
    """The engines outside that a question is put to now."""
    return [one.engine for one in engine.status().engines]


def test_those_who_have_it_open_follow_there_and_back(folder: Path, reader: KnowledgeBase) -> None:
    with closing(open_fast(folder, create=False)) as mover:
        (status,) = mover.versions.use_engines(FAISS)
        assert (status.leg, status.engine, status.behind) == ("vectors", "faiss:Flat", 0)
        embedder = parts(reader).models.embedder()
        assert best(reader) == "d7"
        assert asked(reader) == ["faiss:Flat"]
        assert parts(reader).models.embedder() is embedder  # loading it takes longest
        add(reader, Document(id="new", text="word99 other99"))
        assert mover.versions.use_engines({"vectors": "embedded"}) == ()
    assert asked(reader) == []
    assert asyncio.run(reader.search("word99 other99", 1, reader=OWNER))[0].chunk.document_id == "new"


def test_a_setting_of_ones_own_stands_above(folder: Path, reader: KnowledgeBase) -> None:
    with closing(open_fast(folder, "index.vectors=faiss:IVF", create=False)) as own:
        reader.versions.use_engines(FAISS)
        assert (asked(own), asked(reader)) == (["faiss:IVF"], ["faiss:Flat"])
        assert best(own) == "d7"


def test_an_engine_that_cannot_be_filled_is_not_asked(folder: Path, reader: KnowledgeBase) -> None:
    pytest.importorskip("qdrant_client", reason="needs qdrant-client")
    reader.versions.use_engines(FAISS)
    with closing(open_fast(folder, NOWHERE, create=False)) as mover:
        with pytest.raises(EngineError, match="cannot be reached"):
            mover.versions.use_engines({"vectors": "qdrant"})
        with pytest.raises(EngineError, match="cannot be reached"):
            mover.versions.use_engines({"keywords": "qdrant"})
        with pytest.raises(SettingsError, match=r"index\.vectors"):
            mover.versions.use_engines({"vectors": "qdrent"})
        with indexing(folder), pytest.raises(Locked):
            mover.versions.use_engines({"vectors": "embedded"})
    assert (best(reader), asked(reader)) == ("d7", ["faiss:Flat"])


def test_a_process_that_cannot_use_an_engine_keeps_to_the_one_before(folder: Path, reader: KnowledgeBase) -> None:
    """As where it was not told the address."""
    set_engines(FolderShelf(folder), {"vectors": "postgres"})
    assert (best(reader), asked(reader)) == ("d7", [])
    set_engines(FolderShelf(folder), FAISS)
    assert (best(reader), asked(reader)) == ("d7", ["faiss:Flat"])


def test_a_damaged_note_of_engines_leaves_them_to_the_settings(folder: Path, reader: KnowledgeBase) -> None:
    reader.versions.use_engines(FAISS)
    (folder / "ENGINES").write_bytes(b"\xff{")
    assert (best(reader), asked(reader)) == ("d7", [])


@pytest.mark.parametrize("preset", [None, "default"])
def test_a_rebuild_is_searched_by_the_engines_in_use(reader: KnowledgeBase, preset: str | None) -> None:
    reader.versions.use_engines(FAISS)
    wanted = ["chunk.size=150"] if preset is None else ["index.embedder=hash_embedder:HashEmbedder"]
    asyncio.run(reader.versions.rebuild(wanted, preset=preset))
    (status,) = reader.status().engines
    assert (status.engine, status.behind) == ("faiss:Flat", 0)
    assert best(reader) == "d7"


def test_no_question_fails_while_engines_change(folder: Path) -> None:
    with closing(open_fast(folder, UNCACHED, create=False)) as shared:
        best(shared)
        over, answers, wrong = threading.Event(), [0], list[str]()

        def ask() -> None:
            while not over.is_set():
                try:
                    assert best(shared) == "d7"
                except BaseException as error:
                    wrong.append(repr(error))
                answers[0] += 1

        clients = [threading.Thread(target=ask) for _ in range(3)]
        for client in clients:
            client.start()
        with closing(open_fast(folder, create=False)) as mover:
            for name in ("faiss:Flat", "embedded", "faiss:IVF", "embedded"):
                mover.versions.use_engines({"vectors": name})
                until = answers[0] + 6
                while answers[0] < until:
                    over.wait(0.005)
        over.set()
        for client in clients:
            client.join()
    assert wrong == []


def test_engines_are_compared_with_the_catalog_and_mended(reader: KnowledgeBase) -> None:
    reader.versions.use_engines(FAISS)
    assert reader.versions.check_engines() == ()
    (leg,) = parts(reader).external_indexes()
    leg._store.drop(leg._store.rows()[:3])  # pyright: ignore[reportAttributeAccessIssue]
    leg._store.seal(leg._store.stamp())  # pyright: ignore[reportAttributeAccessIssue]
    (found,) = reader.versions.check_engines()
    assert (found.part, found.mended) == ("vectors in faiss:Flat", False)
    assert found.what == "it lacks 3 chunks"
    assert [one.mended for one in reader.versions.check_engines(mend=True)] == [True]
    assert reader.versions.check_engines() == ()
