"""Which language model writes, and why that one: what the user named, else what a key is there for, else none."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.errors import ModelError, SettingsError
from ragstone.outside import load, require
from ragstone.protocols import ChatModel
from ragstone.services import OPENAI_ADDRESS, ModelSettings, ServiceSettings

AUTO, EXTRACTIVE = "auto", "extractive"
USUAL = "gpt-4o-mini"
"""The model of OpenAI that is asked where a key is there and no model is named."""
FORMS = "auto, extractive, openai:NAME, azure:DEPLOYMENT, huggingface:NAME (or a folder), gguf:FILE"
_SETTING = "respond.model.name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The model's name with its kind, such as ``openai:gpt-4o-mini`` or ``extractive``, and why it was chosen."""

    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.name}, because {self.why}"


def choose(settings: ModelSettings, services: ServiceSettings) -> Choice:
    """Which model the settings mean. Nothing is loaded or contacted.

    Raises:
        SettingsError: they name none that there could be.
    """
    name = settings.name.strip()
    kind, colon, rest = name.partition(":")
    named = f"{_SETTING} is {name}"
    if name == EXTRACTIVE:
        return Choice(name=name, why=named)
    if name in (AUTO, ""):
        return _by_key(services)
    if not colon:
        if name.endswith(".gguf"):
            raise SettingsError(f"{named}; write it as gguf:{name}")
        azure = bool(services.azure.endpoint) and not services.openai.api_key.get_secret_value()
        kind = "azure" if azure and services.openai.base_url == OPENAI_ADDRESS else "openai"
        return Choice(name=f"{kind}:{name}", why=named)
    if not rest:
        raise SettingsError(f"{named}, which names no model; it can be {FORMS}, or package.module:Class")
    return Choice(name=name, why=named)


def build_chat_model(settings: ModelSettings, services: ServiceSettings) -> ChatModel | None:
    """The model that the settings mean; None where answers are quoted without one.

    Raises:
        SettingsError: there is no such model, or something it needs is not set.
        MissingExtra: it needs a package that is not installed.
        ModelError: a local model cannot be loaded.
    """
    name = choose(settings, services).name
    kind = name.partition(":")[0]
    if name == EXTRACTIVE:
        return None
    match kind:
        case "openai" | "azure":
            services.refuse_incomplete(name)
            from ragstone.respond.chat_openai import OpenAIChat

            return OpenAIChat(name, settings, services)
        case "gguf":
            from ragstone.respond.chat_gguf import GGUFChat

            return GGUFChat(name, settings)
        case "huggingface":
            from ragstone.respond.chat_transformers import TransformersChat

            return TransformersChat(name, settings)
        case _:
            return _outsider(name, settings)


def _by_key(services: ServiceSettings) -> Choice:
    if services.openai.api_key.get_secret_value():
        return Choice(name=f"openai:{USUAL}", why="no model is named, and there is a key of OpenAI (OPENAI_API_KEY)")
    azure = services.azure
    if azure.api_key.get_secret_value() and azure.endpoint and azure.deployment:
        why = "no model is named, and there are a key, an endpoint and a deployment of Azure (AZURE_OPENAI_API_KEY)"
        return Choice(name=f"azure:{azure.deployment}", why=why)
    return Choice(name=EXTRACTIVE, why="no model is named, and there is no key of one")


def _outsider(name: str, settings: ModelSettings) -> ChatModel:
    made = load(name, _SETTING, FORMS)
    try:
        model = made(settings)
    except Exception as error:
        raise ModelError(f"{name} could not be made: {type(error).__name__}: {error}") from error
    require(model, name, _SETTING, ("name", "count", "stream"))
    return model
