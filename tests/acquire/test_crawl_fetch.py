"""Crawler: single requests, their limits, and private addresses."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import time
from collections.abc import Callable, Iterable
from typing import Any, cast

import httpcore2
import pytest

from ragstone.acquire.crawl.fetch import Fetcher
from ragstone.acquire.crawl.polite import Client, Pace
from ragstone.acquire.crawl.urls import parse
from ragstone.services.network import Resolve
from ragstone.services.pinned import FetchError
from ragstone.services.pinned import Reply as Response
from ragstone.settings import CrawlSettings
from servers.site import Reply, Route, WebSite, moved, page

PUBLIC = "93.184.216.34"
OPEN = CrawlSettings(allow_private=True, delay_seconds=0, page_seconds=1)


class Detour(httpcore2.AsyncNetworkBackend):
    """A backend that connects to loopback and records the intended address and the TLS name."""

    def __init__(self) -> None:
        self.connected: list[str] = []
        self.tls_names: list[str | None] = []
        self._inner = cast(httpcore2.AsyncNetworkBackend, httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        self.connected.append(host)
        stream = await self._inner.connect_tcp("127.0.0.1", port, timeout, local_address, socket_options)
        note, real = self.tls_names, stream.start_tls

        async def start_tls(
            ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
        ) -> httpcore2.AsyncNetworkStream:
            note.append(server_hostname)
            return await real(ssl_context, server_hostname, timeout)

        stream.start_tls = start_tls
        return stream


def answering(*answers: list[str]) -> Resolve:
    """Return a resolver that gives one answer after another, and then repeats the last."""
    left = list(answers)

    async def resolve(_host: str, _port: int) -> list[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return resolve


def get(url: str, settings: CrawlSettings = OPEN, **options: Any) -> Response:
    async def ask() -> Response:
        fetcher = Fetcher(settings, **options)
        try:
            return await fetcher.get(parse(url))
        finally:
            await fetcher.aclose()

    return asyncio.run(ask())


def served(route: Route) -> Response:
    with WebSite({"/": route}) as site:
        return get(f"{site.url}/")


def dribble(write: Callable[[bytes], object]) -> None:
    for _ in range(100):
        write(b"x")
        time.sleep(0.05)


def flood(write: Callable[[bytes], object]) -> None:
    for _ in range(10_000):
        write(b"x" * 10_000)


def test_fetches_page_with_headers_and_unpacks_it() -> None:
    packed = Reply(body=gzip.compress(b"hello"), headers={"Content-Encoding": "gzip", "ETag": '"a"'})
    response = served(packed)
    assert (response.status, response.body, response.headers["etag"]) == (200, b"hello", '"a"')


@pytest.mark.parametrize(
    ("reply", "said", "passing"),
    [
        (Reply(body=b"x" * 10_000_001), "larger than 10 MB", False),
        (Reply(stream=flood), "larger than", False),
        (Reply(body=gzip.compress(b"\0" * 50_000_000), headers={"Content-Encoding": "gzip"}), "larger than", False),
        (Reply(body=b"no gzip", headers={"Content-Encoding": "gzip"}), "damaged gzip", False),
        (Reply(body=gzip.compress(b"x" * 999)[:-9], headers={"Content-Encoding": "gzip"}), "ended in the middle", True),
        (Reply(body=b"x", headers={"Content-Encoding": "br"}), "the content encoding br was not requested", False),
        (Reply(stream=dribble), "took longer than acquire.crawl.page_seconds=1", True),
        (Reply(headers={"Content-Length": "99"}, stream=lambda write: write(b"x")), "the connection ended", True),
    ],
    ids=["large", "endless", "bomb", "no gzip", "cut gzip", "brotli", "slow", "cut"],
)
def test_limits_what_a_site_can_send(reply: Reply, said: str, passing: bool) -> None:
    started = time.perf_counter()
    with pytest.raises(FetchError, match=said) as raised:
        served(reply)
    assert raised.value.passing == passing
    assert time.perf_counter() - started < 10


def test_silent_or_missing_server_is_a_temporary_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(FetchError, match="took longer") as raised:
            get(url, OPEN.model_copy(update={"page_seconds": 0.2}))
    assert raised.value.passing
    with pytest.raises(FetchError, match="no connection") as raised:
        get(url)
    assert raised.value.passing


@pytest.mark.parametrize("url", ["http://localhost:8000/", "http://[::1]:8000/", "http://169.254.169.254/latest/"])
def test_refuses_private_addresses_before_connecting(url: str) -> None:
    detour = Detour()
    with pytest.raises(FetchError, match=r"not a public address; set acquire\.crawl\.allow_private"):
        get(url, CrawlSettings(), backend=detour, resolve=echo)
    assert detour.connected == []


async def echo(host: str, _port: int) -> list[str]:
    return ["127.0.0.1"] if host == "localhost" else [host]


def test_refuses_name_with_any_private_address() -> None:
    detour = Detour()
    with pytest.raises(FetchError, match=r"site\.example is 10\.0\.0\.1"):
        get("http://site.example/", CrawlSettings(), backend=detour, resolve=answering([PUBLIC, "10.0.0.1"]))
    assert detour.connected == []


def test_connects_to_the_checked_address() -> None:
    with WebSite({"/": page()}) as site:
        detour = Detour()
        get(f"http://site.example:{site.port}/", CrawlSettings(), backend=detour, resolve=answering([PUBLIC]))
        assert detour.connected == [PUBLIC]
        assert site.asked[0].headers["host"] == f"site.example:{site.port}"


def test_dns_rebinding_reaches_no_private_address() -> None:
    async def ask_twice(port: int, detour: Detour) -> None:
        fetcher = Fetcher(CrawlSettings(), backend=detour, resolve=answering([PUBLIC], ["127.0.0.1"]))
        url = parse(f"http://site.example:{port}/")
        try:
            await fetcher.get(url)
            with pytest.raises(FetchError, match=r"site\.example is 127\.0\.0\.1"):
                await fetcher.get(url)
        finally:
            await fetcher.aclose()

    with WebSite({"/": Reply(body=b"x", headers={"Connection": "close"})}) as site:
        detour = Detour()
        asyncio.run(ask_twice(site.port, detour))
        assert detour.connected == [PUBLIC]


def test_checks_certificate_against_host_name() -> None:
    with WebSite() as site:
        detour = Detour()
        with pytest.raises(FetchError, match="no connection") as raised:
            get(f"https://site.example:{site.port}/", CrawlSettings(), backend=detour, resolve=answering([PUBLIC]))
        assert detour.tls_names == ["site.example"]
        assert not raised.value.passing


@pytest.mark.parametrize("target", ["http://127.0.0.1/", "http://internal.example/"])
def test_checks_every_hop_of_a_redirect(target: str) -> None:
    async def resolve(host: str, _port: int) -> list[str]:
        return {"site.example": [PUBLIC], "internal.example": ["192.168.0.1"]}.get(host, [host])

    async def follow(port: int) -> None:
        settings = CrawlSettings(delay_seconds=0)
        client = Client(Fetcher(settings, backend=Detour(), resolve=resolve), settings)
        try:
            with pytest.raises(FetchError, match="not a public address"):
                await client.follow(parse(f"http://site.example:{port}/"))
        finally:
            await client.aclose()

    with WebSite({"/": moved("/hop"), "/hop": moved(target)}) as site:
        asyncio.run(follow(site.port))
        assert [one.target for one in site.asked] == ["/", "/hop"]


def test_uses_proxy_from_settings_not_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with WebSite({"/": page(), "http://site.example/": page(text="by proxy")}) as site:
        assert get(f"{site.url}/").status == 200
        proxied = get("http://site.example/", CrawlSettings(proxy=site.url))
        assert b"by proxy" in proxied.body
        with pytest.raises(FetchError, match="not a public address"):
            get("http://10.0.0.1/", CrawlSettings(proxy=site.url))


# ---------------------------------------------------------------- attempts


class Asleep:
    """A sleep that returns at once and records its duration."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def ask_patiently(*replies: Reply, settings: CrawlSettings = OPEN) -> tuple[int, list[float], int]:
    """Return the final status, the pauses, and the number of requests."""
    left = list(replies)
    asleep = Asleep()

    async def ask(url: str) -> int:
        pace = Pace(0, clock=asleep.clock, sleep=asleep.sleep)
        client = Client(Fetcher(settings), settings, pace)
        try:
            return (await client.get(parse(url))).status
        finally:
            await client.aclose()

    with WebSite({"/": lambda _asked: left.pop(0) if len(left) > 1 else left[0]}) as site:
        return asyncio.run(ask(site.url)), asleep.slept, len(site.asked)


def test_retries_temporary_failures_with_backoff() -> None:
    status, slept, asked = ask_patiently(Reply(status=500), Reply(status=502), page())
    assert (status, asked) == (200, 3)
    assert 0.75 <= slept[0] <= 1.25
    assert 1.5 <= slept[1] <= 2.5


def test_obeys_retry_after() -> None:
    assert ask_patiently(Reply(status=429, headers={"Retry-After": "17"}), page()) == (200, [17.0], 2)
    past = Reply(status=503, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})
    assert ask_patiently(past, page()) == (200, [], 2)


def test_limits_attempts_and_waits() -> None:
    assert ask_patiently(Reply(status=503))[::2] == (503, 4)
    assert ask_patiently(Reply(status=503, headers={"Retry-After": "86400"})) == (503, [], 1)
    assert ask_patiently(Reply(status=404)) == (404, [], 1)
