"""The command that opens the lab."""

from __future__ import annotations

from typing import Annotated

import typer

from ragstone.serve.options import DEFAULT_KB, Asked, Kb, with_settings


@with_settings
def lab(
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    port: Annotated[int, typer.Option("--port", metavar="N", min=1, max=65535, help="Port on this machine.")] = 8501,
    as_: Annotated[
        str | None,
        typer.Option("--as", metavar="GROUPS", help="Read as a reader of these groups, such as: staff,board."),
    ] = None,
    browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Try settings in a page of the browser, two at a time.

    One question under both, the way of each chunk through the stages, sets of questions with plots, what was learned
    from votes; what is best is saved as a preset. The page is served on this machine alone, and needs the extra `lab`.
    """
    from contextlib import closing

    from ragstone.access import OWNER, Reader
    from ragstone.serve import typed
    from ragstone.serve.lab import launch
    from ragstone.serve.lab.desk import Desk, lay_open

    launch.refuse_missing()
    launch.refuse_taken(port)
    reader = (
        OWNER if as_ is None else Reader(groups=frozenset(filter(None, map(str.strip, typed.text(as_).split(",")))))
    )
    with closing(Desk(lambda: asked.open(kb), kb, reader)) as desk:
        lay_open(desk)
        print(f"http://{launch.HOST}:{port} shows the lab; Ctrl-C ends it", flush=True)
        try:
            launch.serve(port, browser=browser)
        finally:
            lay_open(None)
