"""Codes of vectors: how well the nearest are found among them, all of them or a part."""

import numpy as np
import pytest

from ragstone.index.vectors.sketch import Sketcher, nearest

COUNT, DIMENSIONS, K = 20_000, 384, 10


@pytest.fixture(scope="module")
def vectors():
    """Clusters, as texts on a few hundred matters are."""
    rng = np.random.default_rng(7)
    centres = rng.normal(size=(300, DIMENSIONS))
    vectors = centres[rng.integers(0, 300, COUNT)] + rng.normal(size=(COUNT, DIMENSIONS)) + 0.5
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def sketched(vectors: np.ndarray):
    sketcher = Sketcher.of(vectors)
    return sketcher, sketcher.codes(vectors)


@pytest.mark.parametrize("share", [1.0, 0.5, 0.1, 0.01])
@pytest.mark.parametrize("how", ["part", "passes"])
def test_the_nearest_are_among_those_found(vectors: np.ndarray, sketched, share: float, how: str):
    rng = np.random.default_rng(int(share * 100))
    allowed = np.sort(rng.choice(COUNT, int(COUNT * share), replace=False))
    passes = np.isin(np.arange(COUNT), allowed)
    (sketcher, codes), right = sketched, 0
    for query in vectors[rng.integers(0, COUNT, 50)] + rng.normal(size=(50, DIMENSIONS)) * 0.02:
        query = (query / np.linalg.norm(query)).astype(np.float32)
        exact = vectors @ query
        given = {"part": allowed} if how == "part" else {"passes": passes}
        found, similarity = nearest(codes, sketcher.query(query), 100, **given)
        assert len(found) >= min(100, len(allowed))
        assert len(np.unique(found)) == len(found)
        assert passes[found].all()
        assert np.abs(similarity - exact[found]).max() < 0.004
        best = found[np.argsort(-similarity)[: 2 * K]]
        right += len(np.intersect1d(best, allowed[np.argsort(-exact[allowed])[:K]]))
    assert right / (50 * K) >= 0.985


@pytest.mark.parametrize("dimensions", [1, 7, 64, 65, 200, 1000])
def test_any_number_of_dimensions(dimensions: int):
    rng = np.random.default_rng(dimensions)
    vectors = rng.normal(size=(3000, dimensions)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    sketcher = Sketcher.of(vectors)
    found, similarity = nearest(sketcher.codes(vectors), sketcher.query(vectors[5]), 50)
    assert 5 in found
    assert np.abs(similarity - (vectors @ vectors[5])[found]).max() < 0.02


def test_vectors_that_are_all_the_same():
    vectors = np.full((2000, 64), 0.125, dtype=np.float32)
    sketcher = Sketcher.of(vectors)
    found, similarity = nearest(sketcher.codes(vectors), sketcher.query(vectors[0]), 100)
    assert len(found) >= 100
    assert similarity == pytest.approx(1, abs=1e-5)
