"""Choose and build the language model that the settings name. A key alone never chooses a model."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.core.errors import ModelError, SettingsError
from ragstone.core.import_path import load, require
from ragstone.core.protocols import ChatModel
from ragstone.settings.services import OPENAI_ADDRESS, ModelSettings, ServiceSettings

EXTRACTIVE = "extractive"
FORMS = "extractive, openai:NAME, azure:DEPLOYMENT, huggingface:NAME (or a folder), gguf:FILE"
_SETTING = "respond.model.name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The name of a model with its kind, such as ``openai:gpt-4o-mini`` or ``extractive``, and the reason for it."""

    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.name}, because {self.why}"


def choose(settings: ModelSettings, services: ServiceSettings) -> Choice:
    """Return the model that the settings name. Nothing is loaded or contacted.

    Raises:
        SettingsError: the name is not a name of a model.
    """
    name = settings.name.strip()
    kind, colon, rest = name.partition(":")
    named = f"{_SETTING} is {name}"
    if name == EXTRACTIVE:
        return Choice(name=name, why=named)
    if not colon:
        if name.endswith(".gguf"):
            raise SettingsError(f"{named}; write it as gguf:{name}")
        azure = bool(services.azure.endpoint) and not services.openai.api_key.get_secret_value()
        kind = "azure" if azure and services.openai.base_url == OPENAI_ADDRESS else "openai"
        return Choice(name=f"{kind}:{name}", why=named)
    if not rest:
        raise SettingsError(f"{named}, which names no model; use {FORMS}, or package.module:Class")
    return Choice(name=name, why=named)


def build_chat_model(settings: ModelSettings, services: ServiceSettings) -> ChatModel | None:
    """Build the model that the settings name. Return None if answers are extractive.

    Raises:
        SettingsError: there is no such model, or a setting that it needs is missing.
        MissingExtra: a package that it needs is not installed.
        ModelError: a local model cannot be loaded.
    """
    name = choose(settings, services).name
    kind = name.partition(":")[0]
    if name == EXTRACTIVE:
        return None
    match kind:
        case "openai" | "azure":
            services.refuse_incomplete(name)
            from ragstone.services.chat_openai import OpenAIChat

            return OpenAIChat(name, settings, services)
        case "gguf":
            from ragstone.services.chat_gguf import GGUFChat

            return GGUFChat(name, settings)
        case "huggingface":
            from ragstone.services.chat_transformers import TransformersChat

            return TransformersChat(name, settings)
        case _:
            return _custom_model(name, settings)


def _custom_model(name: str, settings: ModelSettings) -> ChatModel:
    factory = load(name, _SETTING, f"{FORMS}, or package.module:Class")
    try:
        model = factory(settings)
    except Exception as error:
        raise ModelError(f"{name} could not be created: {type(error).__name__}: {error}") from error
    require(model, name, _SETTING, ("name", "count", "stream"))
    return model
