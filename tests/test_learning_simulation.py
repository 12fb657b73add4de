"""Learning in simulated worlds, and the rules it is compared with."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from kb import add, open_fast

from benchmarks.learning import forecast as command
from benchmarks.learning.baselines import naive, never, oracle, thompson
from benchmarks.learning.forecast import Users, forecast, summary
from benchmarks.learning.off_policy import estimate
from benchmarks.learning.simulate import World, gated, reward
from ragstone.core.records import Document

CHANCE = np.random.default_rng(6)
BASE = CHANCE.uniform(0.2, 0.6, size=50)


def test_promotes_and_rolls_back_after_a_reversal() -> None:
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
    assert gated(world, 1, votes=3000, every=50).events == run.events


def test_colluders_promote_nothing() -> None:
    world = World(up=np.column_stack([BASE + 0.3, BASE]), colluders=4, queue=(1,))
    run = gated(world, 2, votes=1500, every=50)
    assert [one.state for one in run.events] == ["stopped"]
    assert run.champion(1500) == 0


def test_frequent_colluders_promote_nothing() -> None:
    world = World(up=np.column_stack([BASE + 0.3, BASE]), colluders=4, rush=30.0, before=100, queue=(1,))
    runs = [gated(world, seed, votes=600, every=50) for seed in range(20)]
    assert sum(run.wrong(world) > 0 for run in runs) == 0


def test_users_vote_at_their_pace() -> None:
    rushing = World(up=BASE[:, None], colluders=4, rush=30.0)
    assert rushing.paces.sum() == pytest.approx(1)
    assert rushing.paces[3] == pytest.approx(30 * rushing.paces[4])
    voices = rushing.voices(np.random.default_rng(1), 5000)
    assert np.mean(voices < 4) == pytest.approx(120 / 156, abs=0.03)
    skewed = World(up=BASE[:, None], skew=1.0).paces
    assert skewed[0] == pytest.approx(10 * skewed[9])


def test_baselines_lie_below_the_oracle() -> None:
    world = World(up=np.column_stack([BASE, BASE + 0.2, BASE - 0.1]), queue=(1, 2))
    best, base = oracle(world, 5, votes=600), never(world, 5, votes=600)
    assert best.mean() == pytest.approx(BASE.mean() + 0.2)
    for other in (naive(world, 5, seed=0, line=(2, 0, 1), votes=600), thompson(world, 5, seed=0, votes=600)):
        assert other.shape == (5, 600)
        assert BASE.mean() - 0.1 - 1e-9 <= other.min() <= other.max() <= best.max() + 1e-9
    assert thompson(world, 5, seed=0, votes=600)[:, -100:].mean() > base.mean()


def test_forecasts_every_rule() -> None:
    values = np.column_stack([BASE, BASE + 0.3, BASE - 0.1])
    found = forecast(values, Users(colluders=0.1, turns=700), runs=3, votes=1000, seed=1)
    assert [*found.gains] == ["never learn", "naive", "Thompson sampling", "Ragstone", "oracle"]
    assert found.gains["never learn"] == 0
    assert max(found.gains.values()) == found.gains["oracle"] > 0
    assert "Thompson sampling" in summary(found)


def test_forecast_runs_on_a_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kb, questions = tmp_path / "kb", tmp_path / "faq.csv"
    with closing(open_fast(kb)) as engine:
        add(
            engine,
            Document(id="park.md", text="Visitors park in the yard."),
            Document(id="soup.md", text="Soup at noon."),
        )
    questions.write_text("question,source,lang\nWhere do visitors park?,park.md,en\nWhen is there soup?,soup.md,en\n")
    few = ["--runs", "2", "--votes", "100", "--grid", "query.vector_weight=0,1", "--kb", str(kb)]
    command.main([str(questions), *few])
    assert "Ragstone promoted a version in" in capsys.readouterr().out


def test_off_policy_estimates_are_unbiased() -> None:
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
        assert got.effective == pytest.approx(taken.sum())
    assert np.abs(np.mean(errors, axis=0)).max() < 0.01
    assert np.quantile(np.abs(errors), 0.95) < 0.035
