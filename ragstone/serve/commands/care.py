"""Commands that keep a knowledge base safe: doctor, backup, restore."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ragstone.serve import failures
from ragstone.serve.options import DEFAULT_KB, Json, Kb, Wait


def doctor(
    kb: Kb = DEFAULT_KB,
    mend: Annotated[bool, typer.Option("--mend", help="Make again what can be made from the rest.")] = False,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Check everything that is stored against its checksums.

    Says what is wrong, and what to do. With --mend, indexes and vectors are made again, and leftovers cleared away.
    The exit code is 1 where something is wrong and was not mended.
    """
    from ragstone.index import Patience
    from ragstone.keeping.doctor import doctor
    from ragstone.serve import render, screen

    health = doctor(kb, mend=mend, patience=Patience(wait, failures.tell))
    if as_json:
        screen.write_json(asdict(health) | {"well": health.well})
    else:
        screen.write(render.health(health))
    if not health.well:
        raise typer.Exit(1)


def backup(
    destination: Annotated[Path, typer.Argument(metavar="DEST", help="A new folder.", show_default=False)],
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Copy the knowledge base into a new folder, and check it.

    Others may ask and add meanwhile. Files that were uploaded are in the copy.
    """
    from ragstone.config import load
    from ragstone.keeping.backup import backup
    from ragstone.serve import render, screen

    copied = backup(kb, destination, uploads=load().settings.serve.uploads.folder)
    screen.write_json(asdict(copied)) if as_json else screen.write(render.copied(copied))


def restore(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="What backup wrote.", show_default=False)],
    kb: Kb = DEFAULT_KB,
    replace: Annotated[bool, typer.Option("--replace", help="Put it in the place of what is there.")] = False,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Put a backup back, after checking it.

    Nothing that is there is replaced unless --replace is given.
    """
    from ragstone.config import load
    from ragstone.index import Patience
    from ragstone.keeping.backup import restore
    from ragstone.serve import render, screen

    patience, uploads = Patience(wait, failures.tell), load().settings.serve.uploads.folder
    copied = restore(source, kb, replace=replace, patience=patience, uploads=uploads)
    screen.write_json(asdict(copied)) if as_json else screen.write(render.copied(copied))
