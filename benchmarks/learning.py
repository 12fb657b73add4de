"""Whether learning from votes ever makes anything worse, and how soon it makes it better: thousands of simulated runs.

What the votes are about is real: eleven weights of the fusion and the default, each asked the questions of three data
sets. An honest vote is up with the probability ``.05 + .9 nDCG@10`` of that setting on that question. All
else is as in `ragstone.learning.simulate`, and the decisions are made by the code that makes them in use: 40 users, one
answer in five voted on, a look after every five votes.

Rows differ in what is true:

- no difference: eight challengers that are as good as the champion on average, on other questions.
- worse: every real setting below the best, tried against it in any order.
- better by 10 points: a real setting against itself where it is disliked so much more often; 15 points with votes of
  which a fifth mean nothing; then a reversal after 2,000 votes, where the two change places.
- colluders: a tenth of the users knows which answer comes from which policy and votes for whatever is not in use.
- the oracle's gap: from the poorest real setting (and from any, and from the default) to the best of them. The order of
  trials comes from estimates made before that correlate with the truth at .5, so half of their spread is error.
"""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import exp, lgamma, log, sqrt
from multiprocessing import get_context
from pathlib import Path
from statistics import NormalDist, median

import numpy as np

from benchmarks.common import Options, Result, Table, main, skipped, told
from ragstone.experiment.rewards import measure_rewards
from ragstone.learning.baselines import naive, never, oracle, thompson
from ragstone.learning.offpolicy import estimate
from ragstone.learning.simulate import FEEDBACK, USERS, VOTES, World, gated, reward
from ragstone.learning.trial import Outcome, Trial, assign, weigh

SETS = ("scifact", "covid_faq_kb", "clapnq")
WEIGHTS = tuple(f"{step / 10:.1f}" for step in range(11))
FIXED = "query.adapt=false"
VARIANTS = tuple((f"query.vector_weight={one}", FIXED) for one in WEIGHTS)
QUESTIONS = 300
RUNS, QUICK_RUNS = 1200, 60
TURN, AFTER = 2000, 5000
GAP_AT = 3000
CORRELATION = 0.5
Values = Mapping[str, np.ndarray]


# ---------------------------------------------------------------- worlds
def _shuffled(up: np.ndarray, chance: np.random.Generator) -> World:
    others = [chance.permutation(up[:, 0]) for _ in range(8)]
    return World(up=np.column_stack([up[:, 0], *others]), queue=tuple(range(1, 9)))


def _worse(up: np.ndarray, chance: np.random.Generator) -> World:
    best = int(up.mean(axis=0).argmax())
    others = [one for one in range(up.shape[1]) if up[:, one].mean() < up[:, best].mean()]
    order = [best, *chance.permutation(others)]
    return World(up=up[:, order], queue=tuple(range(1, len(order))))


def _better(points: float) -> Callable[[np.ndarray, np.random.Generator], World]:
    def world(up: np.ndarray, chance: np.random.Generator) -> World:
        del chance
        real = up[:, 0]
        return World(up=np.column_stack([real * (1 - points / real.mean()), real]), queue=(1,))

    return world


def _gap(start: Callable[[np.ndarray, np.random.Generator], int]) -> Callable[[np.ndarray, np.random.Generator], World]:
    def world(up: np.ndarray, chance: np.random.Generator) -> World:
        means, first = up.mean(axis=0), start(up, chance)
        order = [first, *(one for one in range(up.shape[1]) if one != first)]
        means = means[order]
        noise = means.std() * sqrt(1 / CORRELATION**2 - 1)
        guessed = means + chance.normal(0, noise, size=len(means))
        queue = [one for one in np.argsort(-guessed) if one and guessed[one] > guessed[0]]
        return World(up=up[:, order], queue=tuple(map(int, queue)))

    return world


def _with(
    base: Callable[[np.ndarray, np.random.Generator], World], *, colluders: int = 0, random: float = 0.0, turns: int = 0
) -> Callable[[np.ndarray, np.random.Generator], World]:
    def world(up: np.ndarray, chance: np.random.Generator) -> World:
        one = base(up, chance)
        later = one.up[:, ::-1] if turns else None
        return World(up=one.up, later=later, turns=turns or VOTES, colluders=colluders, random=random, queue=one.queue)

    return world


TENTH = USERS // 10
WORLDS: Mapping[str, Callable[[np.ndarray, np.random.Generator], World]] = {
    "no difference": _shuffled,
    "worse": _worse,
    "no difference, a tenth colludes": _with(_shuffled, colluders=TENTH),
    "worse, a tenth colludes": _with(_worse, colluders=TENTH),
    "+10 points": _better(0.10),
    "+10 points, a tenth colludes": _with(_better(0.10), colluders=TENTH),
    "+15 points, a fifth of the votes random": _with(_better(0.15), random=0.2),
    "+10 points, reversed at 2,000": _with(_better(0.10), turns=TURN),
    "+15 points, reversed at 2,000": _with(_better(0.15), turns=TURN),
    "from the poorest setting": _gap(lambda up, _: int(up.mean(axis=0).argmin())),
    "from any setting": _gap(lambda up, chance: int(chance.integers(up.shape[1]))),
    "from the default": _gap(lambda *_: 0),
}


# ---------------------------------------------------------------- runs
@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One run: what it promoted and when, and what that was worth. ``after`` is from the turn to the rollback."""

    wrong: int
    first: int | None
    reward: float
    start: float
    best: float
    reached: float
    turned: bool
    after: int | None


def _ran(name: str, up: np.ndarray, seed: int) -> Ran:
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


def _never(world: World, votes: int) -> np.ndarray:
    return never(world, 1, votes=votes)[0]


def _chunk(given: tuple[str, dict[str, np.ndarray], Sequence[int]]) -> list[Ran]:
    name, ups, seeds = given
    return [_ran(name, ups[SETS[seed % len(SETS)]], seed) for seed in seeds]


def _runs(ups: dict[str, np.ndarray], count: int) -> dict[str, list[Ran]]:
    out = {}
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for name in WORLDS:
            started = time.perf_counter()
            parts = [(name, ups, range(at, min(at + 30, count))) for at in range(0, count, 30)]
            out[name] = [one for part in pool.map(_chunk, parts) for one in part]
            told(f"learning: {count} runs of '{name}' took {time.perf_counter() - started:.0f} s")
    return out


# ---------------------------------------------------------------- the table
async def measure(options: Options) -> Result:
    if options.data is None or not all((options.data / one).is_dir() for one in SETS):
        return skipped("learning is measured on settings that answered real questions")
    ups = {one: 0.05 + 0.9 * await _values(options.data, options.keep, one) for one in SETS}
    ran = _runs(ups, QUICK_RUNS if options.quick else RUNS)
    rows = [*_wrong(ran), *_found(ran), *_closed(ran), *_rewards(ran), *_turned(ran), *_logged(ups["covid_faq_kb"])]
    figures = {row.name: row.figure for row in rows}
    table = Table(
        title=f"learning, {len(ran['worse'])} runs a row",
        columns=["what", "measured", "target", ""],
        rows=[
            [row.name, row.measured, row.target, "" if row.met is None else "met" if row.met else "MISSED"]
            for row in rows
        ],
    )
    others, notes = _others(ups, 20 if options.quick else 100)
    plot = _plot(ups["covid_faq_kb"], 20 if options.quick else 100)
    return Result(figures=figures, plot=plot, tables=[table, _spread(ups), others], notes=notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    name: str
    measured: str
    figure: float
    target: str = ""
    met: bool | None = None


def _wrong(ran: Mapping[str, list[Ran]]) -> list[Row]:
    out = []
    for name in list(WORLDS)[:4]:
        wrong = sum(one.wrong > 0 for one in ran[name])
        share, high = wrong / len(ran[name]), upper(wrong, len(ran[name]))
        out.append(
            Row(
                name=f"promoted something no better: {name}",
                measured=f"{share:.1%} (95% bound {high:.1%})",
                figure=share,
                target="<= 5% (bound <= 6.5%)",
                met=share <= 0.05 and high <= 0.065,
            )
        )
    return out


def _found(ran: Mapping[str, list[Ran]]) -> list[Row]:
    out = []
    for name in list(WORLDS)[4:7]:
        first = [one.first for one in ran[name]]
        share = sum(one is not None and one <= VOTES for one in first) / len(first)
        among = [
            median(VOTES if one is None else one for one in first[place :: len(SETS)]) for place in range(len(SETS))
        ]
        told_of = ", ".join(f"{one} {votes:,.0f}" for one, votes in zip(SETS, among, strict=True))
        target = None if name.endswith("colludes") else 0.95
        out.append(
            Row(
                name=f"found within {VOTES:,} votes: {name}",
                measured=f"{share:.1%}; median votes: {told_of}",
                figure=share,
                target="" if target is None else f">= {target:.0%}",
                met=None if target is None else share >= target,
            )
        )
    return out


def _closed(ran: Mapping[str, list[Ran]]) -> list[Row]:
    out = []
    for name in list(WORLDS)[9:]:
        runs = ran[name]
        gap, closed = sum(one.best - one.start for one in runs), sum(one.reached - one.start for one in runs)
        parts = []
        for place, one in enumerate(SETS):
            some = runs[place :: len(SETS)]
            own = sum(run.best - run.start for run in some)
            points = 100 * own / len(some)
            parts.append(
                f"{one} {sum(run.reached - run.start for run in some) / max(own, 1e-9):.0%} of {points:.1f} points"
            )
        poorest = name.endswith("poorest setting")
        out.append(
            Row(
                name=f"of the oracle's gap closed at {GAP_AT:,} votes, {name}",
                measured=f"{closed / max(gap, 1e-9):.0%} ({'; '.join(parts)})",
                figure=closed / max(gap, 1e-9),
                target=">= 40%" if poorest else "",
                met=closed >= 0.4 * gap if poorest else None,
            )
        )
    return out


def _rewards(ran: Mapping[str, list[Ran]]) -> list[Row]:
    means = {name: float(np.mean([one.reward for one in runs])) for name, runs in ran.items()}
    least = min(means, key=lambda name: means[name])
    return [
        Row(
            name="mean reward of a request against never learning, the least of all rows",
            measured=f"{means[least]:+.4f} ({least})",
            figure=means[least],
            target=">= -0.01",
            met=means[least] >= -0.01,
        )
    ]


def _turned(ran: Mapping[str, list[Ran]]) -> list[Row]:
    out = []
    for name in list(WORLDS)[7:9]:
        after = [AFTER if one.after is None else one.after for one in ran[name] if one.turned]
        middle, late = (float(one) for one in np.quantile(after or [0], [0.5, 0.9]))
        never_back = sum(one == AFTER for one in after)
        out.append(
            Row(
                name=f"votes until rolled back, median / nine in ten: {name}",
                measured=f"{middle:,.0f} / {late:,.0f} ({len(after)} runs had promoted it; {never_back} never)",
                figure=middle,
                target="<= 700 / <= 1,300",
                met=middle <= 700 and late <= 1300,
            )
        )
    return out


def _logged(up: np.ndarray) -> list[Row]:
    """Assignments against their probabilities, estimates from logs, and a replay."""
    world, chance = _better(0.10)(up, np.random.default_rng(0)), np.random.default_rng(5)
    statistic = freedom = 0.0
    errors: dict[str, list[float]] = {"ips": [], "snips": [], "doubly_robust": []}
    trial = Trial(id="0", champion=0, challengers=(1,), seed="0")
    for number in range(200):
        trial = Trial(id=str(number), champion=0, challengers=(1, 2), seed=f"seed {number}")
        made = [assign(trial, f"{number}/{request}").version for request in range(2000)]
        expected = {version: share * len(made) for version, share in trial.shares.items()}
        statistic += sum((made.count(version) - one) ** 2 / one for version, one in expected.items())
        freedom += len(expected) - 1
    # The cube root of chi-square is nearly normal (Wilson and Hilferty 1931).
    z = ((statistic / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / sqrt(2 / (9 * freedom))
    p = 1 - NormalDist().cdf(z)
    trial = Trial(id="0", champion=0, challengers=(1,), seed="0")
    truth = FEEDBACK * (2 * world.means(0)[1] - 1)
    outcomes: list[Outcome] = []
    for number in range(100):
        outcomes = _outcomes(world, trial, chance, f"{number}", 5000)
        rewards = np.array([one.vote for one in outcomes], dtype=np.float64)
        logged = np.array([one.probability for one in outcomes])
        target = np.array([float(one.version == 1) for one in outcomes])
        guess = np.full(len(outcomes), float(truth) * 0.5)
        got = estimate(rewards, logged, target, guessed=guess, guessed_target=guess)
        for name, one in (("ips", got.ips), ("snips", got.snips), ("doubly_robust", got.doubly_robust)):
            errors[name].append(abs(one.value - truth))
    started = time.perf_counter()
    same = weigh(trial, outcomes).to_json() == weigh(trial, outcomes[::-1]).to_json()
    spent = (time.perf_counter() - started) / 2
    far = {name: float(np.quantile(some, 0.95)) for name, some in errors.items()}
    return [
        Row(
            name="logged probabilities fit the assignments: p of chi-square over 200 trials",
            measured=f"{p:.2f}",
            figure=p,
            target="> .01",
            met=p > 0.01,
        ),
        Row(
            name="off-policy estimate from 5,000 requests, error of a reward in 95 of 100",
            measured=", ".join(f"{name} {one:.4f}" for name, one in far.items()),
            figure=far["snips"],
            target="<= .02",
            met=far["snips"] <= 0.02,
        ),
        Row(
            name="replay of 5,000 requests, seconds; the same bytes",
            measured=f"{spent:.3f}; {'yes' if same else 'NO'}",
            figure=spent,
            target="< 1; yes",
            met=same and spent < 1,
        ),
    ]


def _outcomes(world: World, trial: Trial, chance: np.random.Generator, name: str, count: int) -> list[Outcome]:
    made = [assign(trial, f"{name}/{number}") for number in range(count)]
    voices = chance.integers(world.users, size=count)
    votes = world.vote(chance, np.array([one.version for one in made]), voices, 0, trial.champion)
    votes = np.where(chance.random(count) < world.feedback, votes, 0.0)
    return [
        Outcome(
            request_id=f"{name}/{number}",
            voice=str(voice),
            version=one.version,
            probability=one.probability,
            vote=1 if vote > 0 else -1 if vote < 0 else 0,
            at=float(number),
        )
        for number, (one, voice, vote) in enumerate(zip(made, voices, votes, strict=True))
    ]


def upper(part: int, whole: int) -> float:
    """The share that in 19 of 20 cases would give more than ``part`` of ``whole`` (Clopper and Pearson 1934)."""
    low, high = part / whole, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        at_most = sum(exp(_log_binomial(k, whole, middle)) for k in range(part + 1))
        low, high = (middle, high) if at_most > 0.05 else (low, middle)
    return high


def _log_binomial(part: int, whole: int, share: float) -> float:
    ways = lgamma(whole + 1) - lgamma(part + 1) - lgamma(whole - part + 1)
    return ways + part * log(max(share, 1e-300)) + (whole - part) * log(max(1 - share, 1e-300))


# ---------------------------------------------------------------- rewards, other rules, and the plot
async def _values(data: Path, keep: Path, name: str) -> np.ndarray:
    """nDCG@10 of each setting (questions, settings); kept for the next run."""
    kept = keep / f"rewards-{name}.npy"
    if not kept.is_file():
        found = await measure_rewards(data / name, VARIANTS, keep=keep, limit=QUESTIONS, on_progress=told)
        keep.mkdir(parents=True, exist_ok=True)
        np.save(kept, found.values)
    return np.load(kept)


def _spread(ups: Values) -> Table:
    rows = []
    for name, up in ups.items():
        means = up.mean(axis=0)
        rows.append(
            [name, str(len(up)), *(f"{one:.3f}" for one in (means[0], means.max(), np.median(means), means.min()))]
        )
    title = f"the share of honest votes that are up, of {1 + len(VARIANTS)} settings"
    return Table(title=title, columns=["set", "questions", "default", "best", "median", "poorest"], rows=rows)


def _line(up: np.ndarray) -> list[int]:
    """The default among the weights of the fusion, beside the one that it is most like."""
    weights = list(range(1, 1 + len(WEIGHTS)))
    near = int(np.argmin([abs(up[:, 0] - up[:, one]).mean() for one in weights]))
    weights[near] = 0
    return weights


def _others(ups: Values, runs: int) -> tuple[Table, list[str]]:
    """What rules without proof come to, from the default, where little can be won, and from the poorest setting."""
    rows, below, poorer, started = [], 0, 0, 0
    for start in ("the default", "the poorest setting"):
        for name, up in ups.items():
            world, line = _started(up, start)
            base = never(world, runs)
            walked = naive(world, runs, seed=1, line=line)
            lost = int((walked[:, -1] < base[:, -1] - 1e-9).sum())
            if start == "the default":
                below, started = below + lost, started + runs
                poorer += int((reward(walked, base) < 0).sum())
            learned = _learned(up, start, runs)
            gains = [
                float(reward(one, base).mean())
                for one in (walked, thompson(world, runs, seed=2), learned, oracle(world, runs))
            ]
            rows.append([f"{name}, from {start}", f"{lost} of {runs}", *(f"{one:+.4f}" for one in gains)])
    columns = ["where", "naive ends below its start", "naive", "Thompson", "Ragstone", "oracle"]
    title = f"mean reward of a request over {VOTES:,} votes, against never learning"
    note = (
        f"The naive rule, started at the default, ended below its start in {100 * below / started:.0f} of 100 runs, and"
        f" over the whole run its answers were worse than without it in {100 * poorer / started:.0f} of 100."
    )
    return Table(title=title, columns=columns, rows=rows), [note]


def _started(up: np.ndarray, start: str) -> tuple[World, list[int]]:
    """A world that begins at the default or the poorest setting, and the line of its settings."""
    line = _line(up)
    if start == "the default":
        world = WORLDS["from the default"](up, np.random.default_rng(3))
        return world, line
    world = WORLDS["from the poorest setting"](up, np.random.default_rng(3))
    first = int(up.mean(axis=0).argmin())
    order = [first, *(one for one in range(up.shape[1]) if one != first)]
    known = [order.index(one) for one in line]
    return world, known if 0 in known else [0, *known]


def _learned(up: np.ndarray, start: str, runs: int) -> np.ndarray:
    """Quality by the vote (runs, votes), each run with an order of trials of its own."""
    worlds = [WORLDS[f"from {start}"](up, np.random.default_rng([seed, 2])) for seed in range(runs)]
    return np.stack([gated(world, seed).quality(world) for seed, world in enumerate(worlds)])


def _plot(up: np.ndarray, runs: int) -> str:
    """How good answers are by the vote, under each rule, in three worlds."""
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "ragstone"
    figure, all_axes = plt.subplots(1, 3, figsize=(12, 3.6), sharey=True)
    better = _better(0.15)(up, np.random.default_rng(0))
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
    figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    return out.getvalue()


if __name__ == "__main__":
    main({"learning": measure}, "learning")
