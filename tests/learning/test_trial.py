"""Trials: who is assigned to what, and when something is decided."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import drawn

from ragstone.learning.trial import Outcome, Trial, assign, spent, weigh

TRIAL = Trial(id="t1", champion=0, challengers=(1,), seed="seed")


@given(st.integers(0, 5), st.sets(st.integers(6, 12), max_size=3), st.floats(0, 0.9))
def test_the_shares_of_the_versions_sum_to_1(champion: int, challengers: set[int], holdout: float) -> None:
    trial = Trial(id="t", champion=champion, challengers=tuple(challengers), seed="s", holdout=holdout)
    assert sum(trial.shares.values()) == pytest.approx(1)
    assert min(trial.shares.values()) > 0
    if champion:
        assert trial.shares.get(0, 0) == pytest.approx(holdout)


def test_assignments_are_as_probable_as_they_say() -> None:
    """Chi-square over 40 trials; 120 degrees of freedom have 158 in one case of a hundred."""
    statistic = 0.0
    for number in range(40):
        trial = Trial(id="t", champion=3, challengers=(4, 5), seed=f"{number}")
        made = [assign(trial, f"request {request}") for request in range(500)]
        counts = Counter(one.version for one in made)
        assert all(one.probability == trial.shares[one.version] for one in made)
        statistic += sum((counts[one] - 500 * share) ** 2 / (500 * share) for one, share in trial.shares.items())
    assert 80 < statistic < 158


@given(st.text(max_size=20))
def test_an_assignment_can_be_made_again(request_id: str) -> None:
    assert assign(TRIAL, request_id) == assign(TRIAL, request_id)
    assert assign(TRIAL, request_id).version in (0, 1)


def test_another_seed_assigns_otherwise() -> None:
    other = Trial(id="t1", champion=0, challengers=(1,), seed="other")
    same = sum(assign(TRIAL, f"{n}") == assign(other, f"{n}") for n in range(2000))
    assert abs(same / 2000 - (0.45**2 + 0.55**2)) < 4 * sqrt(0.25 / 2000)


def test_a_better_challenger_is_promoted_and_the_log_proves_it_again() -> None:
    outcomes = drawn(TRIAL, {0: 0.5, 1: 0.75}, 6000)
    verdict = weigh(TRIAL, outcomes)
    assert (verdict.state, verdict.winner) == ("promoted", 1)
    assert "version 1 is better" in verdict.why
    champion, challenger = verdict.arms
    assert champion.requests + challenger.requests == 6000
    assert verdict.votes == champion.votes + challenger.votes
    assert challenger.evidence is not None
    assert challenger.evidence >= 40 == challenger.bar
    assert challenger.low is not None
    assert challenger.low < 0.25 < (challenger.high or 0)
    assert challenger.needs == 0
    assert weigh(TRIAL, outcomes[::-1]).to_json() == verdict.to_json(), "whatever order the log is read in"


def test_a_worse_challenger_is_given_up_and_one_of_no_difference_is_not_promoted() -> None:
    stopped = weigh(TRIAL, drawn(TRIAL, {0: 0.7, 1: 0.4}, 3000))
    assert (stopped.state, stopped.winner) == ("stopped", None)
    assert "no challenger is probably better by 2% or more" in stopped.why
    going = weigh(TRIAL, drawn(TRIAL, {0: 0.6, 1: 0.6}, 900))
    assert going.state == "going"
    assert f"{going.votes} votes prove nothing yet" in going.why
    over = weigh(
        Trial(id="t", champion=0, challengers=(1,), seed="seed", most=100), drawn(TRIAL, {0: 0.6, 1: 0.6}, 900)
    )
    assert (over.state, "all it gets" in over.why) == ("stopped", True)


def test_one_voice_alone_proves_nothing_unless_it_may() -> None:
    outcomes = drawn(TRIAL, {0: 0.0, 1: 1.0}, 2000, voices=1)
    assert weigh(TRIAL, outcomes).state == "going"
    alone = Trial(id="t1", champion=0, challengers=(1,), seed="seed", trim=0)
    assert weigh(alone, outcomes).state == "promoted"


def test_nothing_is_decided_by_the_first_votes_whatever_they_say() -> None:
    outcomes = [one for one in drawn(TRIAL, {0: 0.0, 1: 1.0}, 1200) if one.vote]
    few = weigh(TRIAL, outcomes[:150])
    assert few.arms[1].evidence is not None
    assert few.arms[1].bar is not None
    assert (few.state, few.arms[1].evidence > few.arms[1].bar) == ("going", True)
    assert few.why == "the evidence suffices, but 150 votes are few: nothing is decided before 200"
    assert few.arms[1].needs == 50
    assert weigh(TRIAL, outcomes[:200]).state == "promoted"
    short = replace(TRIAL, most=150)
    assert weigh(short, outcomes[:150]).state == "promoted", "where a trial gets no more votes than that"


def test_few_votes_are_not_dressed_up() -> None:
    nothing = weigh(TRIAL, [])
    assert (nothing.state, nothing.why, nothing.votes) == ("going", "nobody has voted yet", 0)
    few = weigh(TRIAL, drawn(TRIAL, {0: 0.0, 1: 1.0}, 20))
    assert few.state == "going"
    assert few.arms[1].evidence is not None
    assert few.arms[1].evidence < 2


def test_outcomes_of_another_trial_are_passed_over() -> None:
    own = drawn(TRIAL, {0: 0.5, 1: 0.5}, 200)
    stray = [
        Outcome(request_id="x", voice="u", version=7, probability=0.45, vote=1, at=0),
        Outcome(request_id="y", voice="u", version=1, probability=0.2, vote=1, at=0),
    ]
    assert weigh(TRIAL, [*own, *stray]) == weigh(TRIAL, own)


def test_a_doubt_ends_with_the_better_one() -> None:
    doubt = Trial(id="d", champion=3, seed="s", holdout=0.5, doubt=True)
    assert doubt.shares == {0: 0.5, 3: 0.5}
    back = weigh(doubt, drawn(doubt, {0: 0.6, 3: 0.4}, 4000))
    assert (back.state, back.winner) == ("rolled back", 0)
    kept = weigh(doubt, drawn(doubt, {0: 0.4, 3: 0.6}, 4000))
    assert (kept.state, kept.winner) == ("kept", None)
    assert weigh(doubt, drawn(doubt, {0: 0.5, 3: 0.5}, 40)).state == "going"


@settings(max_examples=20)
@given(st.floats(0.001, 0.5), st.integers(1, 400))
def test_trials_together_spend_no_more_than_alpha(alpha: float, trials: int) -> None:
    parts = [spent(number, alpha) for number in range(1, trials + 1)]
    assert sum(parts) <= alpha
    assert parts == sorted(parts, reverse=True)
    assert sum(parts) == pytest.approx(alpha * (1 - 1 / (trials + 1)))


def test_colluders_who_are_the_first_to_vote_are_left_out_by_how_many_users_there_are() -> None:
    """Four of forty vote before anybody else does: without the others, nobody could tell them from a majority."""
    trial = Trial(id="t", champion=0, challengers=(1,), seed="s")
    rushed = [
        replace(one, vote=1 if one.version == 1 else -1) for one in drawn(trial, {0: 0.5, 1: 0.5}, 1200, voices=4)
    ]
    assert weigh(trial, rushed).state == "promoted"
    known = weigh(replace(trial, voices=40), rushed)
    assert known.state == "going"
    (arm,) = [one for one in known.arms if one.version == 1]
    assert arm.evidence is not None
    assert arm.evidence <= 1
