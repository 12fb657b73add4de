"""Crawler: URLs, scope, links, sitemaps and robots.txt."""

from __future__ import annotations

import asyncio
import gzip
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.acquire.crawl import find_site
from ragstone.acquire.crawl.links import read_links
from ragstone.acquire.crawl.polite import Pace
from ragstone.acquire.crawl.robots import Robots
from ragstone.acquire.crawl.sitemap import read_sitemap
from ragstone.acquire.crawl.urls import BadAddress, Scope, looks_like_a_trap, parse, worth_asking
from ragstone.core.errors import UsageError
from ragstone.settings import AcquireSettings, SiteSettings

BASE = parse("https://docs.example/guide/start.html")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("HTTPS://Docs.Example:443", "https://docs.example/"),
        ("http://docs.example:8080/a", "http://docs.example:8080/a"),
        ("next.html#part", "https://docs.example/guide/next.html"),
        ("#part", "https://docs.example/guide/start.html"),
        ("../up/./it", "https://docs.example/up/it"),
        ("/%7euser/%2e%2e/a%2fb", "https://docs.example/a%2Fb"),
        ("//other.example/x", "https://other.example/x"),
        ("..\\windows\\style", "https://docs.example/windows/style"),
        ("  \n/spaced\t", "https://docs.example/spaced"),
        ("/a b/ü%zz", "https://docs.example/a%20b/%C3%BC%25zz"),
        ("?utm_source=x&b=2&a=1&fbclid=y&a=0", "https://docs.example/guide/start.html?a=1&a=0&b=2"),
        ("?PHPSESSID=1&sid=2", "https://docs.example/guide/start.html?sid=2"),
        ("/?", "https://docs.example/"),
        ("https://bücher.example./", "https://xn--bcher-kva.example/"),
        ("https://faß.example/", "https://xn--fa-hia.example/"),
        ("http://[2001:DB8::1]:80/", "http://[2001:db8::1]/"),
        ("http://good.example\\@evil.example/", "http://good.example/@evil.example/"),
    ],
)
def test_url_has_one_spelling(written: str, meant: str) -> None:
    address = parse(written, BASE)
    assert str(address) == meant
    assert parse(meant) == address


@pytest.mark.parametrize(
    "written",
    [
        *("javascript:alert(1)", "mailto:a@b.example", "file:///etc/passwd", "ftp://docs.example/", "data:text/html,x"),
        *("http://me:secret@docs.example/", "http://me@docs.example/", "http://docs.example:22/", "http://a:99999/"),
        *("http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/", "http://127.1/", "http://1.2.3.4.5/"),
        *("http://[::1%25lo]/", "http://[::1/", "http://exa mple/", "http://a..b/", "http://-\u2488.example/\ud800"),
    ],
)
def test_refuses_urls_that_are_not_web_addresses(written: str) -> None:
    with pytest.raises(BadAddress):
        parse(written, BASE)


@given(st.text(max_size=80))
def test_normalizing_a_url_twice_changes_nothing(text: str) -> None:
    try:
        address = parse(text, BASE)
    except BadAddress:
        return
    assert parse(str(address)) == address
    assert str(address).isascii()
    assert "/../" not in address.path


def test_drops_query_on_request() -> None:
    assert str(parse("/a?b=1", BASE, query="drop")) == "https://docs.example/a"


@pytest.mark.parametrize(
    ("start", "inside", "outside"),
    [
        ("https://h.example/docs/guide/", ["docs/guide/", "docs/guide", "docs/guide/a/b?c"], ["docs/", "docs/guider"]),
        ("https://h.example/docs/guide", ["docs/guide/a", "docs/guide"], ["docs/other"]),
        ("https://h.example/docs/v1.2", ["docs/v1.2/a"], ["docs/v1.3/a"]),
        ("https://h.example/docs/index.html", ["docs/", "docs/b.html"], ["blog/"]),
        ("https://h.example", ["", "anything"], []),
    ],
)
def test_scope_is_the_folder_of_the_start(start: str, inside: list[str], outside: list[str]) -> None:
    scope = Scope(parse(start))
    assert all(scope.holds(parse(f"https://h.example/{path}")) for path in inside)
    assert not any(scope.holds(parse(f"https://h.example/{path}")) for path in outside)
    assert not scope.holds(parse(start.replace("h.example", "h.example.evil")))
    assert not scope.holds(parse(start.replace("h.example", "h.example:8443")))


def test_escapes_do_not_leave_the_scope() -> None:
    assert not Scope(parse("https://h.example/docs/")).holds(parse("https://h.example/docs/%2e%2e/%2E%2e/private"))


def test_https_is_not_downgraded_to_http() -> None:
    scope = Scope(parse("https://h.example/docs/"))
    assert str(scope.link(parse("http://h.example/docs/a"))) == "https://h.example/docs/a"
    assert Scope(parse("http://h.example/")).holds(parse("https://h.example/a"))


def test_recognizes_crawler_traps() -> None:
    assert looks_like_a_trap(parse("https://h.example/a/b/a/b/a/b/a/b/"))
    assert looks_like_a_trap(parse("https://h.example/" + "/".join(map(str, range(30)))))
    assert looks_like_a_trap(parse("https://h.example/?" + "x" * 3000))
    assert not looks_like_a_trap(parse("https://h.example/latest/api/python/latest/api.html"))


def test_skips_urls_of_files_without_text() -> None:
    assert not worth_asking(parse("https://h.example/logo.PNG?v=1"))
    assert worth_asking(parse("https://h.example/release-1.2"))


# ---------------------------------------------------------------- pages, sitemaps, robots


def test_reads_links_of_a_page() -> None:
    links = read_links("""
        <!-- <a href="commented"> --><script>document.write('<a href="scripted">')</script>
        <BASE HREF=/base/><link rel="stylesheet" href="x.css"><link rel=canonical href='/proper?a=1&amp;b=2'>
        <a title="a > b" class=x href="one">1</a> <a href=two>2</a><a href = 'three' href="never">3</a>
        <a href="one">again</a><a rel="nofollow noopener" href="paid">ad</a><a>none</a><a href="">empty</a>
        <area href="four"/><iframe src="five"></iframe><abbr href="no"><article href="no">
        <meta http-equiv=refresh content="3; url='six'"><meta name="ROBOTS" content="NoIndex, follow">
    """)
    assert links.hrefs == ["one", "two", "three", "four", "five", "six"]
    assert (links.base, links.canonical) == ("/base/", "/proper?a=1&b=2")
    assert (links.noindex, links.nofollow) == (True, False)


@pytest.mark.parametrize(
    "page",
    [
        '<a "' * 60_000,
        "<a " * 60_000,
        "<!--" * 60_000,
        "<script>" * 30_000,
        "<script></script " * 15_000,
        "<a" + " x" * 115_000,
        "<a href=" + "&amp" * 60_000,
        "<meta" + " " * 300_000,
        "<a =" + "=" * 300_000,
    ],
    ids=lambda page: page[:12],
)
def test_hostile_page_takes_linear_time(page: str) -> None:
    started = time.perf_counter()
    read_links(page)
    assert time.perf_counter() - started < 5


def test_reads_every_kind_of_sitemap() -> None:
    home = parse("https://h.example/sitemap.xml")
    xml = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>
        <urlset><url><loc> https://h.example/a?x=1&amp;y=2 </loc></url><url><loc><![CDATA[https://h.example/b]]></loc>
        </url><url><loc>https://elsewhere.example/</loc></url><url><loc>&e;</loc></url></urlset>"""
    found = ["https://h.example/a?x=1&y=2", "https://h.example/b", "https://h.example/&e"]
    for body in (xml, gzip.compress(xml)):
        assert [str(one) for one in read_sitemap(body, home, 9)[1]] == found
    assert read_sitemap(b"<sitemapindex><sitemap><loc>/b.xml</loc>", home, 9)[0]
    plain = read_sitemap(b"https://h.example/c\n/d\n", home, 9)[1]
    assert [str(one) for one in plain] == ["https://h.example/c", "https://h.example/d"]
    assert len(read_sitemap(b"/x\n" * 100, home, 9)[1]) == 9
    assert read_sitemap(b"\x1f\x8bnonsense", home, 9) == (False, [])


ROBOTS = """
User-agent: *
Disallow: /

User-agent: Ragstone
User-agent: other
Disallow: /private
Allow: /private/open
Disallow: /*.tmp$
Crawl-delay: 7

Sitemap: https://h.example/map.xml
Sitemap: https://elsewhere.example/map.xml
"""


def test_longest_robots_rule_wins() -> None:
    home = parse("https://h.example/docs/")
    robots = Robots(ROBOTS, "Ragstone/1 (+mailto:me@other.example)", home)
    allowed = ["/", "/private/open/x", "/a.tmp.html", "/priv"]
    forbidden = ["/private", "/private/x", "/a.tmp"]
    assert all(robots.allows(home.at(path)) for path in allowed)
    assert not any(robots.allows(home.at(path)) for path in forbidden)
    assert robots.delay == 7
    assert [str(one) for one in robots.sitemaps] == ["https://h.example/map.xml"]
    assert not Robots(ROBOTS, "Somebody", home).allows(home)


# ---------------------------------------------------------------- pace


class VirtualClock:
    """A clock that only sleeping advances."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, until)


def test_pace_delays_requests_to_one_host() -> None:
    clock = VirtualClock()
    pace = Pace(0.5, clock=clock, sleep=clock.sleep)
    starts: list[float] = []

    async def ask() -> None:
        await pace.turn("h.example")
        starts.append(clock.now)

    async def many() -> None:
        await asyncio.gather(*(ask() for _ in range(10)))
        pace.slow("h.example", 3)
        await ask()
        await ask()
        pace.hold("h.example", 20)
        await ask()
        pace.slow("h.example", 0.1)
        await ask()
        await ask()

    asyncio.run(many())
    gaps = [after - before for before, after in pairwise(starts)]
    assert all(gap >= 0.5 for gap in gaps)
    assert gaps[10] >= 3
    assert gaps[11] >= 20
    assert gaps[13] >= 0.5


# ---------------------------------------------------------------- names


def test_finds_site_by_name_or_url() -> None:
    named = SiteSettings(start="https://h.example/docs/", max_pages=7)
    settings = AcquireSettings(sites={"docs": named}).model_copy(update={})
    docs = find_site("docs", settings)
    assert (docs.name, str(docs.start), docs.settings.max_pages) == ("docs", "https://h.example/docs/", 7)
    assert docs.settings.delay_seconds == settings.crawl.delay_seconds
    other = find_site("https://H.example/a b/", settings)
    assert str(other.start) == "https://h.example/a%20b/"
    assert other.name.startswith("h-example-a-20b-")
    with pytest.raises(UsageError, match="did you mean docs"):
        find_site("doc", settings)
    with pytest.raises(UsageError, match="only http and https"):
        find_site("ftp://h.example/", settings)
