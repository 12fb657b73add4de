"""Evidence stays a fair gamble without an advantage, whoever colludes."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.learning.evidence import (
    Votes,
    compare,
    least,
    left_out,
    log_wealth,
    max_part,
    mixed,
    payoffs,
    stakes,
    trimmed_mean,
    votes_needed,
)

NEW, OLD = (1, 0.45), (0, 0.55)


def cast(seed: int, votes: int, ups: tuple[float, float], *, users: int = 40, colluders: int = 0) -> Votes:
    chance = np.random.default_rng(seed)
    voices = chance.integers(users, size=votes)
    versions = (chance.random(votes) < NEW[1]).astype(np.int64)
    up = np.where(voices < colluders, versions == 1, np.array(ups)[versions])
    said = np.where(chance.random(votes) < up, 1.0, -1.0)
    return Votes(voices=voices, versions=versions, values=said, voice_count=users)


@settings(max_examples=40)
@given(st.floats(0.01, 0.98), st.floats(0, 1), st.floats(-1, 1), st.integers(0, 500))
def test_fair_votes_keep_expected_wealth(new: float, up: float, usual: float, before: int) -> None:
    """The expectation over both arms and both votes is 1 for every stake."""
    old = 1 - new
    bets = stakes(new, old)
    past = np.where(np.arange(before) < before * (1 + usual) / 2, 1.0, -1.0)
    expected = np.zeros(len(bets))
    for is_new, probability in ((True, new), (False, old)):
        for vote, chance in ((1.0, up), (-1.0, 1 - up)):
            votes = np.append(past, vote)
            which = np.full(len(votes), is_new)
            pays = payoffs(votes, which, ~which, new, old)[-1:]
            factor = np.exp(log_wealth(pays, bets))[0]
            assert (factor > 0).all(), "no vote loses everything"
            expected += probability * chance * factor
    assert expected == pytest.approx(np.ones(len(bets)), abs=1e-9)


def test_false_alarms_stay_below_alpha() -> None:
    """Few of 600 trials without a difference ever reach 20 at any look (Ville's inequality)."""
    bets, ever, ends = stakes(0.45, 0.55), 0, []
    for seed in range(600):
        one = cast(seed, 400, (0.6, 0.6))
        pays = payoffs(one.values, one.versions == 1, one.versions == 0, 0.45, 0.55)
        wealth = mixed(log_wealth(pays, bets).cumsum(axis=0))
        ever += bool((wealth >= log(20)).any())
        ends.append(exp(wealth[-1]))
    assert np.mean(ends) < 1 + 3 * np.std(ends) / np.sqrt(len(ends))
    assert 0 < ever / 600 <= 0.05


@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(1, 30), st.floats(0, 1))
def test_leaving_out_voices_lowers_evidence(seed: int, users: int, share: float) -> None:
    one = cast(seed, 120, (0.4, 0.7), users=users)
    whole = compare(one, NEW, OLD, trim=0, looks=range(1, 121)).evidence
    without = compare(one, NEW, OLD, trim=share, looks=range(1, 121)).evidence
    assert (without <= whole + 1e-9).all()
    per_user = np.random.default_rng(seed).normal(size=(3, users))
    count = left_out(users, share)
    assert (least(per_user, count) <= least(per_user, max(count - 1, 0)) + 1e-12).all()


@settings(max_examples=20)
@given(st.integers(0, 1000), st.integers(0, 3))
def test_least_is_minimum_over_subsets(seed: int, count: int) -> None:
    from itertools import combinations

    per_user = np.random.default_rng(seed).normal(size=6)
    ways = [set(out) for k in range(count + 1) for out in combinations(range(6), k)]
    sums = [sum(value for user, value in enumerate(per_user) if user not in out) for out in ways]
    assert least(per_user, count) == pytest.approx(min(sums))


def test_colluding_tenth_proves_nothing() -> None:
    """Four of forty vote for the challenger only; if none is left out, they prove it."""
    looks = range(50, 1501, 50)
    trials = [cast(seed, 1500, (0.6, 0.6), colluders=4) for seed in range(40)]
    trusting = [compare(one, NEW, OLD, trim=0, looks=looks).evidence.max() for one in trials]
    robust = [compare(one, NEW, OLD, trim=0.1, looks=looks).evidence.max() for one in trials]
    assert np.mean([one >= log(20) for one in trusting]) > 0.5
    assert np.mean([one >= log(20) for one in robust]) <= 0.05


def test_frequent_colluders_prove_nothing() -> None:
    """Four colluders who vote thirty times as often are more than a tenth at first, but their parts are bounded."""
    pace = np.array([30.0] * 4 + [1.0] * 36)
    looks, trials = range(200, 801, 25), []
    for seed in range(40):
        one = cast(seed, 800, (0.6, 0.6), colluders=4)
        voices = np.random.default_rng(seed).choice(40, size=800, p=pace / pace.sum())
        votes = np.where(voices < 4, np.where(one.versions == 1, 1.0, -1.0), one.values)
        trials.append(Votes(voices=voices, versions=one.versions, values=votes, voice_count=40))
    without = [compare(one, NEW, OLD, trim=0.1, looks=looks).evidence.max() for one in trials]
    bounded = [compare(one, NEW, OLD, trim=0.1, bar=log(40), looks=looks).evidence.max() for one in trials]
    assert np.mean([one >= log(40) for one in without]) > 0.3
    assert np.mean([one >= log(40) for one in bounded]) <= 0.05


def test_one_voice_gives_a_third_at_most() -> None:
    assert [max_part(6.0, users) for users in (1, 3, 6, 9, 12, 40)] == [18, 6, 3, 2, 2, 2]
    assert max_part(float("inf"), 40) == float("inf")


@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(1, 30), st.floats(0.1, 10))
def test_bounding_voices_lowers_evidence(seed: int, users: int, bar: float) -> None:
    one = cast(seed, 120, (0.2, 0.8), users=users)
    whole = compare(one, NEW, OLD, trim=0.1, looks=range(1, 121)).evidence
    bounded = compare(one, NEW, OLD, trim=0.1, bar=bar, looks=range(1, 121)).evidence
    assert (bounded <= whole + 1e-9).all()
    trusting = [compare(one, NEW, OLD, trim=0, bar=some, looks=[120]).evidence for some in (bar, float("inf"))]
    assert trusting[0] == trusting[1], "without trimming no voice is bounded"


def test_votes_needed_predicts_the_proof() -> None:
    said = votes_needed(0.15, new=0.45, old=0.55, voices=40, trim=0.1, alpha=0.025)
    looks = range(20, 3001, 20)
    found = [compare(cast(seed, 3000, (0.5, 0.65)), NEW, OLD, trim=0.1, looks=looks) for seed in range(30)]
    firsts = [looks[int(np.argmax(one.evidence >= log(40)))] for one in found]
    assert all((one.evidence >= log(40)).any() for one in found)
    assert 0.6 * said < np.median(firsts) < 1.4 * said
    assert np.mean([one.low[-1] <= 0.15 <= one.high[-1] for one in found]) > 0.85
    assert votes_needed(0.0, new=0.5, old=0.5, voices=40, trim=0.1, alpha=0.05) == float("inf")
    assert votes_needed(0.1, new=0.5, old=0.5, voices=40, trim=0, alpha=0.05) < said * 2.25


@settings(max_examples=30)
@given(st.integers(0, 1000), st.integers(1, 90))
def test_early_look_equals_shorter_trial(seed: int, at: int) -> None:
    """Some voices have not voted by the early look."""
    whole = cast(seed, 90, (0.5, 0.7), users=25)
    on_the_way = compare(whole, NEW, OLD, trim=0.1, looks=[at, 90])
    rows = zip(whole.voices, whole.versions, whole.values, strict=True)
    cut = Votes.of([(f"{voice:03}", int(version), int(vote)) for voice, version, vote in rows][:at])
    until = compare(cut, NEW, OLD, trim=0.1)
    for name in ("evidence", "difference", "error", "payoff"):
        assert getattr(on_the_way, name)[0] == pytest.approx(getattr(until, name)[0], abs=1e-9)


def test_trimmed_mean_leaves_out_both_sides() -> None:
    sums, counts = np.array([9.0, 1.0, 2.0, -8.0, 0.0]), np.array([3.0, 1.0, 1.0, 2.0, 0.0])
    assert trimmed_mean(sums, counts, 1) == pytest.approx(1.5)
    assert trimmed_mean(sums, counts, 0) == pytest.approx(4 / 7)
    assert [left_out(users, 0.1) for users in (1, 9, 10, 11, 40)] == [1, 1, 1, 2, 4]
    assert left_out(40, 0) == 0
