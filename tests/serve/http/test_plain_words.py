"""Reasons why files were not read, without settings and commands."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from ragstone.core.errors import MissingExtra
from ragstone.serve.http.plain_words import LONGEST, plain, without_addresses

READERS = Path(__file__).parent.parent.parent.parent / "ragstone" / "acquire"
NO_PICTURES = "this server reads no text in pictures"
TECHNICAL = re.compile(r"pip |uv |ragstone |\bacquire\.|\bset [a-z]+\.|Error:|\brun: ")


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (f"a scan; {MissingExtra('rapidocr', extra='ocr')}", f"a scan: {NO_PICTURES}"),
        ("a picture, and acquire.ocr is off; set acquire.ocr to auto", f"a picture: {NO_PICTURES}"),
        ("a scan; the program tesseract is not installed", f"a scan: {NO_PICTURES}"),
        ("above acquire.max_file_mb=200", "too large; this server reads files of at most 200 MB"),
        ("612 MB, above acquire.max_file_mb=200", "612 MB; this server reads files of at most 200 MB"),
        ("took more than 30 s (acquire.parse_seconds)", "took too long to read"),
        ("needs more than 2000 MB", "took too much memory to read"),
        ("crashed (signal 11)", "damaged: reading it failed"),
        ("damaged: KeyError: 'Root'", "damaged"),
        ("only the first 500 pages were read (acquire.ocr_pages)", "only the first 500 pages were read"),
        (str(MissingExtra("olefile", extra="office")), "this server cannot read files of this kind"),
        ("encrypted", "encrypted"),
        ("neither UTF-8 nor UTF-16 nor Windows-1252; save it as UTF-8", None),
        ("a Word format older than Word 6; save it as .docx", None),
    ],
)  # fmt: skip
def test_reasons_need_no_knowledge_of_the_server(reason: str, words: str | None) -> None:
    assert plain(reason) == (words or reason)


def test_no_reason_of_a_reader_stays_technical() -> None:
    """Every reason that is written down in the code of the readers, with figures and names filled in."""
    texts = [
        re.sub(r"\{[^{}]*\}", "7", literal)
        for file in READERS.rglob("*.py")
        for literal in re.findall(r'Unreadable\(f?"((?:[^"\\]|\\.)*)"', file.read_text(encoding="utf-8"))
    ]
    assert len(texts) > 40
    assert [text for text in texts if TECHNICAL.search(plain(text))] == []


@pytest.mark.parametrize("piece", ["; ", " ", "(", "damaged: ", ", and acquire."])
def test_reasons_that_quote_a_file_cost_little(piece: str) -> None:
    begun = time.perf_counter()
    assert len(plain(f"row 2: an earlier row has the same id, {piece * 100_000}")) <= LONGEST
    assert time.perf_counter() - begun < 5


@pytest.mark.parametrize(
    "error",
    [
        "https://wiki.corp/robots.txt: wiki.corp is 10.1.2.3, which is not a public address; set a.b=true to allow it",
        "https://wiki.corp/robots.txt: wiki.corp is not a public address; acquire.crawl.allow_private allows it",
    ],
)
def test_errors_of_pages_tell_no_private_address(error: str) -> None:
    assert without_addresses(error) == "https://wiki.corp/robots.txt: wiki.corp is not on the public web"
