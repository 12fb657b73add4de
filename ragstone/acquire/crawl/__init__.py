"""Web sites -> documents, politely: within a path, at a pace, by the site's rules, and no page twice.

`crawl` is all that others need. Inside, `run` decides, `polite` and `fetch` make the requests, `guard` says
where they may go, and `state` remembers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, closing
from pathlib import Path

from ragstone.acquire.crawl.fetch import Fetcher
from ragstone.acquire.crawl.polite import Client
from ragstone.acquire.crawl.records import Batch, Event, Gone, Page, Site, find_site
from ragstone.acquire.crawl.run import Crawl
from ragstone.acquire.crawl.state import State
from ragstone.contracts import Document, Skipped, Unchanged
from ragstone.errors import SourceError

__all__ = ["Batch", "Site", "ToDocuments", "crawl", "find_site"]

ToDocuments = Callable[[bytes, str, str], Iterator[Document | Skipped]]
"""A page's bytes, its Content-Type and its address to the documents in it."""

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
    """The documents of a site that are new, changed or gone since the last time, a batch at a time.

    Asking for the next batch says that this one is stored, and its ``gone`` removed. A crawl that is stopped
    before that, in whatever way, hands it out again the next time, and goes on from there.

    Args:
        site: what `find_site` made of a name or an address.
        state: file that remembers the crawl. It belongs to one knowledge base and one site; whoever calls sees to
            it that no second crawl uses it meanwhile.
        to_documents: reads a page; runs in a thread.
        force: fetch pages that have not changed, too.
        holds: whether documents of these ids are still stored; a page without them is fetched anew.
        client: makes the requests, and is closed at the end; by default one made for the site's settings.

    Raises:
        SourceError: robots.txt or the start cannot be had, or the site no longer answers.
    """
    requests = client or Client(Fetcher(site.settings), site.settings)
    with closing(State(state)) as memory:
        run = Crawl(site, memory, requests, force=force, holds=holds)
        try:
            async with aclosing(run.events()) as events, aclosing(_parts(events)) as parts:
                async for part in parts:
                    batch, stored = await asyncio.to_thread(_read, part, to_documents, memory.visited, memory.waiting())
                    yield batch
                    memory.settle(stored)
            memory.finish()
        finally:
            await requests.aclose()


async def _parts(events: AsyncGenerator[Event, None]) -> AsyncGenerator[list[Event], None]:
    """Events, some at a time; bounded also by the bytes of their pages."""
    part: list[Event] = []
    held = 0
    try:
        async for event in events:
            part.append(event)
            held += len(event.body) if isinstance(event, Page) else 0
            if len(part) >= _PAGES or held >= _BYTES:
                yield part
                part, held = [], 0
    except SourceError:
        # What was read before the site fell silent is worth storing.
        if part:
            yield part
        raise
    if part:
        yield part


def _read(
    part: list[Event], to_documents: ToDocuments, visited: int, waiting: int
) -> tuple[Batch, list[tuple[str, list[str]]]]:
    """A batch, and which documents each of its pages is stored as once the batch is."""
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
        # A page may be lost and found again within a batch.
        gone=tuple(id for id in gone if id not in {document.id for document in documents}),
        skipped=tuple(skipped),
        told=(*(url for url, _ in stored), *unchanged),
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
