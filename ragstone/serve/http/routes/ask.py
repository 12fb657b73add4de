"""Questions and searches: an answer as JSON or as a stream of events, and hits without an answer."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial
from typing import Annotated, Any, cast

from fastapi import APIRouter, Query
from fastapi import Request as HttpRequest
from fastapi import Response as HttpResponse
from pydantic import Field, model_validator

from ragstone.core.answers import Answer as AnswerRecord
from ragstone.core.answers import Answered, Event, EvidenceFound, Outcome, SentenceClosed, State, TextWritten
from ragstone.core.kinds import Kind
from ragstone.core.records import Hit as HitRecord
from ragstone.core.records import SourceType
from ragstone.engine.knowledge_base import Change
from ragstone.serve import as_json
from ragstone.serve.http import errors, question_settings
from ragstone.serve.http.authentication import Reading
from ragstone.serve.http.chosen_model import writing
from ragstone.serve.http.errors import REQUEST_ID, Problem, Refused
from ragstone.serve.http.messages import Characters, Metadata, Request, Response, Share
from ragstone.serve.http.pictures import picture_in
from ragstone.serve.http.question_settings import QuestionSettings
from ragstone.serve.http.service import Here, Service, last_answer
from ragstone.serve.http.streaming import STREAM, EventStream, ServerEvent, described, while_connected
from ragstone.serve.http.visitors import check_session

MAX_QUESTION = 8_000
MAX_FILTER = 2_000
MAX_HITS = 100

QuestionText = Annotated[str, Field(min_length=1, max_length=MAX_QUESTION, pattern=r"\S")]
FilterText = Annotated[str, Field(max_length=MAX_FILTER, json_schema_extra={"format": "ragstone-filter"})]
Where = Annotated[
    FilterText | None,
    Field(description="use only documents that match, such as: language = de and kind = pdf; empty matches all"),
]
PRINTABLE = r"^[^\x00-\x1f\x7f]*$"
SessionName = Annotated[
    str, Field(max_length=200, pattern=PRINTABLE, description="name of a conversation that the server keeps")
]
ProfileName = Annotated[
    str,
    Field(max_length=200, description="profile of the server's preset, such as quick; see `profiles` in GET /settings"),
]
ModelName = Annotated[
    str, Field(max_length=200, description="language model that writes, one of `models` in GET /me; else the default")
]


PictureData = Annotated[
    str,
    Field(
        description="a picture that the question is about, as a data: address (data:image/png;base64,...) or in base64;"
        " the model of acquire.captions.model describes it"
    ),
]


# ---------------------------------------------------------------- messages
class QueryRequest(Request):
    """A question. Bodies of other programs also work: `query` is the question, `top_k` the setting `rank.top_k`."""

    question: QuestionText
    picture: PictureData = ""
    session: SessionName = ""
    where: Where = None
    profile: ProfileName = ""
    model: ModelName = ""
    settings: QuestionSettings | None = Field(default=None, description="settings of this question only")
    explain: bool = Field(default=False, description="return the evidence and how each score came about")

    @model_validator(mode="before")
    @classmethod
    def _read_other_names(cls, sent: Any) -> Any:
        if not isinstance(sent, dict):
            return sent
        fields = dict(cast(dict[str, Any], sent))
        if "query" in fields and "question" not in fields:
            fields["question"] = fields.pop("query")
        if "top_k" in fields and "settings" not in fields:
            fields["settings"] = {"rank.top_k": fields.pop("top_k")}
        return fields


class SearchRequest(Request):
    """A search."""

    query: QuestionText
    k: int | None = Field(default=None, ge=1, le=MAX_HITS, description="number of hits; rank.top_k if not given")
    where: Where = None
    profile: ProfileName = ""
    explain: bool = Field(default=False, description="return how each score came about")


class Suggestion(Response):
    """A question that a document answers, to be asked within that document."""

    question: str
    document_id: str
    title: str


class Suggestions(Response):
    """Questions that were asked and answered, without a language model."""

    questions: list[Suggestion]


class Step(Response):
    """One line of a hit's history: the score that a stage gave it, and why."""

    stage: str
    score: float
    rank: int
    note: str


class Hit(Response):
    """A chunk that matches. Its text is the document's text from ``start`` to ``end``."""

    rank: int
    score: float
    document_id: str
    chunk_id: str
    title: str
    url: str
    start: Characters
    end: Characters
    text: str
    metadata: Metadata = Field(
        description="of the document and the chunk, with the place of the chunk: doc_id, chunk_id, chunk_index from 0,"
        " and total_chunks of the document; `kind` is that of the file, and `chunk_kind` that of the text (how_to,"
        " reference, example, ...)"
    )
    why: list[Step] | None = Field(description="the history of the score, if requested")

    @classmethod
    def all_of(cls, records: Sequence[HitRecord], *, explain: bool = False) -> list[Hit]:
        return [
            cls.model_validate({"why": None} | as_json.hit(one, rank, explain=explain))
            for rank, one in enumerate(records, start=1)
        ]


class SearchResponse(Response):
    """The hits, best first."""

    query: str
    hits: list[Hit]
    note: str = Field(description="what to know of the hits as a whole, such as that nothing matches well; often empty")


class Citation(Response):
    """The exact words that a sentence rests on: the quote is the document's text from ``start`` to ``end``."""

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
    described_by: str = Field(
        default="", description="the model that wrote these words to describe a picture; empty for the document's own"
    )
    head: str = Field(default="", description="the headings above the row of a table that the quote is; else empty")


class Statement(Response):
    """A sentence of an answer, as characters of it, and what supports it."""

    start: Characters
    end: Characters
    state: State
    support: Share
    markers: list[int]
    reason: str


class Source(Response):
    """A document or web page that an answer used."""

    type: SourceType
    title: str | None
    author: str | None
    url: str | None
    document_id: str
    relevance_score: float
    sentiment: str | float | None


class JudgeScores(Response):
    """The scores of a judge, each from 0 to 10."""

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
    cost: float | None = Field(description="in the currency of the price list; null if a price is unknown")


class Sent(Response):
    """A call of a service outside the server."""

    kind: str
    address: str
    what: str


class SearchStep(Response):
    """A search after the first one, because that left something of the question open."""

    searched: str
    target: str = Field(description="id of the chunk that it found")
    found: str = Field(description="title of the passage that led to it; empty for a part of the question")
    source: str = Field(description="id of the chunk that led to it; empty for a part of the question")
    adds: Share = Field(description="share of the question that it has and the passage before has not")
    by_model: bool = Field(description="whether a language model planned it")


class Answer(Response):
    """An answer and everything needed to check it."""

    response_id: str
    question: str
    answer: str = Field(description="plain text with citation markers such as [1]; never HTML")
    kind: Kind = Field(description="what the question asks for")
    outcome: Outcome = Field(
        description="`closest`: no sure answer, but passages that may hold it, and the text says so; `reply`: needed no"
        " search, and nothing is estimated; `clarification`: asks back"
    )
    abstained: bool = Field(description="true unless `outcome` is `answer` or `reply`")
    sources: list[Source]
    confidence: Share
    answerability: Share | None = Field(
        description="probability, estimated before answering, that the documents answer; null if it was not estimated,"
        " because a language model read them and answered"
    )
    support: Share = Field(description="share of the claims that citations support")
    rightness: Share = Field(description="probability, without a judge, that the answer is right")
    model: str
    failed: bool = Field(description="whether the language model failed; the first paragraph of `answer` says so")
    judge_scores: JudgeScores | None
    retrieval_method: str = Field(description="such as vector_search or hybrid_search_with_reranking")
    web_search_triggered: bool
    timestamp: str
    citations: list[Citation]
    statements: list[Statement]
    timings_ms: dict[str, float]
    usage: Usage
    notices: list[str]
    policy: int = Field(description="version of the learned policy in effect; 0 means the settings alone")
    steps: list[SearchStep] = Field(description="searches after the first one")
    sent: list[Sent] = Field(description="what left the machine, call by call; only for administrators")
    hits: list[Hit] | None = Field(description="the evidence, if requested")

    @classmethod
    def of(cls, record: AnswerRecord, *, explain: bool) -> Answer:
        fields: dict[str, Any] = {"hits": None} | as_json.answer(record, explain=explain)
        return cls.model_validate(fields)


class EvidenceEvent(Response):
    """The first event of a stream: the evidence for the answer."""

    hits: list[Hit]
    method: str
    language: str
    missing: list[str]
    notices: list[str]


class TextEvent(Response):
    """More text of the answer, as it is written."""

    text: str


class SentenceEvent(Response):
    """A complete sentence that was checked."""

    text: str
    citations: list[Citation]
    state: State
    support: Share
    reason: str


class QueryEvents(Response):
    """The events of ``POST /query`` by name, in this order, each with its ``data``.

    ``text`` and ``sentence`` may come any number of times. The last event is ``answer``, which replaces all text before
    it, or ``error``.
    """

    evidence: EvidenceEvent
    text: TextEvent
    sentence: SentenceEvent
    answer: Answer
    error: Problem


# ---------------------------------------------------------------- routes
router = APIRouter(tags=["asking"])


@router.post(
    "/query",
    response_model=Answer,
    responses={
        200: {
            "description": "The answer; a stream of events if the client accepts `text/event-stream`.",
            "content": described(QueryEvents),
        },
        **errors.CHANGING,
    },
)
async def query(body: QueryRequest, request: HttpRequest, service: Here, caller: Reading) -> Any:
    """Answer a question from the documents, or abstain if they do not answer it.

    With `Accept: text/event-stream` the answer is streamed while it is written: see the schema QueryEvents.
    """
    if caller.is_visitor and (body.profile or body.model or body.settings or body.explain or body.picture):
        raise Refused("forbidden", "visitors of a site ask in words, under the server's settings")
    check_session(caller, body.session)
    change = change_of(service, body.profile, body.settings, body.model)
    picture = picture_in(body.picture, "picture") if body.picture else b""
    where, session = body.where or None, body.session
    language = language_of(request)
    events = service.ask(
        caller, body.question, where, session=session, change=change, picture=picture, language=language
    )
    seconds, request_id = service.settings.question_seconds, request.scope[REQUEST_ID]
    if STREAM in request.headers.get("accept", ""):
        return EventStream(
            _streamed(events, body),
            seconds,
            lambda error: ServerEvent(event="error", data=errors.problem(error, request_id)),
        )
    answer = await while_connected(request.receive, last_answer(events, seconds))
    if answer is None:
        return HttpResponse(status_code=204)  # the client has gone
    return Answer.of(answer, explain=body.explain)


def language_of(request: HttpRequest) -> str:
    """Return the ISO 639-1 code of the first language that the client accepts; empty if it names none."""
    named = re.match(r"\s*([A-Za-z]{2})\b", request.headers.get("accept-language", ""))
    return named[1].lower() if named else ""


@router.post("/search", responses={**errors.CHANGING})
async def search(body: SearchRequest, service: Here, caller: Reading) -> SearchResponse:
    """Return the chunks that match best, without an answer."""
    hits = await service.search(caller, body.query, body.k, body.where or None, change=change_of(service, body.profile))
    found = Hit.all_of(hits, explain=body.explain)
    return SearchResponse(query=body.query, hits=found, note=as_json.search_note(hits))


@router.get("/suggestions", responses={**errors.READING})
async def suggestions(
    service: Here,
    caller: Reading,
    document_id: Annotated[str, Query(max_length=2_000, description="stay in this document")] = "",
    start: Annotated[Characters, Query(le=1_000_000_000, description="a character of it, to stay near")] = 0,
    where: Annotated[FilterText, Query(description="use only documents that match")] = "",
    count: Annotated[int, Query(ge=1, le=10)] = 4,
) -> Suggestions:
    """Return questions to begin with, or to go on with in a document. Each was asked, and its document answered it."""
    found = await service.suggestions(caller, count, (document_id, start) if document_id else None, where or None)
    return Suggestions(questions=[Suggestion.model_validate(one, from_attributes=True) for one in found])


def change_of(
    service: Service, profile: str, settings: QuestionSettings | None = None, model: str = ""
) -> Change | None:
    """Return how a question changes the server's settings; None if it does not.

    Raises:
        Refused: the model cannot be chosen.
    """
    if model:
        if model not in service.settings.models:
            raise Refused("forbidden", "this model cannot be chosen; GET /me lists those that can")
        return lambda held: writing(question_settings.apply(held, settings, profile), model)
    return partial(question_settings.apply, wanted=settings, profile=profile) if profile or settings else None


async def _streamed(events: AsyncGenerator[Event], body: QueryRequest) -> AsyncGenerator[ServerEvent]:
    async with aclosing(events):
        async for event in events:
            yield server_event(event, explain=body.explain)


def server_event(event: Event, *, explain: bool) -> ServerEvent:
    """Return an event of an answer as it is sent; ``explain`` adds how each score came about."""
    match event:
        case EvidenceFound(evidence=evidence):
            data = EvidenceEvent(
                hits=Hit.all_of(evidence.hits, explain=explain),
                method=evidence.method,
                language=evidence.question.language,
                missing=list(evidence.missing),
                notices=list(evidence.notices),
            )
            return ServerEvent(event="evidence", data=data)
        case TextWritten():
            return ServerEvent(event="text", data=TextEvent(text=event.text))
        case SentenceClosed():
            return ServerEvent(event="sentence", data=SentenceEvent.model_validate(event, from_attributes=True))
        case Answered():
            return ServerEvent(event="answer", data=Answer.of(event.answer, explain=explain))
