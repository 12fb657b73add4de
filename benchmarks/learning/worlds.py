"""The simulated worlds of each row of the table of `benchmarks.learning`, and their runs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from math import sqrt
from multiprocessing import get_context

import numpy as np

from benchmarks.common import progress
from benchmarks.learning.baselines import never
from benchmarks.learning.simulate import USERS, VOTES, World, gated, reward
from ragstone.learning.evidence import Floats

SETS = ("scifact", "covid_faq_kb", "clapnq")
WEIGHTS = tuple(f"{step / 10:.1f}" for step in range(11))
FIXED = "query.adapt=false"
VARIANTS = tuple((f"query.vector_weight={one}", FIXED) for one in WEIGHTS)
QUESTIONS = 300
TURN, AFTER = 2000, 5000
GAP_AT = 3000
CORRELATION = 0.5
Values = Mapping[str, Floats]


# ---------------------------------------------------------------- worlds
def _shuffled(up: Floats, chance: np.random.Generator) -> World:
    others = [chance.permutation(up[:, 0]) for _ in range(8)]
    return World(up=np.column_stack([up[:, 0], *others]), queue=tuple(range(1, 9)))


def _worse(up: Floats, chance: np.random.Generator) -> World:
    best = int(up.mean(axis=0).argmax())
    others = [one for one in range(up.shape[1]) if up[:, one].mean() < up[:, best].mean()]
    order = [best, *chance.permutation(others)]
    return World(up=up[:, order], queue=tuple(range(1, len(order))))


def better_by(points: float) -> Callable[[Floats, np.random.Generator], World]:
    def world(up: Floats, chance: np.random.Generator) -> World:
        del chance
        real = up[:, 0]
        return World(up=np.column_stack([real * (1 - points / real.mean()), real]), queue=(1,))

    return world


def _gap(start: Callable[[Floats, np.random.Generator], int]) -> Callable[[Floats, np.random.Generator], World]:
    def world(up: Floats, chance: np.random.Generator) -> World:
        means, first = up.mean(axis=0), start(up, chance)
        order = [first, *(one for one in range(up.shape[1]) if one != first)]
        means = means[order]
        noise = means.std() * sqrt(1 / CORRELATION**2 - 1)
        guessed = means + chance.normal(0, noise, size=len(means))
        queue = [one for one in np.argsort(-guessed) if one and guessed[one] > guessed[0]]
        return World(up=up[:, order], queue=tuple(map(int, queue)))

    return world


def _with(
    base: Callable[[Floats, np.random.Generator], World], *, random: float = 0.0, turns: int = 0, skew: float = 0.0
) -> Callable[[Floats, np.random.Generator], World]:
    def world(up: Floats, chance: np.random.Generator) -> World:
        one = base(up, chance)
        later = one.up[:, ::-1] if turns else None
        return replace(one, later=later, turns=turns or VOTES, random=random, skew=skew)

    return world


def colluding(
    base: Callable[[Floats, np.random.Generator], World], *, rush: float = 1.0, before: int = 0
) -> Callable[[Floats, np.random.Generator], World]:
    def world(up: Floats, chance: np.random.Generator) -> World:
        return replace(base(up, chance), colluders=TENTH, rush=rush, before=before)

    return world


TENTH = USERS // 10
RUSH, YOUNG = 30, 100
"""Pace of the colluders in a rush, and the votes before them."""
Worlds = Mapping[str, Callable[[Floats, np.random.Generator], World]]
WRONG: Worlds = {
    "no difference": _shuffled,
    "worse": _worse,
    "no difference, a tenth colludes": colluding(_shuffled),
    "worse, a tenth colludes": colluding(_worse),
    "no difference, a tenth colludes in a rush": colluding(_shuffled, rush=RUSH, before=YOUNG),
}
FOUND: Worlds = {
    "+10 points": better_by(0.10),
    "+10 points, a tenth colludes": colluding(better_by(0.10)),
    "+15 points, a fifth of the votes random": _with(better_by(0.15), random=0.2),
    "+10 points, a few cast most votes": _with(better_by(0.10), skew=1.0),
}
TURNED: Worlds = {
    "+10 points, reversed at 2,000": _with(better_by(0.10), turns=TURN),
    "+15 points, reversed at 2,000": _with(better_by(0.15), turns=TURN),
}
GAPS: Worlds = {
    "from the poorest setting": _gap(lambda up, _: int(up.mean(axis=0).argmin())),
    "from any setting": _gap(lambda up, chance: int(chance.integers(int(up.shape[1])))),
    "from the default": _gap(lambda _, __: 0),
}
RUSHES, BEFORE = (1, 3, 10, 30, 100), (0, 100, 400)
RUSHED: Worlds = {
    f"a tenth votes {rush} times as often, {before} votes before": colluding(_shuffled, rush=rush, before=before)
    for rush in RUSHES
    for before in BEFORE
}
WORLDS: Worlds = {**WRONG, **FOUND, **TURNED, **GAPS, **RUSHED}


# ---------------------------------------------------------------- runs
@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One run: its promotions and their worth. ``after`` is the number of votes from the turn to the rollback."""

    wrong: int
    first: int | None
    reward: float
    start: float
    best: float
    reached: float
    turned: bool
    after: int | None


def _ran(name: str, up: Floats, seed: int) -> Ran:
    world = WORLDS[name](up, np.random.default_rng([seed, 1]))
    run = gated(world, seed, votes=AFTER if world.later is not None else VOTES)
    means = world.means(0)
    back = [one.votes - TURN for one in run.events if one.state == "rolled back" and one.votes > TURN]
    quality = run.quality(world)
    return Ran(
        wrong=run.wrong(world),
        first=next((one.votes for one in run.events if one.state == "promoted"), None),
        reward=float(reward(quality, _never(world, len(quality)))),
        start=float(means[0]),
        best=float(means.max()),
        reached=float(means[run.champion(GAP_AT)]),
        turned=world.later is not None and run.champion(TURN) == 1,
        after=back[0] if back else None,
    )


def _never(world: World, votes: int) -> Floats:
    return never(world, 1, votes=votes)[0]


def _chunk(given: tuple[str, dict[str, Floats], Sequence[int]]) -> list[Ran]:
    name, ups, seeds = given
    return [_ran(name, ups[SETS[seed % len(SETS)]], seed) for seed in seeds]


def runs_of(ups: dict[str, Floats], count: int, worlds: Worlds) -> dict[str, list[Ran]]:
    out: dict[str, list[Ran]] = {}
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for name in worlds:
            started = time.perf_counter()
            parts = [(name, ups, range(at, min(at + 30, count))) for at in range(0, count, 30)]
            out[name] = [one for part in pool.map(_chunk, parts) for one in part]
            progress(f"learning: {count} runs of '{name}' took {time.perf_counter() - started:.0f} s")
    return out
