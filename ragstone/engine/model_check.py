"""Checks the models of the settings: whether their packages are installed, and whether and how fast they answer."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Literal

from ragstone.core.answers import EXTRACTIVE, Message
from ragstone.core.errors import MissingExtra, RagstoneError, SettingsError
from ragstone.core.frozen import frozen
from ragstone.core.request import Deadline, Payer, Request
from ragstone.engine.captions import refuse_blind
from ragstone.engine.components import Components
from ragstone.engine.parts.models import metered
from ragstone.services.models import refuse_missing_package
from ragstone.services.running import Trial, tried
from ragstone.settings import Settings

SECONDS = 30.0
"""Seconds that a model may take."""


@frozen
class ModelCheck:
    """A model and its setting, its seconds, and its error, if any."""

    setting: Literal["index.embedder", "respond.model.name"]
    name: str
    seconds: float
    problem: str = ""


def refuse_missing_packages(settings: Settings) -> None:
    """Refuse language models of questions whose packages are not installed. Nothing is loaded or contacted.

    Raises:
        SettingsError: a name is not one of a model.
        MissingExtra: a package is not installed.
    """
    judge = "" if settings.review.judge == "off" else settings.review.judge_model
    for name in filter(None, (settings.respond.model.name, settings.respond.cheap, judge)):
        named = settings.respond.model.model_copy(update={"name": name})
        refuse_missing_package(named, settings.services)


def why_no_pictures(settings: Settings) -> str:
    """Return why the vision model of the settings can see no pictures here; empty if it can, or if there is none."""
    try:
        refuse_blind(settings)
    except (MissingExtra, SettingsError) as missing:
        return str(missing)
    return ""


async def check_models(version: Components, payer: Payer) -> list[ModelCheck]:
    """Return the results of the embedder and the language model, if there is one."""
    request = Request.by_owner(deadline=Deadline.after(SECONDS))
    request.meter.payer = payer
    fresh = f"test {secrets.token_hex(4)}"  # replies and embeddings of the same text would come from the cache

    async def embed() -> None:
        await version.models.embedder().embed([fresh], role="query", request=request)

    async def write() -> None:
        chat = version.models.chat()
        if chat is not None:
            asked = [Message(role="user", content=f"Reply with the one word OK. ({fresh})")]
            async with aclosing(chat.stream(asked, request)) as pieces:
                async for _ in pieces:
                    pass

    out: list[ModelCheck] = []
    if version.has_embedder:
        out.append(await _timed("index.embedder", version.settings.index.embedder, embed))
    if version.settings.respond.model.name != EXTRACTIVE:
        out.append(await _timed("respond.model.name", version.settings.respond.model.name, write))
    return out


async def try_model(version: Components, name: str, settings: Settings, payer: Payer, seconds: float) -> Trial:
    """Ask a model one question, in words and as JSON; the payer is charged.

    Raises:
        SettingsError: it cannot be chosen.
        ModelError: it cannot be reached, refuses or fails, or the call may exceed a budget.
    """
    model = metered(settings.respond.model.model_copy(update={"name": name}), settings, version.history)
    if model is None:
        raise SettingsError("extractive is no language model; name one, such as ollama:llama3.2:3b")
    request = Request.by_owner(deadline=Deadline.after(seconds))
    request.meter.payer = payer
    return await tried(model, request)


async def _timed(
    setting: Literal["index.embedder", "respond.model.name"], name: str, ask: Callable[[], Awaitable[None]]
) -> ModelCheck:
    started, problem = time.perf_counter(), ""
    try:
        await ask()
    except RagstoneError as error:
        problem = str(error)
    return ModelCheck(setting=setting, name=name, seconds=time.perf_counter() - started, problem=problem)
