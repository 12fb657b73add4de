"""Trials: assignments and their ends."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import drawn

from ragstone.learning.trial import Outcome, Trial, alpha_of, draw, evaluate

TRIAL = Trial(id="t1", champion=0, challenger=1, seed="seed")


@given(st.integers(0, 5), st.none() | st.integers(6, 12), st.floats(0, 0.9))
def test_shares_sum_to_1(champion: int, challenger: int | None, holdout: float) -> None:
    trial = Trial(id="t", champion=champion, challenger=challenger, seed="s", holdout=holdout)
    assert Trial.from_json(trial.to_json()) == trial
    assert sum(trial.shares.values()) == pytest.approx(1)
    assert min(trial.shares.values()) > 0
    if champion:
        assert trial.shares.get(0, 0) == pytest.approx(holdout)


def test_assignments_match_their_probabilities() -> None:
    """The chi-square of 40 trials has 80 degrees of freedom; it exceeds 112 in one case of a hundred."""
    statistic = 0.0
    for number in range(40):
        trial = Trial(id="t", champion=3, challenger=4, seed=f"{number}")
        counts = Counter(draw(trial, f"request {request}") for request in range(500))
        statistic += sum((counts[one] - 500 * share) ** 2 / (500 * share) for one, share in trial.shares.items())
    assert 50 < statistic < 112


@given(st.text(max_size=20))
def test_assignments_repeat(request_id: str) -> None:
    assert draw(TRIAL, request_id) == draw(TRIAL, request_id)
    assert draw(TRIAL, request_id) in (0, 1)


def test_seeds_assign_independently() -> None:
    other = Trial(id="t1", champion=0, challenger=1, seed="other")
    same = sum(draw(TRIAL, f"{n}") == draw(other, f"{n}") for n in range(2000))
    assert abs(same / 2000 - (0.45**2 + 0.55**2)) < 4 * sqrt(0.25 / 2000)


def test_promotes_a_better_challenger() -> None:
    outcomes = drawn(TRIAL, {0: 0.5, 1: 0.75}, 6000)
    result = evaluate(TRIAL, outcomes)
    assert (result.state, result.winner) == ("promoted", 1)
    assert "version 1 is better" in result.why
    champion, challenger = result.arms
    assert champion.requests + challenger.requests == 6000
    assert result.votes == champion.votes + challenger.votes
    assert challenger.evidence is not None
    assert challenger.evidence >= 40 == challenger.bar
    assert challenger.low is not None
    assert challenger.low < 0.25 < (challenger.high or 0)
    assert challenger.needs == 0
    assert evaluate(TRIAL, outcomes[::-1]) == result, "the order of the rows does not matter"


def test_stops_a_worse_challenger() -> None:
    stopped = evaluate(TRIAL, drawn(TRIAL, {0: 0.7, 1: 0.4}, 3000))
    assert (stopped.state, stopped.winner) == ("stopped", None)
    assert "the challenger is probably not better by 2% or more" in stopped.why
    going = evaluate(TRIAL, drawn(TRIAL, {0: 0.6, 1: 0.6}, 900))
    assert going.state == "going"
    assert f"{going.votes} votes prove nothing yet" in going.why
    over = evaluate(
        Trial(id="t", champion=0, challenger=1, seed="seed", max_votes=100), drawn(TRIAL, {0: 0.6, 1: 0.6}, 900)
    )
    assert (over.state, "the limit of a trial" in over.why) == ("stopped", True)


def test_one_voice_proves_nothing() -> None:
    outcomes = drawn(TRIAL, {0: 0.0, 1: 1.0}, 2000, voices=1)
    assert evaluate(TRIAL, outcomes).state == "going"
    alone = Trial(id="t1", champion=0, challenger=1, seed="seed", trim=0)
    assert evaluate(alone, outcomes).state == "promoted"


def test_decides_nothing_before_200_votes() -> None:
    outcomes = [one for one in drawn(TRIAL, {0: 0.0, 1: 1.0}, 1200) if one.vote]
    few = evaluate(TRIAL, outcomes[:150])
    assert few.arms[1].evidence is not None
    assert few.arms[1].bar is not None
    assert (few.state, few.arms[1].evidence > few.arms[1].bar) == ("going", True)
    assert few.why == "the evidence is sufficient, but a trial needs 200 votes and has 150"
    assert few.arms[1].needs == 50
    assert evaluate(TRIAL, outcomes[:200]).state == "promoted"
    short = replace(TRIAL, max_votes=150)
    assert evaluate(short, outcomes[:150]).state == "promoted", "the trial gets only 150 votes"


def test_few_votes_prove_nothing() -> None:
    nothing = evaluate(TRIAL, [])
    assert (nothing.state, nothing.why, nothing.votes) == ("going", "no votes yet", 0)
    few = evaluate(TRIAL, drawn(TRIAL, {0: 0.0, 1: 1.0}, 20))
    assert few.state == "going"
    assert few.arms[1].evidence is not None
    assert few.arms[1].evidence < 2


def test_ignores_outcomes_of_other_trials() -> None:
    own = drawn(TRIAL, {0: 0.5, 1: 0.5}, 200)
    stray = [
        Outcome(request_id="x", voice="u", version=7, probability=0.45, vote=1, at=0),
        Outcome(request_id="y", voice="u", version=1, probability=0.2, vote=1, at=0),
    ]
    assert evaluate(TRIAL, [*own, *stray]) == evaluate(TRIAL, own)


def test_doubt_ends_with_the_better_version() -> None:
    doubt = Trial(id="d", champion=3, seed="s", holdout=0.5, doubt=True)
    assert doubt.shares == {0: 0.5, 3: 0.5}
    back = evaluate(doubt, drawn(doubt, {0: 0.6, 3: 0.4}, 4000))
    assert (back.state, back.winner) == ("rolled back", 0)
    kept = evaluate(doubt, drawn(doubt, {0: 0.4, 3: 0.6}, 4000))
    assert (kept.state, kept.winner) == ("kept", None)
    assert evaluate(doubt, drawn(doubt, {0: 0.5, 3: 0.5}, 40)).state == "going"


@settings(max_examples=20)
@given(st.floats(0.001, 0.5), st.integers(1, 400))
def test_trials_share_alpha(alpha: float, trials: int) -> None:
    parts = [alpha_of(number, alpha) for number in range(1, trials + 1)]
    assert sum(parts) <= alpha
    assert parts == sorted(parts, reverse=True)
    assert sum(parts) == pytest.approx(alpha * (1 - 1 / (trials + 1)))


def test_leaves_out_colluders_who_vote_first() -> None:
    """Four of forty vote first: without the known voices they look like a majority."""
    trial = Trial(id="t", champion=0, challenger=1, seed="s")
    rushed = [
        replace(one, vote=1 if one.version == 1 else -1) for one in drawn(trial, {0: 0.5, 1: 0.5}, 1200, voices=4)
    ]
    assert evaluate(trial, rushed).state == "promoted"
    known = evaluate(replace(trial, prior_voices=40), rushed)
    assert known.state == "going"
    (arm,) = [one for one in known.arms if one.version == 1]
    assert arm.evidence is not None
    assert arm.evidence <= 1
