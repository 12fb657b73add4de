"""Whether a promoted policy is still as good as when it was promoted.

The holdout on version 0 is small, so it would take thousands of votes to tell by it alone that a policy has turned bad.
The policy's own votes tell sooner that *something* has: they fall below what they were. That is only a suspicion, since
the questions may have become harder for every policy. So it costs nothing but a comparison: a trial in doubt, where
version 0 answers half of the requests until it is clear which of the two is better. Both looks are Page's cumulative
sums (Biometrika 41, 1954): the logarithm of how much likelier the votes are, if they fell by so much at the likeliest
moment, than if they did not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragstone.learning.eprocess import Floats
from ragstone.learning.ruling import DOUBT
from ragstone.learning.trial import HOLDOUT, Outcome

ALARM = 5.0
"""The logarithm at which a policy is doubted. One that does not change is doubted about once in 5,000 votes."""
_KNOWN = 50
"""Votes that are needed to know what is usual."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What the votes since the promotion say. ``doubtful``: compare it with version 0, in a trial with ``doubt``.

    ``fallen`` and ``behind`` are how far it is suspected of having fallen, and of being behind version 0: 1 suffices.
    """

    version: int
    doubtful: bool
    why: str
    votes: int = 0
    fallen: float = 0.0
    behind: float = 0.0


def watch(version: int, outcomes: Iterable[Outcome], *, holdout: float = HOLDOUT) -> Watch:
    """Look for a change for the worse.

    Args:
        version: the policy in use.
        outcomes: all since the trial that promoted it began, or since a doubt of it ended.
        holdout: share of the requests that version 0 answers.
    """
    voted = [one for one in outcomes if one.vote and one.version in (0, version)]
    voted.sort(key=lambda one: (one.at, one.request_id))
    votes = np.array([one.vote for one in voted], dtype=np.float64)
    own = np.array([one.version == version for one in voted], dtype=bool)
    weights = np.array([1 / one.probability for one in voted], dtype=np.float64)
    fallen, behind = (
        float(np.round(one[-1], 6)) if len(one) else 0.0 for one in suspicions(votes, own, weights, holdout)
    )
    if fallen >= 1:
        why = f"the votes on version {version} have become worse than they were"
    elif behind >= 1:
        why = f"version 0 is voted on better than version {version}"
    else:
        why = f"nothing in {len(voted)} votes speaks against version {version}"
    return Watch(
        version=version, doubtful=max(fallen, behind) >= 1, why=why, votes=len(voted), fallen=fallen, behind=behind
    )


def suspicions(
    votes: Floats, own: NDArray[np.bool_], weights: Floats, holdout: float = HOLDOUT
) -> tuple[Floats, Floats]:
    """How much speaks, after each vote (n,), for the policy's having fallen, and for its being behind version 0.

    Args:
        votes: 1 or -1, in their order.
        own: whether on the policy, else on version 0.
        weights: one by the probability of the assignment.
        holdout: share of version 0.
    """
    usual = _before(np.where(own, votes, 0.0), own)
    loss = np.where(own & (np.cumsum(own) > _KNOWN), usual - votes, np.nan)
    variance = 1 / max(1 - holdout, holdout) + 1 / min(1 - holdout, holdout)
    centred = votes - _before(votes, np.ones(len(votes), dtype=bool))
    return _page(loss, 1.0) / ALARM, _page(centred * weights * np.where(own, -1.0, 1.0), variance) / ALARM


def _before(values: Floats, counted: NDArray[np.bool_]) -> Floats:
    """The mean of the counted values that came before each (n,)."""
    return (np.cumsum(values) - values) / np.maximum(np.cumsum(counted) - counted, 1)


def _page(losses: Floats, variance: float) -> Floats:
    """The largest sum of the last terms, of the logarithm of the likelihood ratio of a loss of twice `DOUBT`."""
    rate = 2 * DOUBT / variance
    walk = np.cumsum(np.where(np.isnan(losses), 0.0, rate * losses - rate**2 * variance / 2))
    return walk - np.minimum(np.minimum.accumulate(walk), 0.0)
