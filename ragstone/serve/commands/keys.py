"""Commands of keys for the HTTP API: key make, key list, key revoke."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.serve.options import DEFAULT_KB, Asked, Json, Kb

if TYPE_CHECKING:
    from ragstone.usage.keys import Keys

app = typer.Typer(help="Make, list and revoke keys for the HTTP API.", rich_markup_mode=None)


@app.command()
def make(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose it is, or what for.", show_default=False)],
    scope: Annotated[
        list[str] | None,
        typer.Option(metavar="read|write|admin", help="What it may do; read if not given; may be repeated."),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A group whose documents it may read; may be repeated. None: all documents."),
    ] = None,
    public_only: Annotated[
        bool, typer.Option("--public-only", help="It may read only documents that are for everyone.")
    ] = False,
    rate: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Requests a minute; 0: any number.", show_default=False)
    ] = None,
    concurrent: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Requests at once; 0: any number.", show_default=False)
    ] = None,
    cost_per_day: Annotated[
        float | None,
        typer.Option(metavar="MONEY", min=0, help="That models may cost in a day; 0: any.", show_default=False),
    ] = None,
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Make a key, and print it: it is shown this once.

    From the first key on, every request needs one. Keys of the same name see the same conversations.
    """
    from ragstone.errors import UsageError
    from ragstone.serve import screen
    from ragstone.usage.keys import KeyLimits

    if public_only and group:
        raise UsageError("--public-only and --group cannot be had at once")
    limits = KeyLimits(rate_per_minute=rate, concurrent=concurrent, cost_per_day=cost_per_day)
    groups = [] if public_only else group
    with _keys(kb, create=True) as keys:
        key, text = keys.make(name, scope or ["read"], groups, limits)
    if as_json:
        screen.write_json({"key": text, **asdict(key)})
    else:
        print(text)


@app.command("list")
def list_(kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """List the keys that were made; of each, the beginning is shown that tells it apart."""
    from ragstone.serve import render, screen

    with _keys(kb) as keys:
        made = keys.all()
    if as_json:
        screen.write_json({"keys": [asdict(one) for one in made]})
    else:
        screen.write(render.keys(made))


@app.command()
def revoke(
    which: Annotated[str, typer.Argument(metavar="ID|NAME", help="A key, or all of a name.", show_default=False)],
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Let a key open nothing any more; servers that run obey within a second."""
    from ragstone.serve import screen

    with _keys(kb) as keys:
        revoked = keys.revoke(which)
    if as_json:
        screen.write_json({"revoked": [one.id for one in revoked]})
    else:
        screen.write([screen.line(f"revoked {one.id} ({screen.one_line(one.name)})") for one in revoked])


@contextmanager
def _keys(kb: Path, *, create: bool = False) -> Iterator[Keys]:
    from ragstone.index import Journal
    from ragstone.usage.keys import Keys

    with closing(Asked(preset=None, overrides=()).open(kb, create=create)) as engine:
        folder = engine.folder
    with closing(Journal(folder)) as journal:
        yield Keys(journal)
