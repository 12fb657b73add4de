"""OpenAI's API, as far as its clients need it to talk to the documents: chat completions, models, embeddings."""

from __future__ import annotations

import base64
import re
import time
import uuid
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import Response
from numpy.typing import NDArray

from ragstone.core.answers import Answer, Answered, Citation, SentenceClosed, Turn
from ragstone.core.errors import NotFound, UsageError
from ragstone.core.frozen import frozen
from ragstone.core.naming import name_of
from ragstone.core.printable import encodable, one_line
from ragstone.core.research import LEVELS, ActionTaken, Effort, Forecast, ResearchEvent
from ragstone.question.tasks import task_of
from ragstone.serve import addresses
from ragstone.serve.http import errors
from ragstone.serve.http.authentication import Reading
from ragstone.serve.http.errors import REQUEST_ID
from ragstone.serve.http.pictures import picture_in
from ragstone.serve.http.routes import ask
from ragstone.serve.http.routes.openai_messages import (
    MAX_TEXTS,
    MODEL,
    PICTURES,
    Annotation,
    AssistantMessage,
    ChatMessage,
    ChatRequest,
    Choice,
    ChunkChoice,
    Completion,
    CompletionChunk,
    Delta,
    Embedding,
    EmbeddingRequest,
    Embeddings,
    EmbeddingTokens,
    Model,
    Models,
    Tokens,
    UrlCitation,
)
from ragstone.serve.http.service import Here, last_answer
from ragstone.serve.http.streaming import (
    STREAM,
    EventStream,
    ServerEvent,
    event_schema,
    json_schema,
    while_connected,
)
from ragstone.serve.views.research import step

EFFORTS: Mapping[str, Effort] = {"medium": "thorough", "high": "research", "xhigh": "research"}
"""What OpenAI's efforts mean here; the others are plain questions."""
router = APIRouter(prefix="/v1", tags=["openai"])
_STARTED = int(time.time())
_MARKER = re.compile(r"\[(?:(?:Web )?Source )?(\d+)\]")
_END = ServerEvent(data="[DONE]")
_EVENT = event_schema(
    "message",  # the type of events without a name
    {"anyOf": [json_schema("CompletionChunk"), json_schema("Failed"), {"type": "string", "const": "[DONE]"}]},
)


# ---------------------------------------------------------------- routes
@router.post(
    "/chat/completions",
    response_model=Completion,
    responses={
        200: {
            "description": "The answer; server-sent events if `stream` is true.",
            "content": {STREAM: {"schema": _EVENT}},
        },
        **errors.CHANGING,
    },
)
async def chat(body: ChatRequest, request: Request, service: Here, caller: Reading) -> Any:
    """Answer the last message of a conversation from the documents, as OpenAI's chat completions do.

    Citations are annotations of the message. The field `ragstone` has the answer as `POST /query` returns it.
    """
    unknown_model(body.model)
    conversation = Conversation.of(body)
    question, where = conversation.question, body.where or None
    if effort := EFFORTS.get(str(body.reasoning_effort)):
        budget = service.within_time(LEVELS[effort])
        events = service.research(
            caller,
            question,
            where,
            effort=effort,
            budget=budget,
            before=conversation.before,
            picture=conversation.picture,
        )
    else:
        events = service.ask(caller, question, where, before=conversation.before, picture=conversation.picture)
    seconds, request_id = service.settings.question_seconds, request.scope[REQUEST_ID]
    base = service.page_address(request)
    if body.stream:
        with_usage = bool(body.stream_options and body.stream_options.include_usage)
        return EventStream(
            _streamed(events, conversation, base, with_usage=with_usage),
            seconds,
            lambda error: ServerEvent(data=errors.openai_failure(error, request_id)),
        )
    answer = await while_connected(request.receive, last_answer(events, seconds))
    return Response(status_code=204) if answer is None else _completion(conversation.with_notices(answer), base)


@router.get("/models", responses={**errors.READING})
async def models(_: Reading) -> Models:
    """List the one model, which stands for the documents."""
    return Models(data=[Model(id=MODEL, created=_STARTED)])


@router.get("/models/{model}", responses={**errors.READING})
async def model(model: str, _: Reading) -> Model:
    """Return the one model."""
    unknown_model(model)
    return Model(id=MODEL, created=_STARTED)


@router.post("/embeddings", responses={**errors.CHANGING})
async def embeddings(body: EmbeddingRequest, service: Here, caller: Reading) -> Embeddings:
    """Embed texts with the embedder of the knowledge base."""
    unknown_model(body.model, service.engine.settings.index.embedder)
    embedded = await service.embed(caller, _texts(body.input), body.input_type)
    width = embedded.vectors.shape[1]
    if body.dimensions not in (None, width):
        raise UsageError(f"dimensions: vectors of this embedder always have {width} dimensions")
    return Embeddings(
        data=[
            Embedding(index=index, embedding=_encoded(vector, body.encoding_format))
            for index, vector in enumerate(embedded.vectors)
        ],
        model=embedded.embedder,
        usage=EmbeddingTokens(prompt_tokens=embedded.tokens, total_tokens=embedded.tokens),
    )


def unknown_model(model: str, *known: str) -> None:
    """Refuse a model of another name than these or the one model's."""
    if model not in (MODEL, *known):
        raise NotFound(f"there is no model of this name; use '{MODEL}'")


def _texts(given: str | list[str] | list[int] | list[list[int]]) -> list[str]:
    texts = [given] if isinstance(given, str) else [one for one in given if isinstance(one, str)]
    if not texts or len(texts) != (1 if isinstance(given, str) else len(given)):
        raise UsageError("input: must be a text or a list of texts; token ids are not supported")
    if len(texts) > MAX_TEXTS:
        raise UsageError(f"input: has more than {MAX_TEXTS} texts")
    if not all(map(str.strip, texts)):
        raise UsageError("input: a text is empty")
    return [encodable(text) for text in texts]


def _encoded(vector: NDArray[np.float32], encoding_format: str) -> list[float] | str:
    if encoding_format == "float":
        return vector.astype(float).tolist()
    return base64.b64encode(vector.astype(np.dtype("<f4")).tobytes()).decode("ascii")


# ---------------------------------------------------------------- from a conversation to a question
@frozen
class Conversation:
    """A question, its picture, the turns before it, and notices about what of the request was ignored."""

    question: str
    before: tuple[Turn, ...]
    notices: tuple[str, ...]
    picture: bytes = b""

    @classmethod
    def of(cls, request: ChatRequest) -> Conversation:
        """Return the conversation of a request.

        Raises:
            UsageError: it has no question, one that is too long, or one with a picture that cannot be read.
        """
        messages = [one for one in request.messages if one.role in ("user", "assistant")]
        notices = [*_ignored(request, starts_answer=bool(messages) and messages[-1].role == "assistant")]
        while messages and messages[-1].role == "assistant":
            messages.pop()
        if not messages:
            raise UsageError("messages: none has the role 'user'")
        asked = [messages.pop()]
        while messages and messages[-1].role == "user":  # several in a row are one question
            asked.insert(0, messages.pop())
        question = "\n".join(map(_text, asked))
        pictures = [address for one in asked for address in _pictures(one)]
        if len(pictures) > 1:
            raise UsageError("messages: the question has more than one picture; ask about one at a time")
        if any(map(_pictures, messages)):
            notices.append("pictures of earlier messages were ignored")
        if len(question) > ask.MAX_QUESTION and not task_of(question):  # a task repeats the conversation
            raise UsageError(f"messages: the question has more than {ask.MAX_QUESTION} characters")
        picture = picture_in(pictures[0], "messages: image_url") if pictures else b""
        question = question if question.strip() or not picture else "What do the documents say about this picture?"
        return cls(question=question, before=tuple(_turns(messages)), notices=tuple(notices), picture=picture)

    def with_notices(self, answer: Answer) -> Answer:
        """Return the answer with the notices of the conversation."""
        return replace(answer, notices=(*self.notices, *answer.notices))


def _ignored(request: ChatRequest, *, starts_answer: bool) -> Iterator[str]:
    """Yield a notice for each kind of content that has no effect."""
    if any(one.role in ("system", "developer") for one in request.messages):
        yield "system messages were ignored; answers come from the documents alone"
    if any(one.role in ("tool", "function") for one in request.messages) or request.tools:
        yield "tools were ignored; this model calls none"
    parts = [part for one in request.messages if isinstance(one.content, list) for part in one.content]
    if any(part.type not in ("text", *PICTURES) for part in parts):
        yield "parts of messages that are neither text nor pictures were ignored"
    if request.response_format is not None:
        yield "response_format was ignored; an answer is text with citations"
    if starts_answer:
        yield "the beginning of an answer was ignored; an answer is always written as a whole"


def _turns(messages: Sequence[ChatMessage]) -> Iterator[Turn]:
    question = ""
    for message in messages:
        if message.role == "user":
            question = f"{question}\n{_text(message)}".strip()
        elif question:
            yield Turn(question=question, answer=_text(message))
            question = ""


def _pictures(message: ChatMessage) -> list[str]:
    """Return the addresses of the pictures in a message."""
    parts = message.content if isinstance(message.content, list) else []
    return [part.picture for part in parts if part.type in PICTURES]


def _text(message: ChatMessage) -> str:
    if isinstance(message.content, list):
        return encodable("\n".join(part.text for part in message.content if part.type == "text"))
    return encodable(message.content or "")


# ---------------------------------------------------------------- from an answer to a completion
def _completion(answer: Answer, base: str) -> Completion:
    message = AssistantMessage(content=answer.answer, annotations=_annotations(answer, answer.answer, base))
    return Completion(
        id=_new_id(),
        created=int(time.time()),
        model=MODEL,
        choices=[Choice(message=message)],
        usage=_tokens(answer),
        ragstone=ask.Answer.of(answer, explain=False),
    )


async def _streamed(
    events: AsyncGenerator[ResearchEvent], conversation: Conversation, base: str, *, with_usage: bool
) -> AsyncGenerator[ServerEvent]:
    """Yield each sentence with its markers as soon as it is checked.

    A client cannot take text back. If the answer changes after all, because a model failed, the whole new answer
    follows the text that was sent.
    """
    id, created, shown = _new_id(), int(time.time()), ""

    def chunk(delta: Delta, answer: Answer | None = None) -> ServerEvent:
        return ServerEvent(
            data=CompletionChunk(
                id=id,
                created=created,
                model=MODEL,
                choices=[ChunkChoice(delta=delta, finish_reason="stop" if answer else None)],
                ragstone=ask.Answer.of(answer, explain=False) if answer else None,
            )
        )

    started = False
    async with aclosing(events):
        async for event in events:
            if not started:
                started = True
                yield chunk(Delta(role="assistant", content=""))
            if isinstance(event, Forecast | ActionTaken):
                yield chunk(Delta(reasoning_content=f"{step(event)}\n"))
            elif isinstance(event, SentenceClosed):
                shown += event.as_shown
                yield chunk(Delta(content=event.as_shown))
            elif isinstance(event, Answered):
                answer = conversation.with_notices(event.answer)
                if rest := rest_of(shown, answer.answer):
                    shown += rest
                    yield chunk(Delta(content=rest))
                yield chunk(Delta(annotations=_annotations(answer, shown, base)), answer)
                if with_usage:
                    usage = _tokens(answer)
                    yield ServerEvent(
                        data=CompletionChunk(id=id, created=created, model=MODEL, choices=[], usage=usage)
                    )
    yield _END


def rest_of(shown: str, whole: str) -> str:
    """Return what follows the text that was sent, or all of an answer that has become another one."""
    if whole.startswith(shown):
        return whole[len(shown) :]
    return f"\n\n{whole}" if whole != shown.strip() else ""


def cited_markers(citations: Sequence[Citation], text: str) -> Iterator[tuple[int, int, Citation, str]]:
    """Yield where each marker of a text begins and ends, its citation, and a title for it."""
    cited = {citation.marker: citation for citation in citations}
    for match in _MARKER.finditer(text):
        if citation := cited.get(int(match[1])):
            yield match.start(), match.end(), citation, one_line(name_of(citation))


def _annotations(answer: Answer, text: str, base: str) -> list[Annotation]:
    """Return the citation of each marker in the text; ``base`` is the address of this server."""
    return [
        Annotation(
            url_citation=UrlCitation(
                start_index=start, end_index=end, url=addresses.on_page(citation, base), title=title
            )
        )
        for start, end, citation, title in cited_markers(answer.citations, text)
    ]


def _tokens(answer: Answer) -> Tokens:
    usage = answer.usage
    return Tokens(
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        total_tokens=usage.prompt_tokens + usage.completion_tokens,
    )


def _new_id() -> str:
    return f"chatcmpl-{uuid.uuid4().hex}"
