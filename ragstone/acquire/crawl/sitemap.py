"""URLs from the sitemaps of a site: indexes, gzip and plain lists, all within limits."""

from __future__ import annotations

import html
import re
import zlib

from ragstone.acquire.crawl.polite import Client
from ragstone.acquire.crawl.urls import Address, BadAddress, parse
from ragstone.services.pinned import FetchError

_LOCATION = re.compile(r"<(?:\w+:)?loc\s*>\s*(?:<!\[CDATA\[)?([^<\]]{1,4000})", re.IGNORECASE)
"""A regular expression instead of an XML parser, so that entities of a hostile file do nothing."""
_INDEX = re.compile(r"<(?:\w+:)?sitemapindex[\s>]", re.IGNORECASE)
_MOST_FILES = 50
_MOST_BYTES = 50_000_000


async def read_sitemaps(client: Client, wanted: list[Address], limit: int) -> list[Address]:
    """Return the pages on the same host that sitemaps name, without repetitions.

    Args:
        client: fetches the files.
        wanted: the first sitemaps; missing ones are ignored.
        limit: the largest number of pages to return.
    """
    pages: dict[Address, None] = {}
    asked: set[Address] = set()
    waiting = list(dict.fromkeys(wanted))
    while waiting and len(asked) < _MOST_FILES and len(pages) < limit:
        address = waiting.pop(0)
        asked.add(address)
        try:
            response = await client.follow(address)
        except FetchError:
            continue
        if response.status != 200:
            continue
        is_index, locations = read_sitemap(response.body, address, limit - len(pages))
        if is_index:
            waiting += [one for one in dict.fromkeys(locations) if one not in asked and one not in waiting]
        else:
            pages.update(dict.fromkeys(locations))
    return list(pages)


def read_sitemap(body: bytes, address: Address, limit: int) -> tuple[bool, list[Address]]:
    """Return whether a sitemap is an index of further sitemaps, and its URLs on the same host."""
    if body.startswith(b"\x1f\x8b"):
        try:
            body = zlib.decompressobj(31).decompress(body, _MOST_BYTES)
        except zlib.error:
            return False, []
    text = body.decode("utf-8-sig", errors="replace")
    is_xml = text.lstrip().startswith("<")
    locations: list[Address] = []
    for written in _LOCATION.finditer(text) if is_xml else re.finditer(r"\S+", text):
        try:
            location = parse(html.unescape(written[1].strip()) if is_xml else written[0], address)
        except BadAddress:
            continue
        if location.host == address.host:
            locations.append(location)
        if len(locations) >= limit:
            break
    return bool(_INDEX.search(text[:10_000])), locations
