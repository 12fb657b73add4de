"""The command for PostgreSQL: prints the SQL of its tables and functions, applies it, checks it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from enum import Enum
from typing import Annotated

import typer

from ragstone.serve.options import Json


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
            help="postgresql://USER@HOST/DATABASE; sets services.postgres.dsn. With a password better DATABASE_URL.",
            show_default=False,
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Keyword search as a function of PostgreSQL: its SQL, and a database that has it.

    sql prints a script that may be run again and does only what is missing. apply runs it in one transaction and
    says what it did. check looks whether all is there and does what it should; exit code 1 where not.
    """
    from ragstone.index.postgres import script
    from ragstone.serve import render_postgres, screen

    if action is Action.sql:
        print(script.script(), end="")
        return
    from ragstone.config import load
    from ragstone.index.postgres import schema
    from ragstone.index.postgres.connection import Server

    overrides = [f"services.postgres.dsn={dsn}"] if dsn else []
    with closing(Server(load(overrides).settings.services.postgres)) as server:
        if action is Action.apply:
            done = schema.apply(server)
            screen.write_json(asdict(done)) if as_json else screen.write(render_postgres.applied(done))
            return
        looked = schema.check(server)
    well = all(one.well is not False for one in looked)
    if as_json:
        screen.write_json({"server": server.name, "well": well, "looked": [asdict(one) for one in looked]})
    else:
        screen.write(render_postgres.looked(server.name, looked))
    if not well:
        raise typer.Exit(1)
