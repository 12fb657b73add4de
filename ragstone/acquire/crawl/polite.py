"""Requests at the pace a site can bear: one after the other with a pause, and again later where it says so."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from ragstone.acquire.crawl.fetch import Fetcher, FetchError, Headers, Refuse, Response, refuse_none
from ragstone.acquire.crawl.urls import Address, BadAddress, parse
from ragstone.sections import CrawlSettings

MOVED = (301, 302, 303, 307, 308)
PASSING = (429, 500, 502, 503, 504)
_FIRST_PAUSE = 1.0


class Pace:
    """Turns: two requests to a host never begin closer together than its delay."""

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
        """Wait until a request may be made to the host."""
        # Others may have waited too and been faster, or the host have asked for more time.
        while (wait := self._free.get(host, 0.0) - self._clock()) > 0:
            await self._sleep(wait)
        self._free[host] = self._clock() + self._delays.get(host, self._delay)

    def slow(self, host: str, delay: float) -> None:
        """The host wants so much time between requests; never less than was set."""
        self._delays[host] = max(delay, self._delay)

    def hold(self, host: str, seconds: float) -> None:
        """No request to the host for so long."""
        self._free[host] = max(self._free.get(host, 0.0), self._clock() + seconds)


class Client:
    """A fetcher that keeps the pace and repeats what may succeed later."""

    def __init__(self, fetcher: Fetcher, settings: CrawlSettings, pace: Pace | None = None) -> None:
        self._fetcher = fetcher
        self._settings = settings
        self.pace = pace or Pace(settings.delay_seconds)

    async def get(self, address: Address, headers: Headers | None = None, *, refuse: Refuse = refuse_none) -> Response:
        """As `Fetcher.get`; an answer that says "later" is returned only after the last attempt."""
        attempt = 0
        while True:
            await self.pace.turn(address.host)
            try:
                response = await self._fetcher.get(address, headers or {}, refuse=refuse)
                if response.status not in PASSING or attempt == self._settings.retries:
                    return response
                wait = _retry_after(response.headers.get("retry-after", ""))
                if wait is not None and wait > self._settings.max_wait_seconds:
                    return response
            except FetchError as error:
                if not error.passing or attempt == self._settings.retries:
                    raise
                wait = None
            # Doubled each time, and never the same for two crawlers that failed together.
            pause = _FIRST_PAUSE * 2**attempt * random.uniform(0.75, 1.25) if wait is None else wait
            self.pace.hold(address.host, min(pause, self._settings.max_wait_seconds))
            attempt += 1

    async def follow(self, address: Address) -> Response:
        """As `get`, through redirects to wherever they lead; each hop is checked as any request is.

        Raises:
            FetchError: as `get`, or too many redirects.
        """
        for _ in range(self._settings.max_redirects + 1):
            response = await self.get(address)
            if response.status not in MOVED:
                return response
            try:
                address = parse(response.headers.get("location", ""), address)
            except BadAddress as error:
                raise FetchError(f"redirects to no address: {error}") from error
        raise FetchError(f"more than acquire.crawl.max_redirects={self._settings.max_redirects}")

    async def aclose(self) -> None:
        await self._fetcher.aclose()


def _retry_after(text: str) -> float | None:
    """Seconds that a Retry-After field asks for, written as a number or as a date; nothing where it is neither."""
    if text.strip().isdecimal():
        return float(text)
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
