"""Versions are dated by the line that numbers them."""

from __future__ import annotations

import pytest

from ragstone.core.records import Chunk, Hit
from ragstone.core.request import Request
from ragstone.question import read
from ragstone.respond.quoting.dated import dated_line

FLASK = """Version 3.1.3

Released 2026-02-18

- Fix 3.1.2 on Windows, released too early in 2025.

Version 3.1.2

- Not dated.

Version 3.1.1

Released 2025-05-13
"""
GUNICORN = """# Changelog - 2023

## 21.2.0 - 2023-07-19

- fix thread worker

## 21.0.0 - 2023-07-17
- support python 3.11
"""


def hit(text: str, context: str) -> Hit:
    chunk = Chunk(id=context, document_id=context, index=0, total=1, start=0, end=len(text), text=text, context=context)
    return Hit(chunk=chunk, score=1.0)


HITS = [hit(FLASK.replace("2026", "2024"), "werkzeug/CHANGES"), hit(FLASK, "flask/CHANGES"), hit(GUNICORN, "gunicorn")]


@pytest.mark.parametrize(
    ("question", "document", "quote"),
    [
        ("When was Flask 3.1.3 released?", "flask/CHANGES", "Version 3.1.3\n\nReleased 2026-02-18"),
        ("release date of werkzeug 3.1.3", "werkzeug/CHANGES", "Version 3.1.3\n\nReleased 2024-02-18"),
        ("when did gunicorn 21.0.0 come out", "gunicorn", "21.0.0 - 2023-07-17"),
        ("Wann kam gunicorn 21.2.0 heraus?", "gunicorn", "21.2.0 - 2023-07-19"),
        ("When was Flask 3.1.2 released?", None, None),
        ("When was Flask 3.1 released?", None, None),
        ("What is new in Flask 3.1.3?", None, None),
        ("When was Flask released?", None, None),
        ("Since 21.0.0, what does gunicorn do when a thread ends?", None, None),
    ],
)
def test_the_line_that_dates_a_version_is_quoted(question: str, document: str | None, quote: str | None) -> None:
    line = dated_line(read(question), HITS, lambda words, _request: [1.0] * len(words), Request.by_owner())
    assert (line and line.quote.hit.chunk.document_id) == document
    assert (line and line.quote.text) == quote
