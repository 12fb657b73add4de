"""Answers as chat completions: a conversation as a question, an answer as a message or as chunks of one."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from ragstone.answers import Answer, Answered, Event, SentenceClosed, Turn
from ragstone.errors import UsageError
from ragstone.serve import addresses
from ragstone.serve.http.sse import Sent
from ragstone.serve.http.wire import asking
from ragstone.serve.http.wire import openai as wire
from ragstone.serve.screen import one_line

_MARKER = re.compile(r"\[(?:(?:Web )?Source )?(\d+)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A question, what was said before it, and what of the messages was left out."""

    question: str
    before: tuple[Turn, ...]
    notices: tuple[str, ...]

    @classmethod
    def of(cls, request: wire.ChatRequest) -> Conversation:
        """The conversation of a request.

        Raises:
            UsageError: there is no question in it, or it is too long.
        """
        messages, notices = request.messages, []
        if any(one.role in ("system", "developer") for one in messages):
            notices.append("system messages were not followed: the answer comes from the documents alone")
        if any(one.role in ("tool", "function") for one in messages) or request.tools:
            notices.append("tools were left out: there are none that this model calls")
        if any(part.type != "text" for one in messages if isinstance(one.content, list) for part in one.content):
            notices.append("parts of the messages that are no text were not looked at")
        if request.response_format is not None:
            notices.append("response_format was not followed: an answer is a text with citations")
        said = [one for one in messages if one.role in ("user", "assistant")]
        if said and said[-1].role == "assistant":
            notices.append("the beginning of an answer was left out: an answer is made as a whole")
        while said and said[-1].role == "assistant":
            said.pop()
        if not said:
            raise UsageError("messages: none of them is the user's")
        question = _text(said.pop())
        while said and said[-1].role == "user":  # one after another, without an answer
            question = f"{_text(said.pop())}\n{question}"
        if len(question) > asking.LONGEST_QUESTION:
            raise UsageError(f"messages: the question has more than {asking.LONGEST_QUESTION} characters")
        return cls(question=question, before=tuple(_turns(said)), notices=tuple(notices))

    def told(self, answer: Answer) -> Answer:
        """The answer, which tells what of the conversation was left out, too."""
        return replace(answer, notices=(*self.notices, *answer.notices))


def _turns(said: Sequence[wire.ChatMessage]) -> list[Turn]:
    turns, asked = [], ""
    for message in said:
        if message.role == "user":
            asked = f"{asked}\n{_text(message)}".strip()
        elif asked:
            turns.append(Turn(question=asked, answer=_text(message)))
            asked = ""
    return turns


def _text(message: wire.ChatMessage) -> str:
    if isinstance(message.content, list):
        return whole("\n".join(part.text for part in message.content if part.type == "text"))
    return whole(message.content or "")


def whole(text: str) -> str:
    """A text without halves of characters, which no index and no response could hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def completion(answer: Answer) -> wire.Completion:
    """An answer as one message."""
    message = wire.AssistantMessage(content=answer.answer, annotations=marked(answer, answer.answer))
    return wire.Completion(
        id=_id(),
        created=int(time.time()),
        model=wire.MODEL,
        choices=[wire.Choice(message=message)],
        usage=tokens(answer),
        ragstone=asking.Answer.of(answer, explain=False),
    )


async def chunks(
    events: AsyncGenerator[Event], conversation: Conversation, *, with_usage: bool
) -> AsyncGenerator[Chunk]:
    """An answer sentence by sentence, each with its markers, as soon as it was checked.

    What was sent cannot be taken back. Where the answer became another one, since a model failed, it comes whole
    below what there is.
    """
    id, created, shown = _id(), int(time.time()), ""

    def chunk(delta: wire.Delta, answer: Answer | None = None) -> wire.CompletionChunk:
        return wire.CompletionChunk(
            id=id,
            created=created,
            model=wire.MODEL,
            choices=[wire.ChunkChoice(delta=delta, finish_reason="stop" if answer else None)],
            ragstone=asking.Answer.of(answer, explain=False) if answer else None,
        )

    begun = False
    async with aclosing(events):
        async for event in events:
            if not begun:
                begun = True
                yield Chunk(data=chunk(wire.Delta(role="assistant", content="")))
            if isinstance(event, SentenceClosed):
                shown += event.as_shown
                yield Chunk(data=chunk(wire.Delta(content=event.as_shown)))
            elif isinstance(event, Answered):
                answer = conversation.told(event.answer)
                if rest := _rest(shown, answer.answer):
                    shown += rest
                    yield Chunk(data=chunk(wire.Delta(content=rest)))
                yield Chunk(data=chunk(wire.Delta(annotations=marked(answer, shown)), answer))
                if with_usage:
                    used = wire.CompletionChunk(
                        id=id, created=created, model=wire.MODEL, choices=[], usage=tokens(answer)
                    )
                    yield Chunk(data=used)
    yield Chunk(data=_END)


def _rest(shown: str, whole: str) -> str:
    if whole.startswith(shown):
        return whole[len(shown) :]
    return f"\n\n{whole}" if whole != shown.strip() else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk(Sent):
    """An event without a name."""

    event: str = ""

    def encoded(self) -> bytes:
        return f"data: {'[DONE]' if self.data is _END else self.data.model_dump_json()}\n\n".encode()


_END = wire.Models(data=[])
"""Stands for the end of a stream, which has no data of its own."""


def marked(answer: Answer, text: str) -> list[wire.Annotation]:
    """Each marker in the text with what it stands for."""
    cited = {citation.marker: citation for citation in answer.citations}
    out = []
    for found in _MARKER.finditer(text):
        if citation := cited.get(int(found[1])):
            title = one_line(citation.title) or one_line(citation.document_id)
            told = wire.UrlCitation(
                start_index=found.start(),
                end_index=found.end(),
                url=addresses.of_citation(citation),
                title=title,
            )
            out.append(wire.Annotation(url_citation=told))
    return out


def tokens(answer: Answer) -> wire.Tokens:
    used = answer.usage
    total = used.prompt_tokens + used.completion_tokens
    return wire.Tokens(prompt_tokens=used.prompt_tokens, completion_tokens=used.completion_tokens, total_tokens=total)


def _id() -> str:
    return f"chatcmpl-{uuid.uuid4().hex}"
