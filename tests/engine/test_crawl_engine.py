"""Web sites followed by the engine: what is stored of them, cited, and taken out again."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from kb import FAST, add, check_whole, embedder_of, open_fast, parts

from ragstone.core.access import OWNER
from ragstone.core.errors import SourceError, UsageError
from ragstone.core.records import Document
from ragstone.core.reports import AddReport, Progress
from ragstone.engine.knowledge_base import KnowledgeBase
from servers.site import Reply, WebSite, page

CRAWL = ("acquire.crawl.allow_private=true", "acquire.crawl.delay_seconds=0", "acquire.crawl.retries=0")
ANSWER = "respond.abstain_below=0"


@pytest.fixture
def site() -> Iterator[WebSite]:
    with WebSite() as server:
        server.routes = {
            "/docs/": page("a.html", "b.html", text="Welcome to the manual of the tide mill."),
            "/docs/a.html": page(text="The tide mill grinds twice a day."),
            "/docs/b.html": page(text="The miller keeps three grey cats."),
        }
        yield server


@pytest.fixture
def engine(workdir: Path) -> Iterator[KnowledgeBase]:
    engine = open_fast(workdir / "kb", *CRAWL, ANSWER)
    yield engine
    engine.close()


def crawl(engine: KnowledgeBase, what: str, *, force: bool = False) -> AddReport:
    return asyncio.run(engine.documents.crawl(what, force=force))


def stored(engine: KnowledgeBase, site: WebSite) -> list[str]:
    return sorted(document.id.removeprefix(site.url) for document in parts(engine).catalog.documents())


def changes(report: AddReport) -> tuple[int, int, int]:
    return report.added, report.updated, report.removed


def test_pages_are_stored_and_cited_by_their_address(engine: KnowledgeBase, site: WebSite) -> None:
    told: list[Progress] = []
    report = asyncio.run(engine.documents.crawl(f"{site.url}/docs/", told.append))
    assert (changes(report), report.unchanged, report.skipped) == ((3, 0, 0), 0, ())
    assert stored(engine, site) == ["/docs/", "/docs/a.html", "/docs/b.html"]
    assert (told[-1].files, told[-1].total, told[-1].documents) == (3, 3, 3)
    assert told[-1].current.startswith(site.url)
    assert told[-1].seconds_left is None  # a page may lead to more
    answer = asyncio.run(engine.ask("The tide mill grinds how often a day?", reader=OWNER))
    urls = {citation.url for citation in answer.citations}
    assert f"{site.url}/docs/a.html" in urls
    assert {source.url for source in answer.sources} == urls
    assert engine.documents.get("/docs/a.html", reader=OWNER).source == f"{site.url}/docs/a.html"


def test_crawling_again_stores_only_what_changed(engine: KnowledgeBase, site: WebSite) -> None:
    start = f"{site.url}/docs/"
    crawl(engine, start)
    before = engine.status()
    seen = embedder_of(engine).seen
    seen.clear()
    report = crawl(engine, start)
    assert (changes(report), report.unchanged, report.embedded) == ((0, 0, 0), 3, 0)
    assert engine.status().generation == before.generation
    site.routes["/docs/a.html"] = page("c.html", text="The tide mill grinds no more.")
    site.routes["/docs/c.html"] = page(text="A new page about sails.")
    site.routes["/docs/b.html"] = Reply(status=404)
    report = crawl(engine, start)
    assert (changes(report), report.unchanged) == ((1, 1, 1), 1)
    assert stored(engine, site) == ["/docs/", "/docs/a.html", "/docs/c.html"]
    assert len(seen) == report.embedded == 2
    assert not [hit for hit in asyncio.run(engine.search("grey cats", 9, reader=OWNER)) if "cats" in hit.chunk.text]
    check_whole(parts(engine).source.path / "catalog.db")


def test_force_fetches_what_has_not_changed(engine: KnowledgeBase, site: WebSite, workdir: Path) -> None:
    folder = workdir / "site"
    folder.mkdir()
    (folder / "index.html").write_text('<html><body><p>First page.</p><a href="x.html">x</a></body></html>')
    (folder / "x.html").write_text("<html><body><p>Second page.</p></body></html>")
    site.folder, site.routes = folder, {}
    crawl(engine, f"{site.url}/")
    for force, conditional in ((False, True), (True, False)):
        site.forget()
        report = crawl(engine, f"{site.url}/", force=force)
        assert (changes(report), report.embedded) == ((0, 0, 0), 0)
        asked = [one for one in site.asked if one.target in ("/", "/x.html")]
        assert len(asked) == 2
        assert all(("if-none-match" in one.headers) is conditional for one in asked)


def test_a_removed_page_is_fetched_again(engine: KnowledgeBase, site: WebSite) -> None:
    start = f"{site.url}/docs/"
    crawl(engine, start)
    engine.documents.remove(["/docs/b.html"], reader=OWNER)
    report = crawl(engine, start)
    assert (changes(report), report.unchanged, report.embedded) == ((1, 0, 0), 2, 1)


def test_a_site_that_is_down_loses_nothing(engine: KnowledgeBase, site: WebSite) -> None:
    start = f"{site.url}/docs/"
    crawl(engine, start)
    routes = dict(site.routes)
    site.routes = dict.fromkeys(["/docs/", "/docs/a.html", "/docs/b.html"], Reply(status=503))
    with pytest.raises(SourceError, match="503"):
        crawl(engine, start)
    assert len(stored(engine, site)) == 3
    site.routes = {**routes, "/docs/b.html": Reply(status=500)}
    report = crawl(engine, start)
    assert (changes(report), [one.source for one in report.skipped]) == ((0, 0, 0), [f"{start}b.html"])
    assert [one.source for one in engine.status().skipped] == [f"{start}b.html"]
    assert len(stored(engine, site)) == 3
    site.routes = routes
    assert changes(crawl(engine, start)) == (0, 0, 0)
    assert engine.status().skipped == ()
    server_gone = WebSite()
    with server_gone:
        url = server_gone.url
    with pytest.raises(SourceError):
        crawl(engine, url)


def test_two_sites_and_a_folder_leave_each_other_alone(engine: KnowledgeBase, site: WebSite, workdir: Path) -> None:
    site.routes["/blog/"] = page(text="A blog about cheese.")
    (workdir / "notes").mkdir()
    (workdir / "notes" / "n.txt").write_text("A note about bread.")
    add(engine, Document(id="mine", text="my own"))
    asyncio.run(engine.documents.sync(["notes"]))
    crawl(engine, f"{site.url}/docs/")
    crawl(engine, f"{site.url}/blog/")
    site.routes["/docs/b.html"] = Reply(status=410)
    assert changes(crawl(engine, f"{site.url}/docs/")) == (0, 0, 1)
    assert changes(asyncio.run(engine.documents.sync(["notes"]))) == (0, 0, 0)
    assert stored(engine, site) == ["/blog/", "/docs/", "/docs/a.html", "mine", "notes/n.txt"]


def test_a_crawl_goes_on_after_a_rebuild(engine: KnowledgeBase, site: WebSite) -> None:
    start = f"{site.url}/docs/"
    crawl(engine, start)
    asyncio.run(engine.versions.rebuild(["chunk.size=100"]))
    other = KnowledgeBase.open("kb", [*CRAWL])
    report = crawl(other, start)
    assert (changes(report), report.unchanged, report.embedded) == ((0, 0, 0), 3, 0)
    other.close()


def test_named_sites_and_unknown_ones(site: WebSite, workdir: Path) -> None:
    named = f"acquire.sites={{mill: {{start: '{site.url}/docs/', max_pages: 1}}}}"
    engine = KnowledgeBase.open(workdir / "kb", [*FAST, *CRAWL, named], create=True)
    assert changes(crawl(engine, "mill")) == (1, 0, 0)
    for wrong in ("mil", "ftp://127.0.0.1/", "http://"):
        with pytest.raises(UsageError):
            crawl(engine, wrong)
    engine.close()


def test_a_private_address_is_refused_by_default(site: WebSite, workdir: Path) -> None:
    engine = open_fast(workdir / "kb")
    with pytest.raises(SourceError):
        crawl(engine, f"{site.url}/docs/")
    assert site.asked == []
    engine.close()


def test_a_real_manual(data_dir: Path, engine: KnowledgeBase, workdir: Path) -> None:
    """A part of a site made by Sphinx, served from a folder."""
    source = data_dir / "cudaq_docs" / "html_preview"
    pages = [path for path in sorted(source.rglob("*.html")) if path.stat().st_size < 200_000][:12]
    for path in pages:
        to = workdir / "manual" / path.relative_to(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, to)
    names = [path.relative_to(source).as_posix() for path in pages]
    with WebSite({"/": page(*names, text="All pages of the manual.")}, folder=workdir / "manual") as server:
        report = crawl(engine, f"{server.url}/")
        assert report.added >= 10
        assert all(one.url.startswith(server.url) for one in parts(engine).catalog.documents())
        again = crawl(engine, f"{server.url}/")
        assert (changes(again), again.embedded) == ((0, 0, 0), 0)
        (workdir / "manual" / names[0]).unlink()
        assert changes(crawl(engine, f"{server.url}/"))[2] <= 1
    check_whole(parts(engine).source.path / "catalog.db")


def test_a_page_is_added_without_what_it_links_to(engine: KnowledgeBase, site: WebSite) -> None:
    address = f"{site.url}/docs/"
    report = asyncio.run(engine.documents.add_page(address))
    assert (changes(report), report.skipped) == ((1, 0, 0), ())
    assert stored(engine, site) == ["/docs/"]
    site.routes["/docs/"] = page("c.html", text="Welcome to the manual of the wind mill.")
    assert changes(asyncio.run(engine.documents.add_page(address))) == (0, 1, 0)
    with pytest.raises(SourceError):
        asyncio.run(engine.documents.add_page(f"{site.url}/none.html"))


@pytest.mark.parametrize(
    "address", ["http://mill.example:22/", "http://a:b@mill.example/", "http://1.2.3/", "http://[/"]
)
def test_pages_at_bad_addresses_are_bad_sources(engine: KnowledgeBase, address: str) -> None:
    """A worker ends on a usage error, so an address that a caller sends must not be one."""
    with pytest.raises(SourceError, match="cannot be added as a page"):
        asyncio.run(engine.documents.add_page(address))


def test_a_feed_is_added_by_its_entries(engine: KnowledgeBase, site: WebSite) -> None:
    entries = "".join(
        f"<item><title>News {n}</title><guid>{n}</guid><description>The mill ground {n} sacks.</description></item>"
        for n in range(3)
    )
    feed = f'<?xml version="1.0"?><rss version="2.0"><channel><title>Mill</title>{entries}</channel></rss>'
    site.routes["/news.xml"] = Reply(body=feed.encode(), headers={"Content-Type": "application/rss+xml"})
    assert changes(asyncio.run(engine.documents.add_page(f"{site.url}/news.xml"))) == (3, 0, 0)
