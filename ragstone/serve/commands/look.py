"""Commands that look at what is there: show, status, settings."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from typing import Annotated

import typer

from ragstone.access import Reader
from ragstone.serve import typed
from ragstone.serve.options import DEFAULT_KB, As, Asked, Json, Kb, open_kb, with_settings


def show(
    document_id: Annotated[str, typer.Argument(metavar="DOCUMENT_ID", help="Or the end of it.", show_default=False)],
    span: Annotated[str | None, typer.Option(metavar="START:END", help="Only these characters.")] = None,
    groups: As = None,
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Print a stored document, or the part that was cited."""
    from ragstone.serve import as_json as json
    from ragstone.serve import screen

    reader = Reader.of(groups)
    with closing(open_kb(kb)) as engine:
        document = engine.document(typed.text(document_id), reader=reader)
    part = typed.span(span, len(document.text))
    if as_json:
        screen.write_json(json.document(document, part))
    else:
        print(screen.printable(part.of(document.text)))


def status(kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """Say what a knowledge base holds, and what was skipped."""
    from ragstone.serve import render, screen

    with closing(open_kb(kb)) as engine:
        now = engine.status()
    if as_json:
        screen.write_json(asdict(now))
    else:
        screen.write(render.status(now))


@with_settings
def settings(asked: Asked, kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """List every setting, its value, and where that comes from."""
    from ragstone.serve import render, screen
    from ragstone.serve.in_force import in_force

    found = in_force(kb, asked.overrides, asked.preset)
    if as_json:
        screen.write_json(asdict(found))
    else:
        screen.write(render.settings(found))
