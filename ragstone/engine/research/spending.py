"""What research may still spend, and what it is expected to spend."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil
from statistics import mean

from ragstone.core.answers import Message, Turn
from ragstone.core.protocols import ChatModel
from ragstone.core.records import Evidence, Passage
from ragstone.core.request import BILLION, Request
from ragstone.core.research import Budget, Effort, Forecast
from ragstone.engine.components import Components
from ragstone.respond.writing.prompt import prompt_for, room
from ragstone.services.chat import window_of
from ragstone.services.cost import price_of

FOR_ACTIONS = 0.6
"""Share of the seconds after which no action begins, so that there is time to write."""
PLAN_PROMPT, PLAN_REPLY = 1200, 40
"""Tokens of a prompt and of a reply of a model that plans, before the passages are known."""
DONE_PROMPT = 110
"""Tokens by which the actions of the rules lengthen the prompt of a model that plans."""
WRITE_PROMPT, WRITE_REPLY = 1000, 120
"""Tokens of the prompt of a model that writes, besides the passages, and of its reply."""
PLANS = 1.5
"""Calls of a model that plans, for a question that needs several passages: the mean of 317 questions of HotpotQA,
2WikiMultihopQA and MuSiQue, other ones than `benchmarks.research` measures, with its scripted planner."""


class Spending:
    """Compares what a request has used with its budget."""

    def __init__(
        self, version: Components, budget: Budget, request: Request, is_stopped: Callable[[], bool] | None = None
    ) -> None:
        """Start the clock.

        Args:
            version: whose model plans and writes.
            budget: the limits.
            request: its meter counts calls, tokens and money.
            is_stopped: once it returns true, no further action begins.
        """
        self._version, self._budget, self._request, self._is_stopped = version, budget, request, is_stopped
        self._started, self.actions = time.monotonic(), 0
        self._plan_prompt, self._write_prompt = PLAN_PROMPT, WRITE_PROMPT
        self._sections = list[int]()

    async def reserve(
        self,
        evidence: Sequence[Evidence],
        before: Sequence[Turn],
        planning: Sequence[Message] = (),
        sections: int = 0,
    ) -> None:
        """Keep the tokens that the model will read, as far as its prompts are known so far.

        Args:
            evidence: for each answer.
            before: earlier turns of the conversation.
            planning: the prompt of a model that plans, if one will.
            sections: documents that have a section below each answer.
        """
        model, own = self._version.models.chat(), self._version.settings.respond
        if model is None:
            return
        if planning:
            self._plan_prompt = _tokens(model, planning) + DONE_PROMPT
        most = room(own, await window_of(model))

        def written_from(one: Evidence) -> int:
            return _tokens(model, prompt_for(own, model.count, one, before, most).messages)

        self._write_prompt = ceil(mean(map(written_from, evidence)))
        apart = [document for one in evidence for document in _by_document(one)[:sections]]
        self._sections = [*map(written_from, apart)]

    def forecast(self, effort: Effort, *, actions: int, plans: float, parts: int = 1) -> Forecast:
        """Return what a question is expected to cost, with what it has cost so far.

        Args:
            effort: of the question.
            actions: that the rules expect.
            plans: calls of a model that plans.
            parts: answers to write, besides the sections of a report.
        """
        model, budget, meter = self._version.models.chat(), self._budget, self._request.meter
        if model is None:
            return Forecast(effort=effort, actions=actions, calls=0, tokens=0, cost=0.0, budget=budget)
        read = round(plans * self._plan_prompt + parts * self._write_prompt + sum(self._sections))
        replies = parts + len(self._sections)
        written = round(plans * PLAN_REPLY + replies * WRITE_REPLY)
        services = self._version.settings.services
        price = price_of(services.model_behind(model.name), services.prices)
        used = meter.prompt_tokens + meter.completion_tokens
        return Forecast(
            effort=effort,
            actions=min(actions + ceil(plans), budget.actions),
            calls=min(meter.model_calls + ceil(plans) + replies, budget.calls),
            tokens=min(used + read + written, budget.tokens),
            cost=(meter.cost + price.of(read, written)) / BILLION if price else None,
            budget=budget,
        )

    def has_time(self, share: float = 1.0) -> bool:
        """Return whether another action may begin, in a share, 0 to 1, of the whole budget."""
        spent = time.monotonic() - self._started
        within = self.actions < self._budget.actions * share and spent < self._budget.seconds * FOR_ACTIONS * share
        return within and not self._is_paid_up() and not (self._is_stopped and self._is_stopped())

    def may_plan(self) -> bool:
        """Return whether a model may be asked for the next action, and there is still enough to write."""
        return self._has_calls(2, self._plan_prompt + PLAN_REPLY + self._write_prompt + WRITE_REPLY)

    def may_write(self) -> bool:
        """Return whether a model may write the answer."""
        return self._has_calls(1, self._write_prompt + WRITE_REPLY) and not self._is_paid_up()

    def is_over(self) -> bool:
        """Return whether the person ended the research, or its time is over."""
        is_late = time.monotonic() - self._started > self._budget.seconds
        return is_late or bool(self._is_stopped and self._is_stopped())

    def _has_calls(self, calls: int, tokens: int) -> bool:
        meter = self._request.meter
        used = meter.prompt_tokens + meter.completion_tokens
        return meter.model_calls + calls <= self._budget.calls and used + tokens <= self._budget.tokens

    def _is_paid_up(self) -> bool:
        money = self._budget.money
        return money is not None and self._request.meter.cost >= money * BILLION


def _tokens(model: ChatModel, messages: Sequence[Message]) -> int:
    return sum(model.count(one.content) for one in messages)


def _by_document(evidence: Evidence) -> list[Evidence]:
    """Return the evidence of each document, best document first."""
    documents = dict[str, list[Passage]]()
    for one in evidence.passages or [Passage(hit=hit) for hit in evidence.hits]:
        documents.setdefault(one.hit.chunk.document_id, []).append(one)
    return [replace(evidence, passages=tuple(some)) for some in documents.values()]
