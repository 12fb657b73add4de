"""What a crawl reports, address by address, and what becomes of a site's name."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from difflib import get_close_matches

from ragstone.acquire.crawl.urls import Address, BadAddress, parse
from ragstone.contracts import Document, Skipped, Unchanged
from ragstone.errors import UsageError
from ragstone.sections import AcquireSettings, CrawlSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page that is new or has changed. ``before``: ids of the documents stored for its earlier text."""

    url: str
    content_type: str
    body: bytes
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """A page that was stored and is there no more, or not for us; ``documents`` are the ids it was stored as."""

    url: str
    reason: str
    documents: tuple[str, ...]


Event = Page | Unchanged | Gone | Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A few pages' worth of work for whoever stores documents."""

    documents: tuple[Document, ...]
    gone: tuple[str, ...]
    """Ids of documents to remove."""
    skipped: tuple[Skipped, ...]
    told: tuple[str, ...]
    """Addresses that are what they are now: new, unchanged or gone. None of them is skipped any more."""
    unchanged: int
    """Pages that are as they were."""
    visited: int
    """Addresses visited in this run so far."""
    waiting: int
    """Addresses still to visit, as far as is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Something to crawl. ``name`` is also fit to be a file's."""

    name: str
    start: Address
    settings: CrawlSettings


def find_site(what: str, settings: AcquireSettings) -> Site:
    """The site a user means by a name of ``acquire.sites``, or by an address.

    Raises:
        UsageError: no such name, or not an address of the web.
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
        words = re.sub(r"[^a-z0-9]+", "-", f"{start.host}{start.path}".lower()).strip("-")[:60]
        name = f"{words}-{hashlib.sha256(str(start).encode()).hexdigest()[:8]}"
        return Site(name=name, start=start, settings=settings.crawl)
    own = {name: getattr(named, name) for name in named.model_fields_set if name != "start"}
    return Site(name=what, start=start, settings=settings.crawl.model_copy(update=own))
