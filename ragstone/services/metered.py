"""Meter the calls of models and embedders, and refuse calls that a budget has no room for."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import BaseModel

from ragstone.core.answers import Message, Piece, Reply
from ragstone.core.errors import EmbeddingError, EmptyReply, ModelError
from ragstone.core.protocols import ChatModel, Embedder, Role
from ragstone.core.records import Span
from ragstone.core.request import Meter, Request
from ragstone.services import estimate
from ragstone.services.chat import window_of
from ragstone.services.cost import Account, Ledger, OverBudget
from ragstone.settings.services import ServiceSettings

if TYPE_CHECKING:
    from ragstone.core.records import Vector

_MESSAGE_OVERHEAD = 8
"""Most tokens of a message besides its text."""


class Metered:
    """A `ChatModel` that counts its calls in the meter of the request."""

    def __init__(
        self, model: ChatModel, settings: ServiceSettings, ledger: Ledger, *, longest: int, address: str = ""
    ) -> None:
        """Take the model and the ledger for its calls.

        Args:
            model: the metered model.
            settings: prices and budgets.
            ledger: of the knowledge base.
            longest: most tokens of a reply.
            address: of its server; empty if it runs in this process.
        """
        self._model, self._longest, self._address = model, longest, address
        self._account = Account(model.name, settings, ledger)
        self.name = model.name

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return self._model.count(text)

    async def window(self) -> int:
        """Return the tokens of the model's context window, or 0 if they are not known."""
        return await window_of(self._model)

    async def stream(
        self, messages: Sequence[Message], request: Request, form: type[BaseModel] | None = None
    ) -> AsyncGenerator[Piece]:
        """Yield the reply of the model and count the call.

        Raises:
            ModelError: the model fails, or the call may exceed a budget and is not made.
        """
        prompt = self._prompt_tokens(messages, form)
        try:
            number = await self._account.reserve(prompt, self._longest, request.meter)
        except OverBudget as refusal:
            raise ModelError(str(refusal)) from refusal
        characters = sum(len(message.content) for message in messages)
        pictures = sum(len(message.pictures) for message in messages)
        what = f"question, passages or conversation: {characters:,} characters"
        what = f"pictures: {pictures}, with a prompt of {characters:,} characters" if pictures else what
        request.meter.note_sent(f"language model {self.name}", self._address, what)
        pieces_sent: list[str] = []
        reply: Reply | None = None
        refused = False
        try:
            async with aclosing(self._model.stream(messages, replace(request, meter=Meter()), form)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Reply):
                        reply = piece
                    else:
                        pieces_sent.append(piece)
                    yield piece
        except EmptyReply as empty:  # which costs as much as any reply
            reply = empty.reply
            raise
        except ModelError:
            refused = not pieces_sent
            raise
        finally:
            if refused:
                await self._account.cancel(number, request.meter)
            else:  # counted by the model, or by us if the reply broke off or the caller left
                read, written = prompt, self.count("".join(pieces_sent))
                if reply:
                    read, written = reply.prompt_tokens, reply.completion_tokens
                cost = await self._account.settle(number, read, written, request.meter)
                request.meter.count_model_call(prompt_tokens=read, completion_tokens=written, cost=cost)

    def _prompt_tokens(self, messages: Sequence[Message], form: type[BaseModel] | None) -> int:
        """Return the most tokens that the messages and the form take."""
        tokens = sum(
            self.count(message.content) + _MESSAGE_OVERHEAD + estimate.PICTURE * len(message.pictures)
            for message in messages
        )
        return tokens + (self.count(json.dumps(form.model_json_schema())) if form else 0)


class MeteredEmbedder:
    """The embedder of a service that counts its calls in the meter of the request."""

    def __init__(
        self, embedder: Embedder, name: str, settings: ServiceSettings, ledger: Ledger, address: str = ""
    ) -> None:
        """Take the embedder, its name in the settings, prices and budgets, the ledger, and its address."""
        self._embedder, self._account = embedder, Account(name, settings, ledger)
        self._name, self._address = name, address

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def familiarity(self, text: str) -> float:
        return self._embedder.familiarity(text)

    def tokens(self, text: str) -> list[Span]:
        return self._embedder.tokens(text)

    async def embed(self, texts: Sequence[str], *, role: Role, request: Request) -> Vector:
        """Embed the texts and count the call.

        Raises:
            EmbeddingError: the service fails, or the call may exceed a budget and is not made.
        """
        try:
            number = await self._account.reserve(sum(map(estimate.count, texts)), 0, request.meter)
        except OverBudget as refusal:
            raise EmbeddingError(str(refusal)) from refusal
        own = Meter()
        what = f"texts to embed: {len(texts):,}, of {sum(map(len, texts)):,} characters"
        request.meter.note_sent(f"embedding service {self._name}", self._address, what)
        try:
            return await self._embedder.embed(texts, role=role, request=replace(request, meter=own))
        finally:
            cost: int | None = 0
            if own.embedding_tokens:
                cost = await self._account.settle(number, own.embedding_tokens, 0, request.meter)
            else:
                await self._account.cancel(number, request.meter)
            request.meter.count_embedding_calls(
                calls=own.embedding_calls, tokens=own.embedding_tokens, retries=own.embedding_retries, cost=cost
            )
