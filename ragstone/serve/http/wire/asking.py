"""Questions and answers, searches, and the events of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from ragstone.answers import Answer as AnswerRecord
from ragstone.answers import EvidenceFound, SentenceClosed
from ragstone.contracts import Hit as HitRecord
from ragstone.serve import as_json
from ragstone.serve.http.overrides import QuestionSettings
from ragstone.serve.http.wire.base import Characters, Metadata, Problem, Request, Response, Share

LONGEST_QUESTION = 8_000
LONGEST_FILTER = 2_000
MOST_HITS = 100

QuestionText = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION, pattern=r"\S")]
FilterText = Annotated[str, Field(max_length=LONGEST_FILTER, json_schema_extra={"format": "ragstone-filter"})]
Where = Annotated[
    FilterText | None, Field(description="only documents such as: language = de and kind = pdf; empty: all")
]
NAMES = r"^[^\x00-\x1f\x7f]*$"
SessionName = Annotated[str, Field(max_length=200, pattern=NAMES, description="name of a conversation that is kept")]


class QueryRequest(Request):
    """A question."""

    question: QuestionText
    session: SessionName = ""
    where: Where = None
    settings: QuestionSettings | None = Field(default=None, description="of this question only")
    explain: bool = Field(default=False, description="tell the evidence, and how each score came about")


class SearchRequest(Request):
    """A search."""

    query: QuestionText
    k: int | None = Field(default=None, ge=1, le=MOST_HITS, description="how many chunks; rank.top_k if not given")
    where: Where = None
    explain: bool = Field(default=False, description="tell how each score came about")


class Step(Response):
    """One line of a hit's history: what a stage gave it, and why."""

    stage: str
    score: float
    rank: int
    note: str


class Hit(Response):
    """A chunk that was found. Its text is that of the document from ``start`` to ``end``."""

    rank: int
    score: float
    document_id: str
    chunk_id: str
    title: str
    url: str
    start: Characters
    end: Characters
    text: str
    metadata: Metadata
    why: list[Step] | None = Field(description="only where it was asked for")

    @classmethod
    def of(cls, record: HitRecord, rank: int, *, explain: bool) -> Hit:
        return cls.model_validate({"why": None} | as_json.hit(record, rank, explain=explain))

    @classmethod
    def all_of(cls, records: Sequence[HitRecord], *, explain: bool = False) -> list[Hit]:
        return [cls.of(one, rank, explain=explain) for rank, one in enumerate(records, start=1)]


class SearchResponse(Response):
    """What was found, the best first."""

    query: str
    hits: list[Hit]


class Citation(Response):
    """The exact words a sentence rests on: the quote is the document's text from ``start`` to ``end``."""

    marker: int
    document_id: str
    chunk_id: str
    start: Characters
    end: Characters
    quote: str
    title: str
    url: str
    section: str
    page: str


class Statement(Response):
    """A sentence of an answer, as characters of it, and what proves it."""

    start: Characters
    end: Characters
    support: Share
    supported: bool
    markers: list[int]


class Source(Response):
    """A document or web page that an answer used."""

    type: Literal["internal", "web"]
    title: str
    author: str
    url: str
    document_id: str
    relevance_score: float
    sentiment: str | float | None


class JudgeScores(Response):
    """A judge's marks, 0 to 10 each."""

    relevance: float
    factuality: float
    completeness: float
    feedback: str
    judge: str


class Usage(Response):
    """What a question cost."""

    embedded_texts: int
    embedding_calls: int
    embedding_tokens: int
    cached: list[str]
    prompt_tokens: int
    completion_tokens: int
    model_calls: int
    cost: float | None = Field(description="money, in the currency of the price list; null where a price is not known")


class Answer(Response):
    """An answer and everything needed to check it."""

    response_id: str
    question: str
    answer: str = Field(description="plain text with markers of its citations, such as [1]; never HTML")
    abstained: bool = Field(description="the documents do not tell; the answer says so")
    sources: list[Source]
    confidence: Share
    answerability: Share = Field(description="probability, before answering, that the evidence answers")
    support: Share = Field(description="share of the sentences that the citations prove")
    model: str
    judge_scores: JudgeScores | None
    retrieval_method: str
    web_search_triggered: bool
    timestamp: str
    citations: list[Citation]
    statements: list[Statement]
    timings_ms: dict[str, float]
    usage: Usage
    notices: list[str]
    policy: int = Field(description="version of what was learned that it was answered under; 0: the settings alone")
    hits: list[Hit] | None = Field(description="the evidence; only where it was asked for")

    @classmethod
    def of(cls, record: AnswerRecord, *, explain: bool) -> Answer:
        told: dict[str, Any] = {"hits": None} | as_json.answer(record, explain=explain)
        return cls.model_validate(told)


# ---------------------------------------------------------------- events
class EvidenceEvent(Response):
    """First event of a stream: what the answer will rest on."""

    hits: list[Hit]
    method: str
    language: str
    missing: list[str]
    notices: list[str]

    @classmethod
    def of(cls, found: EvidenceFound, *, explain: bool) -> EvidenceEvent:
        it = found.evidence
        return cls(
            hits=Hit.all_of(it.hits, explain=explain),
            method=it.method,
            language=it.language,
            missing=list(it.missing),
            notices=list(it.notices),
        )


class TextEvent(Response):
    """More of the answer, as it is written."""

    text: str


class SentenceEvent(Response):
    """A sentence is whole and was checked."""

    text: str
    supported: bool
    support: Share
    citations: list[Citation]

    @classmethod
    def of(cls, closed: SentenceClosed) -> SentenceEvent:
        return cls.model_validate(closed, from_attributes=True)


class QueryEvents(Response):
    """The events of ``POST /query`` by their names, each with what stands in its ``data``, in this order.

    ``text`` and ``sentence`` come as often as there is something to tell. The last event is ``answer``, which takes the
    place of all text before, or ``error``.
    """

    evidence: EvidenceEvent
    text: TextEvent
    sentence: SentenceEvent
    answer: Answer
    error: Problem
