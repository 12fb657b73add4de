"""Small steps after every five votes, without proof: for those who want to see their votes move something at once.

Each choice goes where these few votes point, and where they point nowhere stays. Bounds hold it, and a step is a small
part of what one proven version may move. Five votes are mostly chance, so the steps are as well: simulated on one
choice (`baselines.naive`, with half its steps), this ends below its start in 55 of 100 runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean

from ragstone.learning.policy import BOUNDS, Bound, Choices

PART = 0.25
"""Of the step that a proven version may take."""
MARKS = ("relevance", "factuality", "completeness")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """A vote, 1 or -1, and what was known of the answer.

    ``marks`` are the judge's, 0 to 10, in the order of `MARKS`; ``answerability`` is the probability before answering.
    """

    vote: int
    web: bool = False
    answerability: float = 0.5
    marks: tuple[float, float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stepped:
    """Choices after a step, and what the next one needs to know.

    ``direction`` is where the fusion moved, 1 towards vectors; ``ups`` the share of these votes that were up.
    """

    choices: Choices
    direction: int = 1
    ups: float | None = None


def stepped(before: Stepped, rated: Sequence[Rated], bounds: Mapping[str, Bound] = BOUNDS) -> Stepped:
    """One step by the last few votes. Choices that are left open stay open.

    The web is searched more where answers without it are disliked, or with it liked more. A mark counts more where it
    agrees with the votes, likewise the probability before answering against the marks. The fusion goes on as it went,
    and turns round where votes were worse than those before.
    """
    if not rated:
        return before
    now = before.choices
    ups = sum(one.vote > 0 for one in rated) / len(rated)
    direction = -before.direction if before.ups is not None and ups < before.ups else before.direction
    wanted: dict[str, float] = {"web_threshold": _web(rated), "vector_weight": float(direction)}
    judged = [(one.vote, one.marks) for one in rated if one.marks is not None]
    if judged:
        votes = [vote for vote, _ in judged]
        wanted |= {name: _agrees(votes, [marks[place] for _, marks in judged]) for place, name in enumerate(MARKS)}
        by_marks = _agrees(votes, [mean(marks) for _, marks in judged])
        before_answering = _agrees([one.vote for one in rated], [one.answerability for one in rated])
        wanted["retrieval_share"] = float(before_answering - by_marks)
    moved = {name: _moved(getattr(now, name), way, bounds[name]) for name, way in wanted.items() if name in bounds}
    return Stepped(choices=replace(now, **moved), direction=direction, ups=ups)


def _moved(value: float | None, way: float, bound: Bound) -> float | None:
    if value is None or not way:
        return value
    return round(bound.moved(value, value + PART * bound.step * (1 if way > 0 else -1)), 6)


def _web(rated: Sequence[Rated]) -> float:
    """Above 0 where the web should be searched more often."""
    by_web = [one.vote for one in rated if one.web]
    without = [one.vote for one in rated if not one.web]
    if by_web and without:
        return mean(by_web) - mean(without)
    return -mean(without) if without and mean(without) < 0 else mean(by_web) if by_web and mean(by_web) < 0 else 0.0


def _agrees(votes: Sequence[int], values: Sequence[float]) -> int:
    """1 where values are higher for votes up, -1 where lower, 0 where the votes are all the same."""
    usual, middle = mean(votes), mean(values)
    together = sum((vote - usual) * (value - middle) for vote, value in zip(votes, values, strict=True))
    return (together > 1e-12) - (together < -1e-12)
