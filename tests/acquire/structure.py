"""Checks of the marks of a document."""

from __future__ import annotations

import re

from ragstone.core.records import Document

UNSTORABLE = re.compile("[\0\r\ud800-\udfff]")


def check(document: Document) -> None:
    """Check what holds for every document: storable text, and exact marks in order."""
    assert document.text.strip()
    assert not UNSTORABLE.search(document.text + document.title + document.url)
    assert [mark.start for mark in document.marks] == sorted(mark.start for mark in document.marks)
    for mark in document.marks:
        words = document.text[mark.start : mark.end]
        assert 0 <= mark.start < mark.end <= len(document.text)
        assert words.strip()
        if mark.kind == "heading":
            assert mark.level >= 1
            assert "\n" not in words
            # Whole lines, except a page of a PDF that begins in the middle of one.
            assert document.text[mark.start - 1 : mark.start] in ("", "\n", " ")
    pages = [mark for mark in document.marks if mark.kind == "page"]
    covered = sum(len(document.text[mark.start : mark.end].split()) for mark in pages)
    assert not pages or covered == len(document.text.split())


def marked(document: Document, kind: str) -> list[str]:
    """Return the text under the marks of a kind."""
    return [document.text[mark.start : mark.end] for mark in document.marks if mark.kind == kind]


def outline(document: Document) -> list[tuple[int, str]]:
    """Return the levels and words of the headings."""
    return [(mark.level, mark.label) for mark in document.marks if mark.kind == "heading"]
