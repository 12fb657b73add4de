"""URLs of pages: one spelling for each, the scope of a crawl, and crawler traps.

courlan 1.4 does not replace this: it keeps fragments, dots in paths, passwords, IDN hosts, numeric hosts such as 127.1
and ports of other services, and adds 36 MB.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from dataclasses import replace
from typing import Literal
from urllib.parse import quote, urljoin, urlsplit

import idna

from ragstone.core.frozen import frozen

_DEFAULT_PORTS = {"http": 80, "https": 443}
# Ports of other services, most of them below 1024: a request could be crafted to mean something to them.
_LOW_PORTS = (80, 81, 443, 591)
_REFUSED_PORTS = frozenset((
    1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, *range(6665, 6670), 6679, 6697,
    10080, 11211,
))  # fmt: skip
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_NUMERIC = re.compile(r"(?:.*\.)?(?:\d+|0x[0-9a-f]*)")
_EDGES = "".join(map(chr, range(33)))
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PATH_SAFE = "/%:@!$&'()*+,;=~"
_TRACKING = re.compile(
    r"utm_.*|(?:g|fb|ms|y|dc|tw)clid|gclsrc|mc_[ce]id|_ga|_gl|_hs(?:enc|mi)|igshid|vero_id|(?:php|j)?sess(?:ion)?_?id",
    re.IGNORECASE,
)
_FILE = re.compile(r".*\.(?:x?html?|php|aspx?|jsp|md|markdown|rst|txt|pdf)", re.IGNORECASE)
_NO_TEXT = re.compile(
    r".*\.(?:png|jpe?g|gif|svg|webp|ico|bmp|tiff?|css|m?js|map|json|xml|rss|atom|woff2?|ttf|otf|eot|mp[34]|webm|ogg|wav"
    r"|avi|mov|zip|gz|tgz|bz2|xz|7z|rar|tar|whl|deb|rpm|exe|dmg|iso|jar|inv|ipynb|csv|tsv|parquet|docx?|xlsx?|pptx?)",
    re.IGNORECASE,
)
_LONGEST = 2000
_DEEPEST = 20
_MOST_REPEATS = 3


class BadAddress(ValueError):
    """The text is not a web address; the message says why."""


@frozen
class Address:
    """A URL in its canonical spelling, which identifies a page."""

    scheme: str
    host: str
    port: int
    path: str
    query: str

    def __str__(self) -> str:
        return self.origin + self.target

    @property
    def origin(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.has_default_port else f":{self.port}")

    @property
    def target(self) -> str:
        """The path, and the query if there is one: the target of a request."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def has_default_port(self) -> bool:
        return self.port == _DEFAULT_PORTS[self.scheme]

    def at(self, path: str) -> Address:
        """Return the URL of another path on the same server."""
        return replace(self, path=path, query="")


def parse(text: str, base: Address | None = None, *, query: Literal["keep", "drop"] = "keep") -> Address:
    """Return a URL in its canonical spelling.

    Differences that do not change the page are removed: case, default ports, dots in the path, escapes, fragments,
    the order of parameters, and parameters that track visitors.

    Raises:
        BadAddress: the scheme is not http or https, or the URL is malformed or holds a password.
    """
    head, mark, tail = text.strip(_EDGES).partition("?")
    try:
        # Browsers read a backslash as a slash.
        joined = urljoin(str(base) if base else "", head.replace("\\", "/") + mark + tail)
        parts = urlsplit(joined)
        port = parts.port
    except ValueError as error:
        raise BadAddress(str(error)) from error
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS:
        raise BadAddress(f"{scheme or 'no scheme'}: only http and https are fetched")
    if "@" in parts.netloc:
        raise BadAddress("the address contains a user name or password")
    port = _DEFAULT_PORTS[scheme] if port is None else port
    if port in _REFUSED_PORTS or (port < 1024 and port not in _LOW_PORTS):
        raise BadAddress(f"port {port} is not a web port")
    host = _host(parts.hostname or "")
    path = _without_dots(_escaped(parts.path or "/"))
    return Address(scheme=scheme, host=host, port=port, path=path, query=_query(parts.query) if query == "keep" else "")


class Scope:
    """The URLs that a crawl may visit: those on the host of its start, below the folder of its start."""

    def __init__(self, start: Address) -> None:
        folder, _, name = start.path.rpartition("/")
        self._start = start
        # A last part without a slash is a folder too, like /docs and /docs/v1.2, unless it is the name of a file.
        self.prefix = f"{folder}/" if not name or _FILE.fullmatch(name) else f"{start.path}/"

    def __str__(self) -> str:
        return self._start.origin + self.prefix

    def holds(self, address: Address) -> bool:
        same_port = address.port == self._start.port or (address.has_default_port and self._start.has_default_port)
        inside = address.path.startswith(self.prefix) or address.path == self.prefix.removesuffix("/")
        return address.host == self._start.host and same_port and inside

    def link(self, address: Address) -> Address:
        """Return the URL as this crawl visits it: it does not leave https for http."""
        downgrade = self._start.scheme == "https" and address.scheme == "http" and address.has_default_port
        return replace(address, scheme="https", port=443) if downgrade and self.holds(address) else address


def worth_asking(address: Address) -> bool:
    """Return whether a page with this name may hold text."""
    return not _NO_TEXT.fullmatch(address.path)


def looks_like_a_trap(address: Address) -> bool:
    """Return whether a URL is very long, very deep or repetitive, like those that sites generate without end."""
    segments = [segment for segment in address.path.split("/") if segment]
    most = max(Counter(segments).values(), default=0)
    return len(str(address)) > _LONGEST or len(segments) > _DEEPEST or most > _MOST_REPEATS


def _host(name: str) -> str:
    try:
        if ":" in name and "%" not in name:  # With a zone, the address is local to this machine.
            return str(ipaddress.IPv6Address(name))
        host = name.rstrip(".").lower()
        if not host.isascii():
            host = idna.encode(host, uts46=True).decode("ascii")
        if _NUMERIC.fullmatch(host):
            # Some libraries accept 127.1, 0x7f000001 and 2130706433 as addresses; no honest link uses them.
            return str(ipaddress.IPv4Address(host))
    except ValueError as error:
        raise BadAddress(f"'{name}' is not a host") from error
    if not _HOST.fullmatch(host) or len(host) > 253:
        raise BadAddress(f"'{name}' is not a host")
    return host


def _escaped(text: str) -> str:
    """Escape what must be escaped, and nothing else."""

    def shorter(found: re.Match[str]) -> str:
        character = chr(int(found[1], 16))
        return character if character in _UNRESERVED else found[0].upper()

    text = _ESCAPE.sub(shorter, _STRAY_PERCENT.sub("%25", text))
    try:
        return quote(text, safe=_PATH_SAFE)
    except UnicodeEncodeError as error:
        raise BadAddress("it contains invalid characters") from error


def _without_dots(path: str) -> str:
    kept: list[str] = []
    for segment in path.split("/")[1:]:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if path.endswith(("/.", "/..")):
        kept.append("")
    return "/" + "/".join(kept)


def _query(query: str) -> str:
    parameters = [part for part in query.split("&") if part and not _TRACKING.fullmatch(part.partition("=")[0])]
    return "&".join(sorted((_escaped_query(part) for part in parameters), key=lambda part: part.partition("=")[0]))


def _escaped_query(part: str) -> str:
    try:
        return quote(_STRAY_PERCENT.sub("%25", part), safe=_PATH_SAFE + "?")
    except UnicodeEncodeError as error:
        raise BadAddress("it contains invalid characters") from error
