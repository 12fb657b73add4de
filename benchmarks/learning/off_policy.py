"""Off-policy estimates: what a policy would have earned, from the logged probabilities of others.

Three estimates, because each fails in its own way. Inverse probability weighting is unbiased and has a high variance
(Horvitz and Thompson 1952). Normalising the weights lowers the variance at the price of a small bias (Swaminathan and
Joachims, NeurIPS 2015). The doubly robust estimate corrects a guess of each reward by the same weights, and is right if
either guess or probabilities are (Dudik, Langford and Li, ICML 2011).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragstone.learning.evidence import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value with its standard error."""

    value: float
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """The mean reward of a request under a policy. ``effective`` is the effective number of requests."""

    ips: Estimate
    snips: Estimate
    doubly_robust: Estimate
    effective: float


def estimate(rewards: Floats, logged: Floats, target: Floats, *, guessed: Floats, guessed_target: Floats) -> Estimates:
    """Estimate a policy from requests that others answered, all (n,).

    Args:
        rewards: reward of each request: up 1, down -1, no vote 0.
        logged: probability with which its version was drawn.
        target: probability with which the policy would have drawn that version.
        guessed: expected reward of the version that answered.
        guessed_target: expected reward of the version that the policy would have drawn.

    Raises:
        ValueError: there are no requests.
    """
    if not len(rewards):
        raise ValueError("an estimate needs at least one request")
    weights = target / logged
    whole = float(weights.sum())
    snips = float((weights * rewards).sum()) / whole if whole else 0.0
    count = len(rewards)
    return Estimates(
        ips=_mean(weights * rewards),
        snips=_mean(snips + weights * (rewards - snips) * count / whole if whole else np.zeros(count)),
        doubly_robust=_mean(guessed_target + weights * (rewards - guessed)),
        effective=round(whole**2 / float((weights**2).sum()), 1) if whole else 0.0,
    )


def _mean(values: Floats) -> Estimate:
    error = float(values.std() / np.sqrt(len(values)))
    return Estimate(value=round(float(values.mean()), 9), error=round(error, 9))
