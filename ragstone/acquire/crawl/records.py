"""The events and batches of a crawl, and the site to crawl."""

from __future__ import annotations

import hashlib
import re
from difflib import get_close_matches

from ragstone.acquire.crawl.urls import Address, BadAddress, parse
from ragstone.core.errors import SourceError, UsageError
from ragstone.core.frozen import frozen
from ragstone.core.records import Document, Skipped, Unchanged
from ragstone.settings import AcquireSettings, CrawlSettings


@frozen
class Page:
    """A page that is new or has changed. ``before`` holds the ids of the documents stored for its earlier text."""

    url: str
    content_type: str
    body: bytes
    before: tuple[str, ...] = ()


@frozen
class Gone:
    """A stored page that is gone or no longer allowed. ``documents`` holds the ids that it was stored under."""

    url: str
    reason: str
    documents: tuple[str, ...]


Event = Page | Unchanged | Gone | Skipped


@frozen
class Batch:
    """Documents to store and to remove, from a few pages."""

    documents: tuple[Document, ...]
    gone: tuple[str, ...]
    """Ids of documents to remove."""
    skipped: tuple[Skipped, ...]
    urls: tuple[str, ...]
    """URLs that are new, unchanged or gone now. A note that they were skipped is out of date."""
    unchanged: int
    """Pages that have not changed."""
    visited: int
    """URLs visited in this run so far."""
    waiting: int
    """Known URLs still to visit."""


@frozen
class Site:
    """A site to crawl. ``name`` can serve as a file name."""

    name: str
    start: Address
    settings: CrawlSettings


def find_site(what: str, settings: AcquireSettings) -> Site:
    """Return the site for a name in ``acquire.sites`` or for a URL.

    Raises:
        UsageError: no site has this name, or the URL is not a web address.
    """
    named = settings.sites.get(what)
    if named is None and "://" not in what:
        near = get_close_matches(what, settings.sites, n=1)
        meant = f"; did you mean {near[0]}?" if near else "; give an address, or name it in acquire.sites"
        raise UsageError(f"there is no site '{what}'{meant}")
    try:
        start = parse(named.start if named else what)
    except BadAddress as error:
        raise UsageError(f"'{named.start if named else what}' cannot be crawled: {error}") from error
    if named is None:
        return Site(name=_name_of(start), start=start, settings=settings.crawl)
    own = {name: getattr(named, name) for name in named.model_fields_set if name != "start"}
    return Site(name=what, start=start, settings=settings.crawl.model_copy(update=own))


def page_at(address: str, settings: AcquireSettings) -> Site:
    """Return a site of one page alone, whose progress is kept apart.

    Raises:
        SourceError: it is not a web address. Callers send these, so it does not mean that a setting is wrong.
    """
    try:
        start = parse(address)
    except BadAddress as error:
        raise SourceError(f"'{address}' cannot be added as a page: {error}") from error
    limits = {"max_pages": 1, "max_depth": 0, "sitemap": False}
    return Site(name=f"page-{_name_of(start)}", start=start, settings=settings.crawl.model_copy(update=limits))


def _name_of(start: Address) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", f"{start.host}{start.path}".lower()).strip("-")[:60]
    return f"{words}-{hashlib.sha256(str(start).encode()).hexdigest()[:8]}"
