"""The outline of a document: which parts it tells of, and that every quote is exact."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragstone.chunk import sentences
from ragstone.core.answers import Draft
from ragstone.core.records import Chunk, Hit, Span
from ragstone.core.request import Request
from ragstone.respond.overview.outline import LEAST_QUOTES, MAX_PARTS, outline
from ragstone.respond.overview.parts import Section, parts_of
from ragstone.respond.quote import Quote

TELLING = "This is what part {number} tells of the island. Ferries leave at {number} o'clock."


def _document(levels: list[int], body: str = TELLING) -> tuple[str, list[Section]]:
    text, sections = "", list[Section]()
    for number, level in enumerate(levels):
        sections.append(Section(title=f"Heading {number}", start=len(text), level=level))
        text += f"Heading {number}\n\n{body.format(number=number)}\n\n"
    return text, sections


def _chunk(text: str, start: int = 0) -> Hit:
    chunk = Chunk(
        id=f"c{start}", document_id="d", index=0, total=1, start=start, end=start + len(text), text=text, title="Guide"
    )
    return Hit(chunk=chunk, score=1.0)


def _outline(sections: list[Section], hits: list[Hit]) -> Draft:
    return outline(
        sections,
        hits,
        title="Guide",
        sentences=sentences,
        weigh=lambda words, _: [1.0] * len(words),
        request=Request.by_owner(),
        language="en",
    )


def _sized(sizes: list[tuple[int, int]]) -> list[Section]:
    return [
        Section(
            title=f"H{at}",
            start=at,
            level=level,
            quotes=(Quote(hit=_chunk("x" * size), span=Span(start=0, end=size)),) if size else (),
        )
        for at, (level, size) in enumerate(sizes)
    ]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 50)), min_size=1, max_size=60), st.integers(1, 20))
def test_parts_are_few_and_hold_every_section(sizes: list[tuple[int, int]], most: int) -> None:
    sections = _sized(sizes)
    parts = parts_of(sections, most)
    assert 1 <= len(parts) <= most
    assert [one for part in parts for one in part.sections] == sections
    assert len(parts) == 1 or all(part.size for part in parts)


def test_small_section_joins_its_own_chapter() -> None:
    chapters = _sized([(1, 900), (2, 900), (1, 100), (2, 900), (2, 900)])
    assert [[one.title for one in part.sections] for part in parts_of(chapters, 4)] == [
        ["H0"],
        ["H1"],
        ["H2", "H3"],
        ["H4"],
    ]


def test_heading_without_text_joins_what_follows() -> None:
    parts = parts_of(_sized([(1, 90), (1, 0), (1, 90)]), 20)
    assert [[one.title for one in part.sections] for part in parts] == [["H0"], ["H1", "H2"]]


@given(st.lists(st.integers(1, 3), min_size=5, max_size=12))
def test_quotes_are_exact_and_cover_the_headings(levels: list[int]) -> None:
    text, sections = _document(levels)
    draft = _outline(sections, [_chunk(text)])
    assert len(draft.citations) == len(levels)
    assert all(text[one.start : one.end] == one.quote for one in draft.citations)
    assert all(draft.text[one.start : one.end].endswith(f"[{one.markers[0]}]") for one in draft.statements)


def test_tells_of_a_long_document_to_its_end() -> None:
    text, sections = _document([1] * 90)
    draft = _outline(sections, [_chunk(text)])
    starts = [one.start for one in draft.citations]
    assert len(starts) == MAX_PARTS
    assert starts == sorted(starts)
    assert starts[-1] > 0.9 * len(text)


def test_tells_of_sections_below_a_single_chapter() -> None:
    text, sections = _document([1, *[2] * 40])
    assert len(_outline(sections, [_chunk(text)]).citations) == MAX_PARTS


def test_quotes_several_sentences_of_a_long_section() -> None:
    body = "\n\n".join(f"Ferry number {at} leaves the harbour of the island at {at} o'clock." for at in range(60))
    for levels in ([1], [1, 1]):
        text, sections = _document(levels, body)
        assert len(_outline(sections, [_chunk(text)]).citations) == LEAST_QUOTES
    assert len(_outline([Section(title="", start=0, level=0)], [_chunk(body)]).citations) == LEAST_QUOTES


def test_prefers_whole_sentences_to_fragments() -> None:
    text, sections = _document([1] * 5, "The fares of the ferry and the boats\n\nThe ferry {number} is late today.")
    assert [one.quote for one in _outline(sections, [_chunk(text)]).citations] == [
        f"The ferry {number} is late today." for number in range(5)
    ]


def test_quotes_no_end_of_a_sentence() -> None:
    text = "The harbour office sells tickets for the Saturday ferry to the island."
    cut = text.index("Saturday")
    draft = _outline([Section(title="", start=0, level=0)], [_chunk(text), _chunk(text[cut:], cut)])
    assert [one.quote for one in draft.citations] == [text]


def test_quotes_headings_of_a_document_without_prose() -> None:
    text, sections = _document([1, 2, 2], "12 | 34 | {number}")
    draft = _outline(sections, [_chunk(text)])
    assert [one.quote for one in draft.citations] == ["Heading 0", "Heading 1", "Heading 2"]


def test_entries_of_a_list_share_its_part() -> None:
    sections = _sized([*[(1, 900)] * 12, *[(2, 90)] * 40, (1, 900)])
    assert [len(part.sections) for part in parts_of(sections, 20)] == [*[1] * 11, 41, 1]


def test_quotes_items_without_their_marks() -> None:
    text, sections = _document([1, 1], "▪ Ferries leave at {number} o'clock every day.")
    quotes = [one.quote for one in _outline(sections, [_chunk(text)]).citations]
    assert quotes == [f"Ferries leave at {number} o'clock every day." for number in range(2)]
