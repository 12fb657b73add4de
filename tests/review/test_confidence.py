"""One number from several: it stays within 0 and 1, and rises with each of them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.answers import JudgeScores
from ragstone.core.errors import SettingsError
from ragstone.review.confidence import calibrated, confidence, overall
from ragstone.settings import ConfidenceWeights, MarkWeights
from ragstone.settings.load import load

SHARE = st.floats(0, 1)
WEIGHT = st.floats(0, 1e300)
MARKS = st.tuples(*[st.floats(0, 10)] * 3)
MARK_WEIGHTS = (
    st.tuples(WEIGHT, WEIGHT, WEIGHT)
    .filter(any)
    .map(lambda given: MarkWeights(relevance=given[0], factuality=given[1], completeness=given[2]))
)
WEIGHTS = (
    st.tuples(WEIGHT, WEIGHT).filter(any).map(lambda given: ConfidenceWeights(retrieval=given[0], answer=given[1]))
)
ALMOST = 1e-12


def scores(marks: tuple[float, float, float]) -> JudgeScores:
    return JudgeScores(relevance=marks[0], factuality=marks[1], completeness=marks[2])


def test_each_rating_counts_a_third_by_default() -> None:
    assert overall(scores((9, 6, 3)), MarkWeights()) == pytest.approx(0.6)
    assert overall(scores((9, 6, 3)), MarkWeights(factuality=2, completeness=0)) == pytest.approx(0.7)


def test_without_a_judge_it_is_the_probability() -> None:
    assert confidence(0.8, None, MarkWeights(), ConfidenceWeights()) == pytest.approx(0.8)
    assert confidence(0.8, None, MarkWeights(), ConfidenceWeights(retrieval=0, answer=1)) == pytest.approx(0.8)


def test_judge_counts_by_its_weight() -> None:
    marks = scores((10, 10, 10))
    assert confidence(0.5, marks, MarkWeights(), ConfidenceWeights()) == pytest.approx(0.75)
    assert confidence(0.5, marks, MarkWeights(), ConfidenceWeights(retrieval=3)) == pytest.approx(0.625)


@given(SHARE, SHARE, st.floats(0.01, 10), st.floats(-10, 10))
def test_calibration_rises_and_keeps_certainty(a: float, b: float, slope: float, shift: float) -> None:
    low, high = sorted((a, b))
    assert 0 <= calibrated(low, slope, shift) <= calibrated(high, slope, shift) + ALMOST <= 1 + ALMOST
    assert calibrated(a, 1.0, 0.0) == a
    assert [calibrated(one, slope, shift) for one in (0.0, 1.0)] == [0.0, 1.0]


def test_shift_applies_to_log_odds() -> None:
    assert calibrated(0.8, 1.0, math.log(0.5)) == pytest.approx(2 / 3)
    assert calibrated(0.8, 2.0, 0.0) == pytest.approx(16 / 17)


@given(MARKS, MARK_WEIGHTS, SHARE, WEIGHTS, st.booleans())
def test_stays_within_bounds(
    marks: tuple[float, float, float],
    mark_weights: MarkWeights,
    sure: float,
    weights: ConfidenceWeights,
    judged: bool,
) -> None:
    assert 0 <= overall(scores(marks), mark_weights) <= 1
    assert 0 <= confidence(sure, scores(marks) if judged else None, mark_weights, weights) <= 1


@given(MARKS, MARKS, MARK_WEIGHTS, st.tuples(SHARE, SHARE), WEIGHTS)
def test_rises_with_each_input(
    one: tuple[float, float, float],
    other: tuple[float, float, float],
    mark_weights: MarkWeights,
    sure: tuple[float, float],
    weights: ConfidenceWeights,
) -> None:
    low = tuple(map(min, one, other))
    high = tuple(map(max, one, other))
    assert overall(scores(low), mark_weights) <= overall(scores(high), mark_weights) + ALMOST
    least = confidence(min(sure), scores(low), mark_weights, weights)
    assert least <= confidence(max(sure), scores(high), mark_weights, weights) + ALMOST
    alone = confidence(min(sure), None, mark_weights, weights)
    assert alone <= confidence(max(sure), None, mark_weights, weights) + ALMOST


@pytest.mark.parametrize(
    "zeros",
    [
        "review.marks={relevance: 0, factuality: 0, completeness: 0}",
        "review.confidence={retrieval: 0, answer: 0}",
    ],
)
def test_refuses_all_zero_weights(zeros: str) -> None:
    with pytest.raises(SettingsError, match="more than 0"):
        load([zeros])
