"""E-books (epub): the chapters in reading order, as one document."""

from __future__ import annotations

from functools import partial
from urllib.parse import unquote

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.encodings import decoded
from ragstone.acquire.readers.office.package import Package, joined
from ragstone.acquire.readers.parsed import File, Parsed, Writer, iso_date
from ragstone.acquire.readers.pictures.embedded import EmbeddedPictures, picture_in_address
from ragstone.acquire.readers.web.html import write_page
from ragstone.core.named_groups import facts_of, named_in
from ragstone.core.reading import with_notice

_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_PAGES = ("application/xhtml+xml", "text/html")


def parse(file: File) -> Parsed:
    """Return the chapters of a book. The fact ``partial`` names those that cannot be read.

    Raises:
        Unreadable: it is encrypted or damaged.
    """
    with Package(file.path) as package:
        container = package.xml("META-INF/container.xml")
        root = next((one.get("full-path", "") for one in container.iter(f"{_CONTAINER}rootfile")), "")
        book = package.xml(root)
        folder = root.rpartition("/")[0]
        listed = {
            item.get("id", ""): joined(folder, unquote(item.get("href", "")))
            for item in book.iter(f"{_OPF}item")
            if item.get("media-type") in _PAGES and "nav" not in item.get("properties", "").split()
        }
        chapters = [listed[key] for one in book.iter(f"{_OPF}itemref") if (key := one.get("idref", "")) in listed]
        writer, lost = Writer(), list[str]()
        pictures = EmbeddedPictures(file, lambda name: package.picture(name) or picture_in_address(name))
        for name in chapters:
            try:
                write_page(writer, decoded(package.bytes(name)), partial(_show, writer, pictures, name))
            except Unreadable:
                lost.append(name)
    if chapters and len(lost) == len(chapters):
        # Bookshops encrypt the chapters and leave the rest readable.
        raise Unreadable(
            "encrypted" if "META-INF/encryption.xml" in package.names else "damaged: no chapter can be read"
        )

    def field(tag: str) -> str:
        return " ".join((next((one.text for one in book.iter(f"{_DC}{tag}")), "") or "").split())

    metas = {
        one.get("name") or one.get("property", ""): one.get("content") or one.text for one in book.iter(f"{_OPF}meta")
    }
    facts = {
        **facts_of(named_in(metas, file.settings.access.column)),
        **pictures.facts,
        "kind": "epub",
        "author": field("creator"),
        "created": iso_date(field("date")),
        "lang": field("language"),
    }
    notice = f"chapters that cannot be read: {', '.join(lost)}" if lost else ""
    return writer.parsed(title=field("title"), facts=with_notice(facts, notice))


def _show(writer: Writer, pictures: EmbeddedPictures, chapter: str, address: str) -> None:
    """Write the picture at an address in a chapter."""
    is_data = address.lstrip()[:5].lower() == "data:"
    pictures.write(writer, address if is_data else joined(chapter.rpartition("/")[0], unquote(address)))
