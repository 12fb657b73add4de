"""Command policy simulate: how learning from votes would fare with these questions and users like those."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer

from ragstone.serve.commands.measure import Asked_KB, Data, Html, Keep, Limit, Metric
from ragstone.serve.options import Asked, Json, with_settings


@with_settings
def simulate(
    dataset: Data,
    asked: Asked,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            metavar="PATH=A,B,C",
            help="A setting and its values, the policies to learn; may be repeated. If not given, weights of vectors.",
        ),
    ] = None,
    runs: Annotated[int, typer.Option(metavar="N", min=1, help="Runs of each rule.")] = 100,
    votes: Annotated[int, typer.Option(metavar="N", min=5, help="Votes in each run.")] = 4000,
    users: Annotated[int, typer.Option(metavar="N", min=1, help="People who vote.")] = 40,
    feedback: Annotated[
        float, typer.Option(metavar="SHARE", min=0.001, max=1, help="Of the answers that are voted on.")
    ] = 0.2,
    colluders: Annotated[
        float,
        typer.Option(metavar="SHARE", min=0, max=1, help="Of the people who vote for whatever is not in use."),
    ] = 0.0,
    random_votes: Annotated[
        float, typer.Option(metavar="SHARE", min=0, max=1, help="Of the votes that mean nothing.")
    ] = 0.0,
    turns: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="After so many votes the best policy becomes the worst.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The same gives the same.")] = 0,
    metric: Metric = "ndcg@10",
    limit: Limit = None,
    kb: Asked_KB = None,
    keep: Keep = None,
    html: Html = None,
    as_json: Json = False,
) -> None:
    """Simulate how learning from votes would fare.

    Each setting answers the questions of a data set, and people vote as good as the answers are. Ragstone's way of
    learning is compared with never learning, with five votes that move a setting, with Thompson sampling, and with an
    oracle that knows the best setting.
    """
    from ragstone.experiment.rewards import measure_rewards
    from ragstone.experiment.variants import grid as combined
    from ragstone.experiment.variants import parse_dimension
    from ragstone.learning.forecast import Users, forecast
    from ragstone.serve import render_learning, screen
    from ragstone.serve.report import forecast_page

    dimensions = [parse_dimension(one) for one in grid or ["query.vector_weight=0,.1,.2,.3,.4,.5,.6,.7,.8,.9,1"]]
    also = () if grid else ("query.adapt=false",)
    with screen.spinner("reading the data set") as told:
        run = measure_rewards(
            dataset,
            [(*one, *also) for one in combined(dimensions)],
            asked.overrides,
            preset=asked.preset,
            kb=kb,
            keep=keep,
            metric=metric,
            limit=limit,
            on_progress=told,
        )
        rewards = asyncio.run(run)
        told("simulating")
        who = Users(users=users, feedback=feedback, colluders=colluders, random=random_votes, turns=turns)
        found = forecast(rewards.values, who, runs=runs, votes=votes, seed=seed)
    if html:
        html.write_text(forecast_page(rewards, found), encoding="utf-8")
    if as_json:
        policies = [" ".join(one) for one in rewards.variants]
        screen.write_json({"dataset": rewards.dataset, "metric": rewards.metric, "policies": policies} | asdict(found))
    else:
        screen.write(render_learning.forecast(rewards, found))
