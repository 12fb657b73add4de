"""Reading one file, and what must hold for every document."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.acquire import read
from ragstone.contracts import Document, Skipped
from ragstone.sections import AcquireSettings

UNSTORABLE = re.compile("[\0\r\ud800-\udfff]")

ReadAll = Callable[..., list[Document | Skipped]]


@pytest.fixture
def read_all(tmp_path: Path) -> ReadAll:
    """Write bytes to a file of a name, or take a path, and read it; every document is checked."""

    def run(name: str | Path, content: bytes | str = b"", **limits: float) -> list[Document | Skipped]:
        path = name if isinstance(name, Path) else tmp_path / name
        if not isinstance(name, Path):
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        read_all = read(str(path), AcquireSettings.model_validate(limits), base=path.parent)
        results = [one for one in read_all if isinstance(one, Document | Skipped)]
        for result in results:
            if isinstance(result, Document):
                check(result)
        return results

    return run


@pytest.fixture
def read_one(read_all: ReadAll) -> Callable[..., Document]:
    """The one document of a file."""

    def run(name: str | Path, content: bytes | str = b"", **limits: float) -> Document:
        (document,) = read_all(name, content, **limits)
        assert isinstance(document, Document), document
        return document

    return run


@pytest.fixture
def why_skipped(read_all: ReadAll) -> Callable[..., str]:
    """Why the file gave no document."""

    def run(name: str | Path, content: bytes | str = b"", **limits: float) -> str:
        (skipped,) = read_all(name, content, **limits)
        assert isinstance(skipped, Skipped), skipped
        return skipped.reason

    return run


def check(document: Document) -> None:
    """What every document promises: storable text, and marks that lie in it, in order, on what they name."""
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
            # Whole lines, but for the page of a PDF that begins in the midst of one.
            assert document.text[mark.start - 1 : mark.start] in ("", "\n", " ")
    pages = [mark for mark in document.marks if mark.kind == "page"]
    covered = sum(len(document.text[mark.start : mark.end].split()) for mark in pages)
    assert not pages or covered == len(document.text.split())


def marked(document: Document, kind: str) -> list[str]:
    """The text under the marks of a kind."""
    return [document.text[mark.start : mark.end] for mark in document.marks if mark.kind == kind]


def outline(document: Document) -> list[tuple[int, str]]:
    """Levels and words of the headings."""
    return [(mark.level, mark.label) for mark in document.marks if mark.kind == "heading"]
