"""Every vector index against brute force: the same chunks, in the same order, whatever the filter.

An engine is added by one line in ``ENGINES``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kb import commit

from ragstone.catalog.protocol import Catalog
from ragstone.catalog.sqlite import create_catalog
from ragstone.core.filters import Compare
from ragstone.core.protocols import VectorIndex
from ragstone.core.records import Document
from ragstone.index import VECTOR_STORES
from ragstone.index.follow import synced_vectors
from ragstone.index.follow.collection_names import CollectionNames
from ragstone.index.follow.protocol import StoreContext
from ragstone.index.follow.synced_vectors import SyncedVectors
from ragstone.index.vectors.embedded import EmbeddedVectors
from ragstone.settings.services import QdrantSettings, ServiceSettings
from ragstone.testing import VECTOR_STORE_CHECKS, VectorStoreCase
from ragstone.testing.vector_stores import (
    COUNT,
    finds_as_many_as_asked_for,
    followed,
    random_vector,
    vector_store_case,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.records import Vector

Engine = Callable[[Path, Catalog], VectorIndex]
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


def make_postgres(folder: Path, catalog: Catalog, exact_limit: int, partitions: int = 0) -> VectorIndex:
    pytest.importorskip("psycopg", reason="needs psycopg")
    from ragstone.index.engines.postgres.vectors import PostgresVectors
    from ragstone.services.postgres import Server
    from servers.postgres_server import shared

    names = CollectionNames(version_in(folder), "postgres-vectors", "vectors")
    server = Server(shared().settings())
    return followed(PostgresVectors(server, names, 32, exact_limit=exact_limit, partitions=partitions), catalog)


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
    "postgres, HNSW, partitions": (lambda folder, catalog: make_postgres(folder, catalog, 1000, 4), 0.95),
    "qdrant": (make_qdrant, 1.0),
    "qdrant, own engine": (make_qdrant_edge, 0.95),
    "chroma": (make_chroma, 0.95),
}
"""Every store of `VECTOR_STORES`, some in several ways. What stands behind a comma says which way."""
each_engine = pytest.mark.parametrize("name", ENGINES)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], VectorStoreCase]]:
    made: dict[str, VectorStoreCase] = {}
    with ExitStack() as stack:

        def named(name: str) -> VectorStoreCase:
            """Made when first asked for, so that an engine whose package is missing skips its own tests only."""
            if name not in made:
                make, least = ENGINES[name]
                folder = tmp_path_factory.mktemp("store")
                made[name] = stack.enter_context(vector_store_case(make, folder, least=least))
            return made[name]

        yield named


def test_every_vector_store_is_checked() -> None:
    assert VECTOR_STORES.keys() - {name.partition(",")[0] for name in ENGINES} == set()


@each_engine
@pytest.mark.parametrize("check", VECTOR_STORE_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_protocol(
    name: str, check: Callable[[VectorStoreCase], None], case: Callable[[str], VectorStoreCase]
) -> None:
    check(case(name))


@each_engine
@settings(max_examples=30)
@given(k=st.integers(0, COUNT + 10), below=st.integers(0, COUNT))
def test_finds_as_many_as_asked_for(name: str, k: int, below: int, case: Callable[[str], VectorStoreCase]) -> None:
    finds_as_many_as_asked_for(case(name), k, below)


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
def test_a_filter_takes_nothing_from_what_is_found(
    name: str, share: float, case: Callable[[str], VectorStoreCase], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where only so much passes, and the engine itself has to filter: as many as asked for, and the nearest."""
    monkeypatch.setattr(synced_vectors, "FEW", 0)
    one, where = case(name), Compare(key="n", op="<", value=int(COUNT * share))
    rows, vectors = one.rows[: int(COUNT * share)], one.vectors[: int(COUNT * share)]
    right = wanted = 0
    for seed in range(20, 30):
        vector = random_vector(seed)
        found = one.search(vector, 10, where).rows.tolist()
        assert len(set(found)) == 10
        right += len(set(rows[np.argsort(-(vectors @ vector))[:10]].tolist()) & set(found))
        wanted += 10
    assert right >= max(one.least, 0.95) * wanted


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
