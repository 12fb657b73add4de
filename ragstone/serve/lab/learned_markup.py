"""How it stands with learning, as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragstone.policies.standing import Learned, Moment, OnTrial
from ragstone.serve.render_policy import ARMS, figures, moment
from ragstone.serve.report.markup import Content, Markup, table, tag

_SHOWN = 200
"""Decisions in the table."""


def in_use(now: Learned) -> Markup:
    """The version in use, what it changes, and how many opinions there are."""
    waits = "-" if now.mode == "off" else f"{now.next_in:,} more"
    tiles = [
        ("in use", f"version {now.champion}"),
        ("learning.mode", now.mode),
        ("opinions counted", f"{now.votes:,}"),
        ("decided anew after", waits),
    ]
    drawn = [tag("div", tag("span", name), tag("b", value), at={"class": "rs-tile"}) for name, value in tiles]
    changes = [tag("span", tag("code", one), at={"class": "rs-chip"}) for one in now.changes]
    as_set = tag("span", "the settings as they are", at={"class": "rs-dim"})
    return tag(
        "div", tag("div", drawn, at={"class": "rs-tiles"}), tag("p", changes or as_set, at={"class": "rs-chips"})
    )


def arm_table(arms: Sequence[OnTrial]) -> Markup:
    """The arms of a trial with their figures, as `policy explain` tells them."""
    return table(ARMS, [figures(one) for one in arms], numbers=range(2, len(ARMS) - 1))


def proof(arms: Sequence[OnTrial]) -> Markup:
    """Of each challenger, how far its evidence is from the bar, in a sentence."""
    return tag("p", [tag("span", one, " ") for one in _proofs(arms)])


def _proofs(arms: Sequence[OnTrial]) -> Iterator[Content]:
    for one in arms:
        arm = one.arm
        if one.role != "challenger":
            continue
        told = f"Version {arm.version}: "
        if arm.evidence is None or arm.bar is None:
            yield f"{told}no evidence yet; 1 says nothing, and each vote changes it."
            continue
        told += f"the evidence is {arm.evidence:.3g}, the bar {arm.bar:.3g}; 1 says nothing."
        if one.few:
            yield f"{told} How many votes it would still need cannot be told from so few."
        elif arm.needs is None:
            yield f"{told} As it goes, the votes of this trial would not suffice."
        else:
            yield f"{told} About {float(f'{arm.needs:.2g}'):,.0f} more votes, if it goes on so."


def decided(moments: Sequence[Moment]) -> Markup:
    """Decisions, the last one first."""
    rows = [
        (moment(one.at), one.action, one.why, f"{one.votes:,}", f"version {one.champion}")
        for one in moments[: -_SHOWN - 1 : -1]
    ]
    return table(("when (UTC)", "what", "why", "opinions", "in use from then on"), rows, numbers=(3,))
