"""A run over a site: from the start, along links and sitemaps, to the outcome of every page.

A few requests run concurrently. All decisions are made in one place, one response after another.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from ragstone.acquire.crawl.links import Links, read_links, read_robots_words
from ragstone.acquire.crawl.polite import LONGEST_WAIT, MOST_REDIRECTS, Client
from ragstone.acquire.crawl.records import Event, Gone, Page, Site
from ragstone.acquire.crawl.rules import Rules, content_type, unwanted
from ragstone.acquire.crawl.sitemap import read_sitemaps
from ragstone.acquire.crawl.state import Row, State, Visit
from ragstone.acquire.crawl.urls import Address, BadAddress, parse
from ragstone.acquire.readers.encodings import charset_of, decoded
from ragstone.core.errors import SourceError
from ragstone.core.frozen import frozen
from ragstone.core.records import Skipped, Unchanged
from ragstone.services.pinned import BUSY, MOVED, FetchError, Reply

_PERMANENT = (301, 308)
_VANISHED = (404, 410)
_MOST_LINKS = 5000
_MOST_FAILURES = 10
_FOUND_PER_VISIT = 20
_CONCURRENT = 2
_MOST_QUERIES = 20
"""URLs to visit that differ only in their query string."""
_MOST_REPEATS = 20
"""Pages with the content of another page whose links are followed."""


@frozen
class _Answer:
    """The result of a request: a response, with its links if it is an HTML page, or a failure."""

    row: Row
    address: Address
    response: Reply | None = None
    links: Links | None = None
    failure: str = ""
    passing: bool = False


class Crawl:
    """One run over a site.

    Args:
        site: the site to crawl.
        state: its progress. An interrupted run continues.
        client: makes the requests.
        rules: which URLs are visited.
        force: also fetch pages that have not changed.
        holds: returns whether documents with these ids are still stored. If not, their page is fetched again.
    """

    def __init__(
        self,
        site: Site,
        state: State,
        client: Client,
        rules: Rules,
        *,
        force: bool,
        holds: Callable[[Sequence[str]], bool],
    ) -> None:
        self._site = site
        self._settings = site.settings
        self._state = state
        self._client = client
        self._rules = rules
        self._force = force
        self._holds = holds
        self._failures = 0
        self._left_out: dict[str, str] = {}

    async def events(self) -> AsyncGenerator[Event, None]:
        """Yield the outcome of each page.

        Raises:
            SourceError: the start page is forbidden or cannot be fetched, or the site stops answering.
        """
        site, state = self._site, self._state
        state.begin(force=self._force)
        if refusal := self._rules.refusal(site.start):
            raise SourceError(f"{site.start}: {refusal}")
        if delay := self._rules.robots.delay:
            self._client.pace.slow(site.start.host, min(delay, LONGEST_WAIT))
        seeds = await self._sitemap_pages()
        state.add(site.start, 0)
        if (first := state.get(str(site.start))) and not first.done:
            answer = await self._visit(first)
            # First of all, so that a site that is down, or has moved, does not count as a site without pages.
            if not seeds and (problem := self._problem(answer)):
                raise SourceError(f"{site.start}: {problem}")
            for event in self._events_of(answer):
                yield event
        for seed in seeds:
            self._offer(seed, 1)
        async with aclosing(self._visits()) as visits:
            async for event in visits:
                yield event
        if waiting := state.waiting():
            limit = f"acquire.crawl.max_pages={self._settings.max_pages}"
            yield Skipped(source=str(site.start), reason=f"stopped at {limit}; {waiting} URLs were not visited")
        for reason, example in self._left_out.items():
            yield Skipped(source=example, reason=f"skipped, possibly with similar URLs: {reason}")

    async def _sitemap_pages(self) -> list[Address]:
        if not self._settings.sitemap:
            return []
        home, robots = self._site.start, self._rules.robots
        usual = [home.at("/sitemap.xml"), home.at(f"{self._rules.scope.prefix}sitemap.xml")]
        wanted = [one for one in robots.sitemaps or usual if robots.allows(one)]
        pages = await read_sitemaps(self._client, wanted, self._settings.max_pages * _FOUND_PER_VISIT)
        return [page for page in pages if self._rules.interesting(page)]

    async def _visits(self) -> AsyncGenerator[Event, None]:
        """Visit all known URLs, and those found on the way."""
        under_way: dict[asyncio.Task[_Answer], str] = {}
        try:
            while True:
                while len(under_way) < _CONCURRENT and (row := self._next(under_way.values())):
                    under_way[asyncio.create_task(self._visit(row))] = row.url
                if not under_way:
                    return
                ready, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                for task in ready:
                    del under_way[task]
                    for event in self._events_of(task.result()):
                        yield event
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    def _next(self, busy: Collection[str]) -> Row | None:
        full = self._state.visited + len(busy) >= self._settings.max_pages
        return None if full else self._state.next(busy)

    async def _visit(self, row: Row) -> _Answer:
        address = parse(row.url)
        if refusal := self._rules.refusal(address):
            return _Answer(row=row, address=address, failure=refusal)
        headers: dict[str, str] = {}
        if self._may_be_unchanged(row):
            headers = {"If-None-Match": row.etag} if row.etag else {}
            headers |= {"If-Modified-Since": row.modified} if row.modified else {}
        try:
            response = await self._client.get(address, headers, refuse=partial(unwanted, address))
        except FetchError as error:
            return _Answer(row=row, address=address, failure=str(error), passing=error.passing)
        links = None
        kind = content_type(address, response.headers)
        if response.body and "html" in kind:
            links = await asyncio.to_thread(lambda: read_links(decoded(response.body, charset_of(kind))))
        return _Answer(row=row, address=address, response=response, links=links)

    def _may_be_unchanged(self, row: Row) -> bool:
        if self._force or not row.settled:
            return False
        return row.outcome == "canonical" or (row.outcome == "page" and row.stored and self._holds(row.documents))

    def _problem(self, answer: _Answer) -> str:
        """Return why the crawl cannot begin with this answer from the start page; empty if it can."""
        if answer.response is None:
            return answer.failure
        status = answer.response.status
        if status in MOVED:
            target = self._target(answer)
            return target if isinstance(target, str) else ""
        return "" if 200 <= status < 300 or status == 304 else f"answers {status}"

    # ------------------------------------------------------------ decisions
    def _events_of(self, answer: _Answer) -> list[Event]:
        """Record an answer and return its events."""
        response = answer.response
        if response is None:
            return self._failed(answer)
        status = response.status
        if status in BUSY:
            self._give_up_on_silence(f"answers {status}")
        else:
            self._failures = 0
        if status == 304 and self._may_be_unchanged(answer.row):
            return self._unchanged(answer)
        if 200 <= status < 300:
            return self._page(answer, response)
        if status in MOVED:
            return self._redirected(answer, status)
        if status in _VANISHED:
            return self._lost(answer, Visit(outcome="gone"), f"answers {status}")
        return self._kept(answer, f"answers {status}")

    def _unchanged(self, answer: _Answer) -> list[Event]:
        row = answer.row
        # Links first, here as everywhere: a recorded visit is not repeated after an interruption.
        self._offer_all(row.links, row.depth + 1)
        if row.outcome == "canonical":
            self._offer_all([row.target], row.depth)
        else:
            self._state.claim(row.url)
        self._state.keep(row.url)
        return [Unchanged(source=row.url)] if row.outcome == "page" else []

    def _page(self, answer: _Answer, response: Reply) -> list[Event]:
        # Its canonical URL may have turned out to hold a page while this one was fetched.
        row, links = self._state.get(answer.row.url) or answer.row, answer.links or Links(hrefs=[])
        if self._settings.robots:
            read_robots_words(response.headers.get("x-robots-tag", ""), links)
        else:
            links.noindex = links.nofollow = False
        if not links.noindex:
            self._state.claim(row.url)
        digest = hashlib.sha256(response.body).hexdigest()
        twin = self._state.twin(digest, row.url)
        leads_on = not links.nofollow and self._leads_on(answer.address, twin)
        onward = self._onward(answer.address, links) if leads_on else []
        self._offer_all(onward, row.depth + 1)
        if links.noindex:
            return self._lost(answer, Visit(outcome="skipped", links=onward), "the page asks not to be indexed")
        etag, modified = response.headers.get("etag", ""), response.headers.get("last-modified", "")
        proper = None if row.alone else self._proper_address(answer.address, links)
        if proper:
            self._offer_all([proper], row.depth)
            visit = Visit(outcome="canonical", target=proper, etag=etag, modified=modified, links=onward)
            return self._lost(answer, visit, f"the same page as {proper}", silent=True)
        if twin:
            visit = Visit(outcome="duplicate", target=twin, links=onward)
            return self._lost(answer, visit, f"the same page as {twin}", silent=True)
        same = self._may_be_unchanged(row) and row.digest == digest
        target = row.target if row.alone else ""
        visit = Visit(
            outcome="page", target=target, etag=etag, modified=modified, digest=digest, links=onward, settled=same
        )
        self._state.record(row.url, visit)
        if same:
            return [Unchanged(source=row.url)]
        kind = content_type(answer.address, response.headers)
        return [Page(url=row.url, content_type=kind, body=response.body, before=row.documents)]

    def _redirected(self, answer: _Answer, status: int) -> list[Event]:
        row, target = answer.row, self._target(answer)
        permanent = status in _PERMANENT
        if isinstance(target, str):
            visit = Visit(outcome="skipped")
            return self._lost(answer, visit, target) if permanent else self._kept(answer, target)
        self._state.add(target, row.depth, row.hops + 1)
        visit = Visit(outcome="redirect", target=str(target))
        if self._state.leads_to(str(target), row.url):
            # The canonical link of the target leads back here, so the target counts as a page of its own.
            self._state.reclaim(row.url)
        if permanent or not row.stored:
            return self._lost(answer, visit, f"moved to {target}", silent=True)
        self._state.record(row.url, visit)
        return [Skipped(source=row.url, reason=f"temporarily redirects to {target}; its stored documents are kept")]

    def _target(self, answer: _Answer) -> Address | str:
        """Return the target of a redirect, or why it is not followed."""
        assert answer.response is not None
        try:
            target = self._parsed(answer.response.headers.get("location", ""), answer.address)
        except BadAddress as error:
            return f"redirects to an invalid URL: {error}"
        if refusal := self._rules.refusal(target):
            return f"redirects to {target}: {refusal}"
        if answer.row.hops >= MOST_REDIRECTS:
            return f"more than {MOST_REDIRECTS} redirects"
        if self._state.leads_to(str(target), answer.row.url, by=["redirect"]):
            return "redirects in a circle"
        return target

    def _failed(self, answer: _Answer) -> list[Event]:
        if answer.passing:
            self._give_up_on_silence(answer.failure)
        if self._rules.refusal(answer.address):
            return self._lost(answer, Visit(outcome="skipped"), answer.failure)
        return self._kept(answer, answer.failure)

    def _give_up_on_silence(self, failure: str) -> None:
        """Count a temporary failure. After many in a row, give up on the site."""
        self._failures += 1
        if self._failures >= _MOST_FAILURES:
            raise SourceError(
                f"{self._site.start.origin} no longer answers ({failure}); the pages read so far are kept, "
                "and the same command continues from there"
            )

    def _lost(self, answer: _Answer, visit: Visit, reason: str, *, silent: bool = False) -> list[Event]:
        """Record that there is no page at this URL, so that its stored documents are removed.

        With ``silent``, nothing is reported, because the text is found at another URL.
        """
        row = answer.row
        self._state.record(row.url, replace(visit, settled=not row.stored))
        if visit.outcome in ("gone", "skipped"):
            self._state.reclaim(row.url)
        if row.stored:
            return [Gone(url=row.url, reason=reason, documents=row.documents)]
        return [] if silent else [Skipped(source=row.url, reason=reason)]

    def _kept(self, answer: _Answer, reason: str) -> list[Event]:
        """Record that the page could not be fetched this time. Its stored documents stay."""
        row = answer.row
        if row.stored:
            self._state.keep(row.url)
        else:
            self._state.record(row.url, Visit(outcome="skipped"))
        self._state.reclaim(row.url)
        return [Skipped(source=row.url, reason=reason)]

    # ------------------------------------------------------------ links
    def _onward(self, address: Address, links: Links) -> list[str]:
        """Return the links of a page within the crawl."""
        base = self._base(address, links)
        links_on: dict[str, None] = {}
        for href in links.hrefs:
            try:
                link = self._parsed(href, base)
            except BadAddress:
                continue
            if self._rules.interesting(link) and len(links_on) < _MOST_LINKS:
                links_on[str(link)] = None
        return list(links_on)

    def _proper_address(self, address: Address, links: Links) -> str | None:
        """Return the canonical URL of a page, if it is another URL and plausible."""
        if not links.canonical:
            return None
        try:
            proper = self._parsed(links.canonical, self._base(address, links))
        except BadAddress:
            return None
        url = str(proper)
        if self._rules.refusal(proper) or self._state.leads_to(url, str(address)):
            return None
        visited = self._state.get(url)
        return None if visited and visited.done and visited.outcome in ("gone", "skipped") else url

    def _leads_on(self, address: Address, twin: str) -> bool:
        """Return whether the links of a page are followed, given the URL of another with the same content, if any.

        On a repeated page, relative links are other URLs. Some are pages of a mirror that differ, and some never end,
        because a site shows the same pages under every path.
        """
        if not twin or self._state.repeated() < _MOST_REPEATS:
            return True
        reason = f"links of pages that repeat another page, after {_MOST_REPEATS} such pages"
        self._left_out.setdefault(reason, str(address))
        return False

    def _base(self, address: Address, links: Links) -> Address:
        try:
            return parse(links.base, address) if links.base else address
        except BadAddress:
            return address

    def _parsed(self, text: str, base: Address) -> Address:
        return self._rules.scope.link(parse(text, base, query=self._settings.query))

    def _offer_all(self, urls: Sequence[str], depth: int) -> None:
        for url in urls:
            self._offer(parse(url), depth)

    def _offer(self, address: Address, depth: int) -> None:
        """Add a URL to visit, unless it is beyond the limits."""
        settings, state = self._settings, self._state
        if depth > settings.max_depth:
            reason = f"more than acquire.crawl.max_depth={settings.max_depth} links from the start"
        elif address.query and state.queries(address) >= _MOST_QUERIES:
            reason = f"more than {_MOST_QUERIES} URLs that differ only in their query string"
        elif state.found >= settings.max_pages * _FOUND_PER_VISIT:
            reason = f"many times more than acquire.crawl.max_pages={settings.max_pages}"
        else:
            state.add(address, depth)
            return
        if state.get(str(address)) is None:
            self._left_out.setdefault(reason, str(address))
