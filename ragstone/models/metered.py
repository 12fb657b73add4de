"""Models of services whose calls are counted, and not made where a budget has no room for them."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from pydantic import BaseModel

from ragstone.answers import Message, Piece, Reply
from ragstone.contracts import Span
from ragstone.errors import EmbeddingError, ModelError
from ragstone.models import estimate
from ragstone.models.cost import Account, Ledger, OverBudget
from ragstone.monitor import Spent, counting, note_call, note_service
from ragstone.protocols import ChatModel, Embedder, Role
from ragstone.services import ServiceSettings

if TYPE_CHECKING:
    from ragstone.contracts import Vector

_ROLE_TOKENS = 8
"""Tokens that a message takes beside its words, at most."""


class Metered:
    """A `ChatModel` whose calls are counted."""

    def __init__(self, model: ChatModel, settings: ServiceSettings, ledger: Ledger, *, longest: int) -> None:
        """Take the model and where its calls are written down.

        Args:
            model: that is asked.
            settings: prices and budgets.
            ledger: of the knowledge base.
            longest: tokens that a reply may have.
        """
        self._model, self._longest = model, longest
        self._account = Account(model.name, settings, ledger)
        self.name = model.name

    def count(self, text: str) -> int:
        return self._model.count(text)

    async def stream(self, messages: Sequence[Message], form: type[BaseModel] | None = None) -> AsyncGenerator[Piece]:
        """As the model does it.

        Raises:
            ModelError: the model fails; or the call might cost more than is left, and is not made.
        """
        prompt = self._prompt_tokens(messages, form)
        try:
            number = self._account.reserve(prompt, self._longest)
        except OverBudget as refusal:
            raise ModelError(str(refusal)) from refusal
        said: list[str] = []
        reply: Reply | None = None
        refused = False
        try:
            async with aclosing(self._model.stream(messages, form)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Reply):
                        reply = piece
                    else:
                        said.append(piece)
                    yield piece
        except ModelError:
            refused = not said
            raise
        finally:
            if refused:
                self._account.cancel(number)
            else:  # as the model says; as counted where it broke, or nobody waited for its end
                taken = (prompt, self.count("".join(said)))
                taken = (reply.prompt_tokens, reply.completion_tokens) if reply else taken
                note_call(*taken, self._account.settle(number, *taken))

    def _prompt_tokens(self, messages: Sequence[Message], form: type[BaseModel] | None) -> int:
        """What the messages take, at most, and with them the form."""
        tokens = sum(self.count(message.content) + _ROLE_TOKENS for message in messages)
        return tokens + (self.count(json.dumps(form.model_json_schema())) if form else 0)


class MeteredEmbedder:
    """The embedder of a service, whose calls are counted."""

    def __init__(self, embedder: Embedder, name: str, settings: ServiceSettings, ledger: Ledger) -> None:
        """Take the embedder, its name in the settings, prices and budgets, and where its calls are written down."""
        self._embedder, self._account = embedder, Account(name, settings, ledger)

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

    async def embed(self, texts: Sequence[str], *, role: Role) -> Vector:
        """As the embedder does it.

        Raises:
            EmbeddingError: the service fails; or the call might cost more than is left, and is not made.
        """
        try:
            number = self._account.reserve(sum(map(estimate.count, texts)), 0)
        except OverBudget as refusal:
            raise EmbeddingError(str(refusal)) from refusal
        asked = Spent()
        try:
            with counting(asked):
                return await self._embedder.embed(texts, role=role)
        finally:
            cost: int | None = 0
            if asked.tokens:
                cost = self._account.settle(number, asked.tokens, 0)
            else:
                self._account.cancel(number)
            note_service(calls=asked.calls, tokens=asked.tokens, retries=asked.retries, cost=cost)
