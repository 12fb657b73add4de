"""The rules of a site for crawlers, from /robots.txt (RFC 9309)."""

from __future__ import annotations

import re

from protego import Protego

from ragstone.acquire.crawl.polite import Client
from ragstone.acquire.crawl.urls import Address, BadAddress, parse
from ragstone.core.errors import SourceError
from ragstone.services.pinned import FetchError
from ragstone.settings import CrawlSettings

_MOST_BYTES = 500 * 1024
"""The part of the file that the standard has crawlers read."""


class Robots:
    """The rules for one crawler on one host."""

    def __init__(self, text: str, user_agent: str, home: Address) -> None:
        self._rules = Protego.parse(text)
        # Rules name a crawler by the first word of its user agent.
        self._name = re.split(r"[/\s]", user_agent.strip(), maxsplit=1)[0]
        self._home = home

    def allows(self, address: Address) -> bool:
        return self._rules.can_fetch(str(address), self._name)

    @property
    def delay(self) -> float | None:
        """Seconds between requests that the site asks for, if any."""
        return self._rules.crawl_delay(self._name)

    @property
    def sitemaps(self) -> list[Address]:
        """The sitemaps that the site names on its own host."""
        addresses: list[Address] = []
        for text in self._rules.sitemaps:
            try:
                address = parse(text, self._home)
            except BadAddress:
                continue
            if address.host == self._home.host:
                addresses.append(address)
        return addresses


async def read_robots(client: Client, home: Address, settings: CrawlSettings) -> Robots:
    """Return the rules of the host of ``home``; no rules if it has no such file.

    Raises:
        SourceError: the file cannot be fetched now. The standard forbids crawling in this case.
    """
    if not settings.robots:
        return Robots("", settings.user_agent, home)
    address = home.at("/robots.txt")
    try:
        response = await client.follow(address)
    except FetchError as error:
        raise SourceError(f"{address}: {error}") from error
    if response.status == 429 or response.status >= 500:
        raise SourceError(f"{address} answers {response.status}, so crawling is not allowed now; try again later")
    text = response.body[:_MOST_BYTES].decode("utf-8-sig", errors="replace")
    return Robots(text, settings.user_agent, home)
