"""A question as every route of the server asks it: in its turn, at somebody's cost, and counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime, timedelta

from ragstone.answers import Answered, Event, Turn
from ragstone.conditions import Filter
from ragstone.errors import KnowledgeBaseError
from ragstone.monitor import BILLION, Payer, paying
from ragstone.sections import Settings
from ragstone.serve.http.door import Caller
from ragstone.serve.http.log import note
from ragstone.serve.http.problems import Refused
from ragstone.serve.http.service import Service


async def asked(
    service: Service,
    caller: Caller,
    question: str,
    where: Filter | str | None = None,
    *,
    before: Sequence[Turn] = (),
    session: str = "",
    change: Callable[[Settings], Settings] | None = None,
) -> AsyncGenerator[Event]:
    """The events of a question; closing the generator stops whatever is under way.

    Args:
        service: the server.
        caller: who asks, and pays.
        question: in any language.
        where: which documents may be used.
        before: what was said before.
        session: name of a conversation that is kept.
        change: makes the settings of this question of those in force.

    Raises:
        Refused: the key has cost what it may for today, or too many wait.
        RagstoneError: as of the engine's stream.
    """
    outcome = "left"
    try:
        async with in_turn(service, caller):
            events = service.engine.stream_with(
                change or _same, question, where, before=before, session=session, reader=caller.reader
            )
            async with aclosing(events):
                async for event in events:
                    if isinstance(event, Answered):
                        outcome = "abstained" if event.answer.abstained else "answered"
                    yield event
    except Exception:
        outcome = "failed"
        raise
    finally:
        service.metrics.answer(outcome)


@asynccontextmanager
async def in_turn(service: Service, caller: Caller) -> AsyncIterator[None]:
    """Wait for a turn, and have it; what models and services cost inside is the caller's.

    Raises:
        Refused: the key has cost what it may for today, or too many wait.
    """
    await _refuse_spent(service, caller)
    payer = Payer()
    try:
        async with service.turns.turn():
            with paying(payer):
                yield
    finally:
        await _charge(service, caller, payer)


def _same(settings: Settings) -> Settings:
    return settings


async def _refuse_spent(service: Service, caller: Caller) -> None:
    if not caller.key:
        return
    own, usual = caller.key.limits.cost_per_day, service.settings.limits.cost_per_day
    limit = usual if own is None else own
    if limit and await asyncio.to_thread(service.keys.spent, caller.key.id) >= round(limit * BILLION):
        now = datetime.now(UTC)
        midnight = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
        told = f"this key has cost what it may in a day of UTC, {limit:g}"
        raise Refused("too_many", told, (midnight - now).total_seconds())


async def _charge(service: Service, caller: Caller, payer: Payer) -> None:
    if caller.key and payer.cost:
        try:
            await asyncio.shield(asyncio.to_thread(service.keys.spend, caller.key.id, payer.cost))
        except KnowledgeBaseError as error:
            note("error", {"key": caller.key.id, "error": type(error).__name__, "at": "the cost was not written down"})
