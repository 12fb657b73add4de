"""What the votes so far suggest: a change that deserves a trial, a surer confidence, a small step.

Pure in what it is given, like `learning`; here the log's votes become what `learning` looks at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from ragstone.learning.candidates import Logged, neighbours, replayed, screened
from ragstone.learning.eager import MARKS, Stepped, stepped
from ragstone.learning.eprocess import Floats
from ragstone.learning.policy import MOST_KINDS, OTHERS, Choices, Policy
from ragstone.learning.weights import learn_calibration, learn_weights
from ragstone.policies.log import Assigned, Voted
from ragstone.policies.seen import logged_of, marks_of, rated_of, scores_of
from ragstone.review.confidence import confidence
from ragstone.sections import ConfidenceWeights, MarkWeights

REPLAYED = ("vector_weight", "top_k")
"""Choices whose effect can be told from what a search found; others go on trial only where somebody says so."""
LINE = ("slope", "shift")
"""Choices that calibrate the confidence."""
SURE = (*MARKS, "retrieval_share", *LINE)
"""Choices that say how sure an answer is, and change none."""
OF_A_KIND = 100
"""Votes on questions of a kind, from which on it may have choices of its own."""
MOVED = 0.01
"""What would move by less is left alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Choices by kind of question, and the figures that speak for them."""

    by_kind: Mapping[str, Choices]
    figures: Mapping[str, Any]


def known_by(voted: Sequence[tuple[Assigned, Voted]]) -> list[Logged]:
    """The questions of which votes tell what is right."""
    return [one for asked, vote in voted if (one := logged_of(asked.kind, vote.seen))]


def challenger(champion: Policy, base: Choices, known: Sequence[Logged], tried: Sequence[Policy]) -> Proposal | None:
    """The most promising neighbour of the version in use that did no worse on these questions, and was never tried.

    Args:
        champion: the version in use.
        base: what the settings choose themselves.
        known: questions of which the right documents are known.
        tried: all versions there are.
    """
    counts = Counter(one.kind for one in known if one.kind != OTHERS)
    kinds = [kind for kind, count in counts.most_common(MOST_KINDS) if count >= OF_A_KIND]
    best: tuple[float, Proposal] | None = None
    for kind in (OTHERS, *kinds):
        own = known if kind == OTHERS else [one for one in known if one.kind == kind]
        for promise, proposal in _passed(champion, base, kind, own):
            seen = any(dict(one.by_kind) == dict(proposal.by_kind) for one in tried)
            if not seen and promise > 0 and (best is None or promise > best[0]):
                best = promise, proposal
    return best[1] if best else None


def _passed(champion: Policy, base: Choices, kind: str, logged: Sequence[Logged]) -> list[tuple[float, Proposal]]:
    """The neighbours for one kind of question that are not inferior, each with what it promises."""
    now = champion.choices(kind).over(base)
    quality = replayed(logged, now)
    now = replace(now, vector_weight=0.5) if now.vector_weight is None else now
    found = screened(quality, [(one, replayed(logged, one)) for one in neighbours(now, REPLAYED)])
    out = []
    for one in found:
        other = {
            name: getattr(one.choices, name) for name in REPLAYED if getattr(one.choices, name) != getattr(now, name)
        }
        chosen = replace(champion.choices(kind), **other)
        figures = {"kind": kind, **other, "questions": one.questions, "difference": one.difference, "low": one.low}
        out.append((one.promise, Proposal(by_kind={**champion.by_kind, kind: chosen}, figures=figures)))
    return out


def weights(champion: Policy, base: Choices, voted: Sequence[Voted]) -> Proposal | None:
    """What makes the confidence foretell votes better: weights of its parts, and a calibration of what they give.

    It changes no answer, only how sure that is said to be; so it needs no trial, but a gain on votes held out. Weights
    are learned where there was a judge; a refusal says nothing of the confidence in answers.
    """
    now = champion.choices().over(base)
    judged = [(vote, marks) for vote in voted if (marks := marks_of(vote.seen))]
    new, figures = _shares(champion, now, judged) if judged else ({}, {})
    answered = [vote for vote in voted if not vote.seen["abstained"]]
    before = (now.slope or 1.0, now.shift or 0.0)
    learned = learn_calibration(_uncalibrated(answered, replace(now, **new)), _ups(answered), before)
    values = {name: _within(champion, name, value) for name, value in zip(LINE, learned.values, strict=True)}
    if learned.adopted and max(abs(values[name] - old) for name, old in zip(LINE, before, strict=True)) > MOVED:
        new |= values
    if not new:
        return None
    return Proposal(by_kind=_everywhere(champion, new), figures={**figures, "calibration": asdict(learned)})


def as_sure(policy: Policy, champion: Policy, found: Proposal) -> dict[str, Choices]:
    """The choices of another version, with what `weights` found for the champion, but where it has its own instead."""
    out = {}
    for kind in {OTHERS, *policy.by_kind}:
        own, old, new = policy.choices(kind), champion.choices(kind), found.by_kind.get(kind, found.by_kind[OTHERS])
        shared = {name: getattr(new, name) for name in SURE if getattr(own, name) == getattr(old, name)}
        out[kind] = replace(own, **shared)
    return out


def _shares(
    champion: Policy, now: Choices, judged: Sequence[tuple[Voted, Sequence[float]]]
) -> tuple[dict[str, float], dict[str, Any]]:
    """New weights of a judge's marks, and of the estimate before answering, with the figures they rest on."""
    ups = _ups([vote for vote, _ in judged])
    by_mark = np.array([marks for _, marks in judged])
    before = tuple(float(getattr(now, name) or 0.0) for name in MARKS)
    learned = learn_weights(by_mark, ups, before)
    both = np.column_stack([[vote.seen["answerability"] for vote, _ in judged], by_mark @ np.array(learned.values)])
    share = now.retrieval_share if now.retrieval_share is not None else 0.5
    shared = learn_weights(both, ups, (share, 1 - share))
    values = {name: _within(champion, name, value) for name, value in zip(MARKS, learned.values, strict=True)}
    new: dict[str, float] = {}
    if learned.adopted and max(abs(values[name] - old) for name, old in zip(MARKS, before, strict=True)) > MOVED:
        new |= values
    wanted = _within(champion, "retrieval_share", shared.values[0])
    if shared.adopted and abs(wanted - share) > MOVED:
        new["retrieval_share"] = wanted
    return new, {"marks": asdict(learned), "shares": asdict(shared)}


def _uncalibrated(voted: Sequence[Voted], chosen: Choices) -> Floats:
    """How sure each answer would be said to be under these weights, were that number taken as it is (votes,)."""
    relevance, factuality, completeness = (getattr(chosen, name) for name in MARKS)
    share = chosen.retrieval_share if chosen.retrieval_share is not None else 0.5
    parts = ConfidenceWeights(retrieval=share, answer=1 - share)
    marks = (
        MarkWeights(relevance=relevance, factuality=factuality, completeness=completeness)
        if None not in (relevance, factuality, completeness)
        else MarkWeights()
    )
    told = [(one.seen["answerability"], one.seen["support"], scores_of(one.seen)) for one in voted]
    return np.array([confidence(*one, marks, parts) for one in told])


def _ups(voted: Sequence[Voted]) -> Floats:
    """1 for each vote up, 0 for each down (votes,)."""
    return np.array([float(vote.vote > 0) for vote in voted])


def step(champion: Policy, base: Choices, voted: Sequence[Voted], before: Mapping[str, Any]) -> Proposal | None:
    """A small step by the last few votes; nothing where they point nowhere.

    Args:
        champion: the version in use.
        base: what the settings choose themselves.
        voted: the votes since the last step.
        before: the figures of that step.
    """
    now = champion.choices().over(base)
    start = Stepped(choices=now, direction=before.get("direction", 1), ups=before.get("ups"))
    after = stepped(start, [rated_of(vote.vote, vote.seen) for vote in voted])
    names = (one.name for one in fields(Choices))
    new = {name: getattr(after.choices, name) for name in names if getattr(after.choices, name) != getattr(now, name)}
    figures = {"direction": after.direction, "ups": after.ups}
    return Proposal(by_kind=_everywhere(champion, new), figures=figures) if new else None


def _within(champion: Policy, name: str, value: float) -> float:
    bound = champion.bounds[name]
    return round(min(max(value, bound.low), bound.high), 6)


def _everywhere(champion: Policy, new: Mapping[str, float]) -> dict[str, Choices]:
    """The choices of a version with some changed for every kind of question."""
    return {kind: replace(champion.choices(kind), **new) for kind in {OTHERS, *champion.by_kind}}
