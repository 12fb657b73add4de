"""What a policy would have earned, from what others earned: estimates from logged probabilities, without a new request.

Three of them, since each fails in its own way. Weighting by inverse probability is right on average whatever the
answers are like, and scatters (Horvitz and Thompson 1952). Dividing by the sum of the weights scatters less, and is a
little off with few requests (Swaminathan and Joachims, NeurIPS 2015). The doubly robust estimate starts from a guess of
each reward and corrects it by the same weights: right if either guess or probabilities are (Dudik, Langford and Li,
ICML 2011).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragstone.learning.eprocess import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """A value with its standard error."""

    value: float
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """Mean reward of a request under the policy asked about.

    ``like`` is how many requests of its own would say as much.
    """

    ips: Estimated
    snips: Estimated
    doubly_robust: Estimated
    requests: int
    like: float


def estimate(
    rewards: Floats,
    logged: Floats,
    target: Floats,
    *,
    guessed: Floats | None = None,
    guessed_target: Floats | None = None,
) -> Estimates:
    """Estimate a policy from requests that others answered, all (n,).

    Args:
        rewards: what each request earned: up 1, down -1, no vote 0.
        logged: probability with which its version was chosen.
        target: probability with which the policy asked about would have chosen that version: 0 or 1 for one version.
        guessed: reward expected of the version that answered; what came before must have been enough to guess it.
        guessed_target: reward expected of what the policy asked about would have chosen. Without guesses, a mean: 0.

    Raises:
        ValueError: there are no requests.
    """
    if not len(rewards):
        raise ValueError("there is nothing to estimate from")
    weights = target / logged
    known = guessed if guessed is not None else np.zeros(len(rewards))
    expected = guessed_target if guessed_target is not None else np.zeros(len(rewards))
    whole = float(weights.sum())
    snips = float((weights * rewards).sum()) / whole if whole else 0.0
    count = len(rewards)
    return Estimates(
        ips=_mean(weights * rewards),
        snips=_mean(snips + weights * (rewards - snips) * count / whole if whole else np.zeros(count)),
        doubly_robust=_mean(expected + weights * (rewards - known)),
        requests=count,
        like=round(whole**2 / float((weights**2).sum()), 1) if whole else 0.0,
    )


def _mean(values: Floats) -> Estimated:
    error = float(values.std() / np.sqrt(len(values)))
    return Estimated(value=round(float(values.mean()), 9), error=round(error, 9))
