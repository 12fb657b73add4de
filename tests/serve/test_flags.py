"""What interfaces that show the bare text of an answer say of its marked sentences."""

from __future__ import annotations

from ragstone.core.answers import Answer, Statement, Usage
from ragstone.serve.as_report import markdown_of
from ragstone.serve.mcp.results import Replied
from ragstone.serve.views import answers

SAID = ("[?] 1 of 4 sentences is contradicted by the documents: the passage says 4 bar, not 5 bar",)
LACKED = ("[?] 2 of 4 sentences are not found in the documents: no source mentions Anna Berg; no source says this",)
ANSWER = Answer(
    response_id="r",
    question="Is it blue?",
    answer="It is blue. It runs at 5 bar. [?] Anna Berg built it. [?] It sings. [?]",
    outcome="answer",
    citations=(),
    sources=(),
    confidence=0.4,
    retrieval_method="hybrid",
    timestamp="",
    timings_ms={},
    usage=Usage(),
    statements=(
        Statement(start=0, end=11),
        Statement(start=12, end=33, state="contradicted", reason="the passage says 4 bar, not 5 bar"),
        Statement(start=34, end=57, state="missing", reason="no source mentions Anna Berg"),
        Statement(start=58, end=71, state="missing", reason="no source says this"),
    ),
    notices=("The reply was cut off",),
)


def test_tells_what_is_contradicted_from_what_is_only_missing() -> None:
    assert ANSWER.flags == (*SAID, *LACKED)


def test_every_text_says_why_its_sentences_are_marked() -> None:
    told = (*ANSWER.notices, *SAID, *LACKED)
    assert ["".join(text for text, _ in one.parts) for one in answers.notices(ANSWER)] == [
        f"note: {one}" for one in told
    ]
    assert Replied.of(ANSWER).notices == told
    assert all(one.removeprefix("[?]") in markdown_of(ANSWER) for one in told)
