"""The routes of OpenAI's API that its clients need to talk to the documents: chats, models, embeddings."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import Response

from ragstone.answers import Answer, Answered, Event
from ragstone.errors import NotFound, ResponseError, UsageError
from ragstone.serve.http import wire_errors
from ragstone.serve.http.completions import Chunk, Conversation, chunks, completion, whole
from ragstone.serve.http.door import Reading
from ragstone.serve.http.openai_errors import failure
from ragstone.serve.http.problems import REQUEST_ID
from ragstone.serve.http.questions import asked, in_turn
from ragstone.serve.http.service import Here
from ragstone.serve.http.sse import STREAM, EventStream, event_schema, json_schema, while_there
from ragstone.serve.http.wire import openai as wire

router = APIRouter(prefix="/v1", tags=["openai"])
_STARTED = int(time.time())
_READING = {status: {**told, "model": wire.Failed} for status, told in wire_errors.reading.items()}
_ASKING = _READING | {status: {**told, "model": wire.Failed} for status, told in wire_errors.asking.items()}
_EVENT = event_schema(
    "message",  # that of events without a name
    {"anyOf": [json_schema("CompletionChunk"), json_schema("Failed"), {"type": "string", "const": "[DONE]"}]},
)


@router.post(
    "/chat/completions",
    response_model=wire.Completion,
    responses={
        200: {
            "description": "The answer; where `stream` is true, as server-sent events.",
            "content": {STREAM: {"schema": _EVENT}},
        },
        **_ASKING,
    },
)
async def chat(body: wire.ChatRequest, request: Request, service: Here, caller: Reading) -> Any:
    """Answer the last message of a conversation from the documents, as OpenAI's chat completions do.

    Citations are annotations of the message; the field `ragstone` has the answer as `POST /query` gives it.
    """
    _refuse_other(body.model)
    said = Conversation.of(body)
    events = asked(service, caller, said.question, body.where or None, before=said.before)
    seconds, request_id = service.settings.question_seconds, request.scope[REQUEST_ID]
    if body.stream:
        with_usage = bool(body.stream_options and body.stream_options.include_usage)
        return EventStream(
            chunks(events, said, with_usage=with_usage),
            seconds,
            lambda error: Chunk(data=failure(error, request_id)),
        )
    answer = await while_there(request.receive, _last(events, seconds))
    return Response(status_code=204) if answer is None else completion(said.told(answer))


@router.get("/models", responses={**_READING})
async def models(_: Reading) -> wire.Models:
    """The one model there is: the documents."""
    return wire.Models(data=[wire.Model(id=wire.MODEL, created=_STARTED)])


@router.get("/models/{model}", responses={**_READING})
async def model(model: str, _: Reading) -> wire.Model:
    """The one model there is."""
    _refuse_other(model)
    return wire.Model(id=wire.MODEL, created=_STARTED)


@router.post("/embeddings", responses={**_ASKING})
async def embeddings(body: wire.EmbeddingRequest, service: Here, caller: Reading) -> wire.Embeddings:
    """Vectors of texts, by the embedder that the knowledge base was built with."""
    _refuse_other(body.model, service.engine.settings.index.embedder)
    texts = _texts(body.input)
    async with asyncio.timeout(service.settings.question_seconds), in_turn(service, caller):
        made = await service.engine.embed(texts, role=body.input_type)
    width = made.vectors.shape[1]
    if body.dimensions not in (None, width):
        raise UsageError(f"dimensions: the vectors of this embedder have {width} dimensions, and no other number")
    return wire.Embeddings(
        data=[
            wire.Embedding(index=number, embedding=_written(vector, body.encoding_format))
            for number, vector in enumerate(made.vectors)
        ],
        model=made.embedder,
        usage=wire.EmbeddingTokens(prompt_tokens=made.tokens, total_tokens=made.tokens),
    )


def _refuse_other(model: str, *known: str) -> None:
    if model not in (wire.MODEL, *known):
        raise NotFound(f"there is no model of this name; there is '{wire.MODEL}'")


def _texts(given: str | list[str] | list[int] | list[list[int]]) -> list[str]:
    texts = [given] if isinstance(given, str) else [one for one in given if isinstance(one, str)]
    if not texts or len(texts) != (1 if isinstance(given, str) else len(given)):
        raise UsageError("input: must be a text, or a list of texts; numbers of tokens are not understood")
    if len(texts) > wire.MOST_TEXTS:
        raise UsageError(f"input: has more than {wire.MOST_TEXTS} texts")
    if not all(map(str.strip, texts)):
        raise UsageError("input: a text is empty")
    return [whole(text) for text in texts]


def _written(vector: np.ndarray, form: str) -> list[float] | str:
    if form == "float":
        return vector.astype(float).tolist()
    return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")


async def _last(events: AsyncGenerator[Event], seconds: float) -> Answer:
    async with asyncio.timeout(seconds), aclosing(events):
        async for event in events:
            if isinstance(event, Answered):
                return event.answer
    raise ResponseError("the stream ended without an answer")
