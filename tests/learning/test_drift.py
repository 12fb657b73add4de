"""A promoted policy that turns bad is doubted soon, one that stays as it is rarely."""

from __future__ import annotations

import numpy as np
from outcomes import drawn

from ragstone.learning.drift import suspicions, watch
from ragstone.learning.trial import Trial

WATCHED = Trial(id="w", champion=3, seed="s")


def first_doubt(seed: int, before: float, after: float, *, votes: int = 3000, turn: int = 1000) -> int:
    """After how many votes a policy is doubted that changes at ``turn``; ``votes`` where it is not."""
    chance = np.random.default_rng(seed)
    own = chance.random(votes) < 0.9
    ups = np.where(own, np.where(np.arange(votes) < turn, before, after), before - 0.1)
    cast = np.where(chance.random(votes) < ups, 1.0, -1.0)
    fallen, behind = suspicions(cast, own, np.where(own, 1 / 0.9, 1 / 0.1))
    doubted = np.flatnonzero(np.maximum(fallen, behind) >= 1)
    return int(doubted[0]) if len(doubted) else votes


def test_what_falls_is_doubted_soon_and_what_stays_rarely() -> None:
    fell = [first_doubt(seed, 0.7, 0.55) for seed in range(40)]
    stayed = [first_doubt(seed, 0.7, 0.7) for seed in range(40)]
    assert 1000 < np.median(fell) < 1400
    assert np.mean([one < 1000 for one in fell]) < 0.2
    assert np.mean([one < 3000 for one in stayed]) < 0.35


def test_what_is_behind_version_0_is_doubted_though_its_own_votes_stay() -> None:
    outcomes = drawn(WATCHED, {0: 0.95, 3: 0.4}, 12_000)
    found = watch(3, outcomes)
    assert found.doubtful
    assert found.fallen < 1 <= found.behind
    assert "version 0 is voted on better than version 3" in found.why


def test_the_words_say_what_is_known() -> None:
    assert not watch(3, []).doubtful
    few = watch(3, drawn(WATCHED, {0: 0.5, 3: 0.6}, 300))
    assert not few.doubtful
    assert f"nothing in {few.votes} votes speaks against version 3" in few.why
    good, bad = drawn(WATCHED, {0: 0.5, 3: 0.8}, 3000), drawn(WATCHED, {0: 0.5, 3: 0.3}, 3000, seed=1)
    later = [*good, *(type(one)(**{**_fields(one), "at": one.at + 3000}) for one in bad)]
    fallen = watch(3, later)
    assert fallen.doubtful
    assert "the votes on version 3 have become worse" in fallen.why
    assert watch(3, later[::-1]) == fallen


def _fields(one: object) -> dict[str, object]:
    return {name: getattr(one, name) for name in ("request_id", "voice", "version", "probability", "vote", "at")}
