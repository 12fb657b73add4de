"""Engines outside: they follow the catalog through any history, being away, behind, killed, or meddled with."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kb import add, commit, open_fast
from memory_store import Memory

from ragstone.catalog.folder_location import FolderLocation
from ragstone.catalog.protocol import Catalog
from ragstone.catalog.sqlite import create_catalog
from ragstone.core.access import OWNER
from ragstone.core.catalog import Stamp
from ragstone.core.errors import EngineBehind, EngineError, SettingsError
from ragstone.core.records import Document
from ragstone.engine.doctor import doctor
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.index.follow import follower
from ragstone.index.follow.collection_names import CollectionNames
from ragstone.index.follow.synced_vectors import SyncedVectors
from ragstone.services.breaker import FIRST, Breaker
from ragstone.settings.services import QdrantSettings

pytest.importorskip("faiss", reason="needs faiss-cpu")
from ragstone.index.engines import faiss_store
from ragstone.index.engines.faiss_store import FaissStore

HERE = Path(__file__).parent
DIMENSIONS = 32
FAISS = "index.vectors=faiss:Flat"
STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "remove"]), st.integers(1, 6), st.sampled_from(["follow", "reopen", ""])),
    max_size=10,
)


@pytest.fixture
def catalog(tmp_path: Path):
    catalog = create_catalog(tmp_path / "catalog.db", {})
    commit(catalog, *(Document(id=f"d{i}", text=f"word{i}") for i in range(20)))
    yield catalog
    catalog.close()


def all_rows(catalog: Catalog) -> list[int]:
    return [row for rows, _ in catalog.vectors_since(0, DIMENSIONS) for row in rows.tolist()]


def found(index: SyncedVectors, k: int = 100) -> list[int]:
    vector = np.full(DIMENSIONS, DIMENSIONS**-0.5, dtype=np.float32)
    return sorted(asyncio.run(index.search(vector, k)).rows.tolist())


@settings(max_examples=10, deadline=None)
@given(steps=STEPS, least=st.sampled_from([0, 3, 1000]))
def test_any_history_is_found_whole(tmp_path_factory: pytest.TempPathFactory, steps: list, least: int) -> None:
    folder = tmp_path_factory.mktemp("history")
    catalog = create_catalog(folder / "catalog.db", {})
    number, alive = 0, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(faiss_store, "LEAST", least)
        patch.setattr(faiss_store, "MOST", least)
        store = FaissStore(folder / "faiss", "HNSW", DIMENSIONS)
        index = SyncedVectors(store, catalog, dimensions=DIMENSIONS)
        index.follow(write=True)
        reader = SyncedVectors(FaissStore(folder / "faiss", "HNSW", DIMENSIONS), catalog, dimensions=DIMENSIONS)
        for what, count, then in steps:
            if what == "add":
                ids = [f"d{n}" for n in range(number, number + count)]
                commit(catalog, *(Document(id=id, text=f"word {id}") for id in ids))
                number, alive = number + count, [*alive, *ids]
            elif alive:
                catalog.remove(alive[:count])
                alive = alive[count:]
            if then == "reopen":
                index = SyncedVectors(FaissStore(folder / "faiss", "HNSW", DIMENSIONS), catalog, dimensions=DIMENSIONS)
            if then:
                index.follow(write=True)
            assert found(index) == found(reader) == all_rows(catalog)
        assert len(index.difference(mend=False)) == 0
    catalog.close()


def test_what_an_engine_has_yet_to_take_in_is_found_all_the_same(catalog: Catalog) -> None:
    store = Memory()
    index = SyncedVectors(store, catalog, dimensions=DIMENSIONS)
    index.follow(write=True)
    held = set(store.held)
    catalog.remove(["d1", "d2"])
    commit(catalog, Document(id="new", text="something new"))
    assert found(index) == all_rows(catalog)
    assert set(store.held) == held
    assert index.status().behind == 2
    index.follow(write=True)
    assert sorted(store.held) == all_rows(catalog)
    assert index.status().behind == 0


def test_an_engine_too_far_behind_is_not_asked(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    index = SyncedVectors(Memory(), catalog, dimensions=DIMENSIONS)
    with pytest.raises(EngineBehind, match="memory is 20 changes behind"):
        found(index)
    index.follow(write=True)
    monkeypatch.setattr(follower, "LATE", 2)
    commit(catalog, *(Document(id=f"e{i}", text=f"more{i}") for i in range(3)))
    with pytest.raises(EngineBehind, match="3 changes"):
        found(index)
    index.follow(write=True)
    assert found(index) == all_rows(catalog)


def test_the_stamp_of_another_history_is_not_believed(catalog: Catalog) -> None:
    store = Memory()
    store.sealed, store.held = Stamp(generation=1, mark="other"), {7000: np.ones(DIMENSIONS, dtype=np.float32)}
    index = SyncedVectors(store, catalog, dimensions=DIMENSIONS)
    index.follow(write=True)
    assert sorted(store.held) == all_rows(catalog)


def test_what_was_meddled_with_is_found_and_mended(catalog: Catalog) -> None:
    store = Memory()
    index = SyncedVectors(store, catalog, dimensions=DIMENSIONS)
    index.follow(write=True)
    del store.held[3], store.held[5]
    store.held[900] = np.ones(DIMENSIONS, dtype=np.float32)
    for mend in (False, True):
        found = index.difference(mend=mend)
        assert (found.missing.tolist(), found.extra.tolist()) == ([3, 5], [900])
    assert sorted(store.held) == all_rows(catalog)


def test_an_engine_that_is_away_is_left_alone_until_a_try_beside_the_questions_finds_it(catalog: Catalog) -> None:
    now = [100.0]
    store, breaker = Memory(), Breaker(clock=lambda: now[0])
    index = SyncedVectors(store, catalog, dimensions=DIMENSIONS, breaker=breaker)
    index.follow(write=True)
    store.away = True
    with pytest.raises(EngineError, match=r"cannot be reached$"):
        found(index)
    time.sleep(0.1)  # the thread that tries it has begun its pause
    asked = store.asked
    for _ in range(5):
        with pytest.raises(EngineError, match=r"cannot be reached \(next try in 2 s\)"):
            found(index)
    now[0] += FIRST
    with pytest.raises(EngineError, match=r"cannot be reached \(next try now\)"):
        found(index)
    assert index.status().problem
    assert store.asked == asked
    index._follower.calls.wait()  # as that thread does, which sleeps by another clock
    assert store.asked == asked + 1
    store.away = False
    with pytest.raises(EngineError, match="next try in 4 s"):
        found(index)
    now[0] += 2 * FIRST
    index._follower.calls.wait()
    assert found(index) == found(index) == all_rows(catalog)


# ---------------------------------------------------------------- in an engine


def evidence_of(engine: KnowledgeBase, question: str):
    return asyncio.run(engine.trace(question, reader=OWNER)).evidence


def test_engines_are_changed_without_a_rebuild(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    engine = open_fast(kb)
    add(engine, *(Document(id=f"d{i}", text=f"word{i} other{i}") for i in range(30)))
    expected = [hit.chunk.id for hit in evidence_of(engine, "word7 other7").hits]
    engine.close()
    for name in ("faiss:HNSW", "faiss:Flat", "embedded", "faiss:Flat"):
        engine = open_fast(kb, f"index.vectors={name}", create=False)
        found = evidence_of(engine, "word7 other7")
        assert ([hit.chunk.id for hit in found.hits], found.missing) == (expected, ())
        assert [one.engine for one in engine.status().engines] == ([name] if name != "embedded" else [])
        engine.close()


def test_a_question_is_answered_while_an_engine_is_away(tmp_path: Path) -> None:
    """Nothing listens where Qdrant should be: documents are stored, questions answered, and both say so."""
    pytest.importorskip("qdrant_client", reason="needs qdrant-client")
    away = ("index.vectors=qdrant", "services.qdrant.url=http://127.0.0.1:9")
    engine = open_fast(tmp_path / "kb", *away)
    report = add(engine, Document(id="d", text="The mast is 96 m tall."), Document(id="e", text="Rain fell."))
    assert report.added == 2
    assert "qdrant at http://127.0.0.1:9" in report.notices[0]
    found = evidence_of(engine, "How tall is the mast?")
    assert found.hits[0].chunk.document_id == "d"
    assert any("vector search failed: qdrant" in one for one in found.missing)
    assert "Connection refused" in engine.status().engines[0].problem
    engine.close()
    engine = open_fast(tmp_path / "kb", create=False)
    assert not evidence_of(engine, "How tall is the mast?").missing
    engine.close()


def test_the_doctor_compares_an_engine_with_the_catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kb = tmp_path / "kb"
    engine = open_fast(kb, FAISS)
    add(engine, *(Document(id=f"d{i}", text=f"word{i}") for i in range(10)))
    engine.close()
    monkeypatch.setenv("RAGSTONE_INDEX__VECTORS", "faiss:Flat")
    assert doctor(kb).findings == ()
    store = FaissStore(kb / "v1" / "faiss-flat", "Flat", DIMENSIONS)
    stamp = store.stamp()
    store.drop(np.array([3, 4], dtype=np.int64))
    store.seal(stamp)
    (finding,) = doctor(kb).findings
    assert (finding.part, finding.what) == ("vectors in faiss:Flat", "it lacks 2 chunks")
    assert doctor(kb, mend=True).well
    assert doctor(kb).findings == ()


@pytest.mark.parametrize("damage", ["cut", "flip", "gone"])
def test_a_damaged_file_is_made_anew(tmp_path: Path, catalog: Catalog, damage: str) -> None:
    folder = tmp_path / "faiss"
    SyncedVectors(FaissStore(folder, "HNSW", DIMENSIONS), catalog, dimensions=DIMENSIONS).follow(write=True)
    (file,) = folder.glob("*.columns")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(content if damage == "flip" else content[:-100])
    index = SyncedVectors(FaissStore(folder, "HNSW", DIMENSIONS), catalog, dimensions=DIMENSIONS)
    assert index.stamp == Stamp()
    index.follow(write=True)
    assert found(index) == all_rows(catalog)


CHILD = """
import sys
from pathlib import Path
from kb import commit
from ragstone.core.records import Document
from ragstone.catalog.sqlite import open_catalog
from ragstone.index.engines import faiss_store
from ragstone.index.follow.synced_vectors import SyncedVectors
from ragstone.catalog.folder_location import FolderLocation
from ragstone.settings.services import QdrantSettings
faiss_store.LEAST = faiss_store.MOST = 0
folder, number = Path(sys.argv[1]), int(sys.argv[2])
catalog = open_catalog(folder / "catalog.db")
if sys.argv[3] == "chroma":
    from ragstone.index.follow.collection_names import CollectionNames
    from ragstone.index.engines.chroma_store import ChromaStore
    from ragstone.settings.services import ChromaSettings
    store = ChromaStore(ChromaSettings(), folder / "chroma", CollectionNames(folder, "chroma", "killed"))
else:
    store = faiss_store.FaissStore(folder / "faiss", "HNSW", 32)
index = SyncedVectors(store, catalog, dimensions=32)
index.follow(write=True)
print("ready", flush=True)
while True:
    commit(catalog, *(Document(id=f"d{number}-{i}", text=f"word{number} {i}") for i in range(40)))
    catalog.remove([f"d{number}-{i}" for i in range(0, 40, 3)])
    print("stored", number, flush=True)
    index.follow(write=True)
    number += 1
"""


@pytest.mark.parametrize("engine", ["faiss", "chroma"])
def test_killed_while_it_follows_nothing_is_lost_or_there_twice(tmp_path: Path, engine: str) -> None:
    pytest.importorskip({"faiss": "faiss", "chroma": "chromadb"}[engine], reason=f"needs {engine}")
    catalog = create_catalog(tmp_path / "catalog.db", {})
    number = 0
    for kill in range(4):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(tmp_path), str(number), engine],
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": f"{HERE.parent}:{HERE.parent.parent}", "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
        )
        assert child.stdout
        assert child.stdout.readline() == "ready\n"
        number = int(child.stdout.readline().split()[1]) + 1
        time.sleep(0.013 * kill)
        child.send_signal(signal.SIGKILL)
        number = max([number, *(int(line.split()[1]) + 1 for line in child.stdout if line.startswith("stored "))])
        child.wait()
        child.stdout.close()
    if engine == "chroma":
        from ragstone.index.engines.chroma_store import ChromaStore
        from ragstone.settings.services import ChromaSettings

        store = ChromaStore(ChromaSettings(), tmp_path / "chroma", CollectionNames(tmp_path, "chroma", "killed"))
    else:
        store = FaissStore(tmp_path / "faiss", "HNSW", DIMENSIONS)
    index = SyncedVectors(store, catalog, dimensions=DIMENSIONS)
    assert catalog.knows(index.stamp)
    assert found(index, 5000) == all_rows(catalog)
    index.follow(write=True)
    assert len(index.difference(mend=False)) == 0
    assert found(index, 5000) == all_rows(catalog)
    catalog.close()


def test_collections_of_no_version_are_told_from_those_of_others(tmp_path: Path) -> None:
    for name in ("v1", "v2"):
        (tmp_path / name).mkdir()
    one, two = (CollectionNames(tmp_path / name, "qdrant", "information") for name in ("v1", "v2"))
    assert (one.current, one.coming) == ("", "")
    first = one.begin()
    assert (one.current, one.coming) == ("", first)
    one.switch()
    second = two.begin()
    old = one.begin()
    assert one.begin() != old
    others = ["information", "information-00000000-1", "somebody-elses"]
    assert one.stale([first, second, old, *others]) == [old]


def test_an_engine_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"index\.vectors"):
        open_fast(tmp_path / "kb", "index.vectors=faiss:Nothing")


@pytest.mark.filterwarnings("ignore:Local mode performs exact")
def test_leaves_a_qdrant_collection_with_the_name_of_the_alias(tmp_path: Path) -> None:
    qdrant = pytest.importorskip("qdrant_client", reason="needs qdrant-client")
    from ragstone.index.engines.qdrant.vectors import QdrantVectors

    client = qdrant.QdrantClient(":memory:")
    client.create_collection("Information", vectors_config={})
    client.upsert("Information", [qdrant.models.PointStruct(id=7, vector={}, payload={"of": "another program"})])
    catalog = create_catalog(tmp_path / "catalog.db", {})
    commit(catalog, *(Document(id=f"d{i}", text=f"word{i}") for i in range(10)))
    settings, names = QdrantSettings(collection="Information"), CollectionNames(tmp_path, "qdrant", "Information")
    store = QdrantVectors(settings, names, DIMENSIONS, exact_limit=0, connect=lambda *_: client)
    follower = SyncedVectors(store, catalog, dimensions=DIMENSIONS)
    follower.follow(write=True)
    assert len(found(follower)) == 10
    assert client.get_aliases().aliases == []
    assert client.retrieve("Information", [7])[0].payload == {"of": "another program"}
    follower.close()
    catalog.close()


@pytest.mark.filterwarnings("ignore:Local mode performs exact")
def test_a_rebuild_switches_qdrants_alias_and_clears_away(tmp_path: Path) -> None:
    qdrant = pytest.importorskip("qdrant_client", reason="needs qdrant-client")
    from ragstone.index.engines.qdrant.vectors import QdrantVectors

    client, home = qdrant.QdrantClient(":memory:"), FolderLocation(tmp_path)

    def version(number: int) -> tuple[Catalog, SyncedVectors]:
        folder = tmp_path / f"v{number}"
        folder.mkdir()
        catalog = create_catalog(folder / "catalog.db", {})
        commit(catalog, *(Document(id=f"d{i}", text=f"word{i}") for i in range(10 * number)))
        names = CollectionNames(folder, "qdrant", "information")
        store = QdrantVectors(
            QdrantSettings(collection="information"), names, DIMENSIONS, exact_limit=0, connect=lambda *_: client
        )
        return catalog, SyncedVectors(store, catalog, dimensions=DIMENSIONS)

    def named() -> int:
        return client.count("information").count - 1  # without the point that holds the commit

    (old_catalog, old), (new_catalog, new) = version(1), version(2)
    home.point(tmp_path / "v1")
    old.follow(write=True)
    assert named() == 10
    new.follow(write=True)
    assert named() == 10
    assert (len(found(old)), len(found(new))) == (10, 20)
    home.point(tmp_path / "v2")
    new.follow(write=True)
    assert named() == 20
    old_catalog.close()
    shutil.rmtree(tmp_path / "v1")
    new.follow(write=True)
    assert len(client.get_collections().collections) == 1
    assert found(new) == all_rows(new_catalog)
    new_catalog.close()
