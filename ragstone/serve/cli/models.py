"""The command models, and the hint that a model runs on this machine."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.serve.cli.options import DEFAULT_KB, Asked, Json, Kb, with_plain_settings

if TYPE_CHECKING:
    from pathlib import Path

    from ragstone.settings import Settings

_TOLD = "model-mentioned"
"""The file in the folder of a knowledge base that says that the hint was given."""


@with_plain_settings
def models(
    asked: Asked,
    try_: Annotated[
        str, typer.Option("--try", metavar="NAME", help="Ask this model one question.", show_default=False)
    ] = "",
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """List the language models that run on this machine.

    The list also has the models of servers that the settings name. A trial says how fast a model answers and whether it
    keeps to a requested form.
    """
    from ragstone.engine.opening import settings_at
    from ragstone.serve.cli import screen
    from ragstone.serve.views import models as views
    from ragstone.services.running import running_servers

    settings = settings_at(kb, asked.overrides, asked.preset)
    if try_:
        _try(settings, try_, as_json=as_json)
        return
    own, captions = settings.respond, settings.acquire.captions
    named = (own.model.name, own.cheap, settings.review.judge_model, captions.model)
    found = running_servers(settings.services, named)
    screen.show({"servers": [asdict(one) for one in found]}, views.servers(found), as_json=as_json)


def mention_model(kb: Path, settings: Settings) -> None:
    """Say once for each knowledge base that a model runs here and could write, if nothing but a terminal reads it."""
    from ragstone.core.answers import EXTRACTIVE

    if settings.respond.model.name != EXTRACTIVE or not (sys.stdout.isatty() and sys.stderr.isatty()):
        return
    mentioned = kb / _TOLD
    if not kb.is_dir() or mentioned.exists():
        return
    from ragstone.serve.cli import screen
    from ragstone.serve.views import models as views
    from ragstone.services.running import model_here

    if not (name := model_here(settings.services)):
        return
    with suppress(OSError):
        mentioned.touch()
        screen.write(views.found(name), sys.stderr)


def _try(settings: Settings, name: str, *, as_json: bool) -> None:
    from ragstone.core.errors import UsageError
    from ragstone.core.request import Request
    from ragstone.serve.cli import screen
    from ragstone.serve.views import models as views
    from ragstone.services.models import build_chat_model, choose
    from ragstone.services.running import tried

    chosen = settings.respond.model.model_copy(update={"name": name})
    full_name = choose(chosen, settings.services).name
    if (model := build_chat_model(chosen, settings.services)) is None:
        raise UsageError("extractive is no language model; to list models, run: ragstone models")
    trial = asyncio.run(tried(model, Request.by_owner()))
    screen.show({"name": full_name, **asdict(trial)}, views.trial(full_name, trial), as_json=as_json)
