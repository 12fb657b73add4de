"""Calibration: weights of marks and the confidence, learned from votes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ragstone.learning.calibration import fit_line, fit_weights, propose_confidence
from ragstone.learning.log import VoteRecord
from ragstone.learning.observation import Observation
from ragstone.learning.policy import Choices, Policy
from ragstone.review.confidence import calibrated, confidence
from ragstone.settings import ConfidenceWeights, MarkWeights

THIRD = (1 / 3, 1 / 3, 1 / 3)


def votes_on(seed: int, count: int, counts_for: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return marks, and votes that follow them with these weights."""
    chance = np.random.default_rng(seed)
    marks = chance.random((count, 3))
    up = 1 / (1 + np.exp(-8 * (marks @ np.array(counts_for) - 0.5)))
    return marks, (chance.random(count) < up).astype(float)


def test_predictive_mark_gains_weight() -> None:
    learned = fit_weights(*votes_on(1, 800, (0.9, 0.1, 0.0)), THIRD)
    assert learned.adopted
    assert learned.low > 0
    assert learned.values[0] > 0.55 > learned.values[1]
    assert sum(learned.values) == pytest.approx(1, abs=1e-5)
    chance = [fit_weights(*votes_on(seed, 200, THIRD), THIRD) for seed in range(12)]
    assert sum(one.adopted for one in chance) <= 2
    few = fit_weights(*votes_on(1, 40, (0.9, 0.1, 0.0)), THIRD)
    assert (few.adopted, few.values) == (False, pytest.approx(THIRD, abs=1e-5))


@pytest.mark.parametrize("count", [50, 100])
def test_keeps_weights_that_are_best(count: int) -> None:
    chance, adopted = np.random.default_rng(7), 0
    for _ in range(150):
        marks = np.clip(chance.normal(0.6, 0.2, (count, 3)), 0, 1)
        ups = (chance.random(count) < 1 / (1 + np.exp(-6 * (marks.mean(axis=1) - 0.55)))).astype(np.float64)
        adopted += fit_weights(marks, ups, THIRD).adopted
    assert adopted <= 0.08 * 150


def test_fewer_votes_pull_less() -> None:
    pulls = [
        np.mean([fit_weights(*votes_on(seed, count, (1, 0, 0)), THIRD).values[0] for seed in range(5)])
        for count in (60, 2000)
    ]
    assert 1 / 3 - 1e-5 <= pulls[0] < pulls[1] <= 1


def test_calibrates_overconfidence() -> None:
    chance = np.random.default_rng(2)
    confidence = chance.uniform(0.5, 1, 1000)
    ups = (chance.random(1000) < confidence - 0.3).astype(float)
    learned = fit_line(confidence, ups)
    assert learned.adopted
    after = np.array([calibrated(one, *learned.values) for one in confidence])
    assert abs(after.mean() - ups.mean()) < 0.05 < 0.25 < abs(confidence.mean() - ups.mean())
    right = (chance.random(1000) < confidence).astype(float)
    assert not fit_line(confidence, right).adopted


def voted(vote: int, **seen: object) -> VoteRecord:
    return VoteRecord(response_id="r", voice="v", vote=vote, at=0, seen=Observation(**seen))  # type: ignore[arg-type]


def test_proposes_weights_of_predictive_marks() -> None:
    chance = random.Random(1)
    votes = []
    for _ in range(300):
        marks = tuple(chance.uniform(0, 10) for _ in range(3))
        votes.append(voted(1 if marks[1] > 5 else -1, marks=marks))
    base = Choices(relevance=1 / 3, factuality=1 / 3, completeness=1 / 3, retrieval_share=0.5)
    proposal = propose_confidence(Policy(version=0), base, votes)
    assert proposal is not None
    chosen = proposal.by_kind[""]
    assert chosen.factuality is not None
    assert chosen.factuality > 0.5
    assert Policy(version=1, by_kind=proposal.by_kind)


def test_noise_moves_no_weight() -> None:
    chance = random.Random(2)
    base = Choices(relevance=1 / 3, factuality=1 / 3, completeness=1 / 3, retrieval_share=0.5)
    noise = [voted(chance.choice([1, -1]), marks=tuple(chance.uniform(0, 10) for _ in range(3))) for _ in range(300)]
    proposal = propose_confidence(Policy(version=0), base, noise)
    if proposal is not None:
        assert proposal.by_kind[""].factuality is None
        assert proposal.by_kind[""].slope is not None


def test_calibrates_without_a_judge() -> None:
    """Answers reported as 50% to 100% certain are right 30% less often."""
    chance = random.Random(3)

    def votes(count: int, spoilt: float, **seen: object) -> list[VoteRecord]:
        sure = [chance.uniform(0.5, 1) for _ in range(count)]
        ups = [1 if chance.random() < one - spoilt else -1 for one in sure]
        return [voted(up, answerability=one, **seen) for up, one in zip(ups, sure, strict=True)]

    proposal = propose_confidence(Policy(version=0), Choices(), votes(400, 0.3))
    assert proposal is not None
    chosen = proposal.by_kind[""]
    assert chosen.slope is not None
    assert chosen.shift is not None
    marks, line = MarkWeights(), ConfidenceWeights(slope=chosen.slope, shift=chosen.shift)
    assert confidence(0.8, None, marks, line) == pytest.approx(0.5, abs=0.1)
    assert confidence(0.0, None, marks, line) == 0
    again = propose_confidence(Policy(version=1, by_kind=proposal.by_kind), Choices(), votes(400, 0.3))
    assert again is None or again.by_kind[""].shift == pytest.approx(chosen.shift, abs=0.5)
    assert propose_confidence(Policy(version=0), Choices(), votes(400, 0.0)) is None
    assert propose_confidence(Policy(version=0), Choices(), votes(400, 0.3, abstained=True)) is None
