"""Proposals: which change deserves a trial.

Votes are scarce, so only a change that did no worse on past questions is tried on people. A candidate is a neighbour of
the policy in use: one choice moved by one step. Each candidate is replayed on questions whose relevant documents are
known, from labels or from votes and corrections. A vote is about what the policy in use found, so a replay on votes
favours that policy. This can cost a chance; it never harms.

Whether the web should be searched for a question cannot be replayed: the log has only one of the two answers. The votes
on answers of the other kind estimate it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ragstone.core.frozen import frozen
from ragstone.core.records import Considered
from ragstone.learning.evidence import Floats
from ragstone.learning.log import AssignmentRecord, VoteRecord
from ragstone.learning.observation import ReplayCase
from ragstone.learning.policy import BOUNDS, MAX_KINDS, OTHER_KINDS, Choices, Policy

REPLAYABLE = ("vector_weight", "top_k")
"""Choices whose effect follows from a past search."""
MIN_QUESTIONS = 10
"""Questions below which no candidate passes."""
MARGIN = 0.02
"""A loss of the measure that is accepted."""
KIND_QUESTIONS = 100
"""Questions of a kind that are needed for choices of its own."""
_ONE_SIDED_95 = 1.645
_PRIOR_SPREAD = 0.05
"""Typical spread of differences between policies; estimates shrink towards 0 accordingly."""


@frozen
class Proposal:
    """Proposed choices by kind of question, and the figures that support them."""

    by_kind: Mapping[str, Choices]
    figures: Mapping[str, Any]


@frozen
class ScreenResult:
    """The mean advantage of a candidate and its lower bound. ``promise`` shrinks the mean by its uncertainty."""

    difference: float
    low: float
    promise: float


def replay_cases(voted: Sequence[tuple[AssignmentRecord, VoteRecord]]) -> list[ReplayCase]:
    """Return the questions whose votes show which documents are relevant."""
    return [case for one, vote in voted if (case := vote.seen.replay_case(one.kind))]


def propose_challenger(
    champion: Policy, base: Choices, cases: Sequence[ReplayCase], tried: Sequence[Policy], votes: Sequence[VoteRecord]
) -> Proposal | None:
    """Return the most promising untried neighbour of the policy in use that did no worse; None if there is none.

    Args:
        champion: the policy in use.
        base: the choices of the settings.
        cases: questions whose relevant documents are known.
        tried: all versions so far.
        votes: votes on answers with the web and without it.
    """
    counts = Counter(one.kind for one in cases if one.kind != OTHER_KINDS)
    kinds = [kind for kind, count in counts.most_common(MAX_KINDS) if count >= KIND_QUESTIONS]
    before = [dict(one.by_kind) for one in tried]
    best, promise = None, 0.0
    for kind in (OTHER_KINDS, *kinds):
        own = cases if kind == OTHER_KINDS else [one for one in cases if one.kind == kind]
        now = champion.choices(kind).with_defaults(base)
        quality = replay(own, now)
        now = replace(now, vector_weight=0.5) if now.vector_weight is None else now
        for other in neighbours(now):
            result = screen(replay(own, other) - quality)
            changed = {name: getattr(other, name) for name in REPLAYABLE if getattr(other, name) != getattr(now, name)}
            by_kind = {**champion.by_kind, kind: replace(champion.choices(kind), **changed)}
            if result is not None and result.promise > promise and by_kind not in before:
                figures = {"kind": kind, **changed, "questions": len(own)}
                figures |= {"difference": result.difference, "low": result.low}
                best, promise = Proposal(by_kind=by_kind, figures=figures), result.promise
    threshold = champion.choices().with_defaults(base).web_threshold
    if threshold is None:
        return best
    for target in _steps("web_threshold", threshold):
        result = screen(web_advantage(votes, threshold, target))
        by_kind = everywhere(champion, {"web_threshold": target})
        if result is not None and result.promise > promise and by_kind not in before:
            figures = {"kind": OTHER_KINDS, "web_threshold": target, "questions": len(votes)}
            figures |= {"difference": result.difference, "low": result.low}
            best, promise = Proposal(by_kind=by_kind, figures=figures), result.promise
    return best


def web_advantage(votes: Sequence[VoteRecord], threshold: float, target: float) -> Floats:
    """Return the estimated advantage of another web threshold for each vote (votes,), in shares of votes up.

    The threshold decides about questions whose answerability is between the two. Each of them would get the mean vote
    of the answers that were made the other way, with the web or without it. Below `MIN_QUESTIONS` such answers there is
    no estimate, and the array is empty.
    """
    more = target > threshold
    low, high = sorted((threshold, target))
    other_way = [one.vote for one in votes if one.seen.web == more]
    if len(other_way) < MIN_QUESTIONS:
        return np.empty(0)
    expected = float(np.mean(other_way))
    gains = [
        (expected - one.vote) / 2
        if one.seen.web != more and one.seen.answerability is not None and low <= one.seen.answerability < high
        else 0.0
        for one in votes
    ]
    return np.array(gains, dtype=np.float64)


def neighbours(now: Choices) -> tuple[Choices, ...]:
    """Return all choices that differ in one replayable choice by one step."""
    out: list[Choices] = []
    for name in REPLAYABLE:
        value = getattr(now, name)
        out += [replace(now, **{name: moved}) for moved in (() if value is None else _steps(name, value))]
    return tuple(out)


def _steps(name: str, value: float) -> list[float]:
    """Return the values one step below and above, within the bounds."""
    bound = BOUNDS[name]
    moved = (bound.clamped(target) for target in (value - bound.step, value + bound.step))
    return [one for target in moved if (one := round(target) if name == "top_k" else round(target, 6)) != value]


def replay(cases: Sequence[ReplayCase], choices: Choices) -> Floats:
    """Return the reciprocal rank of the first relevant document for each question (questions,) under the choices.

    Only documents that were found at the time can be found in a replay; 0 if none of the first ``top_k`` is relevant.
    """
    weight = choices.vector_weight
    return np.array(
        [_reciprocal_rank(one, one.vector_weight if weight is None else weight, choices.top_k) for one in cases],
        dtype=np.float64,
    )


def _reciprocal_rank(case: ReplayCase, vector_weight: float, top_k: int | None) -> float:
    worst_vector = min((one.vector for one in case.found if one.vector is not None), default=0.0)
    worst_keyword = min((one.keyword for one in case.found if one.keyword is not None), default=0.0)

    def score(one: Considered) -> float:
        by_vector = worst_vector if one.vector is None else one.vector
        by_keyword = worst_keyword if one.keyword is None else one.keyword
        return vector_weight * by_vector + (1 - vector_weight) * by_keyword

    ranking = sorted(case.found, key=lambda one: (-score(one), one.document_id))[:top_k]
    ranks = (rank for rank, one in enumerate(ranking, start=1) if one.document_id in case.relevant)
    return 1 / next(ranks, np.inf)


def screen(differences: Floats) -> ScreenResult | None:
    """Return the result for a candidate that is not inferior; None for others.

    A candidate passes if, with 95% confidence, it is not worse by more than `MARGIN`.

    Args:
        differences: advantage of the candidate over the policy in use on each question (questions,).
    """
    if len(differences) < MIN_QUESTIONS or not differences.any():
        return None
    mean = float(differences.mean())
    error = float(differences.std(ddof=1) / np.sqrt(len(differences)))
    low = mean - _ONE_SIDED_95 * error
    if low <= -MARGIN:
        return None
    promise = mean * _PRIOR_SPREAD**2 / (_PRIOR_SPREAD**2 + error**2)
    return ScreenResult(difference=round(mean, 6), low=round(low, 6), promise=round(promise, 6))


def everywhere(champion: Policy, changed: Mapping[str, Any]) -> dict[str, Choices]:
    """Return the choices of a policy with some changed for every kind of question."""
    return {kind: replace(champion.choices(kind), **changed) for kind in {OTHER_KINDS, *champion.by_kind}}
