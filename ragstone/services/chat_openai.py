"""Chat models of servers that speak the OpenAI protocol: OpenAI, Azure deployments, and any other vendor.

Vendors support different parts of the protocol. `dialect` adapts the request, `reply_events` and `reply_parts` read any
reply that carries a text, and `reply_text` cleans it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from ragstone.core.answers import Message, Piece, Reply
from ragstone.core.errors import ContextTooLong, ModelError
from ragstone.core.request import Request
from ragstone.services import estimate
from ragstone.services.dialect import WAYS, Dialect
from ragstone.services.openai_api import (
    FILTERED,
    REJECTED,
    APIStatusError,
    AsyncOpenAI,
    AsyncStream,
    OpenAIServer,
    TooLong,
    said_by,
)
from ragstone.services.reply_events import DONE, Broken, events
from ragstone.services.reply_parts import End, Part, part_of
from ragstone.services.reply_text import Habits, cleaned
from ragstone.services.retries import Attempts, Setback
from ragstone.services.windows import learnt_window
from ragstone.settings.model_servers import Endpoint
from ragstone.settings.services import ModelSettings, ServiceSettings

_OTHER_CAUSE = (*FILTERED, "model_not_found")
"""Error codes that no other form of the request would change."""
_ADAPTABLE = (*REJECTED, 404, 405, 406, 415, 500, 501)
"""HTTP status codes of requests that may succeed in another form, or at another path."""
_OVERHEAD = 4
"""Tokens of a message besides its text: its role and its end."""
_AFTER_END = 2.0
"""Seconds to wait for the token counts after the end of a reply."""
_WHOLE = re.compile(r"[.!?…。！？।|`)\]}\"'”’»*]\s*\Z")
"""The end of a text that is likely to be complete."""
_REPEATED = 16
"""Characters of text from which on a piece that repeats everything before it is no coincidence."""


@dataclass(slots=True)
class _Received:
    """A reply as far as it has arrived."""

    index: str = ""
    text: str = ""
    reasoning: str = ""
    last: str = ""
    tool: str = ""
    end: End = ""
    done: bool = False
    any_choice: bool = False
    read: int | None = None
    written: int | None = None

    def add(self, part: Part) -> str:
        """Take a part of the reply, and return its new text."""
        if part.has_choice:
            self.any_choice, self.index = True, self.index or part.index
            if part.index != self.index:
                return ""  # of several replies, the first one counts
        self.read = self.read if part.read is None else part.read
        self.written = self.written if part.written is None else part.written
        self.tool = self.tool or part.tool
        new = self._new(part)
        if not (part.whole and self.reasoning):
            self.reasoning += part.reasoning
        self.text += new
        self.last = part.text or self.last
        self.end = part.end or self.end
        return new

    def _new(self, part: Part) -> str:
        """Return the text of a part without what was sent before."""
        if self.text and (part.whole or len(self.text) >= _REPEATED) and part.text.startswith(self.text):
            return part.text[len(self.text) :]  # some servers send the text so far in each piece, or all of it at last
        if self.end and part.text == self.last and len(part.text) > 1:
            return ""  # the last piece again
        return "" if part.whole and self.text else part.text


class OpenAIChat:
    """A chat model on a server.

    Args:
        name: as in the settings, such as ``openai:gpt-4o-mini``.
        settings: of the model.
        services: address, time-outs and retries.
        endpoint: where the model is served, if not as the services have it.
    """

    def __init__(
        self, name: str, settings: ModelSettings, services: ServiceSettings, endpoint: Endpoint | None = None
    ) -> None:
        kind, _, model = name.partition(":")
        endpoint = endpoint or services.endpoint(kind)
        assert endpoint is not None, "the caller chose a server"
        self.name = name
        self._settings, self._services, self._endpoint = settings, services, endpoint
        self._server = OpenAIServer(services, endpoint)
        self._dialect, self._habits = Dialect(model, settings), Habits()
        self._window: int | None = None

    def count(self, text: str) -> int:
        """Estimate the tokens of a text; only the server has the tokenizer."""
        return estimate.count(text)

    async def window(self) -> int:
        """Return the tokens of the context window: as set, as the server says, or as assumed of such servers."""
        if self._settings.window_tokens:
            return self._settings.window_tokens
        if self._window is None:
            self._window = await learnt_window(self._endpoint, self.name.partition(":")[2])
        return self._window or self._endpoint.window

    async def stream(
        self, messages: Sequence[Message], request: Request, form: type[BaseModel] | None = None
    ) -> AsyncGenerator[Piece]:
        """Yield the reply piece by piece, then the complete `Reply`. A reply that has begun is not retried.

        Raises:
            ContextTooLong: the messages are longer than the model's window.
            ModelError: the server cannot be reached, refuses, or fails in the middle.
        """
        attempts, begun = Attempts(self._services, request.deadline), False
        while True:
            raw = self._attempt(messages, form, attempts)
            try:
                async with aclosing(cleaned(raw, self.name, self._habits, form=form is not None)) as pieces:
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
            told = f"{self.name} at {self._server.address}: {last}"
            raise (ContextTooLong(told, last.limit) if isinstance(last, TooLong) else ModelError(told)) from last

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
        got = _Received()
        async with aclosing(self._parts(stream, attempts, got)) as parts:
            async for part in parts:
                if part.failure and not got.end:
                    raise self._server.reported(part.failure)
                if part.refusal:
                    raise Setback(f"the model refuses: {self._server.clean(part.refusal)}")
                if new := got.add(part):
                    yield new
        self._refuse_incomplete(got)
        read, written = got.read, got.written
        yield Reply(
            text=got.text,
            reasoning=got.reasoning,
            prompt_tokens=self._prompt_tokens(messages) if read is None else read,
            completion_tokens=self.count(got.text + got.reasoning) if written is None else written,
            cut=got.end == "length",
            estimated=read is None or written is None,
        )

    def _prompt_tokens(self, messages: Sequence[Message]) -> int:
        return sum(self.count(one.content) + _OVERHEAD + estimate.PICTURE * len(one.pictures) for one in messages)

    def _refuse_incomplete(self, got: _Received) -> None:
        """Refuse a reply that is not complete, and say why.

        Raises:
            Setback: always in this case.
        """
        if got.end == "filter":
            raise Setback("its content filter stopped the reply; rephrase the question, or choose another model")
        if got.end == "error":
            raise Setback("failed while replying; try again later", passing=True)
        if not got.any_choice:
            raise Setback(f"sent an empty reply; {self._server.remedy}", passing=True)
        if not got.end and not got.done and not _WHOLE.search(got.text):
            raise Setback("the reply broke off in the middle; try again", passing=True)
        if not got.text and got.tool:
            raise Setback(
                f"sent an empty reply: it called the tool {self._server.clean(got.tool)}, but Ragstone offers no tools;"
                " choose another model"
            )
        if not got.text and not got.reasoning and got.end == "length":
            raise TooLong("sent an empty reply: the text fills the model's window; lower respond.context_tokens", None)

    async def _parts(self, stream: AsyncStream[object], attempts: Attempts, got: _Received) -> AsyncGenerator[Part]:
        """Yield the parts of a reply until it ends."""
        received: AsyncIterator[Any] = events(stream.response.aiter_bytes())
        while True:
            patience = min(attempts.patience(), _AFTER_END) if got.end else attempts.patience()
            try:
                async with self._server.within(patience):
                    event = await anext(received, None)
            except Setback:
                if not got.end:
                    raise
                return  # the reply is complete; only its counts are missing
            if event is None:
                return
            if event is DONE:
                got.done = True
                return
            if isinstance(event, Broken) and not got.end:
                self._refuse_broken(event, stream, got)
            yield part_of(event)

    def _refuse_broken(self, event: Broken, stream: AsyncStream[object], got: _Received) -> None:
        """Refuse a reply with text that is no event.

        Raises:
            Setback: always.
        """
        kind = stream.response.headers.get("content-type", "")
        if not got.any_choice and ("html" in kind or event.text.lstrip().startswith("<")):
            raise Setback(f"sent {kind or 'a page'} instead of an event stream; {self._server.remedy}")
        raise Setback(f"the reply is not JSON: {self._server.clean(event.text)}; {self._server.remedy}", passing=True)

    async def _opened(
        self, client: AsyncOpenAI, messages: Sequence[Message], form: type[BaseModel] | None, attempts: Attempts
    ) -> AsyncStream[object]:
        """Open the stream of a reply, adapting the request until the server accepts it."""
        way, cap = self._dialect.way, 0
        while True:
            body = self._dialect.request(messages, form, way, cap)
            path = f"{self._server.prefix}/chat/completions"
            try:
                async with self._server.within(attempts.patience(), _ADAPTABLE):
                    stream = await client.post(
                        path, cast_to=object, body=body, stream=True, stream_cls=AsyncStream[object]
                    )
            except APIStatusError as error:
                refusal, code = said_by(error)
                rejected = error.status_code in REJECTED
                if code in _OTHER_CAUSE or not attempts.seconds_left:
                    self._server.fail(error)
                if error.status_code in (404, 405) and self._server.completes_path():
                    continue
                if self._dialect.adapt(refusal, body, failed=not rejected):
                    continue
                too_long = isinstance(self._server.setback(error), TooLong)
                if smaller := self._dialect.shorter(refusal, body) if too_long else 0:
                    cap = smaller
                    continue
                if form is None or way + 1 == len(WAYS) or not rejected or too_long:
                    self._server.fail(error)
                way += 1
                while self._dialect.request(messages, form, way, cap) == body:  # a schema may have no limits
                    way += 1
            else:
                if form is not None:
                    self._dialect.way = way
                return stream
