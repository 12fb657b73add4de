"""Files that made other software fail: each gives text, part of it, or a reason."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from structure import check

from ragstone.acquire import read
from ragstone.core.records import Document, Skipped
from ragstone.settings import AcquireSettings

Results = dict[str, Document | Skipped]

OUTCOMES = {
    "text": 94,
    "partial": 2,
    "damaged": 13,
    "no text": 6,
    "a scan": 2,
    "encrypted": 2,
    "binary, not text": 1,
}
"""Counts for 108 files, one a feed of 10 entries, with the files in them; faulty drawing hides the text of five."""


@pytest.fixture(scope="module")
def corpus(data_dir: Path) -> Results:
    folder = data_dir / "parsing_corpus" / "dev"
    results = [
        one for one in read(str(folder), AcquireSettings(ocr="off"), base=folder) if isinstance(one, Document | Skipped)
    ]
    return {Path(one.source).relative_to(folder).as_posix(): one for one in results}


def outcome(result: Document | Skipped) -> str:
    if isinstance(result, Document):
        return "partial" if "partial" in result.metadata else "text"
    return next((name for name in OUTCOMES if result.reason.startswith(name)), result.reason)


def test_every_file_gives_a_result(corpus: Results) -> None:
    assert Counter(map(outcome, corpus.values())) == OUTCOMES


def test_every_mark_is_exact(corpus: Results) -> None:
    for result in corpus.values():
        if isinstance(result, Document):
            check(result)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def in_order(one: str, other: str) -> float:
    """Return the share of words, from 0 to 1, in the same order in both texts."""
    return difflib.SequenceMatcher(None, words(one), words(other), autojunk=False).ratio()


@pytest.mark.parametrize(
    ("file", "suffix", "least"),
    [
        # Measured: 1.0, 0.979 (words of its plot are read), 0.979 (the expected text leaves words divided), 0.988 (its
        # last line differs).
        ("md_REPAIR-2022-INV-001_multipage", ".md", 0.99),
        ("md_SPARSE-2024-INV-1234_borderless_table", ".md", 0.97),
        ("md_test", ".md", 0.97),
        ("pp_crazyones", ".txt", 0.98),
    ],
)
def test_text_matches_the_reference(corpus: Results, file: str, suffix: str, least: float) -> None:
    one, other = corpus[f"pdf/{file}.pdf"], corpus[f"expected/{file}{suffix}"]
    assert isinstance(one, Document)
    assert isinstance(other, Document)
    assert in_order(one.text, other.text) >= least


@pytest.mark.parametrize(
    ("file", "there", "absent"),
    [
        ("html/md_test_wikipedia.html", "Foray into the Web", "Create account"),
        ("html/md_test_blog.html", "tuning the inference parameters", "Skip to main content"),
        ("html/tr_webpage.html.gz", "Sen. Joe Manchin told reporters", "Privacy Policy"),
        ("docx/pd_hdr-header-footer.docx", "section with header", "S1HP1"),
        ("docx/md_test_with_comment.docx", "This is a test comment", "CommentReference"),
        ("docx/pd_comments-rich-para.docx", "worthy of note", "CommentReference"),
        ("office/md_test.pptx", "2cdda5c8-e50e-4db4-b5f0-9722a649f455", "Office Theme"),
        ("office/md_test.xlsx", "affc7dad-52dc-4b98-9b5d-51e65d8a8ad0", "xml"),
        ("malformed/pp_r3-empty-password.pdf", "pdf encryption test", "\0"),
    ],
)
def test_keeps_content_and_drops_furniture(corpus: Results, file: str, there: str, absent: str) -> None:
    result = corpus[file]
    assert isinstance(result, Document)
    assert there in result.text
    assert absent not in result.text


def test_reads_documentation_sources_completely(
    data_dir: Path, read_all: Callable[..., list[Document | Skipped]]
) -> None:
    results = read_all(data_dir / "cudaq_docs" / "raw")
    kinds = Counter(one.metadata["kind"] for one in results if isinstance(one, Document))
    assert kinds == {"restructuredtext": 65, "notebook": 32, "markdown": 2, "code": 130}
    assert not any(isinstance(one, Skipped) for one in results)
    untitled = [one.id for one in results if isinstance(one, Document) and not one.title]
    assert len(untitled) <= 3, untitled
