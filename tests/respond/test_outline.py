"""The outline of a document: which parts it names, and that every quote is exact."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ragstone.chunk import sentences
from ragstone.core.records import Chunk, Hit
from ragstone.core.request import Request
from ragstone.respond.overview.outline import MAX_PARTS, UNHEADED_PARTS, Part, outline, parts_of


def _document(levels: list[int]) -> tuple[str, list[Part]]:
    text, parts = "", list[Part]()
    for number, level in enumerate(levels):
        start = len(text)
        text += f"Heading {number}\n\nThis is what part {number} tells of the island. Ferries leave at {number}.\n\n"
        parts.append(Part(title=f"Heading {number}", start=start, end=len(text), level=level))
    return text, parts


@given(st.lists(st.integers(1, 4), min_size=1, max_size=60))
def test_parts_are_in_order_and_few(levels: list[int]) -> None:
    text, sections = _document(levels)
    parts = parts_of(sections, len(text))
    assert 1 <= len(parts) <= MAX_PARTS
    assert all(one.end <= other.start for one, other in pairwise(parts))
    if 2 <= len(levels) <= MAX_PARTS:
        assert len(parts) == len(levels)


@given(st.integers(1, 5000))
def test_document_without_headings_has_shares(length: int) -> None:
    parts = parts_of([Part(title="", start=0, end=length, level=0)], length)
    assert len(parts) <= UNHEADED_PARTS
    assert all(0 <= one.start < one.end <= length for one in parts)


@given(st.lists(st.integers(1, 3), min_size=2, max_size=12))
def test_quotes_are_exact_and_cover_the_headings(levels: list[int]) -> None:
    text, sections = _document(levels)
    chunk = Chunk(id="c", document_id="d", index=0, total=1, start=0, end=len(text), text=text, title="Guide")
    draft = outline(
        parts_of(sections, len(text)),
        [Hit(chunk=chunk, score=1.0)],
        title="Guide",
        sentences=sentences,
        weigh=lambda words, _: [1.0] * len(words),
        request=Request.by_owner(),
        language="en",
    )
    assert len(draft.citations) == len(levels)
    assert all(text[one.start : one.end] == one.quote for one in draft.citations)
    assert all(draft.text[one.start : one.end].endswith(f"[{one.markers[0]}]") for one in draft.statements)
