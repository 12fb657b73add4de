"""How much marks count: learned from votes by regression, and adopted only if it foretells other votes better.

The weights in force are where the regression starts from, and votes have to pull it away (a ridge, Hoerl and Kennard
1970, towards those weights in place of 0). Whether the new ones are better is asked of votes that had no part in the
fit: every fifth in turn is held out. The same holds of the confidence as a probability (Platt 1999).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragstone.learning.eprocess import Floats

FEWEST = 50
"""Votes below which nothing is fitted."""
_FOLDS = 5
_HOLD = 10.0
"""How strongly weights hold on to what they are, in votes."""
_ROUNDS = 25
_SURE = 2.326
"""Standard errors that a gain must be above 0: for 99 cases of 100, were the fifths independent. They are not, for each
is foretold by the others; so where the weights in force are the best, about 95 of 100 looks leave them."""
BINS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """New values, and what they gain on votes held out: in logarithm of the probability foretold, a vote.

    ``low`` is the least that the gain probably is; ``adopted`` where that is more than 0.
    """

    values: tuple[float, ...]
    votes: int
    gain: float
    low: float
    adopted: bool


def learn_weights(features: Floats, ups: Floats, now: Sequence[float]) -> Learned:
    """Weights of features, which sum to 1.

    Args:
        features: what is weighed, 0 to 1 (votes, features), such as a judge's marks.
        ups: whether each vote was up, 1 or 0 (votes,).
        now: the weights in force.
    """
    start = np.array(now, dtype=np.float64) / sum(now)

    def fit(x: Floats, y: Floats) -> Floats:
        score = x @ start
        own = _regressed(np.column_stack([np.ones(len(y)), score, x]), y, np.array([0.0, 0.1, *([_HOLD] * x.shape[1])]))
        pulled = np.maximum(own[1] * start + own[2:], 0.0)
        return pulled / pulled.sum() if own[1] > 0 and pulled.sum() > 0 else start

    def foretold(weights: Floats, x: Floats, y: Floats) -> Callable[[Floats], Floats]:
        line = _regressed(np.column_stack([np.ones(len(y)), x @ weights]), y, np.array([0.0, 0.1]))
        return lambda other: _sigmoid(line[0] + line[1] * (other @ weights))

    return _adopted(features, ups, start, fit, foretold)


def learn_calibration(confidence: Floats, ups: Floats, now: tuple[float, float] = (1.0, 0.0)) -> Learned:
    """What to multiply the log odds of a confidence by, and to add to them, so that it is the share of votes up.

    Args:
        confidence: as it was before any calibration, 0 to 1 (votes,).
        ups: whether each vote was up, 1 or 0 (votes,).
        now: slope and shift in force.
    """
    start = np.array(now)

    def fit(x: Floats, y: Floats) -> Floats:
        return start + _regressed(
            np.column_stack([x, np.ones(len(y))]), y, np.array([_HOLD, 1.0]), x * start[0] + start[1]
        )

    def foretold(line: Floats, x: Floats, y: Floats) -> Callable[[Floats], Floats]:
        del x, y
        return lambda other: _sigmoid(line[0] * other + line[1])[:, 0]

    return _adopted(_logit(confidence)[:, np.newaxis], ups, start, lambda x, y: fit(x[:, 0], y), foretold)


def calibration_error(foretold: Floats, ups: Floats) -> float:
    """How far the mean probability is from the share of up, over ten bins of equal size."""
    bins = [one for one in np.array_split(np.argsort(foretold, kind="stable"), BINS) if len(one)]
    return float(sum(abs(foretold[one].mean() - ups[one].mean()) * len(one) for one in bins) / max(len(ups), 1))


def _adopted(
    features: Floats,
    ups: Floats,
    start: Floats,
    fit: Callable[[Floats, Floats], Floats],
    foretold: Callable[[Floats, Floats, Floats], Callable[[Floats], Floats]],
) -> Learned:
    """The fit to all votes, and its gain on each fifth of them when fitted to the others."""
    count = len(ups)
    if count < FEWEST or len(set(ups.tolist())) < 2:
        return Learned(values=_rounded(start), votes=count, gain=0.0, low=0.0, adopted=False)
    gains = np.zeros(count)
    for fold in range(_FOLDS):
        out = np.arange(count) % _FOLDS == fold
        x, y = features[~out], ups[~out]
        new, old = (foretold(values, x, y)(features[out]) for values in (fit(x, y), start))
        gains[out] = _said(new, ups[out]) - _said(old, ups[out])
    gain, error = float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(count))
    low = gain - _SURE * error
    values = fit(features, ups) if low > 0 else start
    return Learned(values=_rounded(values), votes=count, gain=round(gain, 6), low=round(low, 6), adopted=low > 0)


def _regressed(x: Floats, y: Floats, ridge: Floats, offset: Floats | None = None) -> Floats:
    """Logistic regression by Newton's steps, each coefficient held at 0 by its ridge; a step too far is halved."""
    out, base = np.zeros(x.shape[1]), np.zeros(len(y)) if offset is None else offset

    def cost(tried: Floats) -> float:
        return float((ridge * tried**2).sum() / 2 - _said(_sigmoid(base + x @ tried), y).sum())

    for _ in range(_ROUNDS):
        p = _sigmoid(base + x @ out)
        curve = (x * (p * (1 - p))[:, np.newaxis]).T @ x + np.diag(ridge + 1e-6)
        step = np.linalg.solve(curve, x.T @ (p - y) + ridge * out)
        while cost(out - step) > cost(out) and np.abs(step).max() > 1e-9:
            step = step / 2
        out = out - step
        if np.abs(step).max() < 1e-8:
            break
    return out


def _said(p: Floats, ups: Floats) -> Floats:
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return np.log(np.where(ups > 0.5, p, 1 - p))


def _sigmoid(z: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(z, -30, 30)))


def _logit(p: Floats) -> NDArray[np.float64]:
    p = np.clip(p, 1e-3, 1 - 1e-3)
    return np.log(p / (1 - p))


def _rounded(values: Floats) -> tuple[float, ...]:
    return tuple(round(float(one), 6) for one in values)
