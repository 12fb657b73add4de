"""An HTTP client for threads: to addresses that were checked, with retries, and limits of time and size."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpcore2

from ragstone.core.errors import SourceError
from ragstone.core.frozen import frozen
from ragstone.services.network import checked_addresses
from ragstone.services.pinned import BUSY, MOVED, Reply, fields_of, in_words, is_untrusted, tls
from ragstone.services.retries import retry_after

_LONGEST_WAIT = 120.0
"""Seconds that a server may ask to wait."""
_FIRST_WAIT = 1.0
_MOST_BYTES = 50_000_000
"""Size of a reply that is read as a whole."""
_MOST_REDIRECTS = 5
_MEANINGS = {
    401: ": the password or token is missing, wrong or expired",
    403: ": the account or token may not read this",
    429: ": too many requests; the next sync continues",
}
_FAILURES = (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.RemoteProtocolError)


@frozen
class Limits:
    """The limits of a connection, and ``setting``, the path of the setting that allows private addresses."""

    allow_private: bool
    timeout_seconds: float
    retries: int
    setting: str


@frozen
class Page:
    """The decoded JSON of a reply, and its header fields by their names in lower case."""

    value: Any
    headers: Mapping[str, str]


class PinnedClient:
    """Keeps connections open, retries calls that may succeed later, and waits as long as the server requests.

    Args:
        headers: returns what is sent with every request, such as the credentials; only to the named server, not to the
            target of a redirect. It is first called for the first request.
        limits: how the server is reached.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self, headers: Callable[[], Mapping[str, str]], limits: Limits, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._headers, self._limits, self._sleep = headers, limits, sleep
        self._pool = httpcore2.ConnectionPool(tls(), network_backend=_Pinned(limits))

    def close(self) -> None:
        self._pool.close()

    def json(self, method: str, url: str, body: object = None) -> Any:
        """Return the decoded JSON of a reply.

        Raises:
            SourceError: the server cannot be reached, refuses, or sends something else.
        """
        content = b"" if body is None else json.dumps(body).encode()
        kind = {"Content-Type": "application/json"} if content else {}
        reply = self.request(method, url, headers={"Accept": "application/json", **kind}, content=content)
        return _decoded(url, reply)

    def page(self, method: str, url: str) -> Page:
        """Return the decoded JSON of a reply with its header fields; raises as `json`."""
        reply = self.request(method, url, headers={"Accept": "application/json"})
        return Page(value=_decoded(url, reply), headers=reply.headers)

    def request(
        self, method: str, url: str, *, headers: Mapping[str, str] | None = None, content: bytes = b""
    ) -> Reply:
        """Return a reply of success (2xx) with its whole body.

        Raises:
            SourceError: the server cannot be reached, refuses, or sends too much.
        """
        with self._answered(method, url, {**self._headers(), **(headers or {})}, content) as (reply, blocks):
            body = bytearray()
            for block in blocks:
                body += block
                if len(body) > _MOST_BYTES:
                    raise SourceError(f"{_shown(url)} sends more than {_MOST_BYTES // 1_000_000} MB")
            return Reply(status=reply.status, headers=reply.headers, body=bytes(body))

    def download(self, url: str) -> Iterator[bytes]:
        """Yield the body of a GET in blocks, and follow redirects; each hop is checked like any request.

        Raises:
            SourceError: as for `request`.
        """
        origin = _origin(url)
        for _ in range(_MOST_REDIRECTS + 1):
            # Another server must not learn the credentials.
            headers: Mapping[str, str] = self._headers() if _origin(url) == origin else {}
            with self._answered("GET", url, headers, b"", may_move=True) as (reply, blocks):
                if reply.status not in MOVED:
                    yield from blocks
                    return
                url = urljoin(url, reply.headers.get("location", ""))
        raise SourceError(f"{_shown(url)} redirects more than {_MOST_REDIRECTS} times")

    @contextmanager
    def _answered(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes, *, may_move: bool = False
    ) -> Generator[tuple[Reply, Iterator[bytes]]]:
        """Yield a reply and the blocks of its body, within the allowed number of attempts."""
        attempt, is_answered = 0, False
        while True:
            wait: float | None = None
            try:
                with self._sent(method, url, headers, content) as (reply, blocks):
                    if reply.status < 300 or (may_move and reply.status in MOVED):
                        is_answered = True
                        yield reply, blocks
                        return
                    reason = f"{_shown(url)} answers {reply.status}{_MEANINGS.get(reply.status, '')}"
                    wait = _requested_wait(reply)
                    may_pass = reply.status in BUSY or (reply.status == 403 and wait is not None)
                    passing = may_pass and (wait is None or wait <= _LONGEST_WAIT)
            except _FAILURES as error:
                reason, passing = f"{_shown(url)}: {in_words(error)}", not (is_answered or is_untrusted(error))
            except httpcore2.ProtocolError as error:
                raise SourceError(f"{_shown(url)}: {in_words(error)}") from error
            if not passing or attempt >= self._limits.retries:
                raise SourceError(reason)
            # Exponential, with jitter so that clients that failed together do not retry together.
            pause = _FIRST_WAIT * 2**attempt * random.uniform(0.75, 1.25)
            self._sleep(pause if wait is None else wait)
            attempt += 1

    @contextmanager
    def _sent(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes
    ) -> Generator[tuple[Reply, Iterator[bytes]]]:
        seconds = self._limits.timeout_seconds
        times = {"timeout": {"connect": seconds, "read": seconds, "write": seconds, "pool": seconds}}
        fields = [(name, value) for name, value in headers.items()]
        with self._pool.stream(method, url, headers=fields, content=content or None, extensions=times) as answer:
            yield Reply(status=answer.status, headers=fields_of(answer.headers)), answer.iter_stream()


class _Pinned(httpcore2.SyncBackend):
    """Connects to the address that was checked, even if the name resolves to another one later."""

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self._limits = limits

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        allow, setting = self._limits.allow_private, self._limits.setting
        failure: Exception = httpcore2.ConnectError("no address")
        for address in checked_addresses(host, port, allow_private=allow, setting=setting):
            try:
                # TLS starts later with the host name, so certificates are checked against the name.
                return super().connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure


def _decoded(url: str, reply: Reply) -> Any:
    try:
        return json.loads(reply.body)
    except ValueError as error:
        raise SourceError(f"{_shown(url)} did not send JSON") from error


def _requested_wait(reply: Reply) -> float | None:
    """Return the seconds that a server asks to wait, also as GitHub says it; None if it does not ask."""
    wait = retry_after(reply.headers.get("retry-after", ""))
    reset = reply.headers.get("x-ratelimit-reset", "")
    if wait is None and reply.headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        wait = max(0.0, float(reset) - time.time())
    return wait


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def _shown(url: str) -> str:
    """Return a URL without its query, which may hold a signature."""
    return url.partition("?")[0]
