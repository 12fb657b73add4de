"""Which addresses a crawl visits, and which kinds of pages it reads."""

from __future__ import annotations

from fnmatch import fnmatchcase

from ragstone.acquire.crawl.fetch import Headers
from ragstone.acquire.crawl.robots import Robots
from ragstone.acquire.crawl.urls import Address, Scope, looks_like_a_trap, worth_asking
from ragstone.sections import CrawlSettings

_KINDS = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/x-rst": "rst",
    "text/prs.fallenstein.rst": "rst",
    "text/plain": "text",
    "application/pdf": "pdf",
}
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
"""What servers say of files they know nothing about."""


class Rules:
    """What the settings and the site's robots.txt say of an address."""

    def __init__(self, start: Address, settings: CrawlSettings, robots: Robots) -> None:
        self.scope = Scope(start)
        self._settings = settings
        self._robots = robots

    def interesting(self, address: Address) -> bool:
        """Whether a link is worth a thought: most links of a page lead elsewhere, and nobody wants to hear of it."""
        return self.scope.holds(address) and worth_asking(address) and not self._excluded(address)

    def refusal(self, address: Address) -> str:
        """Why an address is not visited, or nothing."""
        if not self.scope.holds(address):
            return f"outside of {self.scope}"
        if self._excluded(address):
            return "left out by acquire.crawl.exclude"
        if looks_like_a_trap(address):
            return "looks like one of endlessly many"
        if not self._robots.allows(address):
            return "robots.txt forbids it; acquire.crawl.robots=false ignores that, where the site is your own"
        return ""

    def unwanted(self, address: Address, headers: Headers) -> str:
        """Why a page of this kind is not read, or nothing."""
        kind = content_type(address, headers).partition(";")[0]
        if _KINDS.get(kind) in self._settings.kinds:
            return ""
        return f"{kind}, not among acquire.crawl.kinds"

    def _excluded(self, address: Address) -> bool:
        return any(fnmatchcase(address.path, pattern) for pattern in self._settings.exclude)


def content_type(address: Address, headers: Headers) -> str:
    """The Content-Type field; where it says nothing of use, what the name of the page stands for."""
    written = headers.get("content-type", "")
    kind, semicolon, parameters = written.partition(";")
    kind = kind.strip().lower()
    if kind in _VAGUE:
        suffix = address.path.rpartition("/")[2].rpartition(".")[2].lower()
        kind = _SUFFIXES.get(suffix, kind or "text/html")
    return kind + semicolon + parameters
