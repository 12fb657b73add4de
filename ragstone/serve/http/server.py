"""Runs the application under uvicorn until the process is told to stop."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable
from contextlib import closing, suppress
from types import FrameType

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from ragstone.core.errors import SettingsError, UsageError
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.history.journal import Journal
from ragstone.history.keys import Keys
from ragstone.serve.http.app import build_app, is_loopback, page_files
from ragstone.serve.http.telemetry import LOGGER, log_to_stderr
from ragstone.serve.listen import listen
from ragstone.settings import ServeSettings

KEEP_ALIVE_SECONDS = 15
MAX_HEAD_BYTES = 32_768
TRUSTED_PROXIES = "FORWARDED_ALLOW_IPS"
"""The environment variable by which uvicorn knows the proxies whose ``X-Forwarded-Proto`` it believes."""


def serve(engine: KnowledgeBase, settings: ServeSettings, *, tls: bool, tell: Callable[[str], None]) -> None:
    """Serve until told to stop; answers in progress may finish.

    Args:
        engine: the knowledge base.
        settings: the address, the limits and the rest.
        tls: whether to encrypt connections.
        tell: shows a line to whoever started the server.

    Raises:
        UsageError: other machines could connect, and there is no key yet.
        SettingsError: the address is not available, or the certificate cannot be read.
    """
    refuse_without_key(engine, settings)
    scheme = "https" if tls or settings.tls.certificate else "http"
    files = _certificate(engine, settings, tell) if scheme == "https" else (None, None)
    log_to_stderr(settings.log)
    config = uvicorn_config(build_app(engine, settings), settings)
    config.ssl_certfile, config.ssl_keyfile = files
    try:
        config.load()
    except OSError as error:
        raise SettingsError(f"serve.tls: the certificate cannot be used: {error}") from error
    with closing(_listening(settings)) as bound:
        port = bound.getsockname()[1]
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        content = "the page and the API" if page_files() else "the API"
        with engine.current() as version:
            substitutes = version.substitutes
        for substitute in substitutes:
            tell(substitute.told)
        if scheme == "http" and (warning := unencrypted(settings)):
            LOGGER.warning(warning)
            tell(f"warning: {warning}")
        tell(f"serving {content} of {engine.folder} at {scheme}://{host}:{port}; Ctrl-C stops it")
        # uvicorn raises both signals again once everything has ended well; the caller still has to close the engine.
        signal.signal(signal.SIGTERM, _ignore)
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[bound])


def uvicorn_config(app: FastAPI, settings: ServeSettings) -> uvicorn.Config:
    """Return how uvicorn runs the application."""
    return uvicorn.Config(
        app,
        http=_with_head_timeout(settings.request_seconds),
        ws="none",
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        timeout_graceful_shutdown=settings.stop_seconds,
    )


def refuse_without_key(engine: KnowledgeBase, settings: ServeSettings) -> None:
    """Check that nobody else can connect as long as there is no key.

    Raises:
        UsageError: they could.
    """
    with closing(Journal(engine.folder)) as journal:
        if not is_loopback(settings.host) and not Keys(journal).ring():
            raise UsageError(
                f"other machines could connect to {settings.host} and read everything; make a key first:"
                f" ragstone key make admin --scope admin --kb {engine.folder}"
            )


def unencrypted(settings: ServeSettings) -> str:
    """Return a warning if keys and documents would cross the network unencrypted; empty if not.

    A proxy that encrypts connections is known by the variable that makes uvicorn trust it.
    """
    if is_loopback(settings.host) or os.environ.get(TRUSTED_PROXIES):
        return ""
    return (
        f"connections to {settings.host} are not encrypted, so others on the network can read keys and documents;"
        f" use --tls, or set {TRUSTED_PROXIES} to the address of the proxy that encrypts them"
    )


def _listening(settings: ServeSettings) -> socket.socket:
    try:
        return listen(settings.host, settings.port)
    except OSError as error:
        address = f"{settings.host}, port {settings.port}"
        raise SettingsError(
            f"cannot listen on {address}: {error.strerror or error}; choose another port with --port"
        ) from error


def _certificate(engine: KnowledgeBase, settings: ServeSettings, tell: Callable[[str], None]) -> tuple[str, str]:
    given = settings.tls
    if given.certificate:
        return given.certificate, given.key
    from ragstone.serve.http.certificate import self_signed

    names = [name for name in (settings.host, *settings.names) if name not in ("0.0.0.0", "::", "*")]
    made = self_signed(engine.folder / "tls", names)
    tell(f"the certificate is {made.certificate}; its SHA-256 fingerprint is {made.fingerprint}")
    return str(made.certificate), str(made.key)


def _ignore(signal_number: int, frame: FrameType | None) -> None:
    del signal_number, frame


def _with_head_timeout(seconds: float) -> type[H11Protocol]:
    """Return uvicorn's HTTP protocol with a time limit on the head of a request.

    uvicorn limits only how large a head is: a client that sends a little of it again and again could hold a
    connection open forever.
    """

    class HeadTimeout(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _watch(self) -> None:
            if self.conn.their_state is not h11.IDLE:
                self._stop()
            elif self._timer is None:  # more of the same head does not restart the timer
                self._timer = self.loop.call_later(seconds, self._expire)

        def _stop(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _expire(self) -> None:
            self._timer = None
            if self.conn.their_state is h11.IDLE:
                self.timeout_keep_alive_handler()

    return HeadTimeout
