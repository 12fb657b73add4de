"""OpenAI's Responses API: a question or a conversation to an answer with citations, whole or as events."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import field
from functools import partial
from itertools import count
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi import Response as HttpResponse

from ragstone.core.answers import Answered, Citation, Event, SentenceClosed
from ragstone.core.errors import NotFound, UsageError
from ragstone.core.frozen import frozen
from ragstone.serve import addresses
from ragstone.serve.http import errors
from ragstone.serve.http.authentication import Reading
from ragstone.serve.http.errors import REQUEST_ID
from ragstone.serve.http.routes import ask
from ragstone.serve.http.routes.openai import Conversation, cited_markers, rest_of, unknown_model
from ragstone.serve.http.routes.openai_messages import MODEL, ChatMessage, ChatRequest, Part
from ragstone.serve.http.routes.openai_responses_messages import (
    ID,
    PREFIX,
    CitedUrl,
    DeletedResponse,
    ErrorEvent,
    InputItem,
    OpenAIResponse,
    OutputMessage,
    OutputText,
    ResponseEvent,
    ResponsesRequest,
    ResponseUsage,
)
from ragstone.serve.http.service import Here, last_answer
from ragstone.serve.http.streaming import STREAM, EventStream, ServerEvent, while_connected

router = APIRouter(prefix="/v1", tags=["openai"])
ResponseId = Annotated[str, Path(pattern=ID)]
_TEXT_PARTS = ("input_text", "output_text", "text")


@router.post(
    "/responses",
    response_model=OpenAIResponse,
    responses={
        200: {
            "description": "The answer; server-sent events if `stream` is true.",
            "content": {STREAM: {"schema": {"type": "string"}}},
        },
        **errors.CHANGING,
    },
)
async def responses(body: ResponsesRequest, request: Request, service: Here, caller: Reading) -> Any:
    """Answer a question, or the last message of a conversation, from the documents, as OpenAI's Responses API does.

    Citations are annotations of the text; each has an address that a browser opens. A conversation goes on with
    `previous_response_id`, unless `store` is false.
    """
    unknown_model(body.model)
    conversation, session = _conversation(body), ""
    if body.previous_response_id:
        session = _session(body.previous_response_id)
        if not await asyncio.to_thread(partial(service.engine.history.turns, session, reader=caller.reader)):
            raise NotFound("previous_response_id: there is no such conversation; it was not stored, or has expired")
    elif body.store is not False:
        session = uuid.uuid4().hex
    answer_id = f"{session or uuid.uuid4().hex}{uuid.uuid4().hex[:16]}"
    events = service.ask(
        caller,
        conversation.question,
        body.where or None,
        before=conversation.before,
        session=session,
        response_id=answer_id,
        keep=body.store is not False,
        picture=conversation.picture,
    )
    seconds, request_id = service.settings.question_seconds, request.scope[REQUEST_ID]
    made = _Making(
        answer_id=answer_id,
        created=int(time.time()),
        base=service.page_address(request),
        instructions=body.instructions,
        previous=body.previous_response_id,
        is_stored=body.store is not False,
        metadata=body.metadata or {},
    )
    if body.stream:
        numbers = count()

        def failed(error: Exception) -> ServerEvent:
            why = errors.openai_failure(error, request_id).error
            told = ErrorEvent(sequence_number=next(numbers), code=why.code, message=why.message, param=why.param)
            return ServerEvent(data=told, event="error")

        return EventStream(_streamed(events, made, conversation, numbers), seconds, failed)
    answer = await while_connected(request.receive, last_answer(events, seconds))
    if answer is None:
        return HttpResponse(status_code=204)
    answer = conversation.with_notices(answer)
    return made.response(ask.Answer.of(answer, explain=False), made.text(answer.citations, answer.answer))


@router.get("/responses/{response_id}", responses={**errors.READING})
async def stored_response(response_id: ResponseId, request: Request, service: Here, caller: Reading) -> OpenAIResponse:
    """Return a response that was stored for the caller, without its instructions and metadata, which are not kept."""
    history, session, id = service.engine.history, _session(response_id), response_id.removeprefix(PREFIX)
    kept = await asyncio.to_thread(partial(history.response, id, reader=caller.reader))
    turns = await asyncio.to_thread(partial(history.turns, session, reader=caller.reader))
    ids = [one.response_id for one in turns]
    before = ids[ids.index(id) - 1] if id in ids[1:] else ""
    nothing: dict[str, Any] = {"hits": None, "sent": []}
    answer = nothing | caller.view.stored(kept.answer)
    made = _Making(
        answer_id=id,
        created=int(kept.at),
        base=service.page_address(request),
        previous=f"{PREFIX}{before}" if before.startswith(session) else None,
    )
    cited = [Citation(**one) for one in kept.answer["citations"]]
    return made.response(ask.Answer.model_validate(answer), made.text(cited, kept.answer["answer"]), int(kept.at))


@router.delete("/responses/{response_id}", responses={**errors.READING})
async def delete_response(response_id: ResponseId, service: Here, caller: Reading) -> DeletedResponse:
    """Delete a response that was stored for the caller, and its turn in the conversation."""
    forget = partial(service.engine.history.forget_response, response_id.removeprefix(PREFIX), reader=caller.reader)
    await asyncio.to_thread(partial(forget, session=_session(response_id)))
    return DeletedResponse(id=response_id)


def _session(response_id: str) -> str:
    """Return the name of the conversation that a response belongs to."""
    return response_id.removeprefix(PREFIX)[:32]


@frozen
class _Making:
    """A response while it is made. ``base`` is the address of this server, as the client wrote it."""

    answer_id: str
    created: int
    base: str
    instructions: str | None = None
    previous: str | None = None
    is_stored: bool = True
    metadata: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def item_id(self) -> str:
        return f"msg_{self.answer_id}"

    def text(self, citations: Sequence[Citation], shown: str) -> OutputText:
        """Return the text with the citation of each of its markers."""
        annotations = [
            CitedUrl(
                start_index=start,
                end_index=end,
                url=addresses.on_page(citation, self.base),
                title=title,
            )
            for start, end, citation, title in cited_markers(citations, shown)
        ]
        return OutputText(text=shown, annotations=annotations)

    def message(self, text: OutputText | None) -> OutputMessage:
        """Return the message with its text, or as it begins."""
        if text is None:
            return OutputMessage(id=self.item_id, status="in_progress", content=[])
        return OutputMessage(id=self.item_id, status="completed", content=[text])

    def response(
        self, answer: ask.Answer | None = None, text: OutputText | None = None, completed: int | None = None
    ) -> OpenAIResponse:
        """Return the response with its answer, completed then or now, or as it begins."""
        used = answer.usage if answer else None
        return OpenAIResponse(
            id=f"{PREFIX}{self.answer_id}",
            created_at=self.created,
            completed_at=(completed or int(time.time())) if answer else None,
            status="completed" if answer else "in_progress",
            instructions=self.instructions,
            model=MODEL,
            output=[self.message(text)] if text else [],
            previous_response_id=self.previous,
            store=self.is_stored,
            usage=ResponseUsage(
                input_tokens=used.prompt_tokens,
                output_tokens=used.completion_tokens,
                total_tokens=used.prompt_tokens + used.completion_tokens,
            )
            if used
            else None,
            metadata=self.metadata,
            ragstone=answer,
        )


def _conversation(body: ResponsesRequest) -> Conversation:
    """Return the conversation of a request.

    Raises:
        UsageError: it has no question, or one that is too long.
    """
    items = [InputItem(role="user", content=body.input)] if isinstance(body.input, str) else body.input
    messages = [
        ChatMessage(role=one.role, content=_content(one))
        if one.type == "message" and one.role
        else ChatMessage(role="tool")
        for one in items
    ]
    if body.instructions:
        messages.insert(0, ChatMessage(role="developer", content=body.instructions))
    wanted = body.text.format if body.text else None
    form = wanted.type if wanted and wanted.type != "text" else None
    chat = ChatRequest(model=MODEL, messages=messages, tools=body.tools or None, response_format=form)
    try:
        return Conversation.of(chat)
    except UsageError as error:
        raise UsageError(str(error).replace("messages:", "input:", 1)) from error


def _content(item: InputItem) -> str | list[Part] | None:
    if not isinstance(item.content, list):
        return item.content
    return [
        Part(type="text" if part.type in _TEXT_PARTS else part.type, text=part.text, image_url=part.image_url)
        for part in item.content
    ]


async def _streamed(
    events: AsyncGenerator[Event], made: _Making, conversation: Conversation, numbers: count[int]
) -> AsyncGenerator[ServerEvent]:
    """Yield the events of a response; its text grows by whole sentences, each as soon as it is checked."""

    def sent(kind: str, event: ResponseEvent) -> ServerEvent:
        name = f"response.{kind}"
        return ServerEvent(data=event.model_copy(update={"type": name, "sequence_number": next(numbers)}), event=name)

    def in_text(
        *,
        part: OutputText | None = None,
        delta: str | None = None,
        text: str | None = None,
        annotation: CitedUrl | None = None,
        annotation_index: int | None = None,
    ) -> ResponseEvent:
        return ResponseEvent(
            item_id=made.item_id,
            output_index=0,
            content_index=0,
            part=part,
            delta=delta,
            text=text,
            logprobs=None if delta is None and text is None else [],
            annotation=annotation,
            annotation_index=annotation_index,
        )

    shown, started = "", False
    async with aclosing(events):
        async for step in events:
            if not started:
                started = True
                yield sent("created", ResponseEvent(response=made.response()))
                yield sent("in_progress", ResponseEvent(response=made.response()))
                yield sent("output_item.added", ResponseEvent(output_index=0, item=made.message(None)))
                yield sent("content_part.added", in_text(part=OutputText(text="", annotations=[])))
            if isinstance(step, SentenceClosed):
                shown += step.as_shown
                yield sent("output_text.delta", in_text(delta=step.as_shown))
            elif isinstance(step, Answered):
                answer = conversation.with_notices(step.answer)
                if rest := rest_of(shown, answer.answer):
                    shown += rest
                    yield sent("output_text.delta", in_text(delta=rest))
                text = made.text(answer.citations, shown)
                for index, note in enumerate(text.annotations):
                    yield sent("output_text.annotation.added", in_text(annotation=note, annotation_index=index))
                yield sent("output_text.done", in_text(text=shown))
                yield sent("content_part.done", in_text(part=text))
                yield sent("output_item.done", ResponseEvent(output_index=0, item=made.message(text)))
                yield sent(
                    "completed", ResponseEvent(response=made.response(ask.Answer.of(answer, explain=False), text))
                )
