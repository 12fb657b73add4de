"""What a prompt and a notebook show of a record."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from ragstone.core.answers import Answer, Citation, Outcome, Usage
from ragstone.core.printable import printable
from ragstone.core.records import Chunk, Document, Hit, Step
from ragstone.storage.cache_key import key

CITATION = Citation(marker=1, document_id="pump.md", chunk_id="c", start=0, end=17, quote="The pump is blue.", page="3")
ANSWER = Answer(
    response_id="r",
    question="Is it blue?",
    answer="The pump is blue. [1]",
    outcome="answer",
    citations=(CITATION,),
    sources=(),
    confidence=0.9,
    retrieval_method="hybrid",
    timestamp="",
    timings_ms={},
    usage=Usage(),
)
CHUNK = Chunk(id="c", document_id="pump.md", index=1, total=7, start=0, end=17, text="The pump is blue.")
HIT = Hit(chunk=CHUNK, score=0.8312, why=(Step(stage="fused", score=0.8, rank=1, note="both"),))
DOCUMENT = Document(id="pump.md", text="The pump is blue.", title="Pumps")


@pytest.mark.parametrize(
    ("record", "shown"),
    [
        (ANSWER, '<Answer "The pump is blue. [1]" (answer, confidence 0.90, 1 citation)>'),
        (CITATION, '<Citation [1] "The pump is blue." (pump.md, page 3)>'),
        (HIT, '<Hit 0.831 "The pump is blue." (pump.md 0-17)>'),
        (CHUNK, '<Chunk 2 of 7 "The pump is blue." (pump.md 0-17)>'),
        (DOCUMENT, '<Document pump.md: "Pumps", 17 characters>'),
    ],
)
def test_repr_is_one_readable_line(record: object, shown: str) -> None:
    assert repr(record) == shown


def test_long_text_is_shortened() -> None:
    long = replace(DOCUMENT, title="A long title. " * 50)
    assert len(repr(long)) < 120


@given(st.text(max_size=40) | st.just("\x1b]0;owned\x07\x1b[31m\u202e\ud800"))
def test_repr_has_no_control_characters(text: str) -> None:
    citation = replace(CITATION, quote=text, title=text, section=text, document_id=text, page=text)
    document = replace(DOCUMENT, id=text, title=text)
    for record in (replace(ANSWER, answer=text), citation, replace(CHUNK, text=text, document_id=text), document):
        assert repr(record) == printable(repr(record))
        assert "\n" not in repr(record)


def html(record: Answer) -> LexborHTMLParser:
    return LexborHTMLParser(record._repr_html_())


def test_citations_unfold() -> None:
    page = html(ANSWER)
    assert [one.text() for one in page.css("details > summary")] == ["[1] pump.md, page 3"]
    assert [one.text() for one in page.css("details > blockquote")] == ["The pump is blue."]


def test_hit_shows_its_history() -> None:
    assert [one.text() for one in html(HIT).css("td")] == ["fused", "1", "0.800", "both"]


@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_shows_a_confidence_only_if_estimated(outcome: Outcome) -> None:
    answer = replace(ANSWER, outcome=outcome)
    estimated = outcome not in ("reply", "clarification")
    assert ("confidence" in html(answer).text()) == ("confidence" in repr(answer)) == estimated


@given(st.text(max_size=200) | st.just("<script>alert(1)</script>\"&'"))
def test_text_of_documents_is_escaped(text: str) -> None:
    citation = replace(CITATION, quote=text, title=text, section=text, url=f"https://x.example/{text}")
    answer = replace(ANSWER, answer=text, citations=(citation,), notices=(text,))
    hit = replace(HIT, chunk=replace(CHUNK, text=text, title=text, document_id=text, url=text))
    allowed = {"a", "b", "blockquote", "body", "details", "div", "head", "html", "small", "summary", "table", "tbody"}
    for record in (answer, hit, replace(DOCUMENT, text=text, title=text, id=text, url=text), hit.chunk):
        page = html(record)
        names = {node.tag for node in page.css("*")} - {"tr", "th", "td"}
        assert names <= allowed
        for link in page.css("a"):
            assert (link.attributes["href"] or "").startswith("https://")
            assert set(link.attributes) == {"href", "target", "rel"}


def test_script_address_is_no_link() -> None:
    assert not html(replace(CITATION, url="javascript:alert(1)")).css("a")


def test_summary_does_not_decide_a_cache_key() -> None:
    """Two chunks that look the same at a prompt have different keys."""
    other = replace(CHUNK, context="Another heading")
    assert repr(other) == repr(CHUNK)
    assert key([(other, 1.0)]) != key([(CHUNK, 1.0)])
    assert key([(replace(CHUNK), 1.0)]) == key([(CHUNK, 1.0)])
