"""What calls of language models cost, and the budget that stops them before it is exceeded.

Money is counted in whole billionths of the currency of the price list, so that sums are exact. A model that runs here
costs nothing; one of which no price is known is counted in tokens, and no budget lets it pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Protocol

from pydantic import BaseModel

from ragstone.answers import Message, Piece, Reply
from ragstone.errors import KnowledgeBaseError, ModelError
from ragstone.monitor import BILLION, note_call, note_unrecorded, spent_now
from ragstone.protocols import ChatModel
from ragstone.services import ServiceSettings
from ragstone.yaml_text import read_yaml

_LOCAL = ("huggingface:", "gguf:", "extractive")
_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")
_ROLE_TOKENS = 8
"""Tokens that a message takes beside its words, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Billionths for a token read, and for one written; whole numbers where a million costs thousandths."""

    read: float
    written: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> int:
        """Billionths, rounded up."""
        exact = prompt_tokens * self.read + completion_tokens * self.written
        return int(exact) + (exact > int(exact))


def price_of(model: str, own: Mapping[str, tuple[float, float]]) -> Price | None:
    """The price of a model, by its name with or without the service before it; nothing where none is known.

    Args:
        model: as the settings name it, such as ``openai:gpt-4o-mini``.
        own: the user's prices for a million tokens, read and written; they stand above the shipped ones.
    """
    bare = model.partition(":")[2] or model
    for name in (model, bare):
        if name in own:
            return _price(own[name])
    if model.startswith(_LOCAL):
        return Price(read=0, written=0)
    shipped = _shipped()
    found = shipped.get(bare) or shipped.get(_DATED.sub("", bare))
    return _price(found) if found else None


@cache
def _shipped() -> dict[str, tuple[float, float]]:
    table = read_yaml((files("ragstone") / "prices.yaml").read_text(encoding="utf-8"))
    return {name: (float(read), float(written)) for name, (read, written) in table["models"].items()}


def _price(per_million: tuple[float, float]) -> Price:
    read, written = (round(dollars * BILLION / 1_000_000, 6) for dollars in per_million)
    return Price(read=read, written=written)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a model: for which question or ingest, its tokens, and billionths; none where no price is known."""

    job: str
    purpose: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    cost: int | None


class Ledger(Protocol):
    """Where calls are written down, for all processes."""

    def reserve(self, call: Call, limit: int) -> tuple[int | None, int]:
        """Write down the most that a call may cost, unless the day would then cost more than ``limit`` billionths.

        Gives the number of the entry, nothing where it would; and what the day has cost before.
        """
        ...

    def settle(self, number: int | None, call: Call | None) -> None:
        """Put what a call took in the place of its entry, or write it down; without a call, take the entry out."""
        ...


class Metered:
    """A `ChatModel` whose calls are counted: for the question at hand, and for the day, which both may have a limit."""

    def __init__(self, model: ChatModel, settings: ServiceSettings, ledger: Ledger, *, longest: int) -> None:
        """Take the model and where its calls are written down.

        Args:
            model: that is asked.
            settings: prices and budgets.
            ledger: of the knowledge base.
            longest: tokens that a reply may have.
        """
        self._model, self._ledger, self._longest = model, ledger, longest
        self._price = price_of(model.name, settings.prices)
        self._per_question = round(settings.budget_per_question * BILLION)
        self._per_day = round(settings.budget_per_day * BILLION)
        self.name = model.name

    def count(self, text: str) -> int:
        return self._model.count(text)

    async def stream(self, messages: Sequence[Message], form: type[BaseModel] | None = None) -> AsyncGenerator[Piece]:
        """As the model does it.

        Raises:
            ModelError: the model fails; or the call might cost more than is left, and is not made.
        """
        prompt = self._prompt_tokens(messages, form)
        number = self._reserved(prompt)
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
            self._settled(number, None if refused else self._taken(prompt, "".join(said), reply))

    def _prompt_tokens(self, messages: Sequence[Message], form: type[BaseModel] | None) -> int:
        """What the messages take, at most, and with them the form."""
        tokens = sum(self.count(message.content) + _ROLE_TOKENS for message in messages)
        return tokens + (self.count(json.dumps(form.model_json_schema())) if form else 0)

    def _reserved(self, prompt: int) -> int | None:
        """Refuse a call that a budget has no room for; gives the number of its entry where there is a daily one."""
        if not self._per_question and not self._per_day:
            return None
        most = self._call(prompt, self._longest)
        if most.cost is None:
            raise self._refusal("its price is not known, and there is a budget; name it in services.prices")
        if not most.cost:
            return None
        spent = spent_now().cost
        if self._per_question and spent + most.cost > self._per_question:
            raise self._over("budget_per_question", self._per_question, spent, most.cost, "this question")
        if not self._per_day:
            return None
        try:
            number, before = self._ledger.reserve(most, self._per_day)
        except KnowledgeBaseError as error:
            raise self._refusal(f"the budget cannot be looked at: {error}") from error
        if number is None:
            raise self._over("budget_per_day", self._per_day, before, most.cost, "this day (UTC)")
        return number

    def _taken(self, prompt: int, said: str, reply: Reply | None) -> Call:
        """What a call took: as the model says; or as counted where it broke, or nobody waited for its end."""
        if reply is not None:
            return self._call(reply.prompt_tokens, reply.completion_tokens)
        return self._call(prompt, self.count(said))

    def _settled(self, number: int | None, call: Call | None) -> None:
        if call:
            note_call(call.prompt_tokens, call.completion_tokens, call.cost)
        if call is None and number is None:
            return
        try:
            self._ledger.settle(number, call)
        except KnowledgeBaseError as error:  # an answer that was paid for is not withheld for that
            note_unrecorded(f"the cost of {self.name} was not written down: {error}")

    def _call(self, prompt: int, completion: int) -> Call:
        now = spent_now()
        cost = self._price.of(prompt, completion) if self._price else None
        return Call(
            job=now.job,
            purpose=now.purpose,
            model=self.name,
            prompt_tokens=prompt,
            completion_tokens=completion,
            cost=cost,
        )

    def _over(self, setting: str, limit: int, spent: int, most: int, what: str) -> ModelError:
        return self._refusal(
            f"services.{setting}={limit / BILLION:g} might be exceeded; {what} has cost {spent / BILLION:.6f}, and the"
            f" call may cost {most / BILLION:.6f}"
        )

    def _refusal(self, why: str) -> ModelError:
        return ModelError(f"{self.name} was not asked, for the budget: {why}")
