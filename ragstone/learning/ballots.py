"""Votes as arrays, and what they say of a challenger after each so many of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, log, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ragstone.learning.eprocess import ADVANTAGES, Floats, log_wealth, mixed, payoffs, stakes
from ragstone.learning.robust import bound, least, left_out, trimmed

LIKELY = 2.0
"""Standard errors on either side, between which the truth probably is."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ballots:
    """The votes of a trial in their order, all (n,): who voted, on which version, 1 or -1.

    ``voices`` are numbers from 0 on, below ``users``.
    """

    voices: NDArray[np.int64]
    versions: NDArray[np.int64]
    votes: Floats
    users: int

    def __len__(self) -> int:
        return len(self.votes)


def ballots(cast: Iterable[tuple[str, int, int]]) -> Ballots:
    """From voice, version and vote of each, in their order."""
    rows = list(cast)
    known = {voice: number for number, voice in enumerate(sorted({row[0] for row in rows}))}
    return Ballots(
        voices=np.array([known[row[0]] for row in rows], dtype=np.int64),
        versions=np.array([row[1] for row in rows], dtype=np.int64),
        votes=np.array([row[2] for row in rows], dtype=np.float64),
        users=len(known),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """A challenger against the champion, all (looks,): after so many ``votes``.

    ``evidence`` is the logarithm of the e-value, without the users who gave most, and with no more than a part of a
    proof by any other. ``difference`` is that of the shares
    of up, without the most influential users on either side; ``error`` is its standard error. ``paid`` is what all
    votes paid together.
    """

    votes: NDArray[np.int64]
    evidence: Floats
    difference: Floats
    error: Floats
    paid: Floats

    @property
    def high(self) -> Floats:
        return self.difference + LIKELY * self.error

    @property
    def low(self) -> Floats:
        return self.difference - LIKELY * self.error


def compare(
    cast: Ballots,
    new: tuple[int, float],
    old: tuple[int, float],
    *,
    trim: float,
    voices: int = 0,
    bar: float = inf,
    looks: Sequence[int] | None = None,
) -> Compared:
    """What votes say of a challenger.

    Args:
        cast: the votes.
        new: the challenger's version, and the probability of its arm.
        old: the same of the champion.
        trim: share of the users left out; 0: all are trusted, and nobody's part is bounded either.
        voices: users there are at least, also where fewer have voted yet.
        bar: logarithm of the evidence that promotes, of which no user gives more than a part.
        looks: after how many votes, ascending; after all of them, if not given.
    """
    ends = np.array([len(cast)] if looks is None else looks, dtype=np.int64)
    pays = payoffs(cast.votes, cast.versions == new[0], cast.versions == old[0], new[1], old[1])
    logs = log_wealth(pays, stakes(new[1], old[1]))
    slot = np.searchsorted(ends, np.arange(len(cast)), side="right")
    place = slot * cast.users + cast.voices

    def by_user(values: Floats) -> Floats:
        """Sums of values (n,) up to each look, of each user (looks, users)."""
        sums = np.bincount(place, weights=values, minlength=(len(ends) + 1) * cast.users)
        return sums.reshape(len(ends) + 1, cast.users)[:-1].cumsum(axis=0)

    counts = by_user(np.ones(len(cast)))
    wealth = [by_user(column) for column in logs.T]
    sums, squares = by_user(pays), np.append(0.0, np.cumsum(pays**2))[np.minimum(ends, len(cast))]
    evidence, difference, error = np.zeros((3, len(ends)))
    known = (counts > 0).sum(axis=1)  # users who had voted by then: never fewer than before
    for users in map(int, np.unique(known)):
        rows = slice(*np.searchsorted(known, [users, users + 1]))
        out = left_out(max(users, voices), trim)
        most = bound(bar, max(users, voices, 1)) if trim else inf
        either = min(out, max(0, (users - 1) // 2))
        evidence[rows] = mixed(np.stack([least(np.minimum(one[rows], most), out) for one in wealth], axis=-1))
        difference[rows] = trimmed(sums[rows], counts[rows], either) / 2
        error[rows] = np.sqrt(squares[rows]) / np.maximum(ends[rows], 1) / 2 / (1 - 2 * either / max(users, 1))
    return Compared(votes=ends, evidence=evidence, difference=difference, error=error, paid=sums.sum(axis=1))


def needed(difference: float, *, new: float, old: float, users: int, trim: float, alpha: float) -> float:
    """About how many votes a true difference takes to be proved, half of the time; infinite where there is none.

    With n votes the score is ``z = difference * sqrt(n) / sd``. Leaving out the luckiest of ``u`` users, a share ``t``,
    costs ``sqrt(u) * density`` of it, where the density is that of the normal at its upper ``t``. What is left, squared
    and halved, is the best growth of the log wealth; it has to reach the bar, and pay for having divided the money.
    """
    if difference <= 0:
        return float("inf")
    trim = min(trim, 0.5)
    loss = sqrt(users) * NormalDist().pdf(NormalDist().inv_cdf(1 - trim)) if trim else 0.0
    bar = log(1 / alpha) + log(len(ADVANTAGES)) / 2
    z = (loss + sqrt(2 * (1 - trim) * bar)) / (1 - trim)
    return z**2 * (1 / new + 1 / old) / (2 * difference) ** 2
