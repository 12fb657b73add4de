"""Simulated worlds: what learning does in them, and rules that do without proof."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.learning.baselines import naive, never, oracle, thompson
from ragstone.learning.forecast import Users, forecast
from ragstone.learning.simulate import World, gated, reward

CHANCE = np.random.default_rng(6)
BASE = CHANCE.uniform(0.2, 0.6, size=50)


def test_a_better_policy_is_promoted_and_a_reversal_brings_the_old_one_back() -> None:
    up = np.column_stack([BASE, BASE + 0.3])
    world = World(up=up, later=up[:, ::-1], turns=1200, queue=(1,))
    run = gated(world, 1, votes=3000, every=50)
    assert [one.state for one in run.events] == ["promoted", "doubted", "rolled back"]
    assert (run.champion(1200), run.champion(3000)) == (1, 0)
    assert run.wrong(world) == 0
    quality = run.quality(world)
    assert len(quality) == 3000
    assert BASE.mean() < quality[0] < BASE.mean() + 0.3
    assert float(reward(quality, never(world, 1, votes=3000)[0])) > 0
    assert gated(world, 1, votes=3000, every=50).events == run.events, "the same seed lives the same life"


def test_a_worse_policy_is_given_up_and_colluders_change_nothing() -> None:
    world = World(up=np.column_stack([BASE + 0.3, BASE]), colluders=4, queue=(1,))
    run = gated(world, 2, votes=1500, every=50)
    assert [one.state for one in run.events] == ["stopped"]
    assert run.champion(1500) == 0


def test_some_vote_more_often_than_others() -> None:
    rushing = World(up=BASE[:, None], colluders=4, rush=30.0)
    assert rushing.paces.sum() == pytest.approx(1)
    assert rushing.paces[3] == pytest.approx(30 * rushing.paces[4])
    assert np.ptp(rushing.paces[4:]) == 0
    voices = rushing.voices(np.random.default_rng(1), 5000)
    assert np.mean(voices < 4) == pytest.approx(120 / 156, abs=0.03)
    skewed = World(up=BASE[:, None], skew=1.0).paces
    assert skewed[0] == pytest.approx(10 * skewed[9])
    assert np.ptp(World(up=BASE[:, None]).paces) == 0


def test_a_few_who_vote_much_more_often_change_nothing_though_hardly_anybody_voted_before() -> None:
    world = World(up=np.column_stack([BASE + 0.3, BASE]), colluders=4, rush=30.0, before=100, queue=(1,))
    runs = [gated(world, seed, votes=600, every=50) for seed in range(20)]
    assert sum(run.wrong(world) > 0 for run in runs) == 0


def test_rules_without_proof_lie_between_never_and_always_right() -> None:
    world = World(up=np.column_stack([BASE, BASE + 0.2, BASE - 0.1]), queue=(1, 2))
    best, base = oracle(world, 5, votes=600), never(world, 5, votes=600)
    assert best.mean() == pytest.approx(BASE.mean() + 0.2)
    for other in (naive(world, 5, seed=0, line=(2, 0, 1), votes=600), thompson(world, 5, seed=0, votes=600)):
        assert other.shape == (5, 600)
        assert BASE.mean() - 0.1 - 1e-9 <= other.min() <= other.max() <= best.max() + 1e-9
    assert thompson(world, 5, seed=0, votes=600)[:, -100:].mean() > base.mean()


def test_a_forecast_of_all_rules() -> None:
    values = np.column_stack([BASE, BASE + 0.3, BASE - 0.1])
    found = forecast(values, Users(colluders=0.1, turns=700), runs=3, votes=1000, seed=1)
    assert [one.rule for one in found.fared] == ["never learn", "naive", "Thompson sampling", "Ragstone", "oracle"]
    assert found.fared[0].gain == 0
    assert max(one.gain for one in found.fared) == found.fared[-1].gain > 0
    assert len(found.fared[0].curve) == 50
    assert found == forecast(values, Users(colluders=0.1, turns=700), runs=3, votes=1000, seed=1)
