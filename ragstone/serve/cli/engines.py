"""Commands for indexes outside the knowledge base: index use, index verify, and postgres."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from enum import Enum
from typing import Annotated

import typer

from ragstone.serve.cli.options import DEFAULT_KB, Asked, Json, Kb, Wait, opened, with_plain_settings

app = typer.Typer(help="Switch to other engines for vectors and keywords, and verify them.", rich_markup_mode=None)


@app.command()
@with_plain_settings
def use(
    asked: Asked,
    vectors: Annotated[
        str, typer.Option(metavar="ENGINE", help="A value of index.vectors, such as qdrant.", show_default=False)
    ] = "",
    keywords: Annotated[
        str, typer.Option(metavar="ENGINE", help="A value of index.keywords, such as postgres.", show_default=False)
    ] = "",
    kb: Kb = DEFAULT_KB,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Fill other engines and switch to them.

    The current engines answer queries until the new ones hold everything. Then every process that has the knowledge
    base open switches, unless its own settings name an engine. The same command switches back.
    """
    from ragstone.core.errors import UsageError
    from ragstone.serve.cli import advice, screen
    from ragstone.serve.views import state
    from ragstone.settings.load import load

    engines = {leg: name for leg, name in (("vectors", vectors), ("keywords", keywords)) if name}
    if not engines:
        raise UsageError("name an engine: --vectors ENGINE, --keywords ENGINE, or both")
    with opened(kb, asked, wait=wait) as opened_kb:
        outside = opened_kb.versions.use_engines(engines)
    explicit = load(asked.overrides, preset=asked.preset, with_profile=False).explicit.get("index", {})
    for leg in engines.keys() & explicit.keys():
        if explicit[leg] != engines[leg]:
            screen.write_error(
                f"index.{leg} is set to {explicit[leg]} here; it takes precedence in every process that sets it"
            )
    shown = state.engines_used(engines, outside)
    screen.show(
        {"engines": engines, "outside": [asdict(one) for one in outside]}, advice.named(shown, kb), as_json=as_json
    )


@app.command()
@with_plain_settings
def verify(
    asked: Asked,
    mend: Annotated[
        bool, typer.Option("--mend", help="Update the engines: add what is missing, delete what is obsolete.")
    ] = False,
    kb: Kb = DEFAULT_KB,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Compare the engines in use with the catalog, row by row.

    The exit code is 1 if a difference remains. This does not check embedded indexes; ragstone doctor does.
    """
    from ragstone.serve.cli import advice, screen
    from ragstone.serve.views import state

    with opened(kb, asked, wait=wait) as opened_kb:
        differing = opened_kb.versions.check_engines(mend=mend)
        outside = opened_kb.status().engines
    well = all(one.mended for one in differing)
    report = {"well": well, "outside": [asdict(one) for one in outside], "findings": [asdict(one) for one in differing]}
    screen.show(report, advice.named(state.engines_compared(outside, differing), kb), as_json=as_json)
    if not well:
        raise typer.Exit(1)


class Action(str, Enum):  # noqa: UP042 - typer takes no StrEnum of 3.11's in all its versions
    sql = "sql"
    apply = "apply"
    check = "check"


def postgres(
    action: Annotated[Action, typer.Argument(metavar="sql|apply|check", help="What to do.", show_default=False)],
    dsn: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="postgresql://USER@HOST/DATABASE; sets services.postgres.dsn. Put a password into DATABASE_URL.",
            show_default=False,
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Print, apply or check the SQL of keyword search in PostgreSQL.

    sql prints a script, which changes nothing if it runs again. apply runs it in one transaction. check verifies the
    tables and functions; the exit code is 1 if something is wrong.
    """
    from ragstone.index.engines.postgres import script
    from ragstone.serve.cli import screen
    from ragstone.serve.views import state

    if action is Action.sql:
        print(script.script(), end="")
        return
    from ragstone.index.engines.postgres import schema
    from ragstone.services.postgres import Server
    from ragstone.settings.load import load

    overrides = [f"services.postgres.dsn={dsn}"] if dsn else []
    services = load(overrides, with_profile=False).settings.services
    with closing(Server(services.postgres, seconds=services.engine_seconds)) as server:
        if action is Action.apply:
            done = schema.apply(server)
            screen.show(asdict(done), state.postgres_applied(done), as_json=as_json)
            return
        checks = schema.check(server)
    well = all(one.well is not False for one in checks)
    report = {"server": server.name, "well": well, "looked": [asdict(one) for one in checks]}
    screen.show(report, state.postgres_checked(server.name, checks), as_json=as_json)
    if not well:
        raise typer.Exit(1)
