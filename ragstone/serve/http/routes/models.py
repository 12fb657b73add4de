"""Language models as administrators see them: which one answers, which run here, and servers that they add."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Path
from pydantic import Field, SecretStr, StringConstraints

from ragstone.core.errors import ModelError
from ragstone.serve.http import errors
from ragstone.serve.http.authentication import Administering, admin_router
from ragstone.serve.http.chosen_model import MODEL
from ragstone.serve.http.live_models import LiveModels
from ragstone.serve.http.messages import Request, Response
from ragstone.serve.http.service import Here
from ragstone.services.running import running_servers

_NAME = StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,39}$")
ServerName = Annotated[str, _NAME, Path(description="of the server")]
ModelName = Annotated[str, Field(min_length=1, max_length=200)]


# ---------------------------------------------------------------- messages
class ModelServer(Response):
    """A server of language models. Its key is never returned."""

    name: str
    address: str
    has_key: bool
    added: bool = Field(description="an administrator added it while the server ran")


class LanguageModels(Response):
    """The language model that answers, and the servers whose models can be chosen."""

    model: str = Field(description="the one that answers; `extractive` quotes without a model")
    configured: str = Field(description="what the settings of the server say")
    changed: bool = Field(description="whether an administrator chose another one while the server ran")
    servers: list[ModelServer]


class RunningModel(Response):
    """A model that a server offers."""

    name: str = Field(description="its full name, such as ollama:llama3.2:3b")
    window: int | None = Field(description="tokens of its context window; null if the server does not say")


class RunningServer(Response):
    """A server that was found; ``trouble`` says why it lists no models."""

    name: str
    address: str
    trouble: str
    models: list[RunningModel]


class RunningServers(Response):
    """The servers on this machine, and those that the settings name."""

    servers: list[RunningServer]


class ModelChoice(Request):
    """The model that answers from now on."""

    name: ModelName | None = Field(description="null: what the settings of the server say")


class NewModelServer(Request):
    """A server of language models that speaks the protocol of OpenAI; its models are called ``NAME:MODEL``."""

    name: Annotated[str, _NAME]
    address: Annotated[str, Field(max_length=1_000)] = Field(
        default="", description="such as http://HOST:PORT/v1; empty for the known address of the name"
    )
    api_key: Annotated[SecretStr, Field(max_length=1_000)] | None = Field(
        default=None, description="null keeps the stored key, if the address stays too"
    )


class ModelTrialRequest(Request):
    """A model to try."""

    name: ModelName


class ModelTrial(Response):
    """The reply of a model to one question."""

    name: str
    answer: str
    seconds: float
    first_seconds: float = Field(description="until the first word")
    tokens_per_second: float
    window: int | None = Field(description="tokens of its context window; null if the server does not say")
    keeps_form: bool = Field(description="whether it sent JSON when asked to")


class ModelTried(Response):
    """A trial of a model, or why it failed."""

    trial: ModelTrial | None
    problem: str


# ---------------------------------------------------------------- routes
router = admin_router("/models")


@router.get("", responses={**errors.READING})
async def language_models(service: Here) -> LanguageModels:
    """Return which language model answers, and the servers whose models can be chosen."""
    return LanguageModels(
        model=(await service.live.settings()).respond.model.name,
        configured=service.engine.settings.respond.model.name,
        changed=MODEL in await service.live.changed(),
        servers=[
            ModelServer.model_validate(one, from_attributes=True) for one in await LiveModels(service.live).servers()
        ],
    )


@router.get("/running", responses={**errors.READING})
async def running_models(service: Here) -> RunningServers:
    """Look for servers of language models on this machine and those that the settings name, and list their models."""
    settings = await service.live.settings()
    found = await asyncio.to_thread(running_servers, settings.services, (settings.respond.model.name,))
    return RunningServers(
        servers=[
            RunningServer(
                name=one.kind,
                address=one.address,
                trouble=one.trouble,
                models=[RunningModel(name=one.name_of(model), window=model.window or None) for model in one.models],
            )
            for one in found
        ]
    )


@router.post("/choose", status_code=204, responses={**errors.CHANGING})
async def choose_model(body: ModelChoice, service: Here, caller: Administering) -> None:
    """Choose the model that answers on all servers of the knowledge base, within a second."""
    chosen = await LiveModels(service.live).choose(body.name)
    await service.noted(caller, "model.choose", chosen)


@router.post("/servers", status_code=204, responses={**errors.CHANGING})
async def add_model_server(body: NewModelServer, service: Here, caller: Administering) -> None:
    """Add a server of language models, or replace it. Its key is stored and never returned."""
    await LiveModels(service.live).add(body.name, body.address, body.api_key)
    what = f"{body.name} \u00b7 {body.address}" if body.address else body.name
    await service.noted(caller, "model.add_server", what)


@router.delete("/servers/{name}", status_code=204, responses={**errors.CHANGING})
async def remove_model_server(name: ServerName, service: Here, caller: Administering) -> None:
    """Remove a server that was added while the server ran."""
    await LiveModels(service.live).remove(name)
    await service.noted(caller, "model.remove_server", name)


@router.post("/try", responses={**errors.CHANGING})
async def try_model(body: ModelTrialRequest, service: Here, caller: Administering) -> ModelTried:
    """Ask a model one question, and return how it answers. A service may charge for that."""
    try:
        trial = await service.try_model(caller, body.name)
    except ModelError as error:
        return ModelTried(trial=None, problem=str(error))
    except TimeoutError:
        return ModelTried(trial=None, problem=f"it did not answer within {service.settings.question_seconds:g} seconds")
    shown = ModelTrial(
        name=body.name,
        answer=trial.answer,
        seconds=trial.seconds,
        first_seconds=trial.first_seconds,
        tokens_per_second=trial.speed,
        window=trial.window or None,
        keeps_form=trial.keeps_form,
    )
    return ModelTried(trial=shown, problem="")
