"""PDF: the text of each page in reading order, with page labels as printed."""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, cast

import pypdfium2  # pyright: ignore[reportMissingTypeStubs]
import pypdfium2.raw as pdfium  # pyright: ignore[reportMissingTypeStubs]

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Parsed, Writer, iso_date, tidy
from ragstone.acquire.readers.pdf_layout import vocabulary, write_page
from ragstone.acquire.readers.pdf_rules import Rules, rules_of
from ragstone.acquire.readers.pdf_words import Line, Word

_HYPHENS = "\x02\ufffe"
"""How PDFium shows a hyphen that divides a word at the end of a line."""
_LINE = re.compile(rf"[^\r\n{_HYPHENS}]*[\r\n{_HYPHENS}]?")
_WORD = re.compile(r"[^\s\x00-\x1f\ufffe\uffff]+")
_LEFT_BEHIND = re.compile(
    r"\W*(?:untitled|anonymous)\W*$|microsoft \w+ - |.*\.(?:docx?|pdf|indd|qxd|tex|dvi|pptx?|xlsx?|rtf)$", re.IGNORECASE
)
_MOST_OUTLINE = 5000
_SHARE_OF_TIME = 0.5
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
    pages: list[list[Line]] = []
    rules: list[Rules] = []
    lost: list[str] = []
    stop = time.monotonic() + _SHARE_OF_TIME * file.settings.parse_seconds
    for number in range(len(book)):
        if time.monotonic() > stop:
            break
        try:
            lines, drawn = _lines(book, number)
        except pypdfium2.PdfiumError:
            lines, drawn = [], Rules()
            lost.append(str(number + 1))
        pages.append(lines)
        rules.append(drawn)
    if not any(pages):
        if lost:
            raise Unreadable("damaged: none of its pages can be read")
        raise Unreadable("no text in it; if it is a scan, run OCR on it first")
    words, headings = vocabulary(pages), _outline(book)
    writer = Writer()
    for number, lines in enumerate(pages):
        label = book.get_page_label(number)  # pyright: ignore[reportUnknownMemberType]
        writer.page(label or str(number + 1))
        write_page(writer, lines, words, headings.get(number, {}), rules[number])
    about = book.get_metadata_dict()
    facts = {
        "kind": "pdf",
        "pages": len(book),
        "author": _named(about.get("Author", "")),
        "created": iso_date(about.get("CreationDate", "")),
        "partial": _missing(lost, len(pages), len(book)),
    }
    return writer.parsed(title=_named(about.get("Title", "")), facts=facts)


def _missing(lost: Sequence[str], read: int, total: int) -> str:
    """Return what is missing from the text; empty if nothing is."""
    if read < total:
        return f"only {read} of {total} pages were read within acquire.parse_seconds"
    return f"pages that cannot be read: {', '.join(lost[:20])}" if lost else ""


def _lines(book: pypdfium2.PdfDocument, number: int) -> tuple[list[Line], Rules]:
    """Return the lines of a page in the order of the file, with the position of each word, and what is drawn."""
    page = book[number]
    # Keep a reference to both: PDFium needs them open until the last call.
    text_page = page.get_textpage()
    raw, text = text_page.raw, _characters(text_page)
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    pointers = [ctypes.byref(edge) for edge in (left, right, bottom, top)]
    box_of = pdfium.FPDFText_GetCharBox

    def edges(index: int) -> tuple[float, float, float, float]:
        box_of(raw, index, *pointers)
        return left.value, right.value, bottom.value, top.value

    found: list[Line] = []
    for line in _LINE.finditer(text):
        words: list[Word] = []
        for match in _WORD.finditer(text, line.start(), line.end()):
            begin, end, low, high = edges(match.start())
            if len(match[0]) > 1:
                _, end, lower, higher = edges(match.end() - 1)
                low, high = min(low, lower), max(high, higher)
            words.append(Word(text=_whole(match[0]), left=begin, right=end, bottom=low, top=high))
        if words:
            found.append(Line(words=words, hyphen=line[0][-1] in _HYPHENS))
    rules = rules_of(page.raw) if found else Rules()
    text_page.close()
    page.close()
    return found, rules


def _characters(page: pypdfium2.PdfTextPage) -> str:
    """Return the text of a page, with one character for each that PDFium counts."""
    count = page.count_chars()
    text = page.get_text_range() if count else ""
    if len(text) == count:
        return text
    # PDFium leaves out characters that it cannot name; ask for each of them.
    return "".join(chr(pdfium.FPDFText_GetUnicode(page.raw, index)) for index in range(count))


def _whole(text: str) -> str:
    """Join the two halves that PDFium gives for a character beyond 16 bits."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if not text.isascii() else text


def _outline(book: pypdfium2.PdfDocument) -> dict[int, dict[str, int]]:
    """Return the level of each bookmark, by page and by title in lower case."""
    found: dict[int, dict[str, int]] = {}
    with suppress(pypdfium2.PdfiumError, UnicodeError, ValueError):  # A broken outline loses headings, not the text.
        for level, title, page in _bookmarks(book):
            found.setdefault(page, {}).setdefault(" ".join(tidy(title).split()).casefold(), level + 1)
    return found


def _bookmarks(book: pypdfium2.PdfDocument) -> Iterator[tuple[int, str, int]]:
    marks = cast("Iterator[Any]", book.get_toc())  # pyright: ignore[reportUnknownMemberType]
    for mark in islice(marks, _MOST_OUTLINE):
        target = mark.get_dest()
        page = target.get_index() if target else None
        if page is not None:
            yield mark.level, mark.get_title(), page


def _named(written: str) -> str:
    """Return a title or author from the properties, unless a program left it there."""
    words = " ".join(tidy(written).split())
    return "" if _LEFT_BEHIND.match(words) else words
