"""Requests at a polite pace: one after another with a pause, and repeated later if the site asks for that."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable

from ragstone.acquire.crawl.fetch import Fetcher
from ragstone.acquire.crawl.urls import Address, BadAddress, parse
from ragstone.services.pinned import BUSY, MOVED, FetchError, Headers, Refuse, Reply, refuse_none
from ragstone.services.retries import retry_after
from ragstone.settings import CrawlSettings

LONGEST_WAIT = 60.0
"""Seconds that a site may ask to wait."""
MOST_REDIRECTS = 5
"""Redirects to follow from one URL."""
_FIRST_PAUSE = 1.0


class Pace:
    """A pace: two requests to one host begin at least its delay apart."""

    def __init__(
        self,
        delay: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._delay = delay
        self._delays: dict[str, float] = {}
        self._free: dict[str, float] = {}
        self._clock = clock
        self._sleep = sleep

    async def turn(self, host: str) -> None:
        """Wait until a request to the host is allowed."""
        # Meanwhile another task may have taken the turn, or the host may have asked for more time.
        while (wait := self._free.get(host, 0.0) - self._clock()) > 0:
            await self._sleep(wait)
        self._free[host] = self._clock() + self._delays.get(host, self._delay)

    def slow(self, host: str, delay: float) -> None:
        """Set the delay between requests to a host, but not below the setting."""
        self._delays[host] = max(delay, self._delay)

    def hold(self, host: str, seconds: float) -> None:
        """Block requests to the host for a time."""
        self._free[host] = max(self._free.get(host, 0.0), self._clock() + seconds)


class Client:
    """A fetcher that keeps the pace and retries what may succeed later."""

    def __init__(self, fetcher: Fetcher, settings: CrawlSettings, pace: Pace | None = None) -> None:
        self._fetcher = fetcher
        self._settings = settings
        self.pace = pace or Pace(settings.delay_seconds)

    async def get(self, address: Address, headers: Headers | None = None, *, refuse: Refuse = refuse_none) -> Reply:
        """Fetch as `Fetcher.get` does, and retry while the site answers that it is busy."""
        attempt = 0
        while True:
            await self.pace.turn(address.host)
            try:
                response = await self._fetcher.get(address, headers or {}, refuse=refuse)
                if response.status not in BUSY or attempt == self._settings.retries:
                    return response
                wait = retry_after(response.headers.get("retry-after", ""))
                if wait is not None and wait > LONGEST_WAIT:
                    return response
            except FetchError as error:
                if not error.passing or attempt == self._settings.retries:
                    raise
                wait = None
            # Exponential, with jitter so that crawlers that fail together do not retry together.
            pause = _FIRST_PAUSE * 2**attempt * random.uniform(0.75, 1.25) if wait is None else wait
            self.pace.hold(address.host, min(pause, LONGEST_WAIT))
            attempt += 1

    async def follow(self, address: Address) -> Reply:
        """Fetch as `get` does, and follow redirects. Each hop is checked like any request.

        Raises:
            FetchError: as `get`, or too many redirects.
        """
        for _ in range(MOST_REDIRECTS + 1):
            response = await self.get(address)
            if response.status not in MOVED:
                return response
            try:
                address = parse(response.headers.get("location", ""), address)
            except BadAddress as error:
                raise FetchError(f"redirects to an invalid URL: {error}") from error
        raise FetchError(f"more than {MOST_REDIRECTS} redirects")

    async def aclose(self) -> None:
        await self._fetcher.aclose()
