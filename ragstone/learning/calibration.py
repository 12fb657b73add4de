"""Calibration: the confidence to report for an answer, learned from votes.

Weights of marks and the calibration of the confidence come from regressions that start at the current values; votes
have to move them away (a ridge, Hoerl and Kennard 1970). New values are adopted only if they predict held-out votes
better: every fifth vote in turn is held out. They change no answer, so they need no trial. The confidence as a
probability follows Platt (1999).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from ragstone.core.frozen import frozen
from ragstone.learning.evidence import Floats
from ragstone.learning.log import VoteRecord
from ragstone.learning.policy import OTHER_KINDS, Choices, Policy
from ragstone.learning.proposals import Proposal, everywhere
from ragstone.review.confidence import confidence
from ragstone.settings import ConfidenceWeights, MarkWeights

MIN_VOTES = 50
"""Votes below which nothing is fitted."""
MARKS = ("relevance", "factuality", "completeness")
LINE = ("slope", "shift")
_CONFIDENCE_CHOICES = (*MARKS, "retrieval_share", *LINE)
_MIN_CHANGE = 0.01
_FOLDS = 5
_RIDGE = 10.0
"""The strength of the prior at the current values, in votes."""
_ROUNDS = 25
_CONFIDENT = 2.326
"""Standard errors by which a gain must exceed 0: 99% if the folds were independent. They are not, because each is
predicted by the others; if the values in force are the best, about 95 of 100 fits leave them."""


@frozen
class Fit:
    """Fitted values and their gain on held-out votes, in log probability per vote.

    ``low`` is the likely lower end of the gain; the values are adopted if it is above 0.
    """

    values: tuple[float, ...]
    votes: int
    gain: float
    low: float
    adopted: bool


def propose_confidence(champion: Policy, base: Choices, votes: Sequence[VoteRecord]) -> Proposal | None:
    """Return choices whose confidence predicts votes better; None if none does.

    Weights are learned from judged answers only. Refusals say nothing about the confidence of answers.
    """
    now = champion.choices().with_defaults(base)
    judged = [(one, marks) for one in votes if (marks := one.seen.mark_shares)]
    changed, figures = _fit_shares(champion, now, judged) if judged else ({}, {})
    answered = [one for one in votes if not one.seen.abstained]
    line = (now.slope or 1.0, now.shift or 0.0)
    fit = fit_line(_raw_confidence(answered, replace(now, **changed)), _ups(answered), line)
    changed |= _adopted(champion, LINE, fit, line)
    if not changed:
        return None
    return Proposal(by_kind=everywhere(champion, changed), figures={**figures, "calibration": asdict(fit)})


def with_confidence(policy: Policy, champion: Policy, proposal: Proposal) -> dict[str, Choices]:
    """Return the choices of a policy with the confidence proposed for the champion, except where it has its own."""
    out: dict[str, Choices] = {}
    for kind in {OTHER_KINDS, *policy.by_kind}:
        own, old = policy.choices(kind), champion.choices(kind)
        new = proposal.by_kind.get(kind, proposal.by_kind[OTHER_KINDS])
        shared = {name: getattr(new, name) for name in _CONFIDENCE_CHOICES if getattr(own, name) == getattr(old, name)}
        out[kind] = replace(own, **shared)
    return out


def _fit_shares(
    champion: Policy, now: Choices, judged: Sequence[tuple[VoteRecord, Sequence[float]]]
) -> tuple[dict[str, float], dict[str, Any]]:
    """Return new weights of the marks and the answerability, with the figures of the fits."""
    ups = _ups([one for one, _ in judged])
    marks = np.array([marks for _, marks in judged])
    before = tuple(float(getattr(now, name) or 0.0) for name in MARKS)
    by_mark = fit_weights(marks, ups, before)
    both = np.column_stack([[one.seen.sure for one, _ in judged], marks @ np.array(by_mark.values)])
    share = now.retrieval_share if now.retrieval_share is not None else 0.5
    by_part = fit_weights(both, ups, (share, 1 - share))
    changed = _adopted(champion, MARKS, by_mark, before)
    changed |= _adopted(champion, ("retrieval_share",), replace(by_part, values=by_part.values[:1]), (share,))
    return changed, {"marks": asdict(by_mark), "shares": asdict(by_part)}


def _adopted(champion: Policy, names: Sequence[str], fit: Fit, before: Sequence[float]) -> dict[str, float]:
    """Return the fitted values within their bounds; nothing if they are not adopted or hardly differ."""
    values = {
        name: round(champion.bounds[name].clamped(value), 6) for name, value in zip(names, fit.values, strict=True)
    }
    change = max(abs(values[name] - old) for name, old in zip(names, before, strict=True))
    return values if fit.adopted and change > _MIN_CHANGE else {}


def _raw_confidence(votes: Sequence[VoteRecord], choices: Choices) -> Floats:
    """Return the confidence of each answer under the choices, without calibration (votes,)."""
    relevance, factuality, completeness = choices.relevance, choices.factuality, choices.completeness
    marks = MarkWeights()
    if relevance is not None and factuality is not None and completeness is not None:
        marks = MarkWeights(relevance=relevance, factuality=factuality, completeness=completeness)
    share = choices.retrieval_share if choices.retrieval_share is not None else 0.5
    parts = ConfidenceWeights(retrieval=share, answer=1 - share)
    seen = [one.seen for one in votes]
    return np.array([confidence(one.sure, one.scores, marks, parts) for one in seen])


def _ups(votes: Sequence[VoteRecord]) -> Floats:
    """Return 1 for each vote up and 0 for each vote down (votes,)."""
    return np.array([float(one.vote > 0) for one in votes])


def fit_weights(features: Floats, ups: Floats, now: Sequence[float]) -> Fit:
    """Fit weights of features that sum to 1.

    Args:
        features: values to weigh, 0 to 1 (votes, features), such as the marks of a judge.
        ups: 1 for each vote up, 0 for each vote down (votes,).
        now: the weights in force.
    """
    start = np.array(now, dtype=np.float64) / sum(now)

    def fit(x: Floats, y: Floats) -> Floats:
        score = x @ start
        ridge = np.array([0.0, 0.1, *([_RIDGE] * x.shape[1])])
        own = _regress(np.column_stack([np.ones(len(y)), score, x]), y, ridge)
        pulled = np.maximum(own[1] * start + own[2:], 0.0)
        return pulled / pulled.sum() if own[1] > 0 and pulled.sum() > 0 else start

    def predictor(weights: Floats, x: Floats, y: Floats) -> Callable[[Floats], Floats]:
        line = _regress(np.column_stack([np.ones(len(y)), x @ weights]), y, np.array([0.0, 0.1]))
        return lambda other: _sigmoid(line[0] + line[1] * (other @ weights))

    return _cross_validate(features, ups, start, fit, predictor)


def fit_line(raw: Floats, ups: Floats, now: tuple[float, float] = (1.0, 0.0)) -> Fit:
    """Fit the slope and shift of the log odds of a confidence so that it predicts the share of up votes.

    Args:
        raw: the confidence without calibration, 0 to 1 (votes,).
        ups: 1 for each vote up, 0 for each vote down (votes,).
        now: slope and shift in force.
    """
    start = np.array(now)

    def fit(x: Floats, y: Floats) -> Floats:
        odds = x[:, 0]
        return start + _regress(
            np.column_stack([odds, np.ones(len(y))]), y, np.array([_RIDGE, 1.0]), odds * start[0] + start[1]
        )

    def predictor(line: Floats, x: Floats, y: Floats) -> Callable[[Floats], Floats]:
        del x, y
        return lambda other: _sigmoid(line[0] * other + line[1])[:, 0]

    return _cross_validate(_logit(raw)[:, np.newaxis], ups, start, fit, predictor)


def _cross_validate(
    features: Floats,
    ups: Floats,
    start: Floats,
    fit: Callable[[Floats, Floats], Floats],
    predictor: Callable[[Floats, Floats, Floats], Callable[[Floats], Floats]],
) -> Fit:
    """Fit to all votes, and measure the gain on each fold when fitted to the others."""
    count = len(ups)
    if count < MIN_VOTES or len(set(ups.tolist())) < 2:
        return Fit(values=_rounded(start), votes=count, gain=0.0, low=0.0, adopted=False)
    gains = np.zeros(count)
    for fold in range(_FOLDS):
        out = np.arange(count) % _FOLDS == fold
        x, y = features[~out], ups[~out]
        new, old = (predictor(values, x, y)(features[out]) for values in (fit(x, y), start))
        gains[out] = _log_likelihood(new, ups[out]) - _log_likelihood(old, ups[out])
    gain, error = float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(count))
    low = gain - _CONFIDENT * error
    values = fit(features, ups) if low > 0 else start
    return Fit(values=_rounded(values), votes=count, gain=round(gain, 6), low=round(low, 6), adopted=low > 0)


def _regress(x: Floats, y: Floats, ridge: Floats, offset: Floats | None = None) -> Floats:
    """Fit a ridge logistic regression by Newton's method, halving steps that go too far."""
    out, base = np.zeros(x.shape[1]), np.zeros(len(y)) if offset is None else offset

    def cost(tried: Floats) -> float:
        return float((ridge * tried**2).sum() / 2 - _log_likelihood(_sigmoid(base + x @ tried), y).sum())

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


def _log_likelihood(p: Floats, ups: Floats) -> Floats:
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return np.log(np.where(ups > 0.5, p, 1 - p))


def _sigmoid(z: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(z, -30, 30)))


def _logit(p: Floats) -> Floats:
    p = np.clip(p, 1e-3, 1 - 1e-3)
    return np.log(p / (1 - p))


def _rounded(values: Floats) -> tuple[float, ...]:
    return tuple(round(float(one), 6) for one in values)
