"""What all routes share: the running server, and questions and searches as callers ask them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, TypeVar

from fastapi import Depends, Request

from ragstone.core.answers import Answer, Answered, Event, Outcome, Turn, answer_in
from ragstone.core.errors import KnowledgeBaseError
from ragstone.core.filters import Filter
from ragstone.core.hits import Hits
from ragstone.core.protocols import Role
from ragstone.core.request import BILLION, Payer
from ragstone.core.research import Budget, Effort, ResearchEvent
from ragstone.engine.knowledge_base import Change, Embedded, KnowledgeBase
from ragstone.engine.model_check import ModelCheck, check_models, try_model
from ragstone.engine.suggestions import Suggestion
from ragstone.history.audit import Act, Audit
from ragstone.history.keys import Keys
from ragstone.history.limits import Limits
from ragstone.history.sessions import Sessions
from ragstone.history.tokens import Tokens
from ragstone.history.users import Users
from ragstone.serve.http.authentication import Authenticator, Caller
from ragstone.serve.http.chosen_model import full_name
from ragstone.serve.http.drawing_turns import DrawingTurns
from ragstone.serve.http.errors import Refused
from ragstone.serve.http.job_runner import JobRunner
from ragstone.serve.http.live_settings import LiveSettings
from ragstone.serve.http.question_slots import QuestionSlots
from ragstone.serve.http.readiness import Readiness
from ragstone.serve.http.scheduler import Scheduler
from ragstone.serve.http.sign_in.desk import SignInDesk
from ragstone.serve.http.stops import Stops
from ragstone.serve.http.sweeper import Sweeper
from ragstone.serve.http.telemetry import Metrics, QuestionEnd, log_error
from ragstone.services.running import Trial
from ragstone.settings import ServeSettings

AnyEvent = TypeVar("AnyEvent", bound=ResearchEvent)
_ENDS: Mapping[Outcome, QuestionEnd] = {
    "answer": "answered",
    "closest": "closest",
    "refusal": "abstained",
    "reply": "answered",
    "clarification": "abstained",
}


@dataclass(slots=True, kw_only=True)
class Service:
    """One running server. ``is_ready`` becomes true once a question would not wait for models to load.

    ``keys``, ``users``, ``sessions``, ``tokens``, ``audit``, ``live`` and the scheduler share a connection; the
    authenticator has one of its own. With ``warm_first``, no connection is accepted before ``is_ready``.
    """

    engine: KnowledgeBase
    settings: ServeSettings
    authenticator: Authenticator
    keys: Keys
    users: Users
    sessions: Sessions
    tokens: Tokens
    audit: Audit
    slots: QuestionSlots
    jobs: JobRunner
    scheduler: Scheduler
    live: LiveSettings
    limits: Limits
    stops: Stops
    sign_in: SignInDesk
    readiness: Readiness
    sweeper: Sweeper
    warm_first: bool = False
    drawing: DrawingTurns = field(default_factory=DrawingTurns)
    metrics: Metrics = field(default_factory=Metrics)
    is_ready: bool = False

    def page_address(self, request: Request) -> str:
        """Return the address under which browsers reach the page, with a slash at the end."""
        return f"{self.settings.url}/" if self.settings.url else str(request.base_url)

    async def ask(
        self,
        caller: Caller,
        question: str,
        where: Filter | str | None = None,
        *,
        before: Sequence[Turn] = (),
        session: str = "",
        change: Change | None = None,
        response_id: str = "",
        keep: bool = True,
        picture: bytes = b"",
        language: str = "",
    ) -> AsyncGenerator[Event]:
        """Yield the events of a question. Closing the generator stops the question.

        Args:
            caller: who asks and pays.
            question: in any language.
            where: a filter on the documents that may be used.
            before: earlier turns of the conversation.
            session: the name of a stored conversation.
            change: returns the settings of this question from those of the server.
            response_id: of the answer; a random one if not given.
            keep: whether the turn and its answer are stored.
            picture: the file of a picture that the question is about.
            language: of the interface, for a question whose words are of no known language.

        Raises:
            Refused: the key has spent its daily limit, or too many questions wait.
            RagstoneError: the question failed.
        """
        view = caller.view

        def begin(kb: KnowledgeBase, payer: Payer) -> AsyncGenerator[Event]:
            return kb.stream(
                question,
                view.where(where),
                reader=caller.reader,
                before=before,
                session=session,
                payer=payer,
                response_id=response_id,
                keep=keep,
                picture=picture,
                language=language,
            )

        async with aclosing(self._counted(caller, change, begin)) as events:
            async for event in events:
                yield view.event(event)

    async def research(
        self,
        caller: Caller,
        question: str,
        where: Filter | str | None = None,
        *,
        effort: Effort,
        budget: Budget,
        before: Sequence[Turn] = (),
        session: str = "",
        change: Change | None = None,
        report: bool = False,
        run: str = "",
        picture: bytes = b"",
        language: str = "",
    ) -> AsyncGenerator[ResearchEvent]:
        """Yield the events of research. Closing the generator stops it.

        Args:
            caller: who asks and pays.
            question: in any language.
            where: a filter on the documents that may be used.
            effort: how much work the question is worth.
            budget: its limits.
            before: earlier turns of the conversation.
            session: the name of a stored conversation.
            change: returns the settings of this question from those of the server.
            report: whether sections follow the answer.
            run: the name under which `stops` can end it early.
            picture: the file of a picture that the question is about.
            language: of the interface, as for `ask`.

        Raises:
            Refused: the key has spent its daily limit, or too many questions wait.
            RagstoneError: the question failed.
        """
        view = caller.view

        def begin(kb: KnowledgeBase, payer: Payer) -> AsyncGenerator[ResearchEvent]:
            return kb.research(
                question,
                view.where(where),
                reader=caller.reader,
                effort=effort,
                budget=budget,
                before=before,
                session=session,
                payer=payer,
                report=report,
                picture=picture,
                language=language,
                is_stopped=partial(self.stops.has_stopped, caller.name, run) if run else None,
            )

        try:
            async with aclosing(self._counted(caller, change, begin)) as events:
                async for event in events:
                    yield view.research(event)
        finally:
            if run:
                self.stops.forget(caller.name, run)

    def within_time(self, budget: Budget) -> Budget:
        """Return a budget with no more seconds than a question may take."""
        return replace(budget, seconds=min(budget.seconds, self.settings.question_seconds))

    async def _counted(
        self,
        caller: Caller,
        change: Change | None,
        begin: Callable[[KnowledgeBase, Payer], AsyncGenerator[AnyEvent]],
    ) -> AsyncGenerator[AnyEvent]:
        """Yield the events of a question once it has a slot, and count how it ended."""
        outcome: QuestionEnd = "left"
        try:
            async with self._slot(caller) as payer:
                kb = await self.live.under(change)
                async with aclosing(begin(kb, payer)) as events:
                    async for event in events:
                        if isinstance(event, Answered):
                            outcome = _ENDS[event.answer.outcome]
                        yield event
        except Exception:
            outcome = "failed"
            raise
        finally:
            self.metrics.count_question(outcome)

    async def search(
        self,
        caller: Caller,
        query: str,
        k: int | None,
        where: Filter | str | None,
        *,
        change: Change | None = None,
    ) -> Hits:
        """Return the best hits, best first; see `ask`.

        Raises:
            Refused: the key has spent its daily limit, or too many questions wait.
        """
        async with asyncio.timeout(self.settings.question_seconds), self._slot(caller) as payer:
            kb = await self.live.under(change)
            hits = await kb.search(query, k, caller.view.where(where), reader=caller.reader, payer=payer)
            return caller.view.found(hits)

    async def suggestions(
        self, caller: Caller, count: int, near: tuple[str, int] | None, where: str | None
    ) -> list[Suggestion]:
        """Return questions that documents answer; see `KnowledgeBase.suggestions`.

        Raises:
            Refused: the key has spent its daily limit, or too many questions wait.
        """
        async with asyncio.timeout(self.settings.question_seconds), self._slot(caller) as payer:
            kb = await self.live.under(None)
            asked = caller.view.where(where)
            return await kb.suggestions(count, reader=caller.reader, payer=payer, near=near, where=asked)

    async def embed(self, caller: Caller, texts: Sequence[str], role: Role) -> Embedded:
        """Return the vectors of texts.

        Raises:
            Refused: the key has spent its daily limit, or too many questions wait.
        """
        async with asyncio.timeout(self.settings.question_seconds), self._slot(caller) as payer:
            return await self.engine.embed(texts, role=role, payer=payer)

    async def noted(self, caller: Caller, act: Act, what: str) -> None:
        """Record what an administrator did.

        Raises:
            KnowledgeBaseError: it could not be stored.
        """
        await asyncio.to_thread(self.audit.note, caller.identity, act, what)

    async def check_models(self, caller: Caller) -> list[ModelCheck]:
        """Return how the models in use answer now.

        Raises:
            Refused: the key has spent its daily limit, or too many questions wait.
        """
        async with asyncio.timeout(self.settings.question_seconds), self._slot(caller) as payer:
            with (await self.live.under(None)).current() as version:
                return await check_models(version, payer)

    async def try_model(self, caller: Caller, name: str) -> Trial:
        """Ask a model one question, in words and as JSON.

        Raises:
            Refused: the key has spent its daily limit, or too many questions wait.
            SettingsError: it cannot be chosen.
            ModelError: it cannot be reached, refuses or fails.
        """
        seconds = self.settings.question_seconds
        async with asyncio.timeout(seconds), self._slot(caller) as payer:
            settings = await self.live.settings()
            with self.engine.current() as version:
                return await try_model(version, full_name(settings, name), settings, payer, seconds)

    @asynccontextmanager
    async def _slot(self, caller: Caller) -> AsyncGenerator[Payer]:
        """Hold a slot; what the payer is charged meanwhile is charged to the caller's key."""
        await self._check_budget(caller)
        payer = Payer()
        try:
            async with self.slots.slot(caller.name):
                yield payer
        finally:
            await self._charge(caller, payer)

    async def _check_budget(self, caller: Caller) -> None:
        if not (key := caller.charged):
            return
        own, default = key.limits.cost_per_day, self.settings.limits.cost_per_day
        limit = default if own is None else own
        if limit and await asyncio.to_thread(self.keys.spent, key.id) >= round(limit * BILLION):
            message = f"the daily limit of {limit:g} is spent; days begin at midnight UTC"
            raise Refused("too_many", message, await asyncio.to_thread(self.keys.seconds_of_day))

    async def _charge(self, caller: Caller, payer: Payer) -> None:
        if (key := caller.charged) and payer.cost:
            try:
                await asyncio.shield(asyncio.to_thread(self.keys.spend, key.id, payer.cost))
            except KnowledgeBaseError as error:
                log_error(error, {"key": key.id, "during": "recording what a key has spent"})


async def last_answer(events: AsyncGenerator[ResearchEvent], seconds: float) -> Answer:
    """Return the answer that ends a stream of events.

    Raises:
        TimeoutError: it took longer than this.
    """
    async with asyncio.timeout(seconds):
        return await answer_in(events)


async def _service(request: Request) -> Service:
    return request.app.state.service


Here = Annotated[Service, Depends(_service)]
"""A route's parameter for the running server."""
