"""A simulation of learning, as lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragstone.serve.render import table
from ragstone.serve.screen import Line, line, one_line

if TYPE_CHECKING:
    from ragstone.experiment.rewards import Rewards
    from ragstone.learning.forecast import Forecast

COLUMNS = ("rule", "gain", "votes up at the end", "runs that end below their start")
FEW = 50
"""Questions, or runs, below which means say little."""


def forecast(rewards: Rewards, found: Forecast) -> Iterator[Line]:
    """What was simulated, how each rule fared, and what Ragstone's decided."""
    yield line((one_line(rewards.dataset), "bold"), f": {one_line(about(found))}")
    yield from table([COLUMNS, *rows(found)], indent=2)
    yield line(decided(found))
    yield line(best(rewards, found))
    if min(found.questions, found.runs) < FEW:
        yield line(
            f"{found.questions} questions and {found.runs} runs: another time it may come out otherwise", indent=2
        )


def about(found: Forecast) -> str:
    """What was simulated."""
    who = found.users
    told = [f"{found.runs:,} runs of {found.votes:,} votes by {who.users:,} people"]
    told += [f"one answer in {1 / who.feedback:.3g} voted on"]
    told += [f"{who.colluders:.0%} of them collude"] if who.colluders else []
    told += [f"{who.random:.0%} of the votes random"] if who.random else []
    told += [f"the best becomes the worst after {who.turns:,}"] if who.turns is not None else []
    return f"{found.questions:,} questions, {len(found.qualities)} policies; {', '.join(told)}"


def rows(found: Forecast) -> list[tuple[str, str, str, str]]:
    """Of each rule the mean reward of a request beyond never learning, where it ends, and how often below the start."""
    return [(one.rule, f"{one.gain:+.4f}", f"{one.ends:.1%}", f"{one.below:.0%}") for one in found.fared]


def decided(found: Forecast) -> str:
    """What Ragstone's way of learning did."""
    first = "" if found.first is None else f", the first after {found.first:,.0f} votes (median)"
    return (
        f"Ragstone promoted something in {found.promoted:.0%} of the runs{first}; something no better in"
        f" {found.wrong:.0%}; it went back in {found.rolled_back:.0%}."
    )


def best(rewards: Rewards, found: Forecast) -> str:
    """How much there is to gain."""
    most = max(found.qualities)
    name = " ".join(rewards.variants[found.qualities.index(most)]) or "the settings as they are"
    gap = most - found.qualities[0]
    if gap < 1e-9:
        return "Nothing that was tried is better than the settings as they are."
    return f"The best is {name}: by {100 * gap:.1f} points more votes up than the settings as they are."
