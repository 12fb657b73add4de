"""An HTTP client that connects only to addresses that were checked, within limits of size.

A name is resolved once per connection, and the connection is made to the address that was checked. A name that changes
its address in between (DNS rebinding) gains nothing. The client returns redirects instead of following them, so that
each hop is checked, and ignores the proxies of the environment.
"""

from __future__ import annotations

import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from functools import cache
from typing import cast

import httpcore2

from ragstone.core.frozen import frozen
from ragstone.services.network import NOT_FOUND, Resolve, refusal, resolve

Headers = Mapping[str, str]
"""Header fields by their names in lower case."""
Refuse = Callable[[Headers], str]
"""Return why a response with these header fields is not wanted; empty if it is."""
MOVED = (301, 302, 303, 307, 308)
"""HTTP status codes of redirects."""
BUSY = (429, 500, 502, 503, 504)
"""HTTP status codes of servers that may answer later."""


class FetchError(Exception):
    """A request failed; the text says why. ``passing``: another attempt may succeed."""

    def __init__(self, reason: str, *, passing: bool = False) -> None:
        super().__init__(reason)
        self.passing = passing


def refuse_none(_headers: Headers) -> str:
    return ""


@frozen
class Reply:
    """A reply to a request."""

    status: int
    headers: Headers
    body: bytes = b""

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class SafeClient:
    """Sends requests, and keeps connections open between them.

    Args:
        allow_private: whether private addresses are allowed.
        setting: name of the setting that allows them, for the error message.
        proxy: address of a proxy, which resolves names instead; empty for none.
        resolve: resolves host names.
        backend: opens connections to checked addresses.
        connect_seconds: for each address of a host, so that a silent one leaves time for the next.
    """

    def __init__(
        self,
        *,
        allow_private: bool,
        setting: str,
        proxy: str = "",
        resolve: Resolve = resolve,
        backend: httpcore2.AsyncNetworkBackend | None = None,
        connect_seconds: float = 10.0,
    ) -> None:
        self._times = {"timeout": {"connect": connect_seconds}}
        inner = backend or cast(httpcore2.AsyncNetworkBackend, httpcore2.AnyIOBackend())
        if proxy:  # it is usually on a private network itself
            self._pool = httpcore2.AsyncConnectionPool(tls(), proxy=httpcore2.Proxy(proxy), network_backend=inner)
        else:
            pinned = PinnedBackend(inner, resolve, allow_private=allow_private, setting=setting)
            self._pool = httpcore2.AsyncConnectionPool(tls(), network_backend=pinned)

    async def send(
        self,
        method: str,
        url: str | httpcore2.URL,
        headers: Headers,
        content: bytes | None = None,
        *,
        most: int,
        most_of_refusal: int = 0,
        refuse: Refuse = refuse_none,
    ) -> Reply:
        """Send a request and return the reply, unpacked if it is gzip.

        Args:
            method: GET or POST.
            url: the address.
            headers: all header fields; ``Accept-Encoding`` is gzip or identity.
            content: the body.
            most: bytes that the body of a success (2xx) may have.
            most_of_refusal: bytes that are read of any other body; the rest is left.
            refuse: receives the header fields of a success. If it returns a reason, the body is not read.

        Raises:
            FetchError: there is no reply, or it is too large or refused.
        """
        sent = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
        try:
            async with self._pool.stream(method, url, headers=sent, content=content, extensions=self._times) as answer:
                reply = Reply(status=answer.status, headers=fields_of(answer.headers))
                if not reply.is_success:
                    body = await _beginning(answer.aiter_stream(), most_of_refusal)
                elif reason := refuse(reply.headers):
                    raise FetchError(reason)
                else:
                    body = await _whole(answer.aiter_stream(), reply.headers, most)
                return Reply(status=reply.status, headers=reply.headers, body=body)
        except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.RemoteProtocolError) as error:
            raise FetchError(in_words(error), passing=not is_untrusted(error)) from error
        except (httpcore2.ProtocolError, httpcore2.ProxyError, httpcore2.UnsupportedProtocol, UnicodeError) as error:
            raise FetchError(in_words(error)) from error

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


async def _beginning(parts: AsyncIterator[bytes], most: int) -> bytes:
    body = bytearray()
    if most:
        async for part in parts:
            body += part
            if len(body) >= most:
                break
    return bytes(body[:most])


async def _whole(parts: AsyncIterator[bytes], headers: Headers, most: int) -> bytes:
    """Return the unpacked body. Its packed and its unpacked size are limited while it arrives."""
    too_large = FetchError(f"larger than {most / 1_000_000:g} MB")
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length) > most:
        raise too_large
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("gzip", "x-gzip", "identity", ""):
        raise FetchError(f"the content encoding {encoding} was not requested")
    unpack = zlib.decompressobj(31) if "gzip" in encoding else None
    body = bytearray()
    arrived = 0
    async for part in parts:
        arrived += len(part)
        try:
            body += unpack.decompress(part, most + 1 - len(body)) if unpack else part
        except zlib.error as error:
            raise FetchError("damaged gzip") from error
        if max(arrived, len(body)) > most:
            raise too_large
    if unpack and arrived and not unpack.eof:
        raise FetchError("ended in the middle", passing=True)
    return bytes(body)


def fields_of(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return header fields by name, with repeated fields joined as HTTP defines."""
    fields: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        fields[key] = f"{fields[key]}, {text}" if key in fields else text
    return fields


@cache
def tls() -> ssl.SSLContext:
    """Return the certificates that are trusted, read once."""
    return httpcore2.default_ssl_context()


class PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to the address that was checked, even if the name resolves to another one later.

    Args:
        inner: makes the connections.
        resolve: resolves names.
        allow_private: whether private addresses are allowed.
        setting: name of the setting that allows them, for the error message.
    """

    def __init__(
        self, inner: httpcore2.AsyncNetworkBackend, resolve: Resolve, *, allow_private: bool, setting: str
    ) -> None:
        self._inner, self._resolve = inner, resolve
        self._allow_private, self._setting = allow_private, setting

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        # TLS starts later with the host name, so certificates are checked against the name.
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise FetchError(NOT_FOUND.format(host), passing=isinstance(error, socket.gaierror)) from error
        if reason := refusal(host, addresses, allow_private=self._allow_private, setting=self._setting):
            raise FetchError(reason)
        failure: Exception = FetchError(NOT_FOUND.format(host), passing=True)
        for address in addresses:
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


def is_untrusted(error: Exception) -> bool:
    """Return whether a connection failed because its certificate is refused, as another would be."""
    return isinstance(error.__context__, ssl.SSLError)


def in_words(error: Exception) -> str:
    """Describe a failed connection."""
    name = type(error).__name__
    words = {
        "ConnectTimeout": "no connection in time",
        "ReadTimeout": "no answer in time",
        "ConnectError": "no connection",
        "ReadError": "the connection broke",
        "RemoteProtocolError": "the connection ended, or the reply is not HTTP",
    }.get(name, name)
    return f"{words} ({error})" if str(error) else words
