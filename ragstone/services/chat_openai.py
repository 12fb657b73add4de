"""Chat models of servers that speak the OpenAI protocol: OpenAI, Azure deployments, and any other vendor.

Vendors support different parts of the protocol. A request follows the newest specification; if a server rejects a part
of it (HTTP 400 or 422), the part is rewritten or left out, also in later requests.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, Literal

from openai import APIStatusError, AsyncOpenAI, AsyncStream
from pydantic import BaseModel, ValidationError

from ragstone.core.answers import Message, Piece, Reply
from ragstone.core.errors import ModelError
from ragstone.core.request import Request
from ragstone.services import estimate
from ragstone.services.openai_api import TOO_LONG, OpenAIServer, said_by, sendable
from ragstone.services.retries import Attempts, Setback
from ragstone.services.schemas import strict_schema
from ragstone.settings.services import ModelSettings, ServiceSettings

Fields = dict[str, Any]
"""The body of an HTTP request."""
_OPTIONAL = ("temperature", "top_p", "stream_options")
"""Optional parts of a request."""
_FORMS: tuple[Literal["limited_schema", "json_schema", "json_object", "text"], ...] = (
    "limited_schema",
    "json_schema",
    "json_object",
    "text",
)
"""Ways to request a form, strictest first: not every server accepts the limits of length and number in a schema."""
_OTHER_CAUSE = (*TOO_LONG, "content_filter", "content_policy_violation", "model_not_found")
"""Error codes that no other form of the request would change."""
_OVERHEAD = 4
"""Tokens of a message besides its text: its role and its end."""


class _Delta(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Tokens(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Chunk(BaseModel):
    """The fields of an event that are read; servers send more, and omit some."""

    choices: list[_Choice] | None = None
    usage: _Tokens | None = None


class OpenAIChat:
    """A chat model on a server.

    Args:
        name: as in the settings, such as ``openai:gpt-4o-mini``.
        settings: of the model.
        services: address, time-outs and retries.
    """

    def __init__(self, name: str, settings: ModelSettings, services: ServiceSettings) -> None:
        vendor, _, self._model = name.partition(":")
        self.name = name
        self._settings, self._services = settings, services
        self._server = OpenAIServer(services, azure=vendor == "azure")
        self._left_out: set[str] = set()
        self._longest = "max_tokens"
        self._form = 0

    def count(self, text: str) -> int:
        """Estimate the tokens of a text; only the server has the tokenizer."""
        return estimate.count(text)

    async def stream(
        self, messages: Sequence[Message], request: Request, form: type[BaseModel] | None = None
    ) -> AsyncGenerator[Piece]:
        """Yield the reply piece by piece, then the complete `Reply`. A reply that has begun is not retried.

        Raises:
            ModelError: the server cannot be reached, refuses, or fails in the middle.
        """
        attempts, begun = Attempts(self._services, request.deadline), False
        while True:
            try:
                async with aclosing(self._attempt(messages, form, attempts)) as pieces:
                    async for piece in pieces:
                        begun = True
                        yield piece
                return
            except Setback as setback:
                await self._persist(setback, attempts, begun)

    async def _persist(self, setback: Setback, attempts: Attempts, begun: bool) -> None:
        try:
            if begun:
                raise setback
            await attempts.after(setback)
        except Setback as last:
            raise ModelError(f"{self.name} at {self._server.shown}: {last}") from last

    async def _attempt(
        self, messages: Sequence[Message], form: type[BaseModel] | None, attempts: Attempts
    ) -> AsyncGenerator[Piece]:
        async with self._server.connected() as client:
            stream = await self._opened(client, messages, form, attempts)
            try:
                async with aclosing(self._read(stream, messages, attempts)) as pieces:
                    async for piece in pieces:
                        yield piece
            finally:
                await stream.close()

    async def _read(
        self, stream: AsyncStream[object], messages: Sequence[Message], attempts: Attempts
    ) -> AsyncGenerator[Piece]:
        kind = stream.response.headers.get("content-type", "")
        if "event-stream" not in kind:
            raise Setback(f"sent {kind or 'no content type'} instead of an event stream; {_CHECK}")
        text, ended, tokens, any_choice = "", "", None, False
        async for chunk in self._chunks(stream, attempts):
            tokens = chunk.usage or tokens
            for choice in (chunk.choices or ())[:1]:
                any_choice, ended = True, choice.finish_reason or ended
                if choice.delta and choice.delta.refusal:
                    raise Setback(f"the model refuses: {self._server.clean(choice.delta.refusal)}")
                if choice.delta and choice.delta.content:
                    text += choice.delta.content
                    yield choice.delta.content
        if ended == "content_filter":
            raise Setback("its content filter stopped the reply; rephrase the question, or choose another model")
        if not any_choice:
            raise Setback(f"sent an empty reply; {_CHECK}", passing=True)
        if not ended:
            raise Setback("the reply broke off in the middle; try again", passing=True)
        estimated = tokens is None
        if tokens is None:
            prompt = sum(self.count(message.content) + _OVERHEAD for message in messages)
            tokens = _Tokens(prompt_tokens=prompt, completion_tokens=self.count(text))
        yield Reply(
            text=text,
            prompt_tokens=tokens.prompt_tokens,
            completion_tokens=tokens.completion_tokens,
            cut=ended == "length",
            estimated=estimated,
        )

    async def _chunks(self, stream: AsyncStream[object], attempts: Attempts) -> AsyncIterator[_Chunk]:
        while True:
            try:
                async with self._server.within(attempts.patience()):
                    event = await anext(stream, None)
            except APIStatusError as error:
                self._server.fail(error)
            if event is None:
                return
            try:
                yield _Chunk.model_validate(event)
            except ValidationError as error:
                self._server.fail(error)

    async def _opened(
        self, client: AsyncOpenAI, messages: Sequence[Message], form: type[BaseModel] | None, attempts: Attempts
    ) -> AsyncStream[object]:
        """Open the stream of a reply, adapting the request until the server accepts it."""
        way = self._form
        while True:
            body = self._request(messages, form, _FORMS[way])
            try:
                async with self._server.within(attempts.patience()):
                    stream = await client.post(
                        "/chat/completions", cast_to=object, body=body, stream=True, stream_cls=AsyncStream[object]
                    )
            except APIStatusError as error:
                said, code = said_by(error)
                if code in _OTHER_CAUSE or not attempts.seconds_left:
                    self._server.fail(error)
                if self._adapt(said, body):
                    continue
                if form is None or way + 1 == len(_FORMS):
                    self._server.fail(error)
                way += 1
                while self._request(messages, form, _FORMS[way]) == body:  # a schema may have no limits
                    way += 1
            else:
                if form is not None:
                    self._form = way
                return stream

    def _adapt(self, said: str, body: Fields) -> bool:
        """Drop or rename the part that the server rejects; return whether there was one."""
        if self._longest in said and self._longest == "max_tokens" and "max_completion_tokens" in said:
            self._longest = "max_completion_tokens"
            return True
        refused = {part for part in _OPTIONAL if part in said and part in body}
        self._left_out |= refused
        return bool(refused)

    def _request(self, messages: Sequence[Message], form: type[BaseModel] | None, way: str) -> Fields:
        body: Fields = {
            "model": self._model,
            "messages": [{"role": one.role, "content": sendable(one.content)} for one in messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            # A form holds a judgement, which should be the same tomorrow.
            "temperature": self._settings.temperature if form is None else 0.0,
            "top_p": self._settings.top_p,
            self._longest: self._settings.max_tokens,
        }
        if form is not None and way in ("limited_schema", "json_schema"):
            schema, strict = strict_schema(form, limits=way == "limited_schema")
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": form.__name__.strip("_"), "schema": schema, "strict": strict},
            }
        elif form is not None and way == "json_object":
            body["response_format"] = {"type": "json_object"}
        return {name: value for name, value in body.items() if name not in self._left_out}


_CHECK = "check services.openai.base_url, and that the server speaks the OpenAI protocol"
