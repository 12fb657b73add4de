"""Sends each model in use a short request, to see whether and how fast it answers."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Literal

from ragstone.core.answers import Message
from ragstone.core.errors import RagstoneError
from ragstone.core.frozen import frozen
from ragstone.core.request import Deadline, Payer, Request
from ragstone.engine.components import Components

SECONDS = 30.0
"""Seconds that a model may take."""


@frozen
class ModelCheck:
    """A model and its setting, its seconds, and its error, if any."""

    setting: Literal["index.embedder", "respond.model.name"]
    name: str
    seconds: float
    problem: str = ""


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
    if version.settings.respond.model.name != "extractive":
        out.append(await _timed("respond.model.name", version.settings.respond.model.name, write))
    return out


async def _timed(
    setting: Literal["index.embedder", "respond.model.name"], name: str, ask: Callable[[], Awaitable[None]]
) -> ModelCheck:
    started, problem = time.perf_counter(), ""
    try:
        await ask()
    except RagstoneError as error:
        problem = str(error)
    return ModelCheck(setting=setting, name=name, seconds=time.perf_counter() - started, problem=problem)
