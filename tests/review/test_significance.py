"""Bootstrap intervals: what must hold of any, and that they cover as often as they say."""

from __future__ import annotations

from math import erfc, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.review.significance import bootstraps, paired_difference

values = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@settings(max_examples=30)
@given(values)
def test_interval_lies_among_the_values(some: list[float]) -> None:
    interval = bootstraps({"one": some}, resamples=200)["one"]
    assert interval.mean == pytest.approx(sum(some) / len(some))
    assert min(some) - 1e-9 <= interval.low <= interval.high <= max(some) + 1e-9
    assert bootstraps({"one": some}, resamples=200)["one"] == interval, "the same seed gives the same interval"


@settings(max_examples=30)
@given(values, st.integers(0, 9))
def test_swapped_comparison_flips_the_sign(a: list[float], shift: int) -> None:
    b = a[shift % len(a) :] + a[: shift % len(a)]
    one, other = paired_difference(a, b, resamples=300), paired_difference(b, a, resamples=300)
    assert one.mean == pytest.approx(-other.mean)
    assert (one.low, one.high) == (pytest.approx(-other.high), pytest.approx(-other.low))
    assert one.p == pytest.approx(other.p)
    assert 0 < one.p <= 1


def test_equal_systems_do_not_differ() -> None:
    random = np.random.default_rng(3)
    a = random.random(200)
    same = paired_difference(a, a)
    assert (same.mean, same.low, same.high, same.p) == (0, 0, 0, 1)
    better = paired_difference(a + 0.1 * random.random(200), a)
    assert better.low > 0
    assert better.p < 0.001
    noise = paired_difference(a, random.permutation(a))
    assert noise.low < 0 < noise.high
    assert noise.p > 0.05


def test_p_agrees_with_normal_approximation() -> None:
    random = np.random.default_rng(4)
    differences = random.normal(0.03, 0.3, size=400)
    z = differences.mean() / (differences.std() / 20)
    assert 1 < z < 3
    assert paired_difference(differences, np.zeros(400)).p == pytest.approx(erfc(z / sqrt(2)), abs=0.02)


def test_intervals_have_their_coverage() -> None:
    random = np.random.default_rng(5)
    covered = 0
    for trial in range(200):
        drawn = random.binomial(1, 0.7, size=100).tolist()
        interval = bootstraps({"one": drawn}, resamples=500, seed=trial)["one"]
        covered += interval.low <= 0.7 <= interval.high
    assert 0.88 <= covered / 200 <= 0.99


def test_refuses_bad_input() -> None:
    with pytest.raises(ValueError, match="no values"):
        bootstraps({"one": []})
    with pytest.raises(ValueError, match="paired"):
        paired_difference([1.0], [1.0, 2.0])
