"""The URLs that a crawl visits, and the kinds of pages that it reads."""

from __future__ import annotations

from fnmatch import fnmatchcase

from ragstone.acquire.crawl.robots import Robots
from ragstone.acquire.crawl.urls import Address, Scope, looks_like_a_trap, worth_asking
from ragstone.acquire.readers import SUFFIX_OF_TYPE
from ragstone.services.pinned import Headers
from ragstone.settings import CrawlSettings

_SUFFIXES = {
    "html": "text/html",
    "htm": "text/html",
    "xhtml": "application/xhtml+xml",
    "md": "text/markdown",
    "markdown": "text/markdown",
    "rst": "text/x-rst",
    "txt": "text/plain",
    "pdf": "application/pdf",
}
_VAGUE = ("", "text/plain", "application/octet-stream", "binary/octet-stream")
"""Content types of servers that do not know the kind of a file."""


class Rules:
    """The rules for URLs, from the settings and the robots.txt of the site."""

    def __init__(self, start: Address, settings: CrawlSettings, robots: Robots) -> None:
        self.scope = Scope(start)
        self.robots = robots
        self._settings = settings

    def interesting(self, address: Address) -> bool:
        """Return whether a link belongs to the crawl. Most links lead elsewhere, and are not reported."""
        return self.scope.holds(address) and worth_asking(address) and not self._excluded(address)

    def refusal(self, address: Address) -> str:
        """Return why a URL is not visited; empty if it is."""
        if not self.scope.holds(address):
            return f"outside of {self.scope}"
        if self._excluded(address):
            return "excluded by acquire.crawl.exclude"
        if looks_like_a_trap(address):
            return "looks like one of infinitely many"
        if not self.robots.allows(address):
            return "robots.txt forbids it; if the site is yours, set acquire.crawl.robots=false"
        return ""

    def _excluded(self, address: Address) -> bool:
        return any(fnmatchcase(address.path, pattern) for pattern in self._settings.exclude)


def unwanted(address: Address, headers: Headers) -> str:
    """Return why a page of this kind is not read; empty if it is."""
    kind = content_type(address, headers).partition(";")[0]
    return "" if kind in SUFFIX_OF_TYPE else f"{kind}, which is not read"


def content_type(address: Address, headers: Headers) -> str:
    """Return the Content-Type of a page; if it is too vague, the type that the name of the page suggests."""
    written = headers.get("content-type", "")
    kind, semicolon, parameters = written.partition(";")
    kind = kind.strip().lower()
    if kind in _VAGUE:
        suffix = address.path.rpartition("/")[2].rpartition(".")[2].lower()
        kind = _SUFFIXES.get(suffix, kind or "text/html")
    return kind + semicolon + parameters
