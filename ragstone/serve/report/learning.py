"""The page of a simulation of learning."""

from __future__ import annotations

from ragstone.experiment.rewards import Rewards
from ragstone.learning.forecast import Forecast
from ragstone.serve.render_learning import COLUMNS, about, best, decided, rows
from ragstone.serve.report.markup import page, table, tag
from ragstone.serve.report.plots import curves

_GAIN = (
    "The gain is the mean reward of a request beyond that of never learning: a vote up is 1, one down -1, none 0. It is"
    " counted as if every vote had been honest. The naive rule moves a setting after every five votes."
)


def forecast_page(rewards: Rewards, found: Forecast) -> str:
    """How good the answers are on the way, under each rule; what Ragstone decided; and how good each policy is."""
    lines = [(one.rule, one.curve) for one in found.fared]
    policies = [
        [tag("code", " ".join(variant) or "as set"), f"{quality:.1%}"]
        for variant, quality in zip(rewards.variants, found.qualities, strict=True)
    ]
    return page(
        f"{rewards.dataset}: what would learning be worth?",
        f"{about(found)}. By {rewards.metric}.",
        tag(
            "section",
            tag("h2", "The share of honest votes that are up"),
            curves(lines, last=found.votes, across="votes", label="share of honest votes up, by the vote and the rule"),
            table(COLUMNS, rows(found), numbers=(1, 2, 3)),
            tag("p", decided(found)),
            tag("p", best(rewards, found)),
            tag("p", _GAIN, at={"class": "note"}),
        ),
        tag("section", tag("h2", "The policies"), table(["settings", "votes up"], policies, numbers=(1,))),
    )
