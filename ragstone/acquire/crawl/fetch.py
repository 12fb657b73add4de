"""One request over HTTP, within limits of time and size, to an address that was checked.

Redirects are handed back, not followed, so that every hop passes here again. Of the environment's proxies nothing
is read.
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
from ragstone.models.network import Resolve, is_public, resolve
from ragstone.models.pinned import FetchError, PinnedBackend, in_words
from ragstone.sections import CrawlSettings

Headers = Mapping[str, str]
"""Header fields by their names in small letters."""

_NO_HEADERS: Headers = {}
# For each address of a host, so that one that is silent leaves time for the next.
_TIMEOUTS = {"timeout": {"connect": 10.0}}
Refuse = Callable[[Headers], str]
"""Why an answer with these header fields is of no use, or nothing."""


def refuse_none(_headers: Headers) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer. Only a success (2xx) has its body read."""

    status: int
    headers: Headers
    body: bytes = b""


class Fetcher:
    """Makes requests; keeps connections open between them.

    Args:
        settings: limits, names and whether private addresses are allowed.
        resolve: how names become addresses.
        backend: makes the connections, to addresses already checked.
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
            # The proxy resolves the names, and is itself on a private network as a rule.
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
        """Ask for a page.

        Args:
            address: what is asked for.
            headers: sent with the usual ones.
            refuse: told the header fields of a success; a reason it gives ends the request before the body.

        Raises:
            FetchError: no answer, one that is too large or too slow, or one that was refused.
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
        """The body, unpacked. Both what arrives and what it unpacks to are bounded as they come."""
        limit = int(self._settings.max_page_mb * 1_000_000)
        too_large = FetchError(f"larger than acquire.crawl.max_page_mb={self._settings.max_page_mb:g}")
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > limit:
            raise too_large
        encoding = headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("gzip", "x-gzip", "identity", ""):
            raise FetchError(f"packed as {encoding}, which was not asked for")
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
    """Header fields by name; those that come more than once are joined, as HTTP has it."""
    fields: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        fields[key] = f"{fields[key]}, {text}" if key in fields else text
    return fields


def _is_private_literal(host: str) -> bool:
    literal = ":" in host or host.replace(".", "").isdecimal()
    return (literal and not is_public(host)) or host == "localhost" or host.endswith(".localhost")
