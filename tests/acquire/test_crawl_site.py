"""Crawls of whole sites on loopback: visits, documents and later crawls."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise, product
from pathlib import Path

import pytest

from ragstone.acquire.crawl import Batch, crawl, find_site
from ragstone.core.errors import Damaged, SourceError
from ragstone.core.records import Document, Skipped
from ragstone.settings import AcquireSettings, CrawlSettings
from servers.site import Asked, Reply, WebSite, moved, page

FAST = CrawlSettings(allow_private=True, delay_seconds=0, retries=0, page_seconds=3)
TESTS = Path(__file__).parent.parent


def read_page(body: bytes, content_type: str, url: str) -> Iterator[Document | Skipped]:
    if body:
        yield Document(id=url, text=body.decode(errors="replace"), url=url, metadata={"kind": content_type})
    else:
        yield Skipped(source=url, reason="empty")


def nothing(_write: Callable[[bytes], object]) -> None:
    """A response whose body is missing."""


@dataclass
class Library:
    """A stand-in for the catalog that stores and removes documents as a crawl asks."""

    url: str
    state: Path
    settings: CrawlSettings = FAST
    stored: dict[str, Document] = field(default_factory=dict)
    batches: list[Batch] = field(default_factory=list)

    def crawl(self, start: str = "/docs/", *, force: bool = False, settings: CrawlSettings | None = None) -> Library:
        """Crawl once; ``batches`` are those of this crawl."""
        self.batches = []
        site = find_site(self.url + start, AcquireSettings(crawl=settings or self.settings))

        async def run() -> None:
            pages = crawl(site, self.state, read_page, force=force, holds=lambda ids: set(ids) <= self.stored.keys())
            async for batch in pages:
                self.batches.append(batch)
                self.stored.update({document.id: document for document in batch.documents})
                for gone in batch.gone:
                    del self.stored[gone]

        asyncio.run(run())
        return self

    def paths(self, urls: Iterator[str] | list[str]) -> list[str]:
        return sorted(url.removeprefix(self.url) for url in urls)

    @property
    def has(self) -> list[str]:
        return self.paths(list(self.stored))

    @property
    def new(self) -> list[str]:
        return self.paths([document.id for batch in self.batches for document in batch.documents])

    @property
    def gone(self) -> list[str]:
        return self.paths([id for batch in self.batches for id in batch.gone])

    @property
    def unchanged(self) -> int:
        return sum(batch.unchanged for batch in self.batches)

    @property
    def skipped(self) -> dict[str, str]:
        found = [skipped for batch in self.batches for skipped in batch.skipped]
        return {one.source.removeprefix(self.url): one.reason for one in found}


@pytest.fixture
def site() -> Iterator[WebSite]:
    with WebSite() as server:
        yield server


@pytest.fixture
def library(site: WebSite, tmp_path: Path) -> Library:
    return Library(url=site.url, state=tmp_path / "crawl" / "site.db")


# ---------------------------------------------------------------- visits


def test_visits_each_page_in_scope_once(site: WebSite, library: Library) -> None:
    site.routes = {
        "/docs/": page(
            "a.html", "a.html#part", "./a.html", "/docs/sub/b", "/blog/", "http://elsewhere.example/", "x.png"
        ),
        "/docs/a.html": page("/docs/", "A.html?utm_source=mail", "sub/../sub/b", "mailto:x@y.example", "javascript:1"),
        "/docs/A.html": page(text="paths have case"),
        "/docs/sub/b": page("/docs/sub/c?x=1&y=2", "c?y=2&x=1", "/docs/%61.html"),
        "/docs/sub/c?x=1&y=2": page(text="c"),
        "/blog/": page(text="outside"),
    }
    library.crawl()
    assert library.has == ["/docs/", "/docs/A.html", "/docs/a.html", "/docs/sub/b", "/docs/sub/c?x=1&y=2"]
    assert sorted(site.pages) == library.has
    assert library.skipped == {}
    assert all("Ragstone" in one.headers["user-agent"] for one in site.asked)
    assert library.batches[-1].visited == 5


def test_only_the_owner_can_read_the_state(site: WebSite, library: Library) -> None:
    site.routes = {"/docs/": page(text="start")}
    library.crawl()
    assert stat.S_IMODE(library.state.stat().st_mode) == 0o600


def test_start_file_means_its_folder(site: WebSite, library: Library) -> None:
    site.routes = {"/docs/start.html": page("b.html", "/other/"), "/docs/b.html": page(), "/other/": page()}
    assert library.crawl("/docs/start.html").has == ["/docs/b.html", "/docs/start.html"]


def test_obeys_robots_unless_told_otherwise(site: WebSite, library: Library) -> None:
    rules = b"User-agent: *\nDisallow: /docs/private\nAllow: /docs/private/open\n"
    site.routes = {
        "/robots.txt": Reply(body=rules),
        "/docs/": page("private/x", "private/open", "hidden", "alone", "end"),
        "/docs/private/x": page(text="private"),
        "/docs/private/open": page(text="open"),
        "/docs/hidden": page("behind", head='<meta name="robots" content="noindex">'),
        "/docs/behind": page(text="behind"),
        "/docs/alone": page("unlinked", X_Robots_Tag="nofollow"),
        "/docs/unlinked": page(text="not reached"),
        "/docs/end": Reply(headers={"X-Robots-Tag": "none", "Content-Type": "text/html"}, body=b"x"),
    }
    library.crawl()
    assert library.has == ["/docs/", "/docs/alone", "/docs/behind", "/docs/private/open"]
    assert "/docs/private/x" not in site.pages
    assert "robots.txt forbids it" in library.skipped["/docs/private/x"]
    assert library.skipped["/docs/hidden"] == "the page asks not to be indexed"
    everything = library.crawl(force=True, settings=FAST.model_copy(update={"robots": False})).has
    assert len(everything) == 8


@pytest.mark.parametrize(
    ("robots", "said"),
    [
        (Reply(status=503), "robots.txt answers 503, so crawling is not allowed now"),
        (Reply(body=b"User-agent: *\nDisallow: /docs/"), "robots.txt forbids it"),
        (moved("http://10.0.0.1/robots.txt"), "no connection|not a public address|took longer"),
    ],
)
def test_visits_nothing_without_permission_of_robots(robots: Reply, said: str, site: WebSite, library: Library) -> None:
    site.routes = {"/robots.txt": robots, "/docs/": page()}
    if robots.status == 301:
        # The test must allow loopback, and so it allows 10.0.0.1, but not a port of another service.
        site.routes["/robots.txt"] = moved("http://127.0.0.1:22/robots.txt")
        said = "port 22"
    with pytest.raises(SourceError, match=said):
        library.crawl()
    assert site.pages == []


def test_finds_unlinked_pages_in_sitemaps(site: WebSite, library: Library) -> None:
    site.routes = {
        "/robots.txt": Reply(body=f"Sitemap: {site.url}/index.xml\nSitemap: http://elsewhere.example/x.xml".encode()),
        "/index.xml": Reply(body=b"<sitemapindex><loc>/one.xml</loc><loc>/index.xml</loc><loc>/none.xml</loc>"),
        "/one.xml": Reply(body=b"<urlset><loc>/docs/island</loc><loc>/blog/</loc><loc>/docs/</loc>"),
        "/docs/": page(),
        "/docs/island": page(text="reached by the map"),
    }
    assert library.crawl().has == ["/docs/", "/docs/island"]


def test_stores_page_once_under_canonical_url(site: WebSite, library: Library) -> None:
    def head(to: str) -> str:
        return f'<link rel="canonical" href="{to}">'

    site.routes = {
        "/docs/": page("print/a", "a?view=all", "lost", "circle", "far", "same"),
        "/docs/print/a": page("../onward", head=head("/docs/a")),
        "/docs/a?view=all": page(head=head("/docs/a")),
        "/docs/a": page(text="a itself", head=head("/docs/a")),
        "/docs/onward": page(text="links of a double are followed"),
        "/docs/lost": page(text="its proper address is not there", head=head("/docs/nowhere")),
        "/docs/circle": page(text="redirected to", head=head("/docs/circle-no-slash")),
        "/docs/circle-no-slash": moved("/docs/circle"),
        "/docs/far": page(text="proper address outside", head=head("http://elsewhere.example/far")),
        "/docs/same": page(text="a itself", head=head("/docs/a")),
    }
    library.crawl()
    assert library.has == ["/docs/", "/docs/a", "/docs/circle", "/docs/far", "/docs/lost", "/docs/onward"]
    assert library.skipped == {"/docs/nowhere": "answers 404"}
    assert library.crawl().new == []
    assert library.gone == []


@pytest.mark.parametrize("text", ["the same", "another"])
@pytest.mark.parametrize("order", [("print", "proper"), ("proper", "print")])
def test_finds_a_canonical_url_that_held_no_page_before(
    site: WebSite, library: Library, order: tuple[str, str], text: str
) -> None:
    head = '<link rel="canonical" href="/docs/proper">'
    site.routes = {"/docs/": page("print"), "/docs/print": page(text="the same", head=head)}
    assert library.crawl().has == ["/docs/", "/docs/print"]
    assert library.crawl().has == ["/docs/", "/docs/print"]
    site.routes |= {"/docs/": page(*order), "/docs/proper": page(text=text, head=head)}
    assert library.crawl().has == ["/docs/", "/docs/proper"]
    assert library.crawl().has == ["/docs/", "/docs/proper"]
    del site.routes["/docs/proper"]
    assert library.crawl().has == ["/docs/", "/docs/print"]


def test_stores_identical_pages_once(site: WebSite, library: Library) -> None:
    site.routes = {"/docs/": page("index.html"), "/docs/index.html": page("index.html")}
    assert library.crawl().has == ["/docs/"]
    assert library.crawl().has == ["/docs/"]


def test_follows_redirects_only_within_scope(site: WebSite, library: Library) -> None:
    site.routes = {
        "/docs/": page("old", "out", "away", "loop1", "self", "chain0", "bad", "file"),
        "/docs/old": moved("new", 302),
        "/docs/new": page(text="new"),
        "/docs/out": moved("/private/"),
        "/docs/away": moved("http://169.254.169.254/latest/"),
        "/docs/loop1": moved("loop2"),
        "/docs/loop2": moved("loop1"),
        "/docs/self": moved("self"),
        **{f"/docs/chain{i}": moved(f"chain{i + 1}", 307) for i in range(9)},
        "/docs/bad": moved("http://[bad"),
        "/docs/file": moved("file:///etc/passwd"),
        "/private/": page(text="private"),
    }
    library.crawl()
    assert library.has == ["/docs/", "/docs/new"]
    assert "/private/" not in site.pages
    skipped = library.skipped
    assert "outside of" in skipped["/docs/out"]
    assert "redirects to http://169.254.169.254/latest/: outside" in skipped["/docs/away"]
    assert "redirects in a circle" in (skipped["/docs/loop2"], skipped.get("/docs/loop1"))
    assert skipped["/docs/self"] == "redirects in a circle"
    assert skipped["/docs/chain5"] == "more than 5 redirects"
    assert "redirects to an invalid URL" in skipped["/docs/bad"]
    assert "redirects to an invalid URL" in skipped["/docs/file"]


def test_error_costs_one_page(site: WebSite, library: Library) -> None:
    site.routes = {
        "/docs/": page("404", "410", "500", "403", "cut", "image", "empty", "odd", "fine"),
        "/docs/410": Reply(status=410),
        "/docs/500": Reply(status=500),
        "/docs/403": Reply(status=403),
        "/docs/cut": Reply(headers={"Content-Length": "10", "Content-Type": "text/html"}, stream=nothing),
        "/docs/image": Reply(headers={"Content-Type": "image/png"}, body=b"\x89PNG"),
        "/docs/empty": Reply(headers={"Content-Type": "text/html"}),
        "/docs/odd": Reply(headers={"Content-Type": "text/html; charset=utf-8"}, body=b"<a href='b\xffd'>\xff\xfe"),
        "/docs/fine": page(text="fine"),
    }
    library.crawl()
    assert library.has == ["/docs/", "/docs/fine", "/docs/odd"]
    skipped = library.skipped
    assert skipped["/docs/404"] == "answers 404"
    assert skipped["/docs/500"] == "answers 500"
    assert "the connection ended" in skipped["/docs/cut"]
    assert skipped["/docs/image"] == "image/png, which is not read"
    assert skipped["/docs/empty"] == "empty"


@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        ({"max_depth": 4}, "max_depth=4"),
        ({"max_pages": 7}, "max_pages=7"),
        ({}, "more than 20 URLs that differ only in their query string"),
    ],
)
def test_endless_calendar_ends(settings: dict[str, int], limit: str, site: WebSite, library: Library) -> None:
    def month(asked: Asked) -> Reply:
        number = int(asked.target.rpartition("=")[2])
        return page(f"?month={number + 1}", f"?month={number - 1}", text=str(number))

    site.routes = {f"/docs/cal?month={i}": month for i in range(-50, 50)}
    site.routes["/docs/"] = page("cal?month=0")
    library.crawl(settings=FAST.model_copy(update=settings))
    assert len(site.pages) <= 22
    assert any(limit in reason for reason in library.skipped.values())


def test_leaves_circular_paths(site: WebSite, library: Library) -> None:
    site.routes = {"/docs/" + "more/deeper/" * i: page("more/deeper/", text=str(i)) for i in range(20)}
    library.crawl()
    assert len(library.has) == 4
    assert "looks like one of infinitely many" in library.skipped.values()


def test_leaves_pages_that_repeat_under_every_path(site: WebSite, library: Library) -> None:
    site.routes = {"/docs/": page(*(f"p{i}/" for i in range(63)))}
    for i in range(63):  # deeper than any crawl that ends
        below = ["".join(words) for depth in range(5) for words in product(("sub/", "x6/"), repeat=depth)]
        site.routes |= {f"/docs/p{i}/{path}": page("sub/", "x6/", text=str(i)) for path in below}
    library.crawl()
    assert library.has == sorted(["/docs/", *(f"/docs/p{i}/" for i in range(63))])
    assert len(site.pages) == 64 + 2 * 63 + 2 * 20  # the links of 20 repeated pages are followed
    left = [reason for reason in library.skipped.values() if "links of pages that repeat another page" in reason]
    assert left  # which pages come first is chance, as they are fetched side by side
    assert all("after 20 such pages" in reason for reason in left)


def test_follows_the_links_of_a_mirror(site: WebSite, library: Library) -> None:
    site.routes = {"/docs/": page("v1/", "a"), "/docs/v1/": page("v1/", "a")}
    site.routes |= {"/docs/a": page(text="today's"), "/docs/v1/a": page(text="yesterday's")}
    assert library.crawl().has == ["/docs/", "/docs/a", "/docs/v1/a"]


def test_sitemap_of_fifty_thousand_pages_ends_at_the_limit(site: WebSite, library: Library) -> None:
    locations = "".join(f"<url><loc>{site.url}/docs/p{i}</loc></url>" for i in range(50_000))
    site.routes = {f"/docs/p{i}": page(text=str(i)) for i in range(50)}
    site.routes |= {"/docs/": page(), "/sitemap.xml": Reply(body=f"<urlset>{locations}</urlset>".encode())}
    library.crawl(settings=FAST.model_copy(update={"max_pages": 30}))
    assert len(library.has) == len(site.pages) == 30
    assert "stopped at acquire.crawl.max_pages=30" in library.skipped["/docs/"]
    assert any("many times more than" in reason for reason in library.skipped.values())


def test_crawl_keeps_the_delay(site: WebSite, library: Library) -> None:
    site.routes = {"/docs/": page(*(f"p{i}" for i in range(6)))}
    site.routes |= {f"/docs/p{i}": page(text=str(i)) for i in range(6)}
    library.crawl(settings=FAST.model_copy(update={"delay_seconds": 0.1}))
    times = [one.at for one in site.asked]
    assert len(times) == 10  # With robots.txt and two places of a sitemap.
    # On a busy machine two requests may arrive closer together than they were sent.
    assert times[-1] - times[0] > 0.5


def test_site_may_ask_for_a_longer_delay(site: WebSite, library: Library) -> None:
    site.routes = {"/robots.txt": Reply(body=b"User-agent: *\nCrawl-delay: 0.2"), "/docs/": page("a", "b")}
    site.routes |= {"/docs/a": page(text="a"), "/docs/b": page(text="b")}
    library.crawl()
    times = [one.at for one in site.asked][1:]
    assert min(after - before for before, after in pairwise(times)) > 0.15


# ---------------------------------------------------------------- the next crawl


def test_second_crawl_fetches_only_changes(data_dir: Path, tmp_path: Path) -> None:
    with WebSite(folder=data_dir / "cudaq_docs" / "html_preview") as site:
        library = Library(url=site.url, state=tmp_path / "site.db")
        library.crawl("/v1/")
        first = library.has
        assert len(first) > 20
        assert all("/_static/" not in path for path in site.pages)
        site.forget()

        library.crawl("/v1/")
        assert library.new == []
        assert library.gone == []
        assert library.unchanged == len(first)
        known = [one for one in site.asked if one.target in first]
        assert all("if-none-match" in one.headers for one in known)

        library.crawl("/v1/", force=True)
        assert library.new == first


def test_changed_page_replaces_the_old_one(site: WebSite, library: Library) -> None:
    site.routes = {"/docs/": page("a", "b"), "/docs/a": page(text="old"), "/docs/b": page(text="b")}
    library.crawl()
    site.routes["/docs/a"] = page(text="new")
    library.crawl()
    assert (library.new, library.unchanged) == (["/docs/a"], 2)
    assert "new" in library.stored[f"{site.url}/docs/a"].text


def test_removes_vanished_pages_but_keeps_failing_ones(site: WebSite, library: Library) -> None:
    names = ["kept", "deleted", "broken", "moved", "busy", "unlinked", "forbidden", "left"]
    site.routes = {"/docs/": page(*names)} | {f"/docs/{name}": page(text=name) for name in names}
    assert len(library.crawl().has) == 9

    del site.routes["/docs/deleted"]
    site.routes |= {
        "/docs/": page("kept"),
        "/docs/broken": Reply(status=500),
        "/docs/moved": moved("there"),
        "/docs/there": page(text="moved"),
        "/docs/busy": moved("/docs/maintenance", 302),
        "/docs/maintenance": page(text="come again"),
        "/docs/left": Reply(status=410),
        "/robots.txt": Reply(body=b"User-agent: *\nDisallow: /docs/forbidden"),
    }
    library.crawl()
    assert library.gone == ["/docs/deleted", "/docs/forbidden", "/docs/left", "/docs/moved"]
    assert library.has == [
        *("/docs/", "/docs/broken", "/docs/busy", "/docs/kept", "/docs/maintenance", "/docs/there", "/docs/unlinked")
    ]
    assert library.crawl().gone == []


@pytest.mark.parametrize("left", [Reply(status=404), moved("/docs/new"), page(text="other")])
def test_finds_a_text_that_moved_nearer_to_the_start(left: Reply, site: WebSite, library: Library) -> None:
    site.routes = {"/docs/": page("a"), "/docs/a": page("deep/old"), "/docs/deep/old": page(text="corn")}
    library.crawl()
    site.routes |= {"/docs/": page("new", "a"), "/docs/new": page(text="corn"), "/docs/deep/old": left}
    assert "/docs/new" in library.crawl().has
    assert library.crawl().new == []


@pytest.mark.parametrize("start", [Reply(status=404), Reply(status=503), moved("http://elsewhere.example/")])
def test_site_that_is_down_loses_nothing(start: Reply, site: WebSite, library: Library) -> None:
    site.routes = {"/docs/": page("a"), "/docs/a": page(text="a")}
    library.crawl()
    site.routes = {"/docs/": start}
    with pytest.raises(SourceError, match=r"/docs/: "):
        library.crawl()
    assert library.has == ["/docs/", "/docs/a"]


@pytest.mark.parametrize(
    "dead", [Reply(headers={"Content-Length": "9", "Content-Type": "text/html"}, stream=nothing), Reply(status=503)]
)
def test_gives_up_on_a_silent_site(dead: Reply, site: WebSite, library: Library) -> None:
    names = [f"p{i:02}" for i in range(60)]
    site.routes = {"/docs/": page(*names)} | {f"/docs/{name}": page(text=name) for name in names}
    site.routes |= {f"/docs/{name}": dead for name in names[5:]}
    with pytest.raises(SourceError, match="no longer answers"):
        library.crawl()
    assert 5 <= len(library.has) <= 6  # on a busy machine, the last good page may still be under way
    assert 16 <= len(site.pages) < 60  # a good page that is read late counts as an answer again


def test_fetches_pages_whose_documents_are_missing(site: WebSite, library: Library) -> None:
    site.routes = {"/docs/": page("a", ETag='"1"'), "/docs/a": page(text="a", ETag='"2"')}
    library.crawl()
    del library.stored[f"{site.url}/docs/a"]
    assert library.crawl().new == ["/docs/a"]


def test_new_start_replaces_pages_of_the_site(site: WebSite, library: Library) -> None:
    site.routes = {"/v1/": page("a"), "/v1/a": page(text="a"), "/v2/": page("a"), "/v2/a": page(text="a2")}
    site.routes["/v2/"] = page("a", text="version 2")
    library.crawl("/v1/")
    library.crawl("/v2/")
    assert library.has == ["/v2/", "/v2/a"]


# ---------------------------------------------------------------- interruptions

CRAWLER = """
import asyncio, json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[4])
from acquire.test_crawl_site import FAST, read_page
from ragstone.acquire.crawl import crawl, find_site
from ragstone.settings import AcquireSettings

async def main():
    site = find_site(sys.argv[1], AcquireSettings(crawl=FAST))
    async for batch in crawl(site, Path(sys.argv[2]), read_page):
        with open(sys.argv[3], "a") as out:
            out.writelines(document.id + "\\n" for document in batch.documents)

asyncio.run(main())
"""


def test_killed_crawl_continues(site: WebSite, library: Library, tmp_path: Path) -> None:
    pages = 110
    site.routes = {"/docs/": page(*(f"p{i}" for i in range(pages)))}

    def slow(asked: Asked) -> Reply:
        time.sleep(0.005)
        return page(text=asked.target)

    site.routes |= {f"/docs/p{i}": slow for i in range(pages)}
    out = tmp_path / "stored.txt"
    command = [sys.executable, "-c", CRAWLER, f"{site.url}/docs/", str(library.state), str(out), str(TESTS)]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": ""}) as child:
        while not out.exists() or len(out.read_text().splitlines()) < 40:
            assert child.poll() is None
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
    before = out.read_text().splitlines()
    site.forget()

    subprocess.run(command, check=True, timeout=60, env={**os.environ, "PYTHONPATH": ""})
    after = out.read_text().splitlines()[len(before) :]
    assert len({*before, *after}) == pages + 1
    # Only requests in progress at the kill are repeated.
    assert len(site.pages) <= pages + 1 - len(before) + 64
    assert len(after) < pages


def test_batch_counts_when_the_next_is_requested(site: WebSite, library: Library) -> None:
    site.routes = {"/docs/": page("a"), "/docs/a": page(text="a")}

    async def take_one() -> Batch:
        pages = crawl(find_site(f"{site.url}/docs/", AcquireSettings(crawl=FAST)), library.state, read_page)
        try:
            return await anext(pages)
        finally:
            await pages.aclose()

    first = asyncio.run(take_one())
    assert asyncio.run(take_one()).documents == first.documents
    assert library.crawl().new == ["/docs/", "/docs/a"]
    assert library.crawl().new == []


def test_refuses_damaged_state_file(library: Library) -> None:
    library.state.parent.mkdir(parents=True)
    library.state.write_bytes(b"not a database " * 100)
    with pytest.raises(Damaged, match="remove it to crawl the site from the start"):
        library.crawl()


def test_refuses_state_file_of_another_version(library: Library) -> None:
    library.state.mkdir(parents=True)
    with pytest.raises(SourceError, match="cannot be opened"):
        library.crawl()
    library.state.rmdir()
    with closing(sqlite3.connect(library.state)) as other:
        other.execute("PRAGMA user_version = 99")
    with pytest.raises(Damaged, match="another version of Ragstone"):
        library.crawl()
