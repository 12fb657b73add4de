"""What calls of models cost, and the budget that stops them before it is exceeded.

Money is counted in whole billionths of the currency of the price list, so that sums are exact. A model that runs here
costs nothing; one of which no price is known is counted in tokens, and no budget lets it pass.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Protocol

from ragstone.errors import KnowledgeBaseError
from ragstone.monitor import BILLION, note_unrecorded, spent_now
from ragstone.services import ServiceSettings
from ragstone.yaml_text import read_yaml

_LOCAL = ("huggingface:", "gguf:", "extractive")
_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


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
    table = read_yaml((files("ragstone.models") / "prices.yaml").read_text(encoding="utf-8"))
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


class OverBudget(Exception):
    """A call is not made, for it might cost more than a budget has left; the text says so."""


class Account:
    """The calls of one model, for the question or ingest at hand and for the day, which both may have a limit."""

    def __init__(self, model: str, settings: ServiceSettings, ledger: Ledger) -> None:
        """Take the model's name, prices and budgets, and where calls are written down."""
        self._model, self._ledger = model, ledger
        self._price = price_of(model, settings.prices)
        self._per_question = round(settings.budget_per_question * BILLION)
        self._per_day = round(settings.budget_per_day * BILLION)

    def reserve(self, prompt: int, completion: int) -> int | None:
        """Look whether there is room for a call of at most so many tokens; its entry, where there is a daily budget.

        Raises:
            OverBudget: there is none, or it cannot be told.
        """
        if not self._per_question and not self._per_day:
            return None
        most = self._call(prompt, completion)
        if most.cost is None:
            raise self._refusal("its price is not known, and there is a budget; name it in services.prices")
        if not most.cost:
            return None
        spent = spent_now()
        if self._per_question and spent.purpose != "ingest" and spent.cost + most.cost > self._per_question:
            raise self._over("budget_per_question", self._per_question, spent.cost, most.cost, "this question")
        if not self._per_day:
            return None
        try:
            number, before = self._ledger.reserve(most, self._per_day)
        except KnowledgeBaseError as error:
            raise self._refusal(f"the budget cannot be looked at: {error}") from error
        if number is None:
            raise self._over("budget_per_day", self._per_day, before, most.cost, "this day (UTC)")
        return number

    def settle(self, number: int | None, prompt: int, completion: int) -> int | None:
        """Write down what a call took, in the place of its entry; gives its cost, if that is known."""
        call = self._call(prompt, completion)
        self._write(number, call)
        return call.cost

    def cancel(self, number: int | None) -> None:
        """Take out the entry of a call that cost nothing."""
        if number is not None:
            self._write(number, None)

    def _write(self, number: int | None, call: Call | None) -> None:
        try:
            self._ledger.settle(number, call)
        except KnowledgeBaseError as error:  # what was paid for is not withheld for that
            note_unrecorded(f"the cost of {self._model} was not written down: {error}")

    def _call(self, prompt: int, completion: int) -> Call:
        now = spent_now()
        cost = self._price.of(prompt, completion) if self._price else None
        return Call(
            job=now.job,
            purpose=now.purpose,
            model=self._model,
            prompt_tokens=prompt,
            completion_tokens=completion,
            cost=cost,
        )

    def _over(self, setting: str, limit: int, spent: int, most: int, what: str) -> OverBudget:
        return self._refusal(
            f"services.{setting}={limit / BILLION:g} might be exceeded; {what} has cost {spent / BILLION:.6f}, and the"
            f" call may cost {most / BILLION:.6f}"
        )

    def _refusal(self, why: str) -> OverBudget:
        return OverBudget(f"{self._model} was not asked, for the budget: {why}")
