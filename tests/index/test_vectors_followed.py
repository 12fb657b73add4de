"""The vector index through any history: the same as one made anew, and as comparing every vector."""

import asyncio
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kb import commit

from ragstone.catalog.protocol import Catalog
from ragstone.catalog.sqlite import create_catalog
from ragstone.core.errors import Damaged
from ragstone.core.filters import Compare
from ragstone.core.records import Document
from ragstone.index.vectors import embedded
from ragstone.index.vectors.embedded import EmbeddedVectors
from ragstone.storage import columns

DIMENSIONS = 32
STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "remove"]), st.integers(1, 6), st.sampled_from(["write", "look", "reopen", ""])),
    max_size=12,
)


def index_of(folder: Path, catalog: Catalog, exact_limit: int = 8) -> EmbeddedVectors:
    return EmbeddedVectors(folder, catalog, dimensions=DIMENSIONS, exact_limit=exact_limit)


def everything(catalog: Catalog, vector: np.ndarray) -> dict[int, float]:
    rows = catalog.select(Compare(key="n", op=">=", value=0)).tolist()
    return {row: float(one @ vector) for row, one in catalog.vectors(rows).items()}


def check(index: EmbeddedVectors, catalog: Catalog, k: int = 100) -> None:
    vector = np.full(DIMENSIONS, DIMENSIONS**-0.5, dtype=np.float32)
    found, expected = asyncio.run(index.search(vector, k)), everything(catalog, vector)
    assert sorted(found.rows.tolist()) == sorted(expected)
    assert found.scores == pytest.approx(
        [expected[row] for row in found.rows.tolist()], abs=5e-3 if len(found) > embedded.EXACT else 1e-5
    )
    where = Compare(key="n", op="=", value=1)
    allowed = set(catalog.select(where).tolist())
    assert set(asyncio.run(index.search(vector, k, where)).rows.tolist()) == allowed


@settings(max_examples=25, deadline=None)
@given(steps=STEPS, unwritten=st.sampled_from([0, 3, 1000]))
def test_any_history_ends_like_a_new_index(tmp_path_factory: pytest.TempPathFactory, steps: list, unwritten: int):
    folder = tmp_path_factory.mktemp("history")
    catalog = create_catalog(folder / "catalog.db", {})
    number, alive = 0, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedded, "LEAST_UNWRITTEN", unwritten)
        index, reader = index_of(folder / "vectors", catalog), index_of(folder / "vectors", catalog)
        for what, count, then in steps:
            if what == "add":
                ids = [f"d{n}" for n in range(number, number + count)]
                commit(catalog, *(Document(id=id, text=f"word{id}", metadata={"n": int(id[1:]) % 2}) for id in ids))
                number, alive = number + count, [*alive, *ids]
            elif alive:
                catalog.remove(alive[::2][:count])
                alive = [id for id in alive if id not in alive[::2][:count]]
            if then == "write":
                index.follow(write=True)
            elif then == "look":
                check(reader, catalog)
            elif then == "reopen":
                index = index_of(folder / "vectors", catalog)
        for one in (index, reader, index_of(folder / "vectors", catalog), index_of(folder / "new", catalog)):
            check(one, catalog)
    catalog.close()


def test_a_small_change_to_many_writes_little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """And another process that has them open takes it in without reading them again."""
    monkeypatch.setattr(embedded, "LEAST_UNWRITTEN", 10)
    catalog = create_catalog(tmp_path / "catalog.db", {})
    commit(catalog, *(Document(id=f"d{n}", text=f"word{n}", metadata={"n": n}) for n in range(2000)))
    index, reader = (index_of(tmp_path / "vectors", catalog) for _ in range(2))
    index.follow(write=True)
    (first,) = index._state.segments
    reader = index_of(tmp_path / "vectors", catalog)
    (mapped,) = reader._state.segments
    for start in range(2000, 2200, 20):
        commit(catalog, *(Document(id=f"d{n}", text=f"word{n}", metadata={"n": n}) for n in range(start, start + 20)))
        index.follow(write=True)
        check(reader, catalog, 3000)
    assert index._state.segments[0] is first
    assert len(index._state.segments) <= 5
    sizes = [len(one) for one in index._state.segments]
    assert all(before >= 2 * after for before, after in pairwise(sizes))
    assert reader._state.segments[0].file == mapped.file
    catalog.close()


def test_a_large_file_is_verified_before_it_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Damage in one is harmless until then, and found when asked for."""
    monkeypatch.setattr(embedded, "LEAST_UNWRITTEN", 10)
    monkeypatch.setattr(columns, "CHECKED_AT_ONCE", 0)
    catalog = create_catalog(tmp_path / "catalog.db", {})
    commit(catalog, *(Document(id=f"d{n}", text=f"word{n}", metadata={"n": n}) for n in range(100)))
    index_of(tmp_path / "vectors", catalog).follow(write=True)
    (file,) = (tmp_path / "vectors").glob("segment-*")
    content = bytearray(file.read_bytes())
    content[-200:-100] = b"\xff" * 100  # scales, which become no numbers
    file.write_bytes(content)
    index = index_of(tmp_path / "vectors", catalog)
    vector = np.full(DIMENSIONS, DIMENSIONS**-0.5, dtype=np.float32)
    assert np.isfinite(asyncio.run(index.search(vector, 100)).scores).all()
    with pytest.raises(Damaged, match="is not what was written"):
        index.verify()
    commit(catalog, *(Document(id=f"new{n}", text=f"other{n}", metadata={"n": n}) for n in range(90)))
    index.follow(write=True)
    index.verify()
    check(index_of(tmp_path / "vectors", catalog), catalog, 1000)
    catalog.close()
