"""Crawl web sites politely: within a path, at a pace, by the rules of the site, and no page twice.

`crawl` is the entry point. `run` makes the decisions, `polite` and `fetch` make the requests, `rules` selects the URLs,
and `state` stores the progress.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, closing
from pathlib import Path

from ragstone.acquire.crawl.fetch import Fetcher
from ragstone.acquire.crawl.polite import Client
from ragstone.acquire.crawl.records import Batch, Event, Gone, Page, Site, find_site, page_at
from ragstone.acquire.crawl.robots import read_robots
from ragstone.acquire.crawl.rules import Rules
from ragstone.acquire.crawl.run import Crawl
from ragstone.acquire.crawl.state import State
from ragstone.core.errors import SourceError
from ragstone.core.records import Document, Skipped, Unchanged

__all__ = ["Batch", "Site", "ToDocuments", "crawl", "find_site", "page_at"]

ToDocuments = Callable[[bytes, str, str], Iterator[Document | Skipped]]
"""Return the documents of a page, given its bytes, content type and URL."""

_PAGES = 32
_BYTES = 8_000_000


def _holds_all(_ids: Sequence[str]) -> bool:
    return True


async def crawl(
    site: Site,
    state: Path,
    to_documents: ToDocuments,
    *,
    force: bool = False,
    holds: Callable[[Sequence[str]], bool] = _holds_all,
    client: Client | None = None,
) -> AsyncGenerator[Batch, None]:
    """Yield the documents of a site that are new, changed or gone since the last crawl, in batches.

    The request for the next batch confirms that the caller has stored this one and removed its ``gone`` documents. If
    a crawl stops before that, the next one yields the batch again and continues from there.

    Args:
        site: the site, from `find_site`.
        state: the file with the progress of the crawl. It belongs to one knowledge base and one site; the caller makes
            sure that only one crawl uses it at a time.
        to_documents: reads a page, in a thread.
        force: also fetch pages that have not changed.
        holds: returns whether documents with these ids are still stored. If not, their page is fetched again.
        client: makes the requests, and is closed at the end. By default, a client for the settings of the site.

    Raises:
        SourceError: robots.txt or the start page cannot be fetched, or the site stops answering.
    """
    requests = client or Client(Fetcher(site.settings), site.settings)
    with closing(State(state)) as memory:
        try:
            rules = Rules(site.start, site.settings, await read_robots(requests, site.start, site.settings))
            run = Crawl(site, memory, requests, rules, force=force, holds=holds)
            async with aclosing(run.events()) as events, aclosing(_parts(events)) as parts:
                async for part in parts:
                    batch, stored = await asyncio.to_thread(_read, part, to_documents, memory.visited, memory.waiting())
                    yield batch
                    memory.settle(stored)
            memory.finish()
        finally:
            await requests.aclose()


async def _parts(events: AsyncGenerator[Event, None]) -> AsyncGenerator[list[Event], None]:
    """Group events into parts of limited size."""
    part: list[Event] = []
    size = 0
    try:
        async for event in events:
            part.append(event)
            size += len(event.body) if isinstance(event, Page) else 0
            if len(part) >= _PAGES or size >= _BYTES:
                yield part
                part, size = [], 0
    except SourceError:
        # Store what was read before the site stopped answering.
        if part:
            yield part
        raise
    if part:
        yield part


def _read(
    part: list[Event], to_documents: ToDocuments, visited: int, waiting: int
) -> tuple[Batch, list[tuple[str, list[str]]]]:
    """Return a batch, and the ids of the documents of each of its pages."""
    documents: list[Document] = []
    gone: list[str] = []
    skipped: list[Skipped] = []
    unchanged: list[str] = []
    stored: list[tuple[str, list[str]]] = []
    for event in part:
        match event:
            case Skipped():
                skipped.append(event)
            case Gone():
                gone += event.documents
                stored.append((event.url, []))
            case Page():
                results = _results(event, to_documents)
                fresh = [one for one in results if isinstance(one, Document)]
                documents += fresh
                skipped += [one for one in results if isinstance(one, Skipped)]
                ids = [one.id for one in fresh]
                gone += [id for id in event.before if id not in ids]
                stored.append((event.url, ids))
            case Unchanged():
                unchanged.append(event.source)
    batch = Batch(
        documents=tuple(documents),
        # A page may be gone and found again within one batch.
        gone=tuple(id for id in gone if id not in {document.id for document in documents}),
        skipped=tuple(skipped),
        urls=(*(url for url, _ in stored), *unchanged),
        unchanged=len(unchanged),
        visited=visited,
        waiting=waiting,
    )
    return batch, stored


def _results(page: Page, to_documents: ToDocuments) -> list[Document | Skipped]:
    try:
        return list(to_documents(page.body, page.content_type, page.url))
    except SourceError as error:
        return [Skipped(source=page.url, reason=str(error))]
