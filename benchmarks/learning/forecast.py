"""Forecast learning on your own questions: ``python -m benchmarks.learning.forecast QUESTIONS [OPTION]...``

Each setting answers the questions, and simulated people vote by the quality of the answers. Ragstone's rule is compared
with never learning, a naive rule that moves a setting after every five votes, Thompson sampling, and an oracle that
knows the best setting.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.common import Table, progress
from benchmarks.learning.baselines import naive, never, oracle, thompson
from benchmarks.learning.rewards import measure_rewards
from benchmarks.learning.simulate import FEEDBACK, USERS, VOTES, Run, World, gated, reward
from ragstone.engine.experiments.variants import grid, parse_dimension
from ragstone.learning.evidence import Floats

CORRELATION = 0.5
"""Correlation of the estimates that order the trials with the truth."""
NOISE = 0.05
"""Share of the best answers that are disliked, and of the worst that are liked."""
WEIGHTS = "query.vector_weight=0,.1,.2,.3,.4,.5,.6,.7,.8,.9,1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Users:
    """The people who vote. ``colluders`` and ``random`` are shares; the best becomes worst after ``turns`` votes."""

    users: int = USERS
    feedback: float = FEEDBACK
    colluders: float = 0.0
    random: float = 0.0
    turns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The result of each rule, and of Ragstone's the shares of runs that promoted, erred and rolled back.

    ``gains`` are mean rewards of a request beyond never learning, ``ends`` final shares of honest votes up, ``below``
    shares of runs that ended below their start. ``first`` is the median of the votes until the first promotion.
    """

    gains: dict[str, float]
    ends: dict[str, float]
    below: dict[str, float]
    promoted: float
    wrong: float
    rolled_back: float
    first: float | None


def forecast(values: Floats, users: Users, *, runs: int = 100, votes: int = VOTES, seed: int = 0) -> Forecast:
    """Simulate.

    Args:
        values: quality of each policy on each question, 0 to 1 (questions, policies); the first policy is in use.
        users: the people who vote.
        runs: runs of each rule.
        votes: votes in each run.
        seed: seed of all draws.
    """
    up = NOISE + (1 - 2 * NOISE) * values
    later = None
    if users.turns is not None:
        order = up.mean(axis=0).argsort(kind="stable")
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
        gains={name: float(reward(one, base, users.feedback).mean()) for name, one in rules.items()},
        ends={name: float(one[:, -1].mean()) for name, one in rules.items()},
        below={name: float((one[:, -1] < one[:, 0].min() - 1e-9).mean()) for name, one in rules.items()},
        promoted=len(firsts) / runs,
        wrong=sum(run.wrong(one) > 0 for run, one in zip(learned, worlds, strict=True)) / runs,
        rolled_back=sum(any(one.state == "rolled back" for one in run.events) for run in learned) / runs,
        first=median(firsts) if firsts else None,
    )


def _world(up: Floats, later: Floats | None, users: Users, chance: np.random.Generator) -> World:
    """Return a world with an order of trials of its own."""
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


def summary(found: Forecast) -> str:
    """Return the forecast as text."""
    rows = [
        [name, f"{gain:+.4f}", f"{found.ends[name]:.1%}", f"{found.below[name]:.0%}"]
        for name, gain in found.gains.items()
    ]
    columns = ["rule", "gain per request", "votes up at the end", "runs that end below their start"]
    table = Table(title="Forecast", columns=columns, rows=rows)
    first = "" if found.first is None else f", the first after {found.first:,.0f} votes (median)"
    return (
        f"{table.plain()}\n\nRagstone promoted a version in {found.promoted:.0%} of the runs{first}, one that was not"
        f" better in {found.wrong:.0%}, and rolled back in {found.rolled_back:.0%}."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning.forecast", description=__doc__)
    parser.add_argument("questions", type=Path, help="a data set, or a CSV of questions with their sources")
    parser.add_argument("--kb", type=Path, help="the knowledge base that a CSV is about")
    parser.add_argument("--grid", action="append", metavar="PATH=A,B,C", help=f"settings to learn; default: {WEIGHTS}")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--votes", type=int, default=VOTES)
    parser.add_argument("--users", type=int, default=USERS)
    parser.add_argument("--feedback", type=float, default=FEEDBACK, help="share of the answers that get a vote")
    parser.add_argument("--colluders", type=float, default=0.0, help="share of users who vote for any challenger")
    parser.add_argument("--random-votes", type=float, default=0.0, help="share of votes that mean nothing")
    parser.add_argument("--turns", type=int, help="votes after which the best setting becomes the worst")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    fixed = () if given.grid else ("query.adapt=false",)
    variants = [(*one, *fixed) for one in grid([parse_dimension(one) for one in given.grid or [WEIGHTS]])]
    rewards = asyncio.run(measure_rewards(given.questions, variants, kb=given.kb, on_progress=progress))
    users = Users(
        users=given.users,
        feedback=given.feedback,
        colluders=given.colluders,
        random=given.random_votes,
        turns=given.turns,
    )
    print(summary(forecast(rewards.values, users, runs=given.runs, votes=given.votes, seed=given.seed)))


if __name__ == "__main__":
    main()
