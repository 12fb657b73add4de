"""Runs the application under uvicorn until the process is told to stop."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import ssl
from collections.abc import Callable
from contextlib import closing, suppress
from types import FrameType

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from ragstone.core.errors import SettingsError, UsageError
from ragstone.core.frozen import frozen
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.model_check import refuse_missing_packages, why_no_pictures
from ragstone.history.keys import Keys
from ragstone.history.users import Users
from ragstone.serve.http.app import build_app
from ragstone.serve.http.page import page_files
from ragstone.serve.http.service import Service
from ragstone.serve.http.serving_process import Control, Launch
from ragstone.serve.http.shares import Shares
from ragstone.serve.http.telemetry import LOGGER, log_to_stderr
from ragstone.serve.listen import listen
from ragstone.services.network import is_loopback
from ragstone.settings import ServeSettings

KEEP_ALIVE_SECONDS = 15
MAX_HEAD_BYTES = 32_768
ACCEPTED_AT_ONCE = 1
"""Connections that one of several processes accepts before it does something else, so that each gets its share."""
DRAIN_TICK_SECONDS = 0.05
TRUSTED_PROXIES = "FORWARDED_ALLOW_IPS"
"""The environment variable by which uvicorn knows the proxies whose ``X-Forwarded-Proto`` it believes."""


@frozen
class Door:
    """Where a server listens, and the files of its certificate, if it encrypts connections."""

    bound: socket.socket
    certificate: str = ""
    key: str = ""


def serve(engine: KnowledgeBase, settings: ServeSettings, *, tls: bool, tell: Callable[[str], None]) -> None:
    """Serve in this process until told to stop; answers in progress may finish.

    Args:
        engine: the knowledge base.
        settings: the address, the limits and the rest.
        tls: whether to encrypt connections.
        tell: shows a line to whoever started the server.

    Raises:
        UsageError: other machines could connect, and there is no key and no sign-in yet.
        SettingsError: the address is not available, or the certificate cannot be read.
        MissingExtra: the package of a language model is not installed.
    """
    door = open_door(engine, settings, tls=tls, tell=tell)
    with closing(door.bound):
        _run(
            uvicorn.Server(_loaded_config(build_app(engine, settings), settings, door.certificate, door.key)),
            door.bound,
        )


def serve_inherited(
    engine: KnowledgeBase, bound: socket.socket, launch: Launch, control: Control, shares: Shares
) -> None:
    """Serve as one of several processes until the supervisor says otherwise or ends."""
    settings = engine.settings.serve
    log_to_stderr(settings.log, process=launch.place)
    app = build_app(engine, settings, processes=launch.processes, warm_first=launch.warm_first)
    config = _loaded_config(app, settings, launch.certificate, launch.key)
    config.backlog = ACCEPTED_AT_ONCE
    config.loop = "asyncio"  # uvloop would accept by itself
    _run(_OneOfSeveral(config, app.state.service, launch.number, control, shares), bound)


def open_door(engine: KnowledgeBase, settings: ServeSettings, *, tls: bool, tell: Callable[[str], None]) -> Door:
    """Listen, and tell where; connections wait until they are accepted.

    Raises:
        UsageError: other machines could connect, and there is no key yet.
        SettingsError: the address is not available, or the certificate cannot be read.
        MissingExtra: the package of a language model is not installed.
    """
    refuse_missing_packages(engine.settings)
    refuse_without_key(engine, settings)
    scheme = "https" if tls or settings.tls.certificate else "http"
    certificate, key = _certificate(engine, settings, tell) if scheme == "https" else ("", "")
    log_to_stderr(settings.log)
    if certificate:
        _check_certificate(certificate, key)
    bound = _listening(settings)
    port = bound.getsockname()[1]
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    content = "the page and the API" if page_files() else "the API"
    with engine.current() as version:
        substitutes = version.substitutes
    for substitute in substitutes:
        tell(substitute.told)
    if why := why_no_pictures(engine.settings):
        tell(f"warning: no picture can be described: {why}")
    if scheme == "http" and (warning := unencrypted(settings)):
        LOGGER.warning(warning)
        tell(f"warning: {warning}")
    processes = f" with {settings.workers} processes" if settings.workers > 1 else ""
    tell(f"serving {content} of {engine.folder}{processes} at {scheme}://{host}:{port}; Ctrl-C stops it")
    return Door(bound=bound, certificate=certificate, key=key)


def _check_certificate(certificate: str, key: str) -> None:
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key)
    except OSError as error:
        raise SettingsError(f"serve.tls: the certificate cannot be used: {error}") from error


def _loaded_config(app: FastAPI, settings: ServeSettings, certificate: str, key: str) -> uvicorn.Config:
    config = uvicorn_config(app, settings)
    config.ssl_certfile, config.ssl_keyfile = certificate or None, key or None
    config.load()
    return config


def _run(server: uvicorn.Server, bound: socket.socket) -> None:
    # uvicorn raises both signals again once everything has ended well; the caller still has to close the engine.
    signal.signal(signal.SIGTERM, _ignore)
    with suppress(KeyboardInterrupt):
        server.run(sockets=[bound])


class _OneOfSeveral(uvicorn.Server):
    """A server that can be replaced under load: SIGHUP makes it drain.

    Then it accepts no connection, and every connection it has may send one more request: the response closes it, and
    says so beforehand. Closing an idle connection instead could lose a request that is on its way.
    """

    def __init__(self, config: uvicorn.Config, service: Service, number: int, control: Control, shares: Shares) -> None:
        super().__init__(config)
        self._service, self._number, self._control, self._shares = service, number, control, shares
        self._is_draining, self._has_told = False, False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._drain)
        await super().startup(sockets)

    def _drain(self) -> None:
        self._is_draining = self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        if self._service.is_ready and not self._has_told:
            self._control.tell_ready()
            self._has_told = True
        if self._control.is_lost:
            self.should_exit = True
        self._shares.note(self._number, len(self.server_state.connections))
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._shares.drop(self._number)
        if self._is_draining:
            for server in self.servers:
                server.close()
            for bound in sockets or ():
                bound.close()
            self.server_state.default_headers = [*self.server_state.default_headers, (b"connection", b"close")]
            with suppress(TimeoutError):
                async with asyncio.timeout(self._service.settings.stop_seconds):
                    while self.server_state.connections:
                        await asyncio.sleep(DRAIN_TICK_SECONDS)
            self.config.timeout_graceful_shutdown = 1  # answers have had their time
        await super().shutdown(sockets)


def uvicorn_config(app: FastAPI, settings: ServeSettings) -> uvicorn.Config:
    """Return how uvicorn runs the application."""
    return uvicorn.Config(
        app,
        http=_with_time_limits(settings.request_seconds),
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
    with closing(engine.history.journal()) as journal:
        if is_loopback(settings.host) or settings.oidc.issuer or Users(journal).were_ever_added():
            return
        if not Keys(journal).ring():
            raise UsageError(
                f"other machines could connect to {settings.host} and read everything; make a key first:"
                f" ragstone key make admin --scope admin --kb {engine.folder}; or let people sign in:"
                f" ragstone user add NAME --scope admin --kb {engine.folder}"
            )


def unencrypted(settings: ServeSettings) -> str:
    """Return a warning if keys, passwords and documents would cross the network unencrypted; empty if not.

    A proxy that encrypts connections is known by the variable that makes uvicorn trust it.
    """
    if is_loopback(settings.host) or os.environ.get(TRUSTED_PROXIES):
        return ""
    return (
        f"connections to {settings.host} are not encrypted, so others on the network can read keys, passwords and"
        f" documents; use --tls, or set {TRUSTED_PROXIES} to the address of the proxy that encrypts them"
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


def _with_time_limits(seconds: float) -> type[H11Protocol]:
    """Return uvicorn's HTTP protocol with a time limit on parts of a request that no application waits for.

    These are the head, and the rest of a body after the response. uvicorn limits only how large a head is and how long
    a connection is silent: a client that sends a little again and again could hold a connection open forever.
    """

    class TimeLimits(H11Protocol):
        _timer: asyncio.TimerHandle | None = None
        _timed: object = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self._part() is h11.SEND_BODY:
                self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _part(self) -> object:
            """Return the state in which the client sends what no application waits for; None in any other."""
            state = self.conn.their_state
            is_unread = state is h11.IDLE or (state is h11.SEND_BODY and self.conn.our_state is h11.DONE)
            return state if is_unread else None

        def _watch(self) -> None:
            if self._part() is not self._timed:  # more of the same part does not restart the timer
                self._stop()
                self._timed = self._part()
                if self._timed is not None:
                    self._timer = self.loop.call_later(seconds, self._expire)

        def _stop(self) -> None:
            self._timed = None
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _expire(self) -> None:
            is_late = self._timed is not None and self._part() is self._timed
            self._stop()
            if is_late:
                self.timeout_keep_alive_handler()

    return TimeLimits
