"""Running the application under uvicorn, until the process is told to stop."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from contextlib import closing, suppress

import uvicorn
from fastapi import FastAPI

from ragstone.engine import Engine
from ragstone.errors import SettingsError, UsageError
from ragstone.index import Journal
from ragstone.sections import ServeSettings
from ragstone.serve.http import heads, log, page
from ragstone.serve.http.app import build_app, is_loopback
from ragstone.usage.keys import Keys

IDLE = 15
"""Seconds that a connection may wait for its next request."""
HEADS = 32_768
"""Bytes that the head of a request may have."""


def serve(engine: Engine, settings: ServeSettings, *, tls: bool, tell: Callable[[str], None]) -> None:
    """Serve; when told to stop, answers under way may finish.

    Args:
        engine: what answers.
        settings: where and how.
        tls: whether connections are encrypted.
        tell: told where the server is, once it can be reached.

    Raises:
        UsageError: others could reach it, and no key has been made.
        SettingsError: the address cannot be listened on, or the certificate not be read.
    """
    refuse_open(engine, settings)
    scheme = "https" if tls or settings.tls.certificate else "http"
    files = _certificate(engine, settings, tell) if scheme == "https" else (None, None)
    log.to_standard_error(settings.log)
    config = configured(build_app(engine, settings), settings)
    config.ssl_certfile, config.ssl_keyfile = files
    try:
        config.load()
    except OSError as error:
        raise SettingsError(f"serve.tls: the certificate cannot be used: {error}") from error
    with closing(_listening(settings)) as at:
        port = at.getsockname()[1]
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        what = "the page and the API" if page.files() else "the API"
        for one in engine.substitutes:
            tell(one.told)
        tell(f"serving {what} of {engine.folder} at {scheme}://{host}:{port}; Ctrl-C stops it")
        # uvicorn sends both signals on when all has ended well; what is open here is to be closed then.
        signal.signal(signal.SIGTERM, lambda *_: None)
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[at])


def configured(app: FastAPI, settings: ServeSettings) -> uvicorn.Config:
    """How uvicorn runs the application."""
    return uvicorn.Config(
        app,
        http=heads.within(settings.request_seconds),
        ws="none",
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=IDLE,
        h11_max_incomplete_event_size=HEADS,
        timeout_graceful_shutdown=settings.stop_seconds,
    )


def refuse_open(engine: Engine, settings: ServeSettings) -> None:
    """Refuse to be reached by others without a key.

    Raises:
        UsageError: they could.
    """
    with closing(Journal(engine.folder)) as journal:
        if not is_loopback(settings.host) and not Keys(journal).ring():
            raise UsageError(
                f"others could reach {settings.host} and read everything: make a key first, such as:"
                f" ragstone key make admin --scope admin --kb {engine.folder}"
            )


def _listening(settings: ServeSettings) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        return socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as error:
        where = f"{settings.host}, port {settings.port}"
        raise SettingsError(f"cannot listen on {where}: {error.strerror or error}; --port names another") from error


def _certificate(engine: Engine, settings: ServeSettings, tell: Callable[[str], None]) -> tuple[str, str]:
    given = settings.tls
    if given.certificate:
        return given.certificate, given.key
    from ragstone.serve.http.certificate import own

    names = [settings.host, *settings.names]
    made = own(engine.folder / "tls", [one for one in names if one not in ("0.0.0.0", "::", "*")])
    tell(f"the certificate is {made.certificate}; its SHA-256 fingerprint is {made.fingerprint}")
    return str(made.certificate), str(made.key)
