"""Feeds (RSS, Atom, CDF): each entry is a document. Other XML is read as it is written."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from email.utils import parsedate_to_datetime
from xml.etree.ElementTree import Element, TreeBuilder, tostring
from xml.parsers import expat

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Parsed, Writer, iso_date, tidy
from ragstone.acquire.readers.tables.fields import without_markup
from ragstone.acquire.readers.text import code
from ragstone.acquire.readers.web.html import parse as parse_html
from ragstone.acquire.readers.web.html import parse_page
from ragstone.core.filters import Scalar
from ragstone.core.named_groups import facts_of, is_clear_name, named_in

_PREFIXES = {
    "": "",
    "http://www.w3.org/2005/Atom": "", "http://purl.org/atom/ns#": "", "http://www.w3.org/1999/xhtml": "",
    "http://purl.org/rss/1.0/": "", "http://my.netscape.com/rdf/simple/0.9/": "",
    "http://backend.userland.com/rss2": "",
    "http://purl.org/dc/elements/1.1/": "dc:", "http://purl.org/rss/1.0/modules/content/": "content:",
    "http://www.itunes.com/dtds/podcast-1.0.dtd": "itunes:", "http://www.itunes.com/DTDs/PodCast-1.0.dtd": "itunes:",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf:", "http://purl.org/dc/terms/": "dcterms:",
}  # fmt: skip
"""Short names of the namespaces of feeds. Elements in others, such as those of pictures, are not read."""
_FEEDS = ("rss", "feed", "rdf:RDF", "channel")
_TEXTS = ("content:encoded", "content", "body", "description", "summary", "abstract", "itunes:summary")
"""The elements that may hold the text of an entry, the longest kind first."""
_AUTHORS = ("author", "dc:creator", "itunes:author", "dc:author", "managingEditor")
_DATES = ("published", "pubDate", "dc:date", "issued", "dcterms:created", "created", "updated", "modified", "date")
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>|&#?\w{1,10};")
_DEEPEST = 200
_MOST_ENTRIES = 10_000


def parse(file: File) -> Parsed:
    """Return the entries of a feed with their titles, links, dates and authors; of other XML, its text."""
    data = file.path.read_bytes()
    try:
        root = _tree(data)
    except (expat.ExpatError, ValueError, LookupError):
        return code.parse(file)  # Feeds that are not well-formed can be read as text.
    if root.tag == "html":
        return parse_html(file)
    if root.tag not in _FEEDS:
        return code.parse(file)
    channel = next((one for one in root if one.tag == "channel"), root)
    name = _plain(channel, ("title", "dc:title"))
    items = [one for one in root.iter() if one.tag in ("item", "entry")][:_MOST_ENTRIES]
    entries: dict[str, Parsed] = {}
    for item in items:
        entry = _entry(item, name, file.settings.access.column)
        if entry.text:
            entries.setdefault(entry.key, entry)
    if not entries:
        return _about(channel, name)
    return Parsed(text="", entries=tuple(entries.values()))


def _about(channel: Element, name: str) -> Parsed:
    """Return what a feed says of itself.

    Raises:
        Unreadable: it says nothing.
    """
    writer = Writer()
    writer.heading(name, 1)
    writer.paragraph(_plain(channel, ("description", "subtitle", "tagline", "itunes:summary", "abstract")))
    about = writer.parsed(title=name, url=_link(channel), facts={"kind": "feed", "author": _plain(channel, _AUTHORS)})
    if not about.text:
        raise Unreadable("a feed without entries")
    return about


def _entry(item: Element, feed: str, column: str) -> Parsed:
    title, link = _plain(item, ("title", "dc:title")), _link(item)
    writer = Writer()
    writer.heading(title, 1)
    for name in _TEXTS:
        if found := [text for one in item if one.tag == name and (text := _content(one)).strip()]:
            _write(writer, found[0])
            break
    tags = [text for one in item if one.tag == "category" and (text := one.get("term") or _words(one))]
    lists = {one.tag.removeprefix("other:"): ";".join(one.itertext()) for one in item}
    facts: dict[str, Scalar | tuple[Scalar, ...]] = {
        **facts_of(named_in({name: list for name, list in lists.items() if is_clear_name(name, column)}, column)),
        "kind": "feed",
        "feed": feed,
        "author": _plain(item, _AUTHORS),
        "date": next((date for name in _DATES if (date := _date(_plain(item, (name,))))), ""),
        "tags": ", ".join(dict.fromkeys(tidy(tag) for tag in tags[:20])),
    }
    known = _plain(item, ("guid", "id")) or link or title
    parsed = writer.parsed(title=title, url=link, facts=facts)
    key = hashlib.sha256((known or parsed.text).encode()).hexdigest()[:12]
    return Parsed(text=parsed.text, title=parsed.title, url=parsed.url, marks=parsed.marks, facts=facts, key=key)


def _write(writer: Writer, text: str) -> None:
    if _MARKUP.search(text):
        page = parse_page(f"<html><body>{text}</body></html>", whole=True)
        writer.marked(page.text, page.marks)
    else:
        writer.paragraph(text)


def _content(element: Element) -> str:
    """Return what an element holds as HTML, or as plain text if it has no markup."""
    if len(element):
        return tostring(element, encoding="unicode", method="html")
    return (element.text or "").strip()


def _plain(parent: Element, names: tuple[str, ...]) -> str:
    """Return the words of the first child with one of these names that has any."""
    for name in names:
        for one in parent:
            if one.tag == name and (words := _words(one)):
                return words
    return ""


def _words(element: Element) -> str:
    person = next((one for one in element if one.tag == "name"), element)
    text = "".join(person.itertext())
    return " ".join(tidy(without_markup(text) if _MARKUP.search(text) else text).split())


def _link(item: Element) -> str:
    """Return the address of the page of an entry."""
    links = [one for one in item if one.tag == "link"]
    found = [one.get("href") or (one.text or "") for one in links if one.get("rel", "alternate") == "alternate"]
    guid = [one.text or "" for one in item if one.tag == "guid" and one.get("isPermaLink", "true") == "true"]
    candidates = [*found, *guid, item.get("href", ""), item.get("HREF", "")]
    return next((url.strip() for url in candidates if url.strip().startswith(("https://", "http://"))), "")


def _date(written: str) -> str:
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        return parsedate_to_datetime(written).isoformat()
    return iso_date(written)


def _tree(data: bytes) -> Element:
    """Parse XML. A document type is allowed, because old feeds have one, but it may declare no entity.

    Raises:
        ValueError: it declares entities, or is nested too deep.
        ExpatError: it is not well-formed.
    """
    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise ValueError("nested too deep")
        builder.start(_short(name), {key.rpartition("}")[2]: value for key, value in attributes.items()})

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_short(name))

    def refuse(*_: object) -> None:
        raise ValueError("it declares entities")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = refuse
    parser.Parse(data, True)
    return builder.close()


def _short(name: str) -> str:
    space, _, local = name.rpartition("}")
    return f"{_PREFIXES.get(space, 'other:')}{local}"
