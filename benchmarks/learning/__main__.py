"""Measure whether learning from votes ever makes anything worse, and how soon it helps, in thousands of simulated runs.

The rewards are real: eleven weights of the fusion and the default, each measured on the questions of three data sets.
An honest vote is up with the probability ``.05 + .9 nDCG@10`` of that setting on that question. 40 users vote on one
answer in five, and the code in use decides after every five votes (`benchmarks.learning.simulate`).

The rows differ in what is true:

- no difference: eight challengers that are as good as the champion on average, on other questions.
- worse: every real setting below the best is tried against it in random order.
- better by 10 points: a real setting against itself, disliked that much more often; 15 points with a fifth of the votes
  random; then a reversal after 2,000 votes, in which the two change places.
- colluders: a tenth of the users knows which policy answered and votes against the one in use.
- in a rush: they vote 30 times as often as the others, after 100 votes. A table shows other paces.
- a few cast most votes: the n-th user votes 1/n as often as the first.
- the oracle's gap: from the poorest real setting (from any, from the default) to the best of them. The order of trials
  comes from estimates that correlate with the truth at .5.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, lgamma, log, sqrt
from statistics import NormalDist, median

import numpy as np

from benchmarks.common import Options, Result, Table, main, skipped
from benchmarks.learning.off_policy import estimate
from benchmarks.learning.rules import other_rules, plotted, spread_of, values_of
from benchmarks.learning.simulate import FEEDBACK, VOTES, World
from benchmarks.learning.worlds import (
    AFTER,
    BEFORE,
    FOUND,
    GAP_AT,
    GAPS,
    RUSHED,
    RUSHES,
    SETS,
    TURNED,
    WRONG,
    Ran,
    better_by,
    runs_of,
)
from ragstone.learning.evidence import Floats
from ragstone.learning.trial import Outcome, Trial, draw, evaluate

RUNS, QUICK_RUNS = 1200, 60
PART = 4
"""The divisor of the runs for each pace of colluders."""


async def measure(options: Options) -> Result:
    if options.data is None or not all((options.data / one).is_dir() for one in SETS):
        return skipped("learning is measured on settings that answered real questions")
    ups = {one: 0.05 + 0.9 * await values_of(options.data, options.keep, one) for one in SETS}
    runs = QUICK_RUNS if options.quick else RUNS
    ran = runs_of(ups, runs, {**WRONG, **FOUND, **TURNED, **GAPS})
    rushed = _rushed(runs_of(ups, runs // PART, RUSHED))
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
    others, notes = other_rules(ups, 20 if options.quick else 100)
    plot = plotted(ups["covid_faq_kb"], 20 if options.quick else 100)
    return Result(figures=figures, plot=plot, tables=[table, rushed, spread_of(ups), others], notes=notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    name: str
    measured: str
    figure: float
    target: str = ""
    met: bool | None = None


def _wrong(ran: Mapping[str, list[Ran]]) -> list[Row]:
    out: list[Row] = []
    for name in WRONG:
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
    out: list[Row] = []
    for name in FOUND:
        first = [one.first for one in ran[name]]
        share = sum(one is not None and one <= VOTES for one in first) / len(first)
        among = [
            median(VOTES if one is None else one for one in first[place :: len(SETS)]) for place in range(len(SETS))
        ]
        told_of = ", ".join(f"{one} {votes:,.0f}" for one, votes in zip(SETS, among, strict=True))
        target = None if name.endswith(("colludes", "most votes")) else 0.95
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
    out: list[Row] = []
    for name in GAPS:
        runs = ran[name]
        gap, closed = sum(one.best - one.start for one in runs), sum(one.reached - one.start for one in runs)
        parts: list[str] = []
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


def _rushed(ran: Mapping[str, list[Ran]]) -> Table:
    """Return the shares of wrong promotions, by the pace of the colluders and the votes before."""
    shares = iter([sum(one.wrong > 0 for one in runs) / len(runs) for runs in ran.values()])
    return Table(
        title="promoted something no better, where a tenth colludes and votes more often than the others",
        columns=["times as often", *(f"{before} votes before the first trial" for before in BEFORE)],
        rows=[[f"{rush}", *(f"{next(shares):.1%}" for _ in BEFORE)] for rush in RUSHES],
    )


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
    out: list[Row] = []
    for name in TURNED:
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


def _logged(up: Floats) -> list[Row]:
    """Return the rows on logged probabilities, off-policy estimates and the replay."""
    world, chance = better_by(0.10)(up, np.random.default_rng(0)), np.random.default_rng(5)
    statistic = freedom = 0.0
    errors: dict[str, list[float]] = {"ips": [], "snips": [], "doubly_robust": []}
    trial = Trial(id="0", champion=0, challenger=1, seed="0")
    for number in range(200):
        trial = Trial(id=str(number), champion=0, challenger=1, seed=f"seed {number}")
        made = [draw(trial, f"{number}/{request}") for request in range(2000)]
        expected = {version: share * len(made) for version, share in trial.shares.items()}
        statistic += sum((made.count(version) - one) ** 2 / one for version, one in expected.items())
        freedom += len(expected) - 1
    # The cube root of chi-square is nearly normal (Wilson and Hilferty 1931).
    z = ((statistic / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / sqrt(2 / (9 * freedom))
    p = 1 - NormalDist().cdf(z)
    trial = Trial(id="0", champion=0, challenger=1, seed="0")
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
    same = evaluate(trial, outcomes) == evaluate(trial, outcomes[::-1])
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
    made = [draw(trial, f"{name}/{number}") for number in range(count)]
    shares = trial.shares
    voices = chance.integers(world.users, size=count)
    votes = world.vote(chance, np.array(made), voices, 0, trial.champion)
    votes = np.where(chance.random(count) < world.feedback, votes, 0.0)
    return [
        Outcome(
            request_id=f"{name}/{number}",
            voice=str(voice),
            version=version,
            probability=shares[version],
            vote=1 if vote > 0 else -1 if vote < 0 else 0,
            at=float(number),
        )
        for number, (version, voice, vote) in enumerate(zip(made, voices, votes, strict=True))
    ]


def upper(part: int, whole: int) -> float:
    """Return the upper 95% bound of a share ``part`` of ``whole`` (Clopper and Pearson 1934)."""
    low, high = part / whole, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        at_most = sum(exp(_log_binomial(k, whole, middle)) for k in range(part + 1))
        low, high = (middle, high) if at_most > 0.05 else (low, middle)
    return high


def _log_binomial(part: int, whole: int, share: float) -> float:
    ways = lgamma(whole + 1) - lgamma(part + 1) - lgamma(whole - part + 1)
    return ways + part * log(max(share, 1e-300)) + (whole - part) * log(max(1 - share, 1e-300))


if __name__ == "__main__":
    main({"learning": measure}, "learning")
