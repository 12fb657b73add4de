"""Weights and calibration from votes, estimates from logs, candidates from replays, and eager steps."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.learning.candidates import Found, Logged, neighbours, replayed, screened
from ragstone.learning.eager import PART, Rated, Stepped, stepped
from ragstone.learning.offpolicy import estimate
from ragstone.learning.policy import BOUNDS, Choices
from ragstone.learning.weights import calibration_error, learn_calibration, learn_weights
from ragstone.review.confidence import calibrated

FULL = Choices(
    web_threshold=0.7,
    relevance=0.3,
    factuality=0.3,
    completeness=0.4,
    retrieval_share=0.5,
    slope=2.0,
    shift=0.0,
    vector_weight=0.5,
    top_k=5,
    rerank=False,
)
THIRD = (1 / 3, 1 / 3, 1 / 3)


def votes_on(seed: int, count: int, counts_for: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Marks, and votes that follow them with these weights."""
    chance = np.random.default_rng(seed)
    marks = chance.random((count, 3))
    up = 1 / (1 + np.exp(-8 * (marks @ np.array(counts_for) - 0.5)))
    return marks, (chance.random(count) < up).astype(float)


def test_a_mark_that_votes_follow_gains_weight_and_chance_is_not_adopted() -> None:
    learned = learn_weights(*votes_on(1, 800, (0.9, 0.1, 0.0)), THIRD)
    assert learned.adopted
    assert learned.low > 0
    assert learned.values[0] > 0.55 > learned.values[1]
    assert sum(learned.values) == pytest.approx(1, abs=1e-5)
    chance = [learn_weights(*votes_on(seed, 200, THIRD), THIRD) for seed in range(12)]
    assert sum(one.adopted for one in chance) <= 2
    few = learn_weights(*votes_on(1, 40, (0.9, 0.1, 0.0)), THIRD)
    assert (few.adopted, few.values) == (False, pytest.approx(THIRD, abs=1e-5))


@pytest.mark.parametrize("count", [50, 100])
def test_the_best_weights_are_left_alone_in_about_95_looks_of_100(count: int) -> None:
    chance, adopted = np.random.default_rng(7), 0
    for _ in range(150):
        marks = np.clip(chance.normal(0.6, 0.2, (count, 3)), 0, 1)
        ups = (chance.random(count) < 1 / (1 + np.exp(-6 * (marks.mean(axis=1) - 0.55)))).astype(np.float64)
        adopted += learn_weights(marks, ups, THIRD).adopted
    assert adopted <= 0.08 * 150


def test_fewer_votes_pull_less() -> None:
    pulls = [
        np.mean([learn_weights(*votes_on(seed, count, (1, 0, 0)), THIRD).values[0] for seed in range(5)])
        for count in (60, 2000)
    ]
    assert 1 / 3 - 1e-5 <= pulls[0] < pulls[1] <= 1


def test_an_overconfident_number_is_calibrated() -> None:
    chance = np.random.default_rng(2)
    confidence = chance.uniform(0.5, 1, 1000)
    ups = (chance.random(1000) < confidence - 0.3).astype(float)
    learned = learn_calibration(confidence, ups)
    assert learned.adopted
    after = np.array([calibrated(one, *learned.values) for one in confidence])
    assert calibration_error(after, ups) < 0.08 < 0.25 < calibration_error(confidence, ups)
    right = (chance.random(1000) < confidence).astype(float)
    assert not learn_calibration(confidence, right).adopted


def test_estimates_of_a_policy_from_what_others_earned() -> None:
    chance = np.random.default_rng(3)
    errors = []
    for _ in range(20):
        taken = chance.random(5000) < 0.3
        logged, truth = np.where(taken, 0.3, 0.7), np.where(taken, 0.2, -0.1)
        rewards = np.where(chance.random(5000) < 0.3, 1.0, 0.0) * np.where(
            chance.random(5000) < (1 + truth / 0.3) / 2, 1, -1
        )
        got = estimate(rewards, logged, taken.astype(float), guessed=truth, guessed_target=np.full(5000, 0.2))
        errors.append([one.value - 0.2 for one in (got.ips, got.snips, got.doubly_robust)])
        assert 0.005 < got.snips.error < 0.03
        assert got.like == pytest.approx(taken.sum())
    assert np.abs(np.mean(errors, axis=0)).max() < 0.01
    assert np.quantile(np.abs(errors), 0.95) < 0.035
    with pytest.raises(ValueError, match="nothing to estimate from"):
        estimate(np.zeros(0), np.zeros(0), np.zeros(0))


def test_neighbours_differ_in_one_choice_by_one_step() -> None:
    found = neighbours(FULL)
    assert len(found) == 2 * len(BOUNDS) + 1
    for one in found:
        changed = {name for name, value in asdict(one).items() if value != getattr(FULL, name)}
        assert len(changed) == 1
        name = changed.pop()
        if name in BOUNDS:
            assert BOUNDS[name].low <= getattr(one, name) <= BOUNDS[name].high
    assert neighbours(Choices()) == ()
    assert [one.rerank for one in neighbours(FULL, ["rerank"])] == [True]


def test_a_replay_finds_what_another_weight_would_have_shown() -> None:
    found = (
        Found(document_id="a", vector=1.0, keyword=0.1),
        Found(document_id="b", keyword=1.0),
        Found(document_id="c"),
    )
    logged = [Logged(kind="", found=found, right={"b"}), Logged(kind="", found=(), right={"b"})]
    assert replayed(logged, Choices(vector_weight=1.0)).tolist() == [0.5, 0]
    assert replayed(logged, Choices(vector_weight=0.0)).tolist() == [1.0, 0]
    assert replayed(logged, Choices(vector_weight=1.0, top_k=1)).tolist() == [0, 0]


def test_only_what_is_not_inferior_is_tried_and_the_most_promising_first() -> None:
    chance = np.random.default_rng(4)
    base = chance.random(300)
    better, worse, same = Choices(top_k=6), Choices(top_k=4), Choices(top_k=5)
    few = Choices(top_k=7)
    tried = [(worse, base - 0.05), (same, base + chance.normal(0, 0.02, 300)), (better, base + 0.03)]
    assert [one.choices for one in screened(base, tried)] == [better, same]
    assert screened(base[:3], [(few, base[:3] + np.array([0.5, -0.5, 0.0]))]) == ()
    assert screened(base[:1], [(few, base[:1])]) == ()


rated = st.builds(
    Rated,
    vote=st.sampled_from([1, -1]),
    web=st.booleans(),
    answerability=st.floats(0, 1),
    marks=st.none() | st.tuples(*[st.floats(0, 10)] * 3),
)


@settings(max_examples=40)
@given(st.lists(st.lists(rated, max_size=5), max_size=12))
def test_eager_steps_stay_small_and_within_bounds(fives: list[list[Rated]]) -> None:
    now = Stepped(choices=FULL)
    for five in fives:
        later = stepped(now, five)
        for name, bound in BOUNDS.items():
            value = getattr(later.choices, name)
            assert bound.low <= value <= bound.high
            assert abs(value - getattr(now.choices, name)) <= PART * bound.step + 1e-6
        now = later
    assert stepped(Stepped(choices=Choices()), fives[0] if fives else []).choices == Choices()


def test_eager_steps_go_where_the_votes_point() -> None:
    disliked = [Rated(vote=-1)] * 5
    one = stepped(Stepped(choices=FULL), disliked)
    assert (one.choices.web_threshold or 0) > 0.7, "answers without the web are disliked, so it is asked more"
    assert (stepped(one, [Rated(vote=-1, web=True)] * 5).choices.web_threshold or 0) < (one.choices.web_threshold or 0)
    agreeing = [Rated(vote=1, marks=(9, 5, 2)), Rated(vote=-1, marks=(2, 5, 9))]
    moved = stepped(Stepped(choices=FULL), agreeing).choices
    assert (moved.relevance, moved.factuality, moved.completeness) == (0.325, 0.3, 0.375)
    first = stepped(Stepped(choices=FULL), [Rated(vote=1)] * 5)
    second = stepped(first, [*[Rated(vote=1)] * 2, *disliked[:3]])
    assert (first.direction, second.direction) == (1, -1), "worse than the five before: it turns round"
