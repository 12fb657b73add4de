"""Prices of model calls, and budgets that refuse a call before they are exceeded.

Money is counted in whole billionths of the currency of the price list, so that sums are exact. Local models cost
nothing. Models without a known price are counted in tokens, and refused if there is a budget.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Protocol

from ragstone.core.answers import EXTRACTIVE
from ragstone.core.errors import KnowledgeBaseError
from ragstone.core.frozen import frozen
from ragstone.core.request import BILLION, Meter
from ragstone.core.threads import in_thread
from ragstone.settings.model_servers import LOCAL_SERVERS
from ragstone.settings.services import ServiceSettings
from ragstone.settings.yaml_text import read_yaml

_LOCAL = ("huggingface:", "gguf:", "sentence-transformers:", EXTRACTIVE, *(f"{name}:" for name in LOCAL_SERVERS))
_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@frozen
class Price:
    """Price, in billionths, of a prompt token and of a completion token."""

    read: float
    written: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> int:
        """Return the cost of a call in billionths, rounded up."""
        exact = prompt_tokens * self.read + completion_tokens * self.written
        return int(exact) + (exact > int(exact))


def price_of(model: str, own: Mapping[str, tuple[float, float]]) -> Price | None:
    """Return the price of a model, by its name with or without the service prefix; None if it is unknown.

    Args:
        model: as the settings name it, such as ``openai:gpt-4o-mini``.
        own: the user's prices per million prompt and completion tokens; they override the shipped prices.
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
    table = read_yaml((files("ragstone.services") / "prices.yaml").read_text(encoding="utf-8"))
    return {name: (float(read), float(written)) for name, (read, written) in table["models"].items()}


def _price(per_million: tuple[float, float]) -> Price:
    read, written = (round(dollars * BILLION / 1_000_000, 6) for dollars in per_million)
    return Price(read=read, written=written)


@frozen
class Call:
    """A call of a model: its question or ingest, its tokens, and its cost in billionths (None if unknown)."""

    job: str
    purpose: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    cost: int | None


class Ledger(Protocol):
    """Records calls for all processes."""

    def reserve(self, call: Call, limit: int) -> tuple[int | None, int]:
        """Record the greatest cost of a call, unless that would exceed the day's ``limit`` in billionths.

        Return the number of the entry, or None if it would exceed the limit, and the cost of the day so far.
        """
        ...

    def settle(self, number: int | None, call: Call | None) -> None:
        """Replace a reserved entry by the actual call, or add the call; without a call, remove the entry."""
        ...


class OverBudget(Exception):
    """A call was refused because it may exceed a budget; the text says which."""


class Account:
    """The calls of one model. A question has a budget, and so has the day; an ingest counts only against the day's.

    The ledger is used in threads: a slow disk or database must not hold up the other answers of a server.
    """

    def __init__(self, model: str, settings: ServiceSettings, ledger: Ledger) -> None:
        """Take the model's name, prices and budgets, and the ledger."""
        self._model, self._ledger = model, ledger
        own = settings.prices
        named = model in own or model.partition(":")[2] in own
        self._price = price_of(model if named else settings.model_behind(model), own)
        self._per_question = round(settings.budget_per_question * BILLION)
        self._per_day = round(settings.budget_per_day * BILLION)

    async def reserve(self, prompt: int, completion: int, meter: Meter) -> int | None:
        """Check that a call of at most this many tokens fits the budgets; return its entry if there is a daily budget.

        Raises:
            OverBudget: it may not fit, or that cannot be determined.
        """
        if not self._per_question and not self._per_day:
            return None
        most = self._call(prompt, completion, meter)
        if most.cost is None:
            raise self._refusal("its price is unknown; set it in services.prices")
        if not most.cost:
            return None
        if self._per_question and meter.purpose != "ingest" and meter.cost + most.cost > self._per_question:
            raise self._over("budget_per_question", self._per_question, meter.cost, most.cost, "this question")
        if not self._per_day:
            return None
        entries: list[int | None] = []

        def enter() -> int:
            number, before = self._ledger.reserve(most, self._per_day)
            entries.append(number)
            return before

        try:
            before = await in_thread(enter)
        except asyncio.CancelledError:  # The call will not be made.
            for number in entries:
                await self.cancel(number, meter)
            raise
        except KnowledgeBaseError as error:
            raise self._refusal(f"the budget cannot be checked: {error}") from error
        if entries == [None]:
            raise self._over("budget_per_day", self._per_day, before, most.cost, "today (UTC)")
        return entries[0]

    async def settle(self, number: int | None, prompt: int, completion: int, meter: Meter) -> int | None:
        """Record the actual call in place of its entry, and return its cost if that is known."""
        call = self._call(prompt, completion, meter)
        await self._write(number, call, meter)
        return call.cost

    async def cancel(self, number: int | None, meter: Meter) -> None:
        """Remove the entry of a call that cost nothing."""
        if number is not None:
            await self._write(number, None, meter)

    async def _write(self, number: int | None, call: Call | None, meter: Meter) -> None:
        try:
            await in_thread(partial(self._ledger.settle, number, call))
        except KnowledgeBaseError as error:  # the caller still gets what was paid for
            meter.notices.append(f"The cost of {self._model} was not recorded: {error}")

    def _call(self, prompt: int, completion: int, meter: Meter) -> Call:
        cost = self._price.of(prompt, completion) if self._price else None
        return Call(
            job=meter.id,
            purpose=meter.purpose,
            model=self._model,
            prompt_tokens=prompt,
            completion_tokens=completion,
            cost=cost,
        )

    def _over(self, setting: str, limit: int, spent: int, most: int, what: str) -> OverBudget:
        return self._refusal(
            f"services.{setting}={limit / BILLION:g} may be exceeded: {what} has cost {spent / BILLION:.6f}, and the"
            f" call may cost {most / BILLION:.6f}"
        )

    def _refusal(self, why: str) -> OverBudget:
        return OverBudget(f"{self._model} was not called because of the budget: {why}")
