"""Rules without proof, in the same simulated worlds, many runs at once.

Each returns, for every run, the share of honest votes up of the policies that answered, by the vote (runs, votes).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.learning.simulate import VOTES, World
from ragstone.learning.evidence import Floats
from ragstone.learning.learner import EVALUATE_EVERY


def never(world: World, runs: int, *, votes: int = VOTES) -> Floats:
    """Use version 0 throughout."""
    return _quality(world, np.zeros((runs, votes), dtype=np.int64))


def oracle(world: World, runs: int, *, votes: int = VOTES) -> Floats:
    """Use the best policy at any time, which nobody knows."""
    best = np.array([world.means(at).argmax() for at in range(votes)])
    return _quality(world, np.tile(best, (runs, 1)))


def naive(
    world: World,
    runs: int,
    *,
    seed: int,
    line: Sequence[int],
    part: float = 1.0,
    votes: int = VOTES,
    every: int = EVALUATE_EVERY,
) -> Floats:
    """Move a setting after every five votes, and turn round when they were worse than the five before.

    Args:
        world: users and policies.
        runs: number of runs.
        seed: seed of all draws.
        line: the policies in the order of the setting.
        part: length of a step, as a part of the way to the next policy; the nearest policy answers.
        votes: votes in each run.
        every: votes between steps.
    """
    chance, order = np.random.default_rng(seed), np.array(line)
    place, last_place = np.full(runs, float(list(line).index(0))), len(order) - 1
    direction = np.where(chance.random(runs) < 0.5, 1, -1)
    used, last = np.zeros((runs, votes), dtype=np.int64), np.full(runs, -1.0)
    for at in range(0, votes, every):
        count = min(every, votes - at)
        used[:, at : at + count] = order[np.rint(place).astype(np.int64)][:, np.newaxis]
        cast = _votes(world, chance, used[:, at : at + count], at)
        liked = cast.mean(axis=1)
        direction = np.where(liked < last, -direction, direction)
        target = place + part * direction
        direction = np.where((target < 0) | (target > last_place), -direction, direction)
        place, last = place + part * direction, liked
    return _quality(world, used)


def thompson(world: World, runs: int, *, seed: int, votes: int = VOTES) -> Floats:
    """Use each policy as often as it is probably the best (Thompson, Biometrika 25, 1933)."""
    chance = np.random.default_rng(seed)
    count = world.up.shape[1]
    ups, downs = np.ones((runs, count)), np.ones((runs, count))
    used, rows = np.zeros((runs, votes), dtype=np.int64), np.arange(runs)
    for at in range(votes):
        chosen = chance.beta(ups, downs).argmax(axis=1)
        used[:, at] = chosen
        up = _votes(world, chance, chosen[:, np.newaxis], at)[:, 0] > 0
        ups[rows, chosen] += up
        downs[rows, chosen] += ~up
    return _quality(world, used)


def _votes(world: World, chance: np.random.Generator, versions: NDArray[np.int64], at: int) -> Floats:
    """Draw the votes of all runs on the same few answers (runs, votes)."""
    out = np.empty(versions.shape)
    for number in range(versions.shape[1]):
        voices = world.voices(chance, len(versions))
        out[:, number] = world.vote(chance, versions[:, number], voices, at + number, 0)
    return out


def _quality(world: World, used: NDArray[np.int64]) -> Floats:
    means = np.stack([world.means(0), world.means(world.turns)])
    turns = used.shape[1] if world.later is None else min(world.turns, used.shape[1])
    later = np.repeat([0, 1], [turns, used.shape[1] - turns])
    return means[later, used]
