"""Of the crawler: single requests, their limits, and that nothing private is ever reached."""

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
from servers.site import Reply, Route, WebSite, moved, page

from ragstone.acquire.crawl.fetch import Fetcher, FetchError, Response
from ragstone.acquire.crawl.polite import Client, Pace
from ragstone.acquire.crawl.urls import parse
from ragstone.models.network import Resolve
from ragstone.sections import CrawlSettings

PUBLIC = "93.184.216.34"
OPEN = CrawlSettings(allow_private=True, delay_seconds=0, max_page_mb=0.1, page_seconds=1)


class Detour(httpcore2.AsyncNetworkBackend):
    """Notes which address a connection was to be made to, and makes it to loopback; notes TLS names, too."""

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
    """A resolver that gives one answer after the other, and the last for ever."""
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


def test_a_page_comes_with_its_headers_and_unpacked() -> None:
    packed = Reply(body=gzip.compress(b"hello"), headers={"Content-Encoding": "gzip", "ETag": '"a"'})
    response = served(packed)
    assert (response.status, response.body, response.headers["etag"]) == (200, b"hello", '"a"')


@pytest.mark.parametrize(
    ("reply", "said", "passing"),
    [
        (Reply(body=b"x" * 200_000), "larger than acquire.crawl.max_page_mb=0.1", False),
        (Reply(stream=flood), "larger than", False),
        (Reply(body=gzip.compress(b"\0" * 50_000_000), headers={"Content-Encoding": "gzip"}), "larger than", False),
        (Reply(body=b"no gzip", headers={"Content-Encoding": "gzip"}), "damaged gzip", False),
        (Reply(body=gzip.compress(b"x" * 999)[:-9], headers={"Content-Encoding": "gzip"}), "ended in the middle", True),
        (Reply(body=b"x", headers={"Content-Encoding": "br"}), "packed as br", False),
        (Reply(stream=dribble), "took longer than acquire.crawl.page_seconds=1", True),
        (Reply(headers={"Content-Length": "99"}, stream=lambda write: write(b"x")), "the connection ended", True),
    ],
    ids=["large", "endless", "bomb", "no gzip", "cut gzip", "brotli", "slow", "cut"],
)
def test_what_a_site_may_do_to_a_reader_is_bounded(reply: Reply, said: str, passing: bool) -> None:
    started = time.perf_counter()
    with pytest.raises(FetchError, match=said) as raised:
        served(reply)
    assert raised.value.passing == passing
    assert time.perf_counter() - started < 3


def test_a_server_that_says_nothing_or_is_not_there_is_a_failure_that_may_pass() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(FetchError, match="took longer") as raised:
            get(url, OPEN.model_copy(update={"page_seconds": 0.2}))
    assert raised.value.passing
    with pytest.raises(FetchError, match="no connection") as raised:
        get(url)
    assert raised.value.passing


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1:8000/", "http://localhost:8000/", "http://[::1]:8000/", "http://[::ffff:127.0.0.1]:8000/"),
        *("http://169.254.169.254/latest/meta-data/", "http://0.0.0.0:8000/", "http://10.0.0.1/"),
    ],
)
def test_private_addresses_are_refused_before_a_connection_is_made(url: str) -> None:
    detour = Detour()
    with pytest.raises(FetchError, match=r"not a public address; acquire\.crawl\.allow_private"):
        get(url, CrawlSettings(), backend=detour, resolve=echo)
    assert detour.connected == []


async def echo(host: str, _port: int) -> list[str]:
    return ["127.0.0.1"] if host == "localhost" else [host]


def test_a_name_with_a_private_address_among_others_is_refused() -> None:
    detour = Detour()
    with pytest.raises(FetchError, match=r"site\.example is 10\.0\.0\.1"):
        get("http://site.example/", CrawlSettings(), backend=detour, resolve=answering([PUBLIC, "10.0.0.1"]))
    assert detour.connected == []


def test_the_connection_is_made_to_the_address_that_was_checked() -> None:
    with WebSite({"/": page()}) as site:
        detour = Detour()
        get(f"http://site.example:{site.port}/", CrawlSettings(), backend=detour, resolve=answering([PUBLIC]))
        assert detour.connected == [PUBLIC]
        assert site.asked[0].headers["host"] == f"site.example:{site.port}"


def test_a_name_that_changes_to_a_private_address_gains_nothing() -> None:
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


def test_certificates_are_checked_against_the_name() -> None:
    with WebSite() as site:
        detour = Detour()
        with pytest.raises(FetchError, match="no connection"):
            get(f"https://site.example:{site.port}/", CrawlSettings(), backend=detour, resolve=answering([PUBLIC]))
        assert detour.tls_names == ["site.example"]


@pytest.mark.parametrize(
    "target", ["http://127.0.0.1/", "http://[::1]/", "http://internal.example/", "http://169.254.169.254/"]
)
def test_every_hop_of_a_redirect_is_checked(target: str) -> None:
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


def test_proxies_of_the_environment_are_ignored_and_one_of_the_settings_is_used(
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
    """Notes how long it was to sleep, and does not."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def ask_patiently(*replies: Reply, settings: CrawlSettings = OPEN) -> tuple[int, list[float], int]:
    """The final status, the pauses, and how often the site was asked."""
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


def test_a_failure_that_may_pass_is_tried_again_later_and_later() -> None:
    status, slept, asked = ask_patiently(Reply(status=500), Reply(status=502), page())
    assert (status, asked) == (200, 3)
    assert 0.75 <= slept[0] <= 1.25
    assert 1.5 <= slept[1] <= 2.5


def test_a_site_says_how_long_to_wait() -> None:
    assert ask_patiently(Reply(status=429, headers={"Retry-After": "17"}), page()) == (200, [17.0], 2)
    past = Reply(status=503, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})
    assert ask_patiently(past, page()) == (200, [], 2)


def test_attempts_and_waits_have_an_end() -> None:
    assert ask_patiently(Reply(status=503))[::2] == (503, 4)
    assert ask_patiently(Reply(status=503, headers={"Retry-After": "86400"})) == (503, [], 1)
    assert ask_patiently(Reply(status=404)) == (404, [], 1)
