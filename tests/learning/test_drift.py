"""A promoted policy that turns bad raises an alarm soon; one that stays good rarely does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from outcomes import drawn

from ragstone.learning.drift import check_drift, suspicions
from ragstone.learning.trial import Trial

WATCHED = Trial(id="w", champion=3, seed="s")


def first_doubt(seed: int, before: float, after: float, *, votes: int = 3000, turn: int = 1000) -> int:
    """Return the vote at which a policy that changes at ``turn`` raises an alarm; ``votes`` if none does."""
    chance = np.random.default_rng(seed)
    own = chance.random(votes) < 0.9
    ups = np.where(own, np.where(np.arange(votes) < turn, before, after), before - 0.1)
    cast = np.where(chance.random(votes) < ups, 1.0, -1.0)
    fallen, behind = suspicions(cast, own, np.where(own, 1 / 0.9, 1 / 0.1))
    doubted = np.flatnonzero(np.maximum(fallen, behind) >= 1)
    return int(doubted[0]) if len(doubted) else votes


def test_alarms_soon_after_a_fall() -> None:
    fell = [first_doubt(seed, 0.7, 0.55) for seed in range(40)]
    stayed = [first_doubt(seed, 0.7, 0.7) for seed in range(40)]
    assert 1000 < np.median(fell) < 1400
    assert np.mean([one < 1000 for one in fell]) < 0.2
    assert np.mean([one < 3000 for one in stayed]) < 0.35


def test_alarms_when_behind_version_0() -> None:
    outcomes = drawn(WATCHED, {0: 0.95, 3: 0.4}, 12_000)
    found = check_drift(3, outcomes)
    assert found.doubtful
    assert found.fallen < 1 <= found.behind
    assert "version 0 gets better votes than version 3" in found.why


def test_explains_every_result() -> None:
    assert not check_drift(3, []).doubtful
    few = check_drift(3, drawn(WATCHED, {0: 0.5, 3: 0.6}, 300))
    assert not few.doubtful
    assert f"nothing in {few.votes} votes speaks against version 3" in few.why
    good, bad = drawn(WATCHED, {0: 0.5, 3: 0.8}, 3000), drawn(WATCHED, {0: 0.5, 3: 0.3}, 3000, seed=1)
    later = [*good, *(replace(one, at=one.at + 3000) for one in bad)]
    fallen = check_drift(3, later)
    assert fallen.doubtful
    assert "version 3 gets worse votes than before" in fallen.why
    assert check_drift(3, later[::-1]) == fallen
