"""Commands on how a knowledge base is used: feedback, stats."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from typing import Annotated

import typer

from ragstone.errors import UsageError
from ragstone.serve import typed
from ragstone.serve.options import DEFAULT_KB, Json, Kb, open_kb


def feedback(
    response_id: Annotated[
        str,
        typer.Argument(
            metavar="RESPONSE_ID", help="As ask told it, with --json also where nothing is learned.", show_default=False
        ),
    ],
    vote: Annotated[str, typer.Argument(metavar="up|down", help="Whether it was good.", show_default=False)],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.", show_default=False)] = "",
    source: Annotated[
        str,
        typer.Option("--source", metavar="DOCUMENT_ID", help="What would have been the right one.", show_default=False),
    ] = "",
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Say whether an answer was good. The last word counts."""
    from ragstone.serve import render_use, screen

    match vote:
        case "up" | "down":
            with closing(open_kb(kb)) as engine:
                said = engine.feedback(
                    typed.text(response_id), vote=vote, reason=typed.text(reason), correction=typed.text(source)
                )
        case _:
            raise UsageError(f"a vote is up or down, not '{vote}'")
    if as_json:
        screen.write_json(asdict(said))
    else:
        screen.write(render_use.feedback(said))


def stats(
    days: Annotated[float, typer.Option("--days", metavar="N", min=0, help="So many days back.")] = 7.0,
    hourly: Annotated[bool, typer.Option("--hourly", help="By the hour, not by the day.")] = False,
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Say how many questions there were, how they ended, and how long they took."""
    from ragstone.serve import render_use, screen

    with closing(open_kb(kb)) as engine:
        report = engine.statistics(days)
    if as_json:
        screen.write_json(asdict(report))
    else:
        screen.write(render_use.statistics(report, hourly=hourly))
