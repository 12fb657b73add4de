"""The records: what they promise to every stage."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core import records as contracts
from ragstone.core.answers import Answer, Usage
from ragstone.core.errors import MissingExtra, RagstoneError
from ragstone.core.installation import install_command
from ragstone.core.records import Chunk, Document, Span

RECORDS = [kind for kind in vars(contracts).values() if dataclasses.is_dataclass(kind)]


def chunk(text: str, title: str = "", context: str = "") -> Chunk:
    length = len(text)
    return Chunk(
        id="c", document_id="d", index=0, total=1, start=0, end=length, text=text, title=title, context=context
    )


@pytest.mark.parametrize("record", RECORDS, ids=[record.__name__ for record in RECORDS])
def test_records_are_frozen_slotted_and_take_keywords_only(record: type) -> None:
    made = record.__new__(record)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(made, dataclasses.fields(record)[0].name, None)
    assert "__slots__" in vars(record)
    assert all(field.kw_only for field in dataclasses.fields(record))


@given(st.text(), st.data())
def test_a_span_gives_its_characters(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert Span(start=start, end=end).of(text) == text[start:end]


def test_spans_sort_by_where_they_begin() -> None:
    spans = [Span(start=5, end=6), Span(start=0, end=9), Span(start=0, end=2)]
    assert sorted(spans) == [Span(start=0, end=2), Span(start=0, end=9), Span(start=5, end=6)]


def test_the_content_hash_is_of_the_text_alone() -> None:
    one = Document(id="1", text="Grüße", title="a")
    two = Document(id="2", text="Grüße", title="b", metadata={"year": 2020})
    assert one.content_hash == two.content_hash
    assert one.content_hash != Document(id="1", text="Grüsse").content_hash
    assert len(one.content_hash) == 64


def test_a_chunk_is_headed_by_its_context_where_it_has_one() -> None:
    assert chunk("Text.", context="Title").headed == "Title\nText."
    assert chunk("Text.", title="Title").headed == "Text."


def test_an_answer_prints_as_its_text() -> None:
    answer = Answer(
        response_id="r",
        question="Why?",
        answer="Because [1].",
        outcome="answer",
        citations=(),
        sources=(),
        confidence=0.0,
        retrieval_method="hybrid",
        timestamp="2020-01-01T00:00:00Z",
        timings_ms={},
        usage=Usage(),
    )
    assert str(answer) == "Because [1]."


def test_a_missing_extra_names_the_command_that_installs_it() -> None:
    error = MissingExtra("qdrant-client", extra="qdrant")
    assert isinstance(error, RagstoneError)
    assert install_command("qdrant") in str(error)
