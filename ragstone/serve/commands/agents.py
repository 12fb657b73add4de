"""The command that serves agents: mcp."""

from __future__ import annotations

import asyncio
import sys
from contextlib import closing
from typing import Annotated

import typer

from ragstone.access import Reader
from ragstone.serve.options import DEFAULT_KB, As, Asked, Kb, with_settings


@with_settings
def mcp(
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    groups: As = None,
    http: Annotated[
        bool, typer.Option("--http", help="Speak streamable HTTP to programs on this machine instead of stdio.")
    ] = False,
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="Port of --http; 0 for a free one.")] = 8766,
) -> None:
    """Serve agents over the Model Context Protocol: search, ask, read what is cited.

    An agent starts this command itself and speaks over its standard input and output. To serve other machines, each
    with a key and groups of its own, use ragstone serve, which answers at /mcp.
    """
    from ragstone.serve.agents.desk import Desk
    from ragstone.serve.agents.mcp_server import on_loopback, over_stdio

    reader = Reader.of(groups)
    with closing(asked.open(kb)) as engine:
        desk = Desk(engine=engine, reader=reader)
        asyncio.run(on_loopback(desk, port, _tell) if http else over_stdio(desk))


def _tell(address: str) -> None:
    from ragstone.serve.screen import line, write

    write([line(f"listening at {address}; Ctrl-C stops it")], sys.stderr)
