"""What research may still spend, and what it is expected to spend."""

from __future__ import annotations

import time
from collections.abc import Callable

from ragstone.core.records import Evidence
from ragstone.core.request import BILLION, Request
from ragstone.core.research import Budget, Effort, Forecast
from ragstone.engine.components import Components
from ragstone.services.cost import price_of

FOR_ACTIONS = 0.6
"""Share of the seconds after which no action begins, so that there is time to write."""
PLAN_PROMPT, PLAN_REPLY = 750, 40
"""Tokens of a prompt and of a reply of a model that plans, as `benchmarks.research` measures them."""
WRITE_PROMPT, WRITE_REPLY = 700, 120
"""Tokens of the prompt of a model that writes, besides the passages, and of its reply."""
PLANS = {"quick": 0, "thorough": 3, "research": 3}
"""Calls of a model that plans, for a question that needs several passages."""


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
        self._writing = WRITE_PROMPT + WRITE_REPLY

    def reserve(self, evidence: Evidence) -> None:
        """Keep the tokens that writing an answer from this evidence takes."""
        model = self._version.models.chat()
        if model is None:
            return
        texts = [one.hit.chunk.text for one in evidence.passages] or [hit.chunk.text for hit in evidence.hits]
        read = min(self._version.settings.respond.context_tokens, sum(map(model.count, texts)))
        self._writing = WRITE_PROMPT + read + WRITE_REPLY

    def forecast(self, effort: Effort, *, actions: int, plans: int, parts: int = 1) -> Forecast:
        """Return what a question is expected to cost.

        Args:
            effort: of the question.
            actions: that the rules expect.
            plans: calls of a model that plans.
            parts: answers to write.
        """
        model, budget = self._version.models.chat(), self._budget
        if model is None:
            return Forecast(effort=effort, actions=actions, calls=0, tokens=0, cost=0.0, budget=budget)
        read = plans * PLAN_PROMPT + parts * (self._writing - WRITE_REPLY)
        written = plans * PLAN_REPLY + parts * WRITE_REPLY
        services = self._version.settings.services
        price = price_of(services.model_behind(model.name), services.prices)
        return Forecast(
            effort=effort,
            actions=min(actions + plans, budget.actions),
            calls=min(plans + parts, budget.calls),
            tokens=min(read + written, budget.tokens),
            cost=price.of(read, written) / BILLION if price else None,
            budget=budget,
        )

    def has_time(self, share: float = 1.0) -> bool:
        """Return whether another action may begin, in a share, 0 to 1, of the whole budget."""
        spent = time.monotonic() - self._started
        within = self.actions < self._budget.actions * share and spent < self._budget.seconds * FOR_ACTIONS * share
        return within and not self._is_paid_up() and not (self._is_stopped and self._is_stopped())

    def may_plan(self) -> bool:
        """Return whether a model may be asked for the next action, and there is still enough to write."""
        return self._has_calls(2, PLAN_PROMPT + PLAN_REPLY + self._writing)

    def may_write(self) -> bool:
        """Return whether a model may write the answer."""
        return self._has_calls(1, self._writing) and not self._is_paid_up()

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
