"""Themes as clusters: every vector has one, the same vectors give the same, and drift is noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ragstone.index.themes.clusters import COUNTS, GROWTH, LEAST_ADDED, Themes, centroids_of, nearest

VECTORS = arrays(np.float32, st.tuples(st.integers(1, 60), st.just(8)), elements=st.floats(-1, 1, width=16))


@settings(max_examples=50, deadline=None)
@given(VECTORS)
def test_every_vector_has_one_theme(vectors: np.ndarray) -> None:
    mean, centroids = centroids_of(vectors)
    theme, fit = nearest(vectors, mean, centroids)
    assert len(centroids) <= max(COUNTS)
    assert theme.shape == fit.shape == (len(vectors),)
    assert ((theme >= 0) & (theme < len(centroids))).all()
    assert (np.abs(fit) <= 1 + 1e-4).all()
    again = centroids_of(vectors)
    assert np.array_equal(again[1], centroids)


def test_finds_well_separated_themes() -> None:
    random = np.random.default_rng(3)
    centres = random.normal(size=(5, 32)) * 4
    vectors = (centres[np.arange(200) % 5] + random.normal(size=(200, 32)) * 0.3).astype(np.float32)
    theme, _ = nearest(vectors, *centroids_of(vectors))
    assert len(set(theme.tolist())) == 5
    assert all(len(set(theme[start::5].tolist())) == 1 for start in range(5))


def test_drift_is_growth_or_something_new() -> None:
    vectors = np.eye(8, dtype=np.float32)
    mean, centroids = centroids_of(vectors)
    theme, fit = nearest(vectors, mean, centroids)
    themes = Themes(rows=np.arange(8), theme=theme, fit=fit, mean=mean, centroids=centroids, built=100, built_fit=0.5)
    assert not themes.has_drifted
    assert replace(themes, changed=int(100 * GROWTH) + 1).has_drifted
    assert replace(themes, added=LEAST_ADDED, added_fit=0.1).has_drifted
    assert not replace(themes, added=LEAST_ADDED, added_fit=0.5).has_drifted
