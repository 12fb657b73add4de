"""Commands for the history: feedback, and the group history (stats, conversations, cache)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.core.access import OWNER, Reader
from ragstone.core.errors import NotFound, UsageError
from ragstone.serve.cli import typed
from ragstone.serve.cli.options import DEFAULT_KB, As, Json, Kb, opened

if TYPE_CHECKING:
    from ragstone.engine.caching import Level

app = typer.Typer(help="Show statistics, conversations and caches.", rich_markup_mode=None)


def feedback(
    response_id: Annotated[
        str,
        typer.Argument(metavar="RESPONSE_ID", help="The id of an answer, from ask --json.", show_default=False),
    ],
    vote: Annotated[str, typer.Argument(metavar="up|down", help="Whether the answer was good.", show_default=False)],
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Reason for the rating.", show_default=False)
    ] = "",
    source: Annotated[
        str,
        typer.Option(
            "--source", metavar="DOCUMENT_ID", help="The document that has the right answer.", show_default=False
        ),
    ] = "",
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Rate an answer. A later rating replaces an earlier one."""
    from ragstone.serve.cli import screen
    from ragstone.serve.views import history

    match vote:
        case "up" | "down":
            with opened(kb) as opened_kb:
                given = opened_kb.history.rate(
                    typed.text(response_id),
                    vote=vote,
                    reason=typed.text(reason),
                    correction=typed.text(source),
                    reader=OWNER,
                )
        case _:
            raise UsageError(f"a vote is up or down, not '{vote}'")
    screen.show(asdict(given), history.feedback(given), as_json=as_json)


@app.command()
def stats(
    days: Annotated[float, typer.Option("--days", metavar="N", min=0, help="Number of days to look back.")] = 7.0,
    hourly: Annotated[bool, typer.Option("--hourly", help="Count by the hour instead of by the day.")] = False,
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Count the questions by outcome, with the times they took."""
    from ragstone.serve.cli import screen
    from ragstone.serve.views import history

    with opened(kb) as opened_kb:
        report = opened_kb.history.statistics(days)
    screen.show(asdict(report), history.statistics(report, hourly=hourly), as_json=as_json)


@app.command()
def conversations(
    kb: Kb = DEFAULT_KB,
    forget: Annotated[
        str, typer.Option("--forget", metavar="NAME", help="Delete this conversation.", show_default=False)
    ] = "",
    groups: As = None,
    as_json: Json = False,
) -> None:
    """List the stored conversations, or delete one."""
    from ragstone.serve.cli import screen
    from ragstone.serve.views import history

    reader = Reader.of(groups)
    with opened(kb) as opened_kb:
        if forget and not opened_kb.history.forget(forget, reader=reader):
            raise NotFound(f"there is no conversation '{forget}'; list them: ragstone history conversations")
        kept = opened_kb.history.conversations(reader=reader)
    screen.show({"conversations": [asdict(one) for one in kept]}, history.conversations(kept), as_json=as_json)


@app.command()
def cache(
    kb: Kb = DEFAULT_KB,
    clear: Annotated[
        bool, typer.Option("--clear", help="Delete all entries and the latest questions, or only --level.")
    ] = False,
    level: Annotated[
        str,
        typer.Option("--level", metavar="embedding|response|query", help="Only this level.", show_default=False),
    ] = "",
    as_json: Json = False,
) -> None:
    """Show the entries and the hit rates of the caches.

    An embedding is valid for a text and a model, a response for the whole prompt and the model settings. Query results
    are valid until a document changes.
    """
    from ragstone.serve.cli import screen
    from ragstone.serve.views import history

    chosen = _level(level)
    with opened(kb) as opened_kb:
        if clear:
            opened_kb.history.clear_cache(chosen)
        now = [one for one in opened_kb.status().cache if not chosen or one.level == chosen]
    screen.show({"cache": [asdict(one) for one in now]}, history.caches(now), as_json=as_json)


def _level(name: str) -> Level | None:
    """Return the level of the caches that an option names, None for all.

    Raises:
        UsageError: there is no such level.
    """
    match name:
        case "":
            return None
        case "embedding" | "response" | "query":
            return name
        case _:
            raise UsageError(f"--level is embedding, response or query, not '{name}'")
