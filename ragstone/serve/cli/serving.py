"""Commands that serve people and programs: serve, mcp, lab."""

from __future__ import annotations

import asyncio
import sys
from contextlib import closing
from typing import Annotated

import typer

from ragstone.core.access import Reader
from ragstone.serve.cli import typed
from ragstone.serve.cli.options import DEFAULT_KB, As, Asked, Create, Kb, opened, with_question_settings


@with_question_settings
def serve(
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    create: Create = False,
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="Set serve.host.", show_default=False)
    ] = None,
    port: Annotated[int | None, typer.Option("--port", metavar="N", help="Set serve.port.", show_default=False)] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", help="Set serve.workers.", show_default=False)
    ] = None,
    tls: Annotated[
        bool, typer.Option("--tls", help="Use TLS. If the settings name no certificate, create a self-signed one.")
    ] = False,
) -> None:
    """Serve the web page and the HTTP API.

    Listens on this machine only. Another address in --host needs a key (ragstone key make). With --workers, several
    processes serve; SIGHUP replaces them one by one without losing a request.
    """
    from ragstone.core.errors import MissingExtra
    from ragstone.serve.cli import screen
    from ragstone.serve.views.blocks import line

    try:
        from ragstone.serve.http.server import serve
        from ragstone.serve.http.supervisor import several
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "fastapi", extra="serve") from error
    own = {"serve.host": host, "serve.port": port, "serve.workers": workers}
    asked = asked.plus([f"{path}={value}" for path, value in own.items() if value is not None])

    def tell(text: str) -> None:
        screen.write([line(text)], sys.stderr)

    with opened(kb, asked, create=create) as opened_kb:
        if opened_kb.settings.serve.workers == 1:
            serve(opened_kb, opened_kb.settings.serve, tls=tls, tell=tell)
            return
        server = several(opened_kb, asked.preset, asked.overrides, tls=tls, tell=tell)
    if code := server.run():  # the knowledge base is closed, and each process opens it
        raise typer.Exit(code)


@with_question_settings
def mcp(
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    groups: As = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve programs on this machine over HTTP instead of stdio.")
    ] = False,
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Port of --http. 0 picks a free port.")
    ] = 8766,
) -> None:
    """Serve agents over the Model Context Protocol.

    An agent searches, asks and reads documents. It starts this command and talks to it over standard input and
    output. To serve other machines with keys and groups, use ragstone serve, which answers at /mcp.
    """
    from ragstone.serve.cli import screen
    from ragstone.serve.mcp.mcp_server import on_loopback, over_stdio
    from ragstone.serve.mcp.tools import LocalBackend
    from ragstone.serve.views.blocks import line

    def listening(address: str) -> None:
        screen.write([line(f"listening at {address}; Ctrl-C stops it")], sys.stderr)

    with opened(kb, asked) as opened_kb:
        backend = LocalBackend(engine=opened_kb, reader=Reader.of(groups))
        asyncio.run(on_loopback(backend, port, listening) if http else over_stdio(backend))


@with_question_settings
def lab(
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    port: Annotated[int, typer.Option("--port", metavar="N", min=1, max=65535, help="Port on this machine.")] = 8501,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Listen there instead, in a container: 0.0.0.0.")
    ] = "127.0.0.1",
    groups: As = None,
    browser: Annotated[bool, typer.Option("--open", help="Open the lab in a browser.")] = False,
) -> None:
    """Compare two variants of the settings in the browser.

    Ask both the same question, follow each chunk through the stages, measure both on a set of questions, and save the
    better one as a preset. The lab listens on this machine only, and needs the extra `lab`. Nobody signs in, so publish
    the port of a container only on the loopback address of its host.
    """
    from ragstone.serve.lab import launch
    from ragstone.serve.lab.desk import Desk, set_current

    launch.refuse_missing()
    launch.refuse_taken(host, port)
    reader = Reader.of(None if groups is None else typed.text(groups))
    with closing(Desk(asked.open(kb), reader)) as desk:
        set_current(desk)
        print(f"the lab is at http://{launch.HOST}:{port}; Ctrl-C stops it", flush=True)
        try:
            launch.serve(host, port, browser=browser)
        finally:
            set_current(None)
