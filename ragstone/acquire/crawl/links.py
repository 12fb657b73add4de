"""The links, canonical URL and robots directives of a page.

A hostile page may try to keep a parser busy, and this code runs in our own process. So it finds tags in one pass over
the page, and reads the attributes of each within a bounded window.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<raw>script|style|textarea|title|template)(?=[\s/>]).*?(?:</(?P=raw)\s*+>|\Z)"
    r"|<(?P<name>a|area|base|link|meta|iframe|frame)(?=[\s/])",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE = re.compile(
    r"""[\s/="'<]*+(?:(?P<end>>)|(?P<name>[^\s"'<>/=]++)"""
    r"""(?:\s*+=\s*+(?:"(?P<double>[^"]*+)"|'(?P<single>[^']*+)'|(?P<bare>[^\s>"']++)))?+)"""
)
_WINDOW = 8192
_MOST_TAGS = 20_000
_REFRESH = re.compile(r"""\s*+[\d.]*+\s*+[;,]\s*+url\s*+=\s*+["']?([^"']*+)""", re.IGNORECASE)


@dataclass(slots=True, kw_only=True)
class Links:
    """URLs as the page writes them, relative to ``base``."""

    hrefs: list[str]
    base: str = ""
    canonical: str = ""
    noindex: bool = False
    nofollow: bool = False


def read_links(page: str) -> Links:
    """Return the links of an HTML page, in order, without repetitions."""
    links = Links(hrefs=[])
    hrefs: dict[str, None] = {}
    tags = position = 0
    while tags < _MOST_TAGS and (tag := _TAG.search(page, position)):
        position = tag.end()
        if tag["name"] is None:
            continue
        tags += 1
        # The search continues after the attributes, so that it examines no character twice.
        attributes, position = _attributes(page, position)
        href = attributes.get("href", "").strip()
        match tag["name"].lower():
            case "a" | "area" if href and "nofollow" not in attributes.get("rel", "").lower().split():
                hrefs[href] = None
            case "frame" | "iframe" if source := attributes.get("src", "").strip():
                hrefs[source] = None
            case "base" if href and not links.base:
                links.base = href
            case "link" if href and attributes.get("rel", "").lower().split() == ["canonical"]:
                links.canonical = links.canonical or href
            case "meta":
                _read_meta(attributes, links, hrefs)
            case _:
                pass
    links.hrefs = list(hrefs)
    return links


def read_robots_words(text: str, links: Links) -> None:
    """Read the directives of a robots header or meta tag: ``noindex``, ``nofollow``, ``none``."""
    words = set(re.split(r"[\s,]+", text.lower()))
    links.noindex |= bool(words & {"noindex", "none"})
    links.nofollow |= bool(words & {"nofollow", "none"})


def _read_meta(attributes: dict[str, str], found: Links, hrefs: dict[str, None]) -> None:
    content = attributes.get("content", "")
    if attributes.get("name", "").lower() == "robots":
        read_robots_words(content, found)
    elif attributes.get("http-equiv", "").lower() == "refresh" and (refresh := _REFRESH.match(content)):
        hrefs[refresh[1].strip()] = None


def _attributes(page: str, position: int) -> tuple[dict[str, str], int]:
    """Return the attributes from a position to the end of the tag, and that end. The first of a name counts."""
    attributes: dict[str, str] = {}
    window = position + _WINDOW
    while part := _ATTRIBUTE.match(page, position, window):
        position = part.end()
        if part["end"] is not None:
            break
        value = next((value for value in part.group("double", "single", "bare") if value is not None), "")
        attributes.setdefault(part["name"].lower(), html.unescape(value))
    return attributes, position
