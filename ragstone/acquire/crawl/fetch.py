"""A single request of the crawler, within its limits of time and size."""

from __future__ import annotations

import asyncio

import httpcore2

from ragstone.acquire.crawl.urls import Address
from ragstone.services.network import Resolve, is_public, resolve
from ragstone.services.pinned import FetchError, Headers, Refuse, Reply, SafeClient, refuse_none
from ragstone.settings import CrawlSettings

_NO_HEADERS: Headers = {}
_MOST_BYTES = 10_000_000


class Fetcher:
    """Fetches pages, and keeps connections open between requests.

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
        self._client = SafeClient(
            allow_private=settings.allow_private,
            setting="acquire.crawl.allow_private",
            proxy=settings.proxy,
            resolve=resolve,
            backend=backend,
        )

    async def get(self, address: Address, headers: Headers = _NO_HEADERS, *, refuse: Refuse = refuse_none) -> Reply:
        """Fetch a page; only a success (2xx) has a body.

        Args:
            address: the URL.
            headers: extra header fields.
            refuse: receives the header fields of a success. If it returns a reason, the body is not read.

        Raises:
            FetchError: there is no response, or it is too large, too slow or refused.
        """
        if self._settings.proxy and not self._settings.allow_private and _is_private_literal(address.host):
            raise FetchError(f"{address.host} is not a public address; acquire.crawl.allow_private allows it")
        usual = {
            "Host": address.origin.partition("://")[2],
            "User-Agent": self._settings.user_agent,
            "Accept": "text/html, text/markdown, text/plain, application/pdf;q=0.9, */*;q=0.1",
            "Accept-Encoding": "gzip",
        }
        url = httpcore2.URL(
            scheme=address.scheme.encode(),
            host=address.host.encode(),
            port=None if address.has_default_port else address.port,
            target=address.target.encode(),
        )
        seconds = self._settings.page_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self._client.send("GET", url, {**usual, **headers}, most=_MOST_BYTES, refuse=refuse)
        except TimeoutError as error:
            raise FetchError(f"took longer than acquire.crawl.page_seconds={seconds:g}", passing=True) from error

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()


def _is_private_literal(host: str) -> bool:
    literal = ":" in host or host.replace(".", "").isdecimal()
    return (literal and not is_public(host)) or host == "localhost" or host.endswith(".localhost")
