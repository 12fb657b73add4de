"""Commands for keys of the HTTP API: key make, key list, key revoke."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.serve.cli.options import DEFAULT_KB, Create, Json, Kb, Rights, opened, with_rights

if TYPE_CHECKING:
    from ragstone.history.audit import Audit
    from ragstone.history.keys import Keys

app = typer.Typer(help="Make, list and revoke keys of the HTTP API.", rich_markup_mode=None)


@app.command()
@with_rights
def make(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Owner or purpose of the key.", show_default=False)],
    *,
    rights: Rights,
    rate: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Requests per minute. 0 sets no limit.", show_default=False)
    ] = None,
    concurrent: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Concurrent requests. 0 sets no limit.", show_default=False)
    ] = None,
    cost_per_day: Annotated[
        float | None,
        typer.Option(metavar="MONEY", min=0, help="Cost of models per day. 0 sets no limit.", show_default=False),
    ] = None,
    kb: Kb = DEFAULT_KB,
    create: Create = False,
    as_json: Json = False,
) -> None:
    """Create a key and print it; you cannot see it again.

    Once there is a key, every request needs one. Keys with the same name share their conversations.
    """
    from ragstone.history.audit import told_rights
    from ragstone.history.keys import KeyLimits
    from ragstone.serve.cli import screen
    from ragstone.serve.views.blocks import line

    limits = KeyLimits(rate_per_minute=rate, concurrent=concurrent, cost_per_day=cost_per_day)
    with _keys(kb, create=create) as (keys, audit):
        key, text = keys.make(name, rights.scopes, rights.groups, limits)
        audit.note("", "key.make", told_rights(key))
    screen.show({"key": text, **asdict(key)}, [line(text)], as_json=as_json)


@app.command("list")
def list_(kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """List the keys by their ids, which are the beginnings of the keys."""
    from ragstone.serve.cli import screen
    from ragstone.serve.views import history

    with _keys(kb) as (keys, _):
        made = keys.all()
    screen.show({"keys": [asdict(one) for one in made]}, history.keys(made), as_json=as_json)


@app.command()
def revoke(
    which: Annotated[str, typer.Argument(metavar="ID|NAME", help="A key, or all keys of a name.", show_default=False)],
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Revoke a key; running servers refuse it at once."""
    from ragstone.core.printable import one_line
    from ragstone.serve.cli import screen
    from ragstone.serve.views.blocks import line

    with _keys(kb) as (keys, audit):
        revoked = keys.revoke(which)
        for one in revoked:
            audit.note("", "key.revoke", f"{one.name} ({one.id})")
    shown = [line(f"revoked {one.id} ({one_line(one.name)})") for one in revoked]
    screen.show({"revoked": [one.id for one in revoked]}, shown, as_json=as_json)


@contextmanager
def _keys(kb: Path, *, create: bool = False) -> Generator[tuple[Keys, Audit]]:
    from ragstone.history.audit import Audit
    from ragstone.history.keys import Keys

    with opened(kb, create=create) as opened_kb, closing(opened_kb.history.journal()) as journal:
        yield Keys(journal), Audit(journal)
