"""Every vector index against brute force: the same chunks, in the same order, whatever the filter.

An engine is added by one line in ``ENGINES``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kb import commit

from ragstone.catalog.protocol import Catalog
from ragstone.catalog.sqlite import create_catalog
from ragstone.core.filters import And, Compare, Filter, In, Not
from ragstone.core.protocols import VectorIndex
from ragstone.core.records import Document
from ragstone.index.follow import synced_vectors
from ragstone.index.follow.collection_names import CollectionNames
from ragstone.index.follow.protocol import StoreContext, VectorStore
from ragstone.index.follow.synced_vectors import SyncedVectors
from ragstone.index.vectors.embedded import EmbeddedVectors
from ragstone.settings.services import QdrantSettings, ServiceSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.records import Vector

Engine = Callable[[Path, Catalog], VectorIndex]
COUNT = 3000
pytestmark = pytest.mark.filterwarnings("ignore:Local mode performs exact")


def make_embedded(folder: Path, catalog: Catalog, exact_limit: int) -> VectorIndex:
    index = EmbeddedVectors(folder, catalog, dimensions=32, exact_limit=exact_limit)
    index.follow(write=True)
    return index


def make_faiss(folder: Path, catalog: Catalog, kind: str) -> VectorIndex:
    faiss = pytest.importorskip("faiss", reason="needs faiss-cpu")
    from ragstone.index.engines import faiss_store

    faiss.omp_set_num_threads(1)  # beside other tests, its threads wait for each other
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(faiss_store, "LEARNABLE", 1000)
        return followed(faiss_store.FaissStore(folder, kind, 32), catalog)


def make_postgres(folder: Path, catalog: Catalog, exact_limit: int) -> VectorIndex:
    pytest.importorskip("psycopg", reason="needs psycopg")
    from ragstone.index.engines.postgres.vectors import PostgresVectors
    from ragstone.services.postgres import Server
    from servers.postgres_server import shared

    names = CollectionNames(version_in(folder), "postgres-vectors", "vectors")
    return followed(PostgresVectors(Server(shared().settings()), names, 32, exact_limit=exact_limit), catalog)


def make_qdrant(folder: Path, catalog: Catalog) -> VectorIndex:
    """In the client's own memory, which is exact, and all of its protocol."""
    qdrant = pytest.importorskip("qdrant_client", reason="needs qdrant-client")
    from ragstone.index.engines.qdrant.vectors import QdrantVectors

    client = qdrant.QdrantClient(":memory:")
    names = CollectionNames(version_in(folder), "qdrant", "contract")
    return followed(QdrantVectors(QdrantSettings(), names, 32, exact_limit=0, connect=lambda *_: client), catalog)


def make_qdrant_edge(folder: Path, catalog: Catalog) -> VectorIndex:
    """On Qdrant's own engine, over HTTP, with a graph."""
    pytest.importorskip("qdrant_client", reason="needs qdrant-client")
    from ragstone.index.engines.qdrant.vectors import QdrantVectors
    from servers.qdrant_server import shared

    names = CollectionNames(version_in(folder), "qdrant", "contract")
    index = followed(QdrantVectors(QdrantSettings(url=shared().url), names, 32, exact_limit=1000), catalog)
    shared().optimize()
    return index


def version_in(folder: Path) -> Path:
    version = folder / "v1"
    version.mkdir(parents=True)
    return version


def make_chroma(folder: Path, catalog: Catalog) -> VectorIndex:
    pytest.importorskip("chromadb", reason="needs chromadb")
    from ragstone.index.engines.chroma_store import build

    services = ServiceSettings()
    context = StoreContext(kind="", version=version_in(folder), dimensions=32, exact_limit=0, services=services)
    return followed(build(context), catalog)


def followed(store: VectorStore, catalog: Catalog) -> VectorIndex:
    index = SyncedVectors(store, catalog, dimensions=32)
    index.follow(write=True)
    return index


ENGINES: dict[str, tuple[Engine, float]] = {
    # name: how it is made from a folder and a catalog, and the least share of the true nearest it must find
    "embedded": (lambda folder, catalog: make_embedded(folder, catalog, 50_000), 1.0),
    "embedded, by sketch": (lambda folder, catalog: make_embedded(folder, catalog, 0), 0.9),
    "faiss:Flat": (lambda folder, catalog: make_faiss(folder, catalog, "Flat"), 1.0),
    "faiss:HNSW": (lambda folder, catalog: make_faiss(folder, catalog, "HNSW"), 0.95),
    "faiss:IVF": (lambda folder, catalog: make_faiss(folder, catalog, "IVF"), 0.95),
    "faiss:PQ": (lambda folder, catalog: make_faiss(folder, catalog, "PQ"), 0.95),
    "postgres": (lambda folder, catalog: make_postgres(folder, catalog, 50_000), 1.0),
    "postgres, HNSW": (lambda folder, catalog: make_postgres(folder, catalog, 1000), 0.95),
    "qdrant": (make_qdrant, 1.0),
    "qdrant, own engine": (make_qdrant_edge, 0.95),
    "chroma": (make_chroma, 0.95),
}
each_engine = pytest.mark.parametrize("name", ENGINES)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory):
    catalog = create_catalog(tmp_path_factory.mktemp("vectors") / "catalog.db", {})
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(400)]
    commit(
        catalog,
        *(
            Document(
                id=f"d{i}",
                text=" ".join(rng.choice(words, size=6)),
                metadata={"n": i, "lang": "de" if i % 3 else "en", "tags": (f"t{i % 7}", f"t{i % 11}")},
            )
            for i in range(COUNT)
        ),
    )
    yield catalog
    catalog.close()


@pytest.fixture(scope="module")
def indexes(catalog: Catalog, tmp_path_factory: pytest.TempPathFactory):
    made: dict[str, VectorIndex] = {}

    def index(name: str) -> VectorIndex:
        """Made when first asked for, so that an engine whose package is missing skips its own tests only."""
        if name not in made:
            made[name] = ENGINES[name][0](tmp_path_factory.mktemp("index"), catalog)
        return made[name]

    return index


@pytest.fixture(scope="module")
def everything(catalog: Catalog):
    vectors = catalog.vectors([int(row) for row in catalog.select(Compare(key="n", op=">=", value=0))])
    return np.array(sorted(vectors)), np.array([vectors[row] for row in sorted(vectors)])


def random_vector(seed: int):
    vector = np.random.default_rng(seed).normal(size=32).astype(np.float32)
    return vector / np.linalg.norm(vector)


FILTERS: list[Filter | None] = [
    None,
    Compare(key="lang", op="=", value="de"),
    Not(part=Compare(key="lang", op="=", value="de")),
    In(key="tags", values=("t3", "t9")),
    And(parts=(Compare(key="n", op="<", value=40), Compare(key="lang", op="=", value="en"))),
    Compare(key="nothing", op="=", value=1),
]


@each_engine
@pytest.mark.parametrize("where", FILTERS, ids=str)
def test_the_nearest_are_found(name: str, where: Filter | None, indexes, catalog: Catalog, everything):
    rows, vectors = everything
    if where is not None:
        allowed = np.isin(rows, catalog.select(where))
        rows, vectors = rows[allowed], vectors[allowed]
    for seed in range(5):
        vector = random_vector(seed)
        true = vectors @ vector
        found = asyncio.run(indexes(name).search(vector, 20, where))
        assert len(found) == min(20, len(rows))
        assert found.scores.tolist() == sorted(found.scores.tolist(), reverse=True)
        exact = dict(zip(rows.tolist(), true.tolist(), strict=True))
        assert found.scores == pytest.approx([exact[row] for row in found.rows.tolist()], abs=1e-5)
        nearest = set(rows[np.argsort(-true)[:20]].tolist())
        assert len(nearest & set(found.rows.tolist())) >= ENGINES[name][1] * len(nearest)


@each_engine
@settings(max_examples=30)
@given(k=st.integers(0, COUNT + 10), below=st.integers(0, COUNT))
def test_as_many_as_asked_for_where_enough_pass(name: str, k: int, below: int, indexes):
    found = asyncio.run(indexes(name).search(random_vector(k), k, Compare(key="n", op="<", value=below)))
    assert len(found) == min(k, below)
    assert len(set(found.rows.tolist())) == len(found)


@each_engine
def test_changes_are_followed(name: str, tmp_path: Path):
    catalog = create_catalog(tmp_path / "catalog.db", {})
    commit(catalog, *(Document(id=f"d{i}", text=f"word{i} other{i}") for i in range(2500)))
    index = ENGINES[name][0](tmp_path / "index", catalog)
    catalog.remove([f"d{i}" for i in range(0, 2500, 2)])
    commit(catalog, *(Document(id=f"new{i}", text=f"word{i} fresh{i}") for i in range(100)))
    alive = set(catalog.select(Not(part=Compare(key="id", op="=", value=""))).tolist())
    found = asyncio.run(index.search(random_vector(1), 5000))
    if ENGINES[name][1] == 1.0:
        assert set(found.rows.tolist()) == alive
    assert set(found.rows.tolist()) <= alive
    assert len(found) == len(alive)
    catalog.close()


@pytest.mark.parametrize("name", [name for name in ENGINES if not name.startswith("embedded")])
def test_who_asks_meanwhile_does_not_disturb_a_change(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    catalog = create_catalog(tmp_path / "catalog.db", {})
    commit(catalog, *(Document(id=f"d{i}", text=f"word{i} other{i}") for i in range(200)))
    index = ENGINES[name][0](tmp_path / "index", catalog)
    assert isinstance(index, SyncedVectors)
    store, put = index._store, index._store.put

    def put_while_asked(rows: NDArray[np.int64], vectors: Vector) -> None:
        half = len(rows) // 2
        put(rows[:half], vectors[:half])
        assert not asyncio.run(asyncio.to_thread(index.status)).problem
        asyncio.run(index.search(random_vector(1), 5))
        put(rows[half:], vectors[half:])

    monkeypatch.setattr(store, "put", put_while_asked)
    everything = store.rows()
    store.drop(everything)
    index._sync(restart=True)
    assert np.array_equal(store.rows(), everything)
    store.begin(random_vector(2)[None])  # is cut short here, and another process makes it whole
    commit(catalog, *(Document(id=f"new{i}", text=f"word{i} fresh{i}") for i in range(100)))
    index._sync()
    found = asyncio.run(index.search(random_vector(1), 400))
    assert len(found) == 300
    assert len(index.difference(mend=False)) == 0
    catalog.close()


@each_engine
@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
def test_a_filter_takes_nothing_from_what_is_found(name: str, share: float, indexes, everything, monkeypatch):
    """Where only so much passes, and the engine itself has to filter: as many as asked for, and the nearest."""
    monkeypatch.setattr(synced_vectors, "FEW", 0)
    rows, vectors = everything
    where = Compare(key="n", op="<", value=int(COUNT * share))
    rows, vectors = rows[: int(COUNT * share)], vectors[: int(COUNT * share)]
    right = wanted = 0
    for seed in range(20, 30):
        vector = random_vector(seed)
        found = asyncio.run(indexes(name).search(vector, 10, where)).rows.tolist()
        assert len(set(found)) == 10
        right += len(set(rows[np.argsort(-(vectors @ vector))[:10]].tolist()) & set(found))
        wanted += 10
    assert right >= max(ENGINES[name][1], 0.95) * wanted


@each_engine
def test_an_empty_knowledge_base_has_nothing(name: str, tmp_path: Path):
    catalog = create_catalog(tmp_path / "catalog.db", {})
    assert not len(asyncio.run(ENGINES[name][0](tmp_path / "index", catalog).search(random_vector(1), 5)))
    catalog.close()


@pytest.mark.parametrize("name", [name for name in ENGINES if not name.startswith(("embedded", "faiss"))])
def test_overwritten_vectors_are_found_and_mended(name: str, tmp_path: Path):
    catalog = create_catalog(tmp_path / "catalog.db", {})
    commit(catalog, *(Document(id=f"d{i}", text=f"word{i} other{i}") for i in range(60)))
    index = ENGINES[name][0](tmp_path / "index", catalog)
    assert isinstance(index, SyncedVectors)
    expected = asyncio.run(index.search(random_vector(1), 60)).rows.tolist()
    some = index._store.rows()[5:15]
    index._store.drop(np.empty(0, dtype=np.int64))
    index._store.put(some, np.stack([random_vector(900 + i) for i in range(10)]))
    index._store.seal(catalog.stamp())
    assert index.difference(mend=False).changed.tolist() == some.tolist()
    assert index.difference(mend=True).changed.tolist() == some.tolist()
    assert len(index.difference(mend=False)) == 0
    assert asyncio.run(index.search(random_vector(1), 60)).rows.tolist() == expected
    catalog.close()
