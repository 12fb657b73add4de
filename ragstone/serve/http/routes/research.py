"""Research: questions that need several searches, lists of documents, and comparisons, as JSON or as events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter
from fastapi import Request as HttpRequest
from fastapi import Response as HttpResponse
from pydantic import Field

from ragstone.core.answers import Answered, Citation, EvidenceFound
from ragstone.core.errors import ResponseError
from ragstone.core.research import (
    ActionKind,
    ActionTaken,
    Budget,
    Compared,
    Effort,
    Forecast,
    ItemList,
    Researched,
    ResearchEvent,
    budget_of,
)
from ragstone.serve.http import errors
from ragstone.serve.http.authentication import Reading
from ragstone.serve.http.errors import REQUEST_ID, Problem, Refused
from ragstone.serve.http.messages import Characters, Request, Response, Share
from ragstone.serve.http.pictures import picture_in
from ragstone.serve.http.routes.ask import (
    Answer,
    ModelName,
    PictureData,
    QuestionText,
    SentenceEvent,
    SessionName,
    TextEvent,
    Where,
    change_of,
    language_of,
    server_event,
)
from ragstone.serve.http.service import Here
from ragstone.serve.http.streaming import STREAM, EventStream, ServerEvent, described, while_connected

RunName = Annotated[str, Field(max_length=200, description="a name of your choice, with which it can be stopped early")]


# ---------------------------------------------------------------- messages
class ResearchRequest(Request):
    """A question that may need several searches, and the limits of its cost; those of its effort if not given."""

    question: QuestionText
    picture: PictureData = ""
    effort: Effort = "research"
    session: SessionName = ""
    where: Where = None
    model: ModelName = ""
    run: RunName = ""
    report: bool = Field(default=False, description="whether sections follow the answer, one for each document")
    explain: bool = Field(default=False, description="return the evidence of the answer")
    seconds: float | None = Field(default=None, gt=0, description="at most those that the server gives a question")
    calls: int | None = Field(default=None, ge=0, description="most calls of language models")
    tokens: int | None = Field(default=None, ge=0, description="most tokens of language models")
    money: float | None = Field(default=None, ge=0, description="in the currency of the price list")

    @property
    def budget(self) -> Budget:
        """The limits of the question."""
        return budget_of(self.effort, seconds=self.seconds, calls=self.calls, tokens=self.tokens, money=self.money)


class StopRequest(Request):
    """The research that should end."""

    run: RunName


class ForecastEvent(Response):
    """The first event: what the question is expected to cost."""

    effort: Effort
    actions: int = Field(description="expected searches")
    calls: int = Field(description="expected calls of language models")
    tokens: int = Field(description="expected tokens of language models")
    cost: float | None = Field(description="in the currency of the price list; null if a price is unknown")
    seconds: float = Field(description="most seconds that it takes")


class ActionEvent(Response):
    """An action that was taken, and what it gave."""

    action: ActionKind
    text: str = Field(description="the words that it looked for")
    document_id: str = Field(description="the document that it was about, if any")
    tool: str = Field(description="the tool that was asked, if any")
    new: int = Field(description="number of new passages, or of the documents of a list")
    titles: list[str]
    open: list[str] = Field(description="words of the question that no passage has so far")
    by_model: bool = Field(description="whether a language model planned it")
    note: str = Field(description="what went wrong, or the filter of a list")

    @classmethod
    def of(cls, taken: ActionTaken) -> ActionEvent:
        return cls(
            action=taken.action.kind,
            text=taken.action.text,
            document_id=taken.action.document,
            tool=taken.action.tool,
            new=taken.new,
            titles=list(taken.titles),
            open=list(taken.open),
            by_model=taken.by_model,
            note=taken.note,
        )


class ListedDocument(Response):
    """A document of a list, and the exact words for which it is listed."""

    document_id: str
    title: str
    date: str
    quote: str
    start: Characters
    end: Characters
    probability: Share


class FittingDocuments(Response):
    """All documents that fit, as far as they were found."""

    wanted: str
    items: list[ListedDocument]
    examined: int = Field(description="documents that were decided one by one")
    expected: float = Field(description="estimated number of all that fit")
    is_complete: bool

    @classmethod
    def of(cls, listed: ItemList) -> FittingDocuments:
        items = [
            ListedDocument(
                document_id=one.document_id,
                title=one.title,
                date=one.date,
                quote=one.citation.quote,
                start=one.citation.start,
                end=one.citation.end,
                probability=one.probability,
            )
            for one in listed.items
        ]
        return FittingDocuments(
            wanted=listed.wanted,
            items=items,
            examined=listed.examined,
            expected=listed.expected,
            is_complete=listed.is_complete,
        )


class ComparedCell(Response):
    """What a document says of a thing in an aspect; ``marker`` is the number of its citation in the answer."""

    marker: int
    document_id: str
    title: str
    quote: str
    start: Characters
    end: Characters


class ComparedAspect(Response):
    """A row of a comparison."""

    name: str
    cells: list[ComparedCell | None] = Field(description="one for each thing; null where nothing was found")


class Comparison(Response):
    """Things side by side, each aspect cited on its own."""

    things: list[str]
    aspects: list[ComparedAspect]

    @classmethod
    def of(cls, compared: Compared) -> Comparison:
        aspects = [
            ComparedAspect(name=one.name, cells=[cell and _compared_cell(cell) for cell in one.cells])
            for one in compared.aspects
        ]
        return Comparison(things=list(compared.things), aspects=aspects)


def _compared_cell(cell: Citation) -> ComparedCell:
    return ComparedCell(
        marker=cell.marker,
        document_id=cell.document_id,
        title=cell.title,
        quote=cell.quote,
        start=cell.start,
        end=cell.end,
    )


class ResearchAnswer(Response):
    """The answer, what it was expected to cost, and what was done for it."""

    answer: Answer
    forecast: ForecastEvent
    actions: list[ActionEvent]
    documents: FittingDocuments | None = Field(description="the list, if the question wants one")
    comparison: Comparison | None = Field(description="the table, if the question compares things")


class ResearchEvents(Response):
    """The events of ``POST /research`` by name, in this order, each with its ``data``.

    ``action``, ``text`` and ``sentence`` may come any number of times. The last event is ``answer``, which replaces all
    text before it, or ``error``.
    """

    forecast: ForecastEvent
    action: ActionEvent
    text: TextEvent
    sentence: SentenceEvent
    answer: ResearchAnswer
    error: Problem


# ---------------------------------------------------------------- routes
router = APIRouter(tags=["asking"])


@router.post(
    "/research",
    response_model=ResearchAnswer,
    responses={
        200: {
            "description": "The answer; a stream of events if the client accepts `text/event-stream`.",
            "content": described(ResearchEvents),
        },
        **errors.CHANGING,
    },
)
async def research(body: ResearchRequest, request: HttpRequest, service: Here, caller: Reading) -> Any:
    """Answer a question that needs several searches, list all documents that fit, or compare things in a table.

    All within a budget.

    With `Accept: text/event-stream` each step is reported: see the schema ResearchEvents. Closing the connection stops
    the work.
    """
    if caller.is_visitor:
        raise Refused("forbidden", "visitors of a site ask plain questions")
    seconds, request_id = service.settings.question_seconds, request.scope[REQUEST_ID]
    events = _events(
        service.research(
            caller,
            body.question,
            body.where or None,
            effort=body.effort,
            budget=service.within_time(body.budget),
            session=body.session,
            change=change_of(service, "", model=body.model),
            report=body.report,
            run=body.run,
            picture=picture_in(body.picture, "picture") if body.picture else b"",
            language=language_of(request),
        ),
        explain=body.explain,
    )
    if STREAM in request.headers.get("accept", ""):
        return EventStream(
            events, seconds, lambda error: ServerEvent(event="error", data=errors.problem(error, request_id))
        )
    answer = await while_connected(request.receive, _last(events, seconds))
    return HttpResponse(status_code=204) if answer is None else answer


@router.post("/research/stop", status_code=204, responses={**errors.CHANGING})
async def stop_research(body: StopRequest, service: Here, caller: Reading) -> None:
    """End research that the same reader began: no further step begins, and the answer says what stands so far.

    It reaches all processes of this host.
    """
    await asyncio.to_thread(service.stops.stop, caller.name, body.run)


async def _events(events: AsyncGenerator[ResearchEvent], *, explain: bool) -> AsyncGenerator[ServerEvent]:
    """Yield the events of research as they are sent; evidence is left out, because it changes until the answer."""
    told: ForecastEvent | None = None
    actions, listed, compared = list[ActionEvent](), None, None
    async with aclosing(events):
        async for event in events:
            match event:
                case Forecast():
                    told = ForecastEvent(
                        effort=event.effort,
                        actions=event.actions,
                        calls=event.calls,
                        tokens=event.tokens,
                        cost=event.cost,
                        seconds=event.budget.seconds,
                    )
                    yield ServerEvent(event="forecast", data=told)
                case ActionTaken():
                    actions.append(ActionEvent.of(event))
                    yield ServerEvent(event="action", data=actions[-1])
                case Researched():
                    listed = next((FittingDocuments.of(one.items) for one in event.notebooks if one.items), None)
                    compared = next((Comparison.of(one.compared) for one in event.notebooks if one.compared), None)
                case EvidenceFound():
                    pass
                case Answered() if told:
                    answer = Answer.of(event.answer, explain=explain)
                    whole = ResearchAnswer(
                        answer=answer, forecast=told, actions=actions, documents=listed, comparison=compared
                    )
                    yield ServerEvent(event="answer", data=whole)
                case Answered():
                    raise ResponseError("research ended without a forecast")
                case _:
                    yield server_event(event, explain=False)


async def _last(events: AsyncGenerator[ServerEvent], seconds: float) -> ResearchAnswer:
    """Return the last event of research, within this many seconds."""
    async with asyncio.timeout(seconds), aclosing(events):
        async for event in events:
            if isinstance(event.data, ResearchAnswer):
                return event.data
    raise ResponseError("the stream ended without an answer")
