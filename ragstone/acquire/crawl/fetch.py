"""A single HTTP request, within limits of time and size, to a checked address.

The fetcher returns redirects instead of following them, so that each hop is checked. It ignores the proxies of the
environment.
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import cast

import httpcore2

from ragstone.acquire.crawl.urls import Address
from ragstone.services.network import Resolve, is_public, resolve
from ragstone.services.pinned import FetchError, PinnedBackend, in_words
from ragstone.settings import CrawlSettings

Headers = Mapping[str, str]
"""Header fields by their names in lower case."""

_NO_HEADERS: Headers = {}
_MOST_BYTES = 10_000_000
# For each address of a host, so that a silent one leaves time for the next.
_TIMEOUTS = {"timeout": {"connect": 10.0}}
Refuse = Callable[[Headers], str]
"""Return why a response with these header fields is not wanted; empty if it is."""


def refuse_none(_headers: Headers) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A response. The body is read only on success (2xx)."""

    status: int
    headers: Headers
    body: bytes = b""


class Fetcher:
    """An HTTP client that keeps connections open between requests.

    Args:
        settings: limits, the user agent, and whether private addresses are allowed.
        resolve: resolves host names.
        backend: opens connections to checked addresses.
    """

    def __init__(
        self,
        settings: CrawlSettings,
        *,
        resolve: Resolve = resolve,
        backend: httpcore2.AsyncNetworkBackend | None = None,
    ) -> None:
        self._settings = settings
        inner = backend or cast(httpcore2.AsyncNetworkBackend, httpcore2.AnyIOBackend())
        tls = httpcore2.default_ssl_context()
        if settings.proxy:
            # The proxy resolves names, and is usually on a private network itself.
            proxy = httpcore2.Proxy(settings.proxy)
            self._pool = httpcore2.AsyncConnectionPool(tls, proxy=proxy, network_backend=inner)
        else:
            pinned = PinnedBackend(
                inner, resolve, allow_private=settings.allow_private, setting="acquire.crawl.allow_private"
            )
            self._pool = httpcore2.AsyncConnectionPool(tls, network_backend=pinned)

    async def get(
        self,
        address: Address,
        headers: Headers = _NO_HEADERS,
        *,
        refuse: Refuse = refuse_none,
    ) -> Response:
        """Fetch a page.

        Args:
            address: the URL.
            headers: extra header fields.
            refuse: receives the header fields of a success. If it returns a reason, the body is not read.

        Raises:
            FetchError: there is no response, or it is too large, too slow or refused.
        """
        seconds = self._settings.page_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self._get(address, headers, refuse)
        except TimeoutError as error:
            raise FetchError(f"took longer than acquire.crawl.page_seconds={seconds:g}", passing=True) from error
        except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.RemoteProtocolError) as error:
            raise FetchError(in_words(error), passing=not isinstance(error.__cause__, ssl.SSLError)) from error
        except (httpcore2.ProtocolError, httpcore2.ProxyError, httpcore2.UnsupportedProtocol) as error:
            raise FetchError(in_words(error)) from error

    async def aclose(self) -> None:
        await self._pool.aclose()

    async def _get(self, address: Address, headers: Headers, refuse: Refuse) -> Response:
        if self._settings.proxy and not self._settings.allow_private and _is_private_literal(address.host):
            raise FetchError(f"{address.host} is not a public address; acquire.crawl.allow_private allows it")
        usual = {
            "Host": address.origin.partition("://")[2],
            "User-Agent": self._settings.user_agent,
            "Accept": "text/html, text/markdown, text/plain, application/pdf;q=0.9, */*;q=0.1",
            "Accept-Encoding": "gzip",
        }
        sent = [(name.encode(), value.encode("latin-1", "replace")) for name, value in {**usual, **headers}.items()]
        url = httpcore2.URL(
            scheme=address.scheme.encode(),
            host=address.host.encode(),
            port=None if address.has_default_port else address.port,
            target=address.target.encode(),
        )
        async with self._pool.stream("GET", url, headers=sent, extensions=_TIMEOUTS) as answer:
            fields = _fields(answer.headers)
            if not 200 <= answer.status < 300:
                return Response(status=answer.status, headers=fields)
            if reason := refuse(fields):
                raise FetchError(reason)
            body = await self._body(answer.aiter_stream(), fields)
            return Response(status=answer.status, headers=fields, body=body)

    async def _body(self, parts: AsyncIterator[bytes], headers: Headers) -> bytes:
        """Return the unpacked body. Its packed and its unpacked size are limited while it arrives."""
        limit = _MOST_BYTES
        too_large = FetchError(f"larger than {_MOST_BYTES // 1_000_000} MB")
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > limit:
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
                body += unpack.decompress(part, limit + 1 - len(body)) if unpack else part
            except zlib.error as error:
                raise FetchError("damaged gzip") from error
            if max(arrived, len(body)) > limit:
                raise too_large
        if unpack and arrived and not unpack.eof:
            raise FetchError("ended in the middle", passing=True)
        return bytes(body)


def _fields(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return header fields by name, with repeated fields joined as HTTP defines."""
    fields: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        fields[key] = f"{fields[key]}, {text}" if key in fields else text
    return fields


def _is_private_literal(host: str) -> bool:
    literal = ":" in host or host.replace(".", "").isdecimal()
    return (literal and not is_public(host)) or host == "localhost" or host.endswith(".localhost")
