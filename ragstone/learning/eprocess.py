"""Evidence that may be looked at after every vote: the wealth of a gambler who bets on the challenger.

Each vote on an assigned request pays ``x``: what it says beyond the usual, divided by the probability of its arm, and
negative for the champion's. If the challenger is no better, ``x`` is 0 or less on average whatever came before, so no
way of betting makes money: the wealth, 1 at first, is a test martingale or less, and the chance that it *ever* reaches
``1 / alpha`` is at most ``alpha`` (Ville 1939). If the challenger is better, it grows exponentially (Waudby-Smith and
Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86, 2024). The right stake depends on an
advantage that nobody knows, so the money is divided at the start among stakes for several (Robbins 1970's mixtures;
"diversified Kelly betting" in the same paper). No distribution is assumed, and no number of votes fixed before.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ADVANTAGES = (0.03, 0.048, 0.077, 0.123, 0.197, 0.315)
"""In shares of up: a stake is the best for each. Each is 1.6 times the one before, so that none is far away."""
_SAFE = 0.45
"""Of what would risk everything on one vote, the most that is staked."""
_BEFORE = 20
"""Votes that were half up, taken to have come before the first."""


def stakes(new: float, old: float) -> Floats:
    """What is bet for each of `ADVANTAGES`, as a share of the wealth (stakes,).

    Args:
        new: probability of the challenger's arm.
        old: that of the champion's.
    """
    variance = 1 / new + 1 / old
    return np.minimum(2 * np.array(ADVANTAGES) / variance, _SAFE * min(new, old))


def payoffs(votes: Floats, is_new: NDArray[np.bool_], is_old: NDArray[np.bool_], new: float, old: float) -> Floats:
    """What each vote (n,), 1 or -1, pays who bets on the challenger; votes on other arms pay nothing.

    A request that nobody voted on says nothing, so it pays 0 and need not be passed. That makes an up less than 1 and
    a down more where most votes are up: what counts is the vote less the usual one, the mean of those before.
    Otherwise an arm that makes satisfied people vote more often would look better than it is.
    """
    earlier = np.cumsum(votes) - votes
    usual = earlier / (np.arange(len(votes)) + _BEFORE)
    return (votes - usual) * (is_new / new - is_old / old)


def log_wealth(pays: Floats, bets: Floats) -> Floats:
    """The logarithm of the factor by which each vote changes each stake's money (n, stakes)."""
    return np.log1p(np.multiply.outer(pays, bets))


def mixed(logs: Floats) -> Floats:
    """The logarithm of all money, which was divided evenly among the stakes: over the last axis."""
    most = logs.max(axis=-1)
    return most + np.log(np.exp(logs - most[..., np.newaxis]).mean(axis=-1))
