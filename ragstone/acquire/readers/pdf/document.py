"""PDF: the text of each page in reading order, with page labels as printed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, cast

import pypdfium2  # pyright: ignore[reportMissingTypeStubs]

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Parsed, Writer, iso_date, tidy
from ragstone.acquire.readers.pdf.characters import Page, read_page
from ragstone.acquire.readers.pdf.fields import attached_to
from ragstone.acquire.readers.pdf.frame import Frame
from ragstone.acquire.readers.pdf.headings import plain, with_headings
from ragstone.acquire.readers.pdf.layout import Block, lay_out
from ragstone.acquire.readers.pdf.lists import with_lists
from ragstone.acquire.readers.pdf.pictures import scanned
from ragstone.acquire.readers.pdf.rules import Rules
from ragstone.acquire.readers.pdf.running import without_running
from ragstone.acquire.readers.pdf.title import is_left_behind, named
from ragstone.acquire.readers.pdf.write import Sheet, vocabulary, write_page
from ragstone.core.named_groups import facts_of, named_in
from ragstone.core.reading import with_notice

_LISTS = ("Readers", "readers", "Groups", "groups", "AllowedGroups", "allowed_groups")
"""Names of properties that name who may read. PDFium lists no names, so these are tried."""
_MOST_OUTLINE = 5000
_SHARE_OF_TIME = 0.4
"""Share of the time allowed for a file. After that, the pages read so far are laid out, so that not all is lost."""


def parse(file: File) -> Parsed:
    """Return the pages of a PDF. Permissions do not matter: only a password for opening makes it unreadable.

    Raises:
        Unreadable: the file is encrypted or damaged, or has no text, like a scan.
    """
    try:
        book = pypdfium2.PdfDocument(file.path)
    except pypdfium2.PdfiumError as error:
        # For instance "Failed to load document (PDFium: Data format error)."
        reason = str(error).partition("PDFium: ")[2].rstrip(").").lower() or str(error)
        if "password" in reason or "security" in reason:
            raise Unreadable("encrypted") from error
        raise Unreadable(f"damaged: {reason}") from error
    with suppress(pypdfium2.PdfiumError):  # A damaged form does not cost the pages.
        cast("Any", book).init_forms()
    pages, lost = _read(book, file.settings.parse_seconds)
    attached = [*attached_to(book)]
    scans = scanned(book, pages, file)
    if not any(page.lines for page in pages) and not scans.has_text and not attached:
        raise Unreadable("damaged: none of its pages can be read" if lost else scans.why_none)
    pages = [replace(page, lines=[]) if n in scans.instead else page for n, page in enumerate(pages)]
    body = without_running(pages)
    blocks = [lay_out(lines, page.rules) for lines, page in zip(body.pages, pages, strict=True)]
    blocks = with_lists(with_headings(blocks, _outline(book)))
    words, writer = vocabulary(body.pages), Writer()
    last: Block | None = None
    for number, (page, own, printed) in enumerate(zip(pages, blocks, body.labels, strict=True)):
        label = book.get_page_label(number)  # pyright: ignore[reportUnknownMemberType]
        writer.page(label or printed or str(number + 1))
        writer.left_out("comment", page.notes)
        write_page(writer, own, words, Sheet(frame=page.frame, number=number), last)
        scans.write(writer, number)
        last = own[-1] if own else None
    about = book.get_metadata_dict()
    first = next(number for number, lines in enumerate(body.pages) if lines) if any(body.pages) else 0
    text = "\n".join(line.text for lines in body.pages for line in lines)
    name = named(about.get("Title", ""), body.pages[first], blocks[first], text)
    column = file.settings.access.column
    lists = {key: found for key in (*_LISTS, column) if (found := cast("Any", book).get_metadata_value(key))}
    facts = {
        **facts_of(named_in(lists, column)),
        "kind": "pdf",
        "pages": len(book),
        "author": _author(about.get("Author", "")),
        "created": iso_date(about.get("CreationDate", "")),
        **scans.facts,
        **name.facts,
    }
    facts = with_notice(facts, _missing(lost, len(pages), len(book)))
    return writer.parsed(title=name.title, facts=facts, parts=attached)


def _read(book: pypdfium2.PdfDocument, seconds: float) -> tuple[list[Page], list[str]]:
    """Return the pages that can be read in time, and the numbers of those that are damaged; they have no lines."""
    pages: list[Page] = []
    lost: list[str] = []
    stop = time.monotonic() + _SHARE_OF_TIME * seconds
    for number in range(len(book)):
        if time.monotonic() > stop:
            break
        try:
            pages.append(read_page(book, number))
        except pypdfium2.PdfiumError:
            pages.append(Page(frame=Frame(), lines=[], rules=Rules()))
            lost.append(str(number + 1))
    return pages, lost


def _missing(lost: Sequence[str], read: int, total: int) -> str:
    """Return what is missing from the text; empty if nothing is."""
    if read < total:
        return f"only {read} of {total} pages were read within acquire.parse_seconds"
    return f"pages that cannot be read: {', '.join(lost[:20])}" if lost else ""


def _outline(book: pypdfium2.PdfDocument) -> dict[int, dict[str, int]]:
    """Return the level of each bookmark, by page and by the letters and digits of its title."""
    levels: dict[int, dict[str, int]] = {}
    with suppress(pypdfium2.PdfiumError, UnicodeError, ValueError):  # A broken outline loses headings, not the text.
        for level, title, page in _bookmarks(book):
            levels.setdefault(page, {}).setdefault(plain(tidy(title)), level + 1)
    return levels


def _bookmarks(book: pypdfium2.PdfDocument) -> Iterator[tuple[int, str, int]]:
    marks = cast("Iterator[Any]", book.get_toc())  # pyright: ignore[reportUnknownMemberType]
    for mark in islice(marks, _MOST_OUTLINE):
        target = mark.get_dest()
        page = target.get_index() if target else None
        if page is not None:
            yield mark.level, mark.get_title(), page


def _author(written: str) -> str:
    """Return the author from the properties, unless a program left its name there."""
    words = " ".join(tidy(written).split())
    return "" if is_left_behind(words) else words
