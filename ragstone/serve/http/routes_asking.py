"""Routes that ask: a question, a search."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from ragstone.answers import Answer, Answered, Event, EvidenceFound, SentenceClosed, TextWritten
from ragstone.errors import ResponseError
from ragstone.serve.http import wire_errors
from ragstone.serve.http.door import Reading
from ragstone.serve.http.overrides import changed
from ragstone.serve.http.problems import REQUEST_ID, trouble
from ragstone.serve.http.questions import asked
from ragstone.serve.http.service import Here
from ragstone.serve.http.sse import STREAM, EventStream, Sent, described, while_there
from ragstone.serve.http.wire import asking as wire
from ragstone.serve.http.wire.base import Problem

router = APIRouter(tags=["asking"])


@router.post(
    "/query",
    response_model=wire.Answer,
    responses={
        200: {
            "description": "The answer; as events where the client accepts `text/event-stream`.",
            "content": described(wire.QueryEvents),
        },
        **wire_errors.asking,
    },
)
async def query(body: wire.QueryRequest, request: Request, service: Here, caller: Reading) -> Any:
    """Answer a question from the documents, or say that they do not tell.

    With `Accept: text/event-stream` the answer is told while it is written: see the schema QueryEvents.
    """
    change = partial(changed, wanted=body.settings) if body.settings else None
    events = asked(service, caller, body.question, body.where or None, session=body.session, change=change)
    seconds, request_id = service.settings.question_seconds, request.scope[REQUEST_ID]
    if STREAM in request.headers.get("accept", ""):
        return EventStream(
            _sent(events, body),
            seconds,
            lambda error: Sent(event="error", data=Problem(error=trouble(error, request_id))),
        )
    answer = await while_there(request.receive, _last(events, seconds))
    if answer is None:
        return Response(status_code=204)  # nobody is there to read it
    return wire.Answer.of(answer, explain=body.explain)


@router.post("/search", responses={**wire_errors.asking})
async def search(body: wire.SearchRequest, service: Here, caller: Reading) -> wire.SearchResponse:
    """The chunks that match best, without an answer."""
    async with asyncio.timeout(service.settings.question_seconds), service.turns.turn():
        hits = await service.engine.search(body.query, body.k, body.where or None, reader=caller.reader)
    return wire.SearchResponse(query=body.query, hits=wire.Hit.all_of(hits, explain=body.explain))


async def _last(events: AsyncGenerator[Event], seconds: float) -> Answer:
    async with asyncio.timeout(seconds), aclosing(events):
        async for event in events:
            if isinstance(event, Answered):
                return event.answer
    raise ResponseError("the stream ended without an answer")


async def _sent(events: AsyncGenerator[Event], body: wire.QueryRequest) -> AsyncGenerator[Sent]:
    async with aclosing(events):
        async for event in events:
            yield _told(event, body)


def _told(event: Event, body: wire.QueryRequest) -> Sent:
    match event:
        case EvidenceFound():
            return Sent(event="evidence", data=wire.EvidenceEvent.of(event, explain=body.explain))
        case TextWritten():
            return Sent(event="text", data=wire.TextEvent(text=event.text))
        case SentenceClosed():
            return Sent(event="sentence", data=wire.SentenceEvent.of(event))
        case Answered():
            return Sent(event="answer", data=wire.Answer.of(event.answer, explain=body.explain))
