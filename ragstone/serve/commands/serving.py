"""Commands that serve others: serve."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import Annotated

import typer

from ragstone.serve.options import DEFAULT_KB, Asked, Kb, with_settings


@with_settings
def serve(
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="Sets serve.host.", show_default=False)
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", help="Sets serve.port.", show_default=False)
    ] = None,
    tls: Annotated[bool, typer.Option("--tls", help="Encrypt; a certificate is made where none is named.")] = False,
) -> None:
    """Serve the page and the HTTP API.

    It listens on this machine only, unless --host names another address; that needs a key (ragstone key make).
    """
    from ragstone.errors import MissingExtra
    from ragstone.serve import screen

    try:
        from ragstone.serve.http.run import serve
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "fastapi", extra="serve") from error
    own = {"serve.host": host, "serve.port": port}
    asked = asked.plus([f"{path}={value}" for path, value in own.items() if value is not None])
    with closing(asked.open(kb, create=True)) as engine:
        serve(engine, engine.settings.serve, tls=tls, tell=lambda text: screen.write([screen.line(text)], sys.stderr))
