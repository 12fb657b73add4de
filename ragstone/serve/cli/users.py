"""Commands for people who sign in with a password: user add, user list, user change, user password, user remove."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.serve.cli.options import DEFAULT_KB, Create, Json, Kb, Rights, opened, with_rights

if TYPE_CHECKING:
    from ragstone.history.audit import Audit
    from ragstone.history.users import User, Users

app = typer.Typer(help="Add, list, change and remove people who sign in with a password.", rich_markup_mode=None)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Sign-in name of the person.", show_default=False)]


@app.command()
@with_rights
def add(name: Name, *, rights: Rights, kb: Kb = DEFAULT_KB, create: Create = False, as_json: Json = False) -> None:
    """Add a person who signs in with a password.

    The command asks for the password. Without a terminal, it reads the first line of standard input.
    """
    from ragstone.history.audit import told_rights

    with _people(kb, create=create) as (users, audit):
        made = users.add(name, _password(), rights.scopes, rights.groups)
        audit.note("", "user.add", told_rights(made))
    _show(made, "added", as_json=as_json)


@app.command("list")
def list_(kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """List the people who sign in with a password."""
    from ragstone.serve.cli import screen
    from ragstone.serve.views import history

    with _people(kb) as (users, _):
        found = users.all()
    screen.show({"users": [asdict(one) for one in found]}, history.users(found), as_json=as_json)


@app.command()
@with_rights
def change(name: Name, *, rights: Rights, kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """Replace a person's rights. Their sessions end, so the change applies at once."""
    from ragstone.history.audit import told_rights

    with _people(kb) as (users, audit):
        changed = users.set_rights(name, rights.scopes, rights.groups)
        audit.note("", "user.change", told_rights(changed))
    _show(changed, "changed", as_json=as_json)


@app.command()
def password(name: Name, kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """Set a person's password, and end their sessions. The command asks for it as `user add` does."""
    with _people(kb) as (users, audit):
        changed = users.set_password(name, _password())
        audit.note("", "user.password", changed.name)
    _show(changed, "changed the password of", as_json=as_json)


@app.command()
def remove(name: Name, kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """Remove a person. Their sessions end; their conversations stay, without the files attached to them."""
    with _people(kb) as (users, audit):
        removed = users.remove(name)
        audit.note("", "user.remove", removed.name)
    _show(removed, "removed", as_json=as_json)


def _password() -> str:
    if sys.stdin.isatty():
        return typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    return sys.stdin.readline().rstrip("\r\n")


@contextmanager
def _people(kb: Path, *, create: bool = False) -> Generator[tuple[Users, Audit]]:
    from ragstone.history.audit import Audit
    from ragstone.history.users import Users

    with opened(kb, create=create) as opened_kb, closing(opened_kb.history.journal()) as journal:
        yield Users(journal), Audit(journal)


def _show(user: User, done: str, *, as_json: bool) -> None:
    from ragstone.serve.cli import screen
    from ragstone.serve.views.blocks import line

    screen.show(asdict(user), [line(f"{done} {user.name}")], as_json=as_json)
