"""How rules of learning would fare with the policies and users given: each of them over many runs of the same world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import median

import numpy as np

from ragstone.learning.baselines import naive, never, oracle, thompson
from ragstone.learning.eprocess import Floats
from ragstone.learning.simulate import FEEDBACK, USERS, VOTES, Run, World, gated, reward

CORRELATION = 0.5
"""Of what was estimated before a trial with what is true: it orders the trials."""
NOISE = 0.05
"""Of the best answers so many are disliked, of the worst so many liked."""
POINTS = 50
"""Of a curve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Users:
    """Who votes. ``colluders`` and ``random`` are shares; ``turns`` is when the best becomes the worst, if ever."""

    users: int = USERS
    feedback: float = FEEDBACK
    colluders: float = 0.0
    random: float = 0.0
    turns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fared:
    """One rule. ``gain`` is the mean reward of a request beyond never learning, up 1, down -1, no vote 0.

    ``ends`` is the mean share of honest votes that are up at the end, ``below`` the share of runs that end lower than
    they began; ``curve`` is that share on the way, in `POINTS` parts.
    """

    rule: str
    gain: float
    ends: float
    below: float
    curve: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """All rules; then of Ragstone's the shares of the runs that promoted, promoted what is no better, and went back.

    ``first`` is the median of the votes until something was promoted, where it was; ``qualities`` are the shares of
    honest votes up of each policy, the one in use first.
    """

    runs: int
    votes: int
    users: Users
    questions: int
    qualities: tuple[float, ...]
    fared: tuple[Fared, ...]
    promoted: float
    wrong: float
    rolled_back: float
    first: float | None


def forecast(values: Floats, users: Users, *, runs: int = 100, votes: int = VOTES, seed: int = 0) -> Forecast:
    """Simulate.

    Args:
        values: how good each policy is on each question, 0 to 1 (questions, policies); the first policy is in use.
        users: who votes.
        runs: of each rule.
        votes: in each run.
        seed: the same gives the same.
    """
    up = NOISE + (1 - 2 * NOISE) * values
    means = up.mean(axis=0)
    later = None
    if users.turns is not None:
        order = means.argsort(kind="stable")
        later = up.copy()
        later[:, order] = up[:, order[::-1]]
    worlds = [_world(up, later, users, np.random.default_rng([seed, run])) for run in range(runs)]
    world = worlds[0]
    learned = [gated(one, seed * runs + run, votes=votes) for run, one in enumerate(worlds)]
    rules = {
        "never learn": never(world, runs, votes=votes),
        "naive": naive(world, runs, seed=seed, line=range(up.shape[1]), votes=votes),
        "Thompson sampling": thompson(world, runs, seed=seed, votes=votes),
        "Ragstone": np.stack([run.quality(one) for run, one in zip(learned, worlds, strict=True)]),
        "oracle": oracle(world, runs, votes=votes),
    }
    base = rules["never learn"]
    firsts = [one for one in map(_first, learned) if one is not None]
    return Forecast(
        runs=runs,
        votes=votes,
        users=users,
        questions=len(up),
        qualities=tuple(round(float(one), 6) for one in means),
        fared=tuple(_fared(name, quality, base, users.feedback) for name, quality in rules.items()),
        promoted=len(firsts) / runs,
        wrong=sum(run.wrong(one) > 0 for run, one in zip(learned, worlds, strict=True)) / runs,
        rolled_back=sum(any(one.state == "rolled back" for one in run.events) for run in learned) / runs,
        first=median(firsts) if firsts else None,
    )


def _world(up: Floats, later: Floats | None, users: Users, chance: np.random.Generator) -> World:
    """A world with an order of trials of its own."""
    means = up.mean(axis=0)
    guessed = means + chance.normal(0, means.std() * sqrt(1 / CORRELATION**2 - 1), size=len(means))
    return World(
        up=up,
        later=later,
        turns=VOTES if users.turns is None else users.turns,
        users=users.users,
        colluders=round(users.users * users.colluders),
        random=users.random,
        feedback=users.feedback,
        queue=tuple(int(one) for one in np.argsort(-guessed) if one and guessed[one] > guessed[0]),
    )


def _first(run: Run) -> int | None:
    return next((one.votes for one in run.events if one.state == "promoted"), None)


def _fared(name: str, quality: Floats, base: Floats, feedback: float) -> Fared:
    parts: Sequence[Floats] = np.array_split(quality.mean(axis=0), min(POINTS, quality.shape[1]))
    return Fared(
        rule=name,
        gain=round(float(reward(quality, base, feedback).mean()), 6),
        ends=round(float(quality[:, -1].mean()), 6),
        below=float((quality[:, -1] < quality[:, 0].min() - 1e-9).mean()),
        curve=tuple(round(float(one.mean()), 6) for one in parts),
    )
