"""Drift: whether a promoted policy is still as good as when it was promoted.

The holdout on version 0 is small, so it would take thousands of votes to show that a policy has turned bad. The votes
on the policy itself show sooner that *something* has changed: they fall below their level. That is only a suspicion,
because the questions may have become harder for every policy. It therefore starts a comparison, not a rollback: a trial
in doubt, in which version 0 answers half of the requests. Both checks are Page's cumulative sums (Biometrika 41, 1954):
how much likelier the votes are if they fell at the likeliest moment than if they did not.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ragstone.core.frozen import frozen
from ragstone.learning.evidence import Floats
from ragstone.learning.trial import DOUBT, HOLDOUT, Outcome

ALARM = 5.0
"""Log likelihood ratio that raises an alarm. A policy that does not change raises one about every 5,000 votes."""
_BASELINE_VOTES = 50
"""Votes needed to know the usual level."""


@frozen
class DriftCheck:
    """The result of a drift check. ``doubtful`` asks for a trial in doubt.

    ``fallen`` is the suspicion that the policy has fallen below its level, ``behind`` that it is behind version 0; 1
    raises an alarm.
    """

    version: int
    doubtful: bool
    why: str
    votes: int = 0
    fallen: float = 0.0
    behind: float = 0.0


def check_drift(version: int, outcomes: Iterable[Outcome], *, holdout: float = HOLDOUT) -> DriftCheck:
    """Check the policy in use for a change for the worse.

    Args:
        version: the policy in use.
        outcomes: all since the trial that promoted it began, or since it was last cleared of a doubt.
        holdout: share of the requests that version 0 answers.
    """
    voted = [one for one in outcomes if one.vote and one.version in (0, version)]
    voted.sort(key=lambda one: (one.at, one.request_id))
    votes = np.array([one.vote for one in voted], dtype=np.float64)
    own = np.array([one.version == version for one in voted], dtype=bool)
    weights = np.array([1 / one.probability for one in voted], dtype=np.float64)
    levels = suspicions(votes, own, weights, holdout)
    fallen, behind = (float(np.round(level, 6)[-1]) if len(level) else 0.0 for level in levels)
    if fallen >= 1:
        why = f"version {version} gets worse votes than before"
    elif behind >= 1:
        why = f"version 0 gets better votes than version {version}"
    else:
        why = f"nothing in {len(voted)} votes speaks against version {version}"
    return DriftCheck(
        version=version, doubtful=max(fallen, behind) >= 1, why=why, votes=len(voted), fallen=fallen, behind=behind
    )


def suspicions(
    votes: Floats, own: NDArray[np.bool_], weights: Floats, holdout: float = HOLDOUT
) -> tuple[Floats, Floats]:
    """Return, after each vote (n,), the suspicion that the policy has fallen, and that it is behind version 0.

    Args:
        votes: 1 or -1 in order.
        own: whether the vote is on the policy; otherwise it is on version 0.
        weights: inverse probability of the assignment.
        holdout: share of version 0.
    """
    usual = _mean_before(np.where(own, votes, 0.0), own)
    loss = np.where(own & (np.cumsum(own) > _BASELINE_VOTES), usual - votes, np.nan)
    variance = 1 / max(1 - holdout, holdout) + 1 / min(1 - holdout, holdout)
    centred = votes - _mean_before(votes, np.ones(len(votes), dtype=bool))
    return _page(loss, 1.0) / ALARM, _page(centred * weights * np.where(own, -1.0, 1.0), variance) / ALARM


def _mean_before(values: Floats, counted: NDArray[np.bool_]) -> Floats:
    """Return the mean of the counted values before each value (n,)."""
    return (np.cumsum(values) - values) / np.maximum(np.cumsum(counted) - counted, 1)


def _page(losses: Floats, variance: float) -> Floats:
    """Return Page's statistic: the largest sum of the last log likelihood ratios of a loss of twice `DOUBT`."""
    rate = 2 * DOUBT / variance
    walk = np.cumsum(np.where(np.isnan(losses), 0.0, rate * losses - rate**2 * variance / 2))
    return walk - np.minimum(np.minimum.accumulate(walk), 0.0)
