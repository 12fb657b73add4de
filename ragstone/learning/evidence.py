"""Evidence that a challenger is better, valid after every vote and robust to colluding voters.

The evidence is the wealth of a gambler who bets on the challenger (an e-process). Each vote on an assigned request pays
its surprise divided by the probability of its arm, negative for the champion's arm. If the challenger is no better, no
way of betting makes money on average, so the chance that the wealth *ever* reaches ``1 / alpha`` is at most ``alpha``
(Ville 1939; Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86, 2024). The
right stake depends on an unknown advantage, so the money is divided among stakes for several advantages at the start.

Colluders may know everything and follow the bets. The wealth won on the votes of everybody else is a fair gamble
whatever they do, because stakes are fixed before each vote. Nobody knows who colludes, so the evidence is the minimum
over all ways of leaving out a share of the voices. The wealth is a product over voices, so the minimum leaves out those
who gave most. None of the others gives more than a third of a proof: in a young knowledge base a few frequent voters
can be more than that share. Both rules only lower the evidence, so its guarantee stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, inf, log, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ragstone.core.frozen import frozen

Floats = NDArray[np.float64]

ADVANTAGES = (0.03, 0.048, 0.077, 0.123, 0.197, 0.315)
"""Shares of up votes with one optimal stake each; each is 1.6 times the one before, so none is far from the truth."""
_MAX_STAKE = 0.45
"""The largest stake, as a share of the stake that would risk everything on one vote."""
_PRIOR_VOTES = 20
"""Imaginary votes before the first one, half of them up."""
_PROOF_VOICES = 3
"""Voices that a proof needs at least, besides those left out."""
_LIKELY = 2.0
"""Standard errors on either side of an estimate within which the truth probably lies."""


@frozen(eq=False)
class Votes:
    """The votes of a trial in order, all (n,): who voted, on which version, and 1 or -1.

    ``voices`` are numbers from 0 to ``voice_count`` - 1.
    """

    voices: NDArray[np.int64]
    versions: NDArray[np.int64]
    values: Floats
    voice_count: int

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def of(cls, votes: Iterable[tuple[str, int, int]]) -> Votes:
        """Build from (voice, version, vote) tuples in order."""
        rows = list(votes)
        numbers = {voice: number for number, voice in enumerate(sorted({row[0] for row in rows}))}
        return cls(
            voices=np.array([numbers[row[0]] for row in rows], dtype=np.int64),
            versions=np.array([row[1] for row in rows], dtype=np.int64),
            values=np.array([row[2] for row in rows], dtype=np.float64),
            voice_count=len(numbers),
        )


@frozen(eq=False)
class Comparison:
    """A challenger compared with the champion after several numbers of votes, all (looks,).

    ``evidence`` is the logarithm of the e-value. ``difference`` is that of the shares of up votes, without the most
    influential voices on either side, and ``error`` is its standard error. ``payoff`` is the sum over all votes.
    """

    votes: NDArray[np.int64]
    evidence: Floats
    difference: Floats
    error: Floats
    payoff: Floats

    @property
    def high(self) -> Floats:
        """The likely upper end of the difference."""
        return self.difference + _LIKELY * self.error

    @property
    def low(self) -> Floats:
        """The likely lower end of the difference."""
        return self.difference - _LIKELY * self.error


def compare(
    votes: Votes,
    new: tuple[int, float],
    old: tuple[int, float],
    *,
    trim: float,
    voices: int = 0,
    bar: float = inf,
    looks: Sequence[int] | None = None,
) -> Comparison:
    """Compare a challenger with the champion.

    Args:
        votes: the votes of a trial.
        new: the version of the challenger and the probability of its arm.
        old: the same of the champion.
        trim: share of the voices to leave out. 0 trusts every voice and bounds none.
        voices: minimum number of voices to assume, even if fewer have voted yet.
        bar: logarithm of the evidence that promotes; bounds the part of each voice.
        looks: ascending numbers of votes after which to compare; all votes if not given.
    """
    ends = np.array([len(votes)] if looks is None else looks, dtype=np.int64)
    payoff = payoffs(votes.values, votes.versions == new[0], votes.versions == old[0], new[1], old[1])
    logs = log_wealth(payoff, stakes(new[1], old[1]))
    slot = np.searchsorted(ends, np.arange(len(votes)), side="right")
    place = slot * votes.voice_count + votes.voices

    def by_voice(values: Floats) -> Floats:
        """Sum values (n,) up to each look, for each voice (looks, voices)."""
        sums = np.bincount(place, weights=values, minlength=(len(ends) + 1) * votes.voice_count)
        return sums.reshape(len(ends) + 1, votes.voice_count)[:-1].cumsum(axis=0)

    counts = by_voice(np.ones(len(votes)))
    wealth = [by_voice(column) for column in logs.T]
    sums, squares = by_voice(payoff), np.append(0.0, np.cumsum(payoff**2))[np.minimum(ends, len(votes))]
    evidence, difference, error = np.zeros((3, len(ends)))
    seen = (counts > 0).sum(axis=1)  # voices until each look: never fewer than before
    for count in sorted(set(seen.tolist())):
        rows = slice(*np.searchsorted(seen, [count, count + 1]))
        out = left_out(max(count, voices), trim)
        most = max_part(bar, max(count, voices, 1)) if trim else inf
        either = min(out, max(0, (count - 1) // 2))
        evidence[rows] = mixed(np.stack([least(np.minimum(one[rows], most), out) for one in wealth], axis=-1))
        difference[rows] = trimmed_mean(sums[rows], counts[rows], either) / 2
        error[rows] = np.sqrt(squares[rows]) / np.maximum(ends[rows], 1) / 2 / (1 - 2 * either / max(count, 1))
    return Comparison(votes=ends, evidence=evidence, difference=difference, error=error, payoff=sums.sum(axis=1))


def stakes(new: float, old: float) -> Floats:
    """Return the stake for each of `ADVANTAGES` as a share of the wealth, given the probabilities of both arms."""
    variance = 1 / new + 1 / old
    return np.minimum(2 * np.array(ADVANTAGES) / variance, _MAX_STAKE * min(new, old))


def payoffs(votes: Floats, is_new: NDArray[np.bool_], is_old: NDArray[np.bool_], new: float, old: float) -> Floats:
    """Return what each vote (n,) pays a bet on the challenger; votes on other arms pay 0.

    What counts is the vote less the mean of the votes before it. A request without a vote then pays 0 and need not be
    passed, and an arm on which people vote more often does not look better than it is.
    """
    earlier = np.cumsum(votes) - votes
    usual = earlier / (np.arange(len(votes)) + _PRIOR_VOTES)
    return (votes - usual) * (is_new / new - is_old / old)


def log_wealth(payoff: Floats, bets: Floats) -> Floats:
    """Return the logarithm of the factor by which each vote changes the money of each stake (n, stakes)."""
    return np.log1p(np.multiply.outer(payoff, bets))


def mixed(logs: Floats) -> Floats:
    """Return the logarithm of all money, divided evenly among the stakes at the start (over the last axis)."""
    most = logs.max(axis=-1)
    return most + np.log(np.exp(logs - most[..., np.newaxis]).mean(axis=-1))


def left_out(voices: int, share: float) -> int:
    """Return the number of voters that the evidence leaves out: at least one unless the share is 0."""
    return ceil(voices * share - 1e-9)


def max_part(bar: float, voices: int) -> float:
    """Return the most that one voice may add to the logarithm of the evidence: a third of ``bar``.

    With fewer than nine voices, all of which are needed, it is an even share for three of them.
    """
    return bar * max(1 / _PROOF_VOICES, _PROOF_VOICES / voices)


def least(per_voice: Floats, count: int) -> Floats:
    """Return the sum over voices (..., voices) without the ``count`` that add most; negative parts always count."""
    total = per_voice.sum(axis=-1)
    voices = per_voice.shape[-1]
    if not count or not voices:
        return total
    if count >= voices:
        return np.minimum(per_voice, 0).sum(axis=-1)
    most = np.partition(per_voice, voices - count, axis=-1)[..., voices - count :]
    return total - np.maximum(most, 0).sum(axis=-1)


def trimmed_mean(sums: Floats, counts: Floats, count: int) -> Floats:
    """Return the mean over votes without the ``count`` voices with the largest sums and as many with the smallest.

    Args:
        sums: sum over the votes of each voice (..., voices).
        counts: number of those votes; voices without any are ignored, and every row has as many with some.
        count: voices to leave out on either side.
    """
    voted = int((counts > 0).sum(axis=-1).max(initial=0))
    order = np.argsort(np.where(counts > 0, sums, np.inf), axis=-1, kind="stable")[..., count : voted - count]
    votes = np.take_along_axis(counts, order, axis=-1).sum(axis=-1)
    return np.take_along_axis(sums, order, axis=-1).sum(axis=-1) / np.maximum(votes, 1)


def votes_needed(difference: float, *, new: float, old: float, voices: int, trim: float, alpha: float) -> float:
    """Estimate the votes after which a true difference is proved in half of all cases; infinite if it is not above 0.

    With n votes the score is ``z = difference * sqrt(n) / sd``. Leaving out the luckiest share ``t`` of ``u`` voices
    costs ``sqrt(u) * density`` of it, where the density is that of the normal at its upper ``t``. The square of the
    rest, halved, is the best growth of the log wealth. It has to reach the bar and pay for dividing the money.
    """
    if difference <= 0:
        return inf
    trim = min(trim, 0.5)
    loss = sqrt(voices) * NormalDist().pdf(NormalDist().inv_cdf(1 - trim)) if trim else 0.0
    bar = log(1 / alpha) + log(len(ADVANTAGES)) / 2
    z = (loss + sqrt(2 * (1 - trim) * bar)) / (1 - trim)
    return z**2 * (1 / new + 1 / old) / (2 * difference) ** 2
