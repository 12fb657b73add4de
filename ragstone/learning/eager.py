"""Eager learning: a small step after every few votes, without proof.

It is for people who want to see their votes change something at once. Bounds hold every choice, and a step is a small
part of the step of a proven version. Five votes are mostly chance, so the steps are as well: in simulations, this ended
below its start in 55 of 100 runs (docs/learning.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from ragstone.learning.log import VoteRecord
from ragstone.learning.policy import BOUNDS, Choices, Policy
from ragstone.learning.proposals import Proposal, everywhere

STEP_PART = 0.25
"""Part of the step that a proven version may take."""
_MARKS = ("relevance", "factuality", "completeness")


def propose_step(
    champion: Policy, base: Choices, votes: Sequence[VoteRecord], before: Mapping[str, Any]
) -> Proposal | None:
    """Return a small step in the direction of the last few votes; None if they point nowhere.

    The web is searched more if answers without it are disliked, or answers with it are liked more. A mark gains weight
    if it agrees with the votes, and so does the answerability against the marks. The fusion keeps moving in its
    direction and turns round when the votes are worse than those before.

    Args:
        champion: the policy in use.
        base: the choices of the settings.
        votes: the votes since the last step.
        before: the figures of the last step.
    """
    if not votes:
        return None
    now = champion.choices().with_defaults(base)
    up_share, last = sum(one.vote > 0 for one in votes) / len(votes), before.get("ups")
    direction = before.get("direction", 1)
    direction = -direction if last is not None and up_share < last else direction
    ways: dict[str, float] = {"web_threshold": _web_way(votes), "vector_weight": direction}
    judged = [(one.vote, one.seen.marks) for one in votes if one.seen.marks]
    if judged:
        liked = [vote for vote, _ in judged]
        ways |= {name: _agreement(liked, [marks[at] for _, marks in judged]) for at, name in enumerate(_MARKS)}
        by_answerability = _agreement([one.vote for one in votes], [one.seen.sure for one in votes])
        ways["retrieval_share"] = by_answerability - _agreement(liked, [mean(marks) for _, marks in judged])
    changed: dict[str, float] = {}
    for name, way in ways.items():
        value, bound = getattr(now, name), BOUNDS[name]
        if value is not None and way:
            moved = round(bound.clamped(value + STEP_PART * bound.step * (1 if way > 0 else -1)), 6)
            if moved != value:
                changed[name] = moved
    figures = {"direction": direction, "ups": up_share}
    return Proposal(by_kind=everywhere(champion, changed), figures=figures) if changed else None


def _web_way(votes: Sequence[VoteRecord]) -> float:
    """Return a number above 0 if the web should be searched more often, below 0 if less often."""
    by_web = [one.vote for one in votes if one.seen.web]
    without = [one.vote for one in votes if not one.seen.web]
    if by_web and without:
        return mean(by_web) - mean(without)
    return -min(mean(without), 0.0) if without else min(mean(by_web), 0.0)


def _agreement(votes: Sequence[int], values: Sequence[float]) -> int:
    """Return 1 if values are higher for up votes, -1 if lower, 0 if the votes do not tell."""
    vote_mean, value_mean = mean(votes), mean(values)
    together = sum((vote - vote_mean) * (value - value_mean) for vote, value in zip(votes, values, strict=True))
    return (together > 1e-12) - (together < -1e-12)
