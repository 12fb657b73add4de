"""The rewards that `benchmarks.learning` simulates votes from, and the results of rules without proof."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from benchmarks.common import Table, progress
from benchmarks.learning.baselines import naive, never, oracle, thompson
from benchmarks.learning.rewards import measure_rewards
from benchmarks.learning.simulate import VOTES, World, gated, reward
from benchmarks.learning.worlds import QUESTIONS, TURN, VARIANTS, WEIGHTS, WORLDS, Values, better_by
from ragstone.learning.eager import STEP_PART
from ragstone.learning.evidence import Floats
from ragstone.learning.policy import BOUNDS

HALF = STEP_PART * BOUNDS["vector_weight"].step / 0.1
"""A step of eager learning, as a part of the way from one weight of the fusion to the next."""


async def values_of(data: Path, keep: Path, name: str) -> Floats:
    """Return the nDCG@10 of each setting (questions, settings); kept for the next run."""
    kept = keep / f"rewards-{name}.npy"
    if not kept.is_file():
        found = await measure_rewards(data / name, VARIANTS, keep=keep, limit=QUESTIONS, on_progress=progress)
        keep.mkdir(parents=True, exist_ok=True)
        np.save(kept, found.values)
    return np.load(kept)


def spread_of(ups: Values) -> Table:
    rows: list[list[str]] = []
    for name, up in ups.items():
        means = up.mean(axis=0)
        rows.append(
            [name, str(len(up)), *(f"{one:.3f}" for one in (means[0], means.max(), np.median(means), means.min()))]
        )
    title = f"the share of honest votes that are up, of {1 + len(VARIANTS)} settings"
    return Table(title=title, columns=["set", "questions", "default", "best", "median", "poorest"], rows=rows)


def _line(up: Floats) -> list[int]:
    """Return the weights of the fusion with the default in place of the nearest one."""
    weights = list(range(1, 1 + len(WEIGHTS)))
    near = int(np.argmin([abs(up[:, 0] - up[:, one]).mean() for one in weights]))
    weights[near] = 0
    return weights


def other_rules(ups: Values, runs: int) -> tuple[Table, list[str]]:
    """Return the results of rules without proof, from the default and from the poorest setting."""
    rows: list[list[str]] = []
    below = eagerly = poorer = started = 0
    for start in ("the default", "the poorest setting"):
        for name, up in ups.items():
            world, line = _started(up, start)
            base = never(world, runs)
            walked = naive(world, runs, seed=1, line=line)
            eager = naive(world, runs, seed=1, line=line, part=HALF)
            lost, also = (int((one[:, -1] < base[:, -1] - 1e-9).sum()) for one in (walked, eager))
            if start == "the default":
                below, started, eagerly = below + lost, started + runs, eagerly + also
                poorer += int((reward(walked, base) < 0).sum())
            learned = _learned(up, start, runs)
            gains = [
                float(reward(one, base).mean())
                for one in (walked, eager, thompson(world, runs, seed=2), learned, oracle(world, runs))
            ]
            rows.append([f"{name}, from {start}", f"{lost} of {runs}", *(f"{one:+.4f}" for one in gains)])
    columns = ["where", "naive ends below its start", "naive", "eager", "Thompson", "Ragstone", "oracle"]
    title = f"mean reward of a request over {VOTES:,} votes, against never learning"
    note = (
        f"The naive rule, started at the default, ended below its start in {100 * below / started:.0f} of 100 runs, and"
        f" over the whole run its answers were worse than without it in {100 * poorer / started:.0f} of 100. `eager`"
        f" takes half its steps; it ended below its start in {100 * eagerly / started:.0f} of 100."
    )
    return Table(title=title, columns=columns, rows=rows), [note]


def _started(up: Floats, start: str) -> tuple[World, list[int]]:
    """Return a world that begins at the default or the poorest setting, and the line of its settings."""
    line = _line(up)
    if start == "the default":
        world = WORLDS["from the default"](up, np.random.default_rng(3))
        return world, line
    world = WORLDS["from the poorest setting"](up, np.random.default_rng(3))
    first = int(up.mean(axis=0).argmin())
    order = [first, *(one for one in range(up.shape[1]) if one != first)]
    known = [order.index(one) for one in line]
    return world, known if 0 in known else [0, *known]


def _learned(up: Floats, start: str, runs: int) -> Floats:
    """Return the quality by the vote (runs, votes), each run with an order of trials of its own."""
    worlds = [WORLDS[f"from {start}"](up, np.random.default_rng([seed, 2])) for seed in range(runs)]
    return np.stack([gated(world, seed).quality(world) for seed, world in enumerate(worlds)])


def plotted(up: Floats, runs: int) -> str:
    """Return a plot of the quality of answers by the vote, under each rule, in three worlds."""
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "ragstone"
    figure, all_axes = plt.subplots(1, 3, figsize=(12, 3.6), sharey=True)
    better = better_by(0.15)(up, np.random.default_rng(0))
    worlds = {
        "from the default": _started(up, "the default"),
        "from the poorest setting": _started(up, "the poorest setting"),
        "15 points better, reversed at 2,000": (
            World(up=better.up, later=better.up[:, ::-1], turns=TURN, queue=(1,)),
            [0, 1],
        ),
    }
    for axes, (title, (world, line)) in zip(all_axes, worlds.items(), strict=True):
        rules = {
            "never": never(world, runs),
            "naive": naive(world, runs, seed=1, line=line),
            "Thompson": thompson(world, runs, seed=2),
            "Ragstone": _learned(up, title.removeprefix("from "), runs)
            if world.later is None
            else np.stack([gated(world, seed).quality(world) for seed in range(runs)]),
            "oracle": oracle(world, runs),
        }
        for rule, quality in rules.items():
            style = ":" if rule in ("never", "oracle") else "-"
            axes.plot(quality.mean(axis=0).reshape(-1, 20).mean(axis=1).repeat(20), label=rule, linestyle=style)
        axes.set(title=title, xlabel="votes")
        axes.grid(alpha=0.3)
    all_axes[0].set_ylabel("share of honest votes up")
    all_axes[0].legend()
    out = io.StringIO()
    figure.savefig(  # pyright: ignore[reportUnknownMemberType]  # matplotlib types it in part
        out, format="svg", bbox_inches="tight", metadata={"Date": None}
    )
    plt.close(figure)
    return out.getvalue()
