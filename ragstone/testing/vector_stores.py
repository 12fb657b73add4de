"""Checks of vector stores against brute force: the same chunks, in the same order, whatever the filter.

A store is checked as the engine uses it: `SyncedVectors` follows a catalog of 3,000 small documents with it.
"""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ragstone.catalog.protocol import Catalog, Prepared
from ragstone.catalog.sqlite import create_catalog
from ragstone.core.catalog import Stamp
from ragstone.core.filters import And, Compare, Filter, In, Not
from ragstone.core.frozen import frozen
from ragstone.core.protocols import VectorIndex
from ragstone.core.records import Chunk, Document, Matches
from ragstone.index.follow.protocol import StoreContext, VectorStore
from ragstone.index.follow.synced_vectors import SyncedVectors
from ragstone.settings.services import ServiceSettings
from ragstone.testing.expect import expect

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.records import Vector

COUNT = 3000
"""Documents that are searched; each is one chunk."""
FILTERS: tuple[Filter | None, ...] = (
    None,
    Compare(key="lang", op="=", value="de"),
    Not(part=Compare(key="lang", op="=", value="de")),
    In(key="tags", values=("t3", "t9")),
    And(parts=(Compare(key="n", op="<", value=40), Compare(key="lang", op="=", value="en"))),
    Compare(key="nothing", op="=", value=1),
)
MakeIndex = Callable[[Path, Catalog], VectorIndex]
"""Returns an index in an empty folder that holds what the catalog does."""


@frozen
class VectorStoreCase:
    """A vector index that holds all of a catalog. ``least`` is the share of the true nearest that it must find.

    ``rows`` (n,) are the rows of the catalog, and ``vectors`` (n, dimensions) are theirs.
    """

    make: MakeIndex
    folder: Path
    catalog: Catalog
    index: VectorIndex
    rows: NDArray[np.int64]
    vectors: Vector
    least: float = 1.0

    def search(self, vector: Vector, k: int, where: Filter | None = None) -> Matches:
        """Search and return what is found."""
        return asyncio.run(self.index.search(vector, k, where))


def random_vector(seed: int, dimensions: int = 32) -> Vector:
    """Return a vector of length 1."""
    vector = np.random.default_rng(seed).normal(size=dimensions).astype(np.float32)
    return vector / np.float32(np.linalg.norm(vector))


def commit(catalog: Catalog, documents: Sequence[Document], dimensions: int = 32) -> None:
    """Store documents of one chunk each; the vector of a text follows from its hash."""
    prepared: list[Prepared] = []
    vectors: dict[str, Vector] = {}
    for document in documents:
        digest = hashlib.sha256(document.text.encode()).digest()
        chunk = Chunk(
            id=hashlib.sha256(document.id.encode()).hexdigest()[:32],
            document_id=document.id,
            index=0,
            total=1,
            start=0,
            end=len(document.text),
            text=document.text,
            metadata=document.metadata,
        )
        hash = digest.hex()[:32]
        prepared.append(Prepared(document=document, chunks=(chunk,), hashes=(hash,)))
        vectors[hash] = random_vector(int.from_bytes(digest[:8]), dimensions)
    stored = catalog.embedded(list(vectors))
    catalog.commit(prepared, {hash: vector for hash, vector in vectors.items() if hash not in stored})


@contextmanager
def vector_store_case(make: MakeIndex, folder: Path, *, least: float = 1.0) -> Generator[VectorStoreCase]:
    """Fill a catalog, make the index, and yield both until the block ends."""
    catalog = create_catalog(folder / "catalog.db", {})
    words, rng = [f"w{i}" for i in range(400)], np.random.default_rng(1)
    commit(
        catalog,
        [
            Document(
                id=f"d{i}",
                text=" ".join(rng.choice(words, size=6)),
                metadata={"n": i, "lang": "de" if i % 3 else "en", "tags": (f"t{i % 7}", f"t{i % 11}")},
            )
            for i in range(COUNT)
        ],
    )
    stored = catalog.vectors([int(row) for row in catalog.select(Compare(key="n", op=">=", value=0))])
    rows = sorted(stored)
    try:
        yield VectorStoreCase(
            make=make,
            folder=folder,
            catalog=catalog,
            index=make(_empty(folder), catalog),
            rows=np.array(rows),
            vectors=np.array([stored[row] for row in rows]),
            least=least,
        )
    finally:
        catalog.close()


def followed(store: VectorStore, catalog: Catalog, dimensions: int = 32) -> VectorIndex:
    """Return the index that a store gives, filled with all of a catalog."""
    index = SyncedVectors(store, catalog, dimensions=dimensions)
    index.follow(write=True)
    return index


def finds_the_nearest(case: VectorStoreCase) -> None:
    """Check what is found, and its scores, with and without filters."""
    for where in FILTERS:
        rows, vectors = case.rows, case.vectors
        if where is not None:
            allowed = np.isin(rows, case.catalog.select(where))
            rows, vectors = rows[allowed], vectors[allowed]
        for seed in range(5):
            vector = random_vector(seed)
            true = vectors @ vector
            matches = case.search(vector, 20, where)
            what = f"a search with the filter {where} "
            expect(len(matches) == min(20, len(rows)), f"{what}finds as many as there are", len(matches))
            scores = matches.scores.tolist()
            expect(scores == sorted(scores, reverse=True), f"{what}orders by score, best first", scores)
            exact = dict(zip(rows.tolist(), true.tolist(), strict=True))
            expect({*matches.rows.tolist()} <= exact.keys(), f"{what}finds only what passes")
            off = [abs(score - exact[row]) for row, score in zip(matches.rows.tolist(), scores, strict=True)]
            expect(max(off, default=0) < 1e-5, f"{what}gives the cosine as score", off)
            nearest = {*rows[np.argsort(-true)[:20]].tolist()}
            share = len(nearest & {*matches.rows.tolist()}) / max(1, len(nearest))
            expect(not nearest or share >= case.least, f"{what}finds at least {case.least} of the nearest", share)


def finds_as_many_as_asked_for(case: VectorStoreCase, k: int, below: int) -> None:
    """Check that no result is missing or double where ``below`` chunks pass a filter."""
    rows = case.search(random_vector(k), k, Compare(key="n", op="<", value=below)).rows.tolist()
    expect(len(rows) == min(k, below), f"{min(k, below)} of {below} are found where {k} are asked for", len(rows))
    expect(len({*rows}) == len(rows), "no chunk is found twice")


def serves_all_sizes(case: VectorStoreCase) -> None:
    """Check small, large and impossible numbers of results."""
    for k in (0, 1, 7, 100, COUNT, COUNT + 10):
        for below in (0, 1, 50, 1500, COUNT):
            finds_as_many_as_asked_for(case, k, below)


def follows_changes(case: VectorStoreCase) -> None:
    """Check that removed chunks are not found any more, and new ones are."""
    folder = _empty(case.folder)
    catalog = create_catalog(folder / "catalog.db", {})
    try:
        commit(catalog, [Document(id=f"d{i}", text=f"word{i} other{i}") for i in range(2500)])
        index = case.make(_empty(folder), catalog)
        catalog.remove([f"d{i}" for i in range(0, 2500, 2)])
        commit(catalog, [Document(id=f"new{i}", text=f"word{i} fresh{i}") for i in range(100)])
        alive = {*catalog.select(Not(part=Compare(key="id", op="=", value=""))).tolist()}
        rows = {*asyncio.run(index.search(random_vector(1), 5000)).rows.tolist()}
        expect(rows <= alive, "what was removed is not found")
        expect(len(rows) == len(alive), "everything that is there is found", len(rows))
    finally:
        catalog.close()


def empty_index_finds_nothing(case: VectorStoreCase) -> None:
    """Check a catalog without documents."""
    folder = _empty(case.folder)
    catalog = create_catalog(folder / "catalog.db", {})
    try:
        matches = asyncio.run(case.make(_empty(folder), catalog).search(random_vector(1), 5))
        expect(len(matches) == 0, "an empty index finds nothing", len(matches))
    finally:
        catalog.close()


def discards_an_unfinished_start(store: VectorStore) -> None:
    """Check that a change after a start that was cut short continues what was last sealed."""
    rows = np.arange(1, 41, dtype=np.int64)
    vectors = np.array([random_vector(row) for row in rows.tolist()])
    first, second = Stamp(generation=1, mark="a"), Stamp(generation=2, mark="b")
    store.begin(vectors)
    store.put(rows[:20], vectors[:20])
    store.seal(first)
    expect(store.stamp() == first, "a store returns the stamp that was sealed last", store.stamp())
    store.begin(vectors)
    store.put(rows[20:30], vectors[20:30])
    if store.stamp() != first:  # it says that it has lost what was sealed, and starts again next time
        return
    store.drop(rows[:0])
    store.put(rows[30:], vectors[30:])
    store.seal(second)
    stored, wanted = store.rows().tolist(), [*rows[:20].tolist(), *rows[30:].tolist()]
    expect(stored == wanted, "drop discards a begin that was not sealed, and keeps what was sealed before", stored)


VECTOR_STORE_CHECKS: tuple[Callable[[VectorStoreCase], None], ...] = (
    finds_the_nearest,
    serves_all_sizes,
    follows_changes,
    empty_index_finds_nothing,
)


def check_vector_store(build: Callable[[StoreContext], VectorStore], *, least: float = 1.0) -> None:
    """Run all checks of vector stores.

    Args:
        build: the function that ``index.vectors`` names; it is called with 32 dimensions and a folder of its own.
        least: the share of the true nearest that an approximate store must find.

    Raises:
        Failed: at the first check that does not hold.
    """

    def built(folder: Path) -> VectorStore:
        return build(StoreContext(kind="", version=folder, dimensions=32, exact_limit=0, services=ServiceSettings()))

    def make(folder: Path, catalog: Catalog) -> VectorIndex:
        return followed(built(folder), catalog)

    with (
        tempfile.TemporaryDirectory(prefix="ragstone-") as folder,
        vector_store_case(make, Path(folder), least=least) as case,
    ):
        for check in VECTOR_STORE_CHECKS:
            check(case)
        discards_an_unfinished_start(built(_empty(case.folder)))


def _empty(folder: Path) -> Path:
    """Return a new folder, named as a version is."""
    made = Path(tempfile.mkdtemp(dir=folder)) / "v1"
    made.mkdir()
    return made
