"""Choose and build the language model that the settings name. A key alone never chooses a model."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from pydantic import BaseModel

from ragstone.core.answers import EXTRACTIVE, Message, Piece
from ragstone.core.errors import MissingExtra, ModelError, SettingsError
from ragstone.core.frozen import frozen
from ragstone.core.import_path import is_importable, load, require
from ragstone.core.protocols import ChatModel
from ragstone.core.request import Request
from ragstone.services.chat import window_of
from ragstone.services.reply_text import Habits, cleaned
from ragstone.settings.model_servers import KINDS, KNOWN_SERVERS, OPENAI_ADDRESS, is_ollama_name, meant
from ragstone.settings.services import ModelSettings, ServiceSettings

FORMS = "extractive, openai:NAME, azure:DEPLOYMENT, huggingface:NAME (or a folder), gguf:FILE, ollama:NAME"
_SETTING = "respond.model.name"
_PACKAGES = {"gguf": "xllamacpp", "huggingface": "transformers"}
"""The packages that run a model in this process, by the kind of its name."""
_EXTRAS = {"xllamacpp": "gguf"}
"""Extras with another name than their package."""


@frozen
class Choice:
    """The name of a model with its kind, such as ``openai:gpt-4o-mini`` or ``extractive``, and the reason for it."""

    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.name}, because {self.why}"


def choose(settings: ModelSettings, services: ServiceSettings) -> Choice:
    """Return the model that the settings name. Nothing is loaded or contacted.

    Raises:
        SettingsError: the name is not a name of a model, or its kind seems misspelt.
    """
    name = settings.name.strip()
    kind, colon, rest = name.partition(":")
    named = f"{_SETTING} is {name}"
    if name == EXTRACTIVE:
        return Choice(name=name, why=named)
    if not colon:
        if name.endswith(".gguf"):
            raise SettingsError(f"{named}; write it as gguf:{name}")
        if "/" in name and services.openai.base_url == OPENAI_ADDRESS and not services.azure.endpoint:
            return Choice(name=f"huggingface:{name}", why=f"{named}, which is a name of the Hugging Face hub")
        azure = bool(services.azure.endpoint) and not services.openai.api_key.get_secret_value()
        kind = "azure" if azure and services.openai.base_url == OPENAI_ADDRESS else "openai"
        return Choice(name=f"{kind}:{name}", why=named)
    if not rest:
        raise SettingsError(f"{named}, which names no model; use {FORMS}, or package.module:Class")
    own = services.servers.get(kind)
    if kind in KINDS or (own and own.base_url) or is_importable(kind):
        return Choice(name=name, why=named)
    if kind not in KNOWN_SERVERS and (near := meant(name, services.servers)):
        raise SettingsError(f"{named}; did you mean {near}? A model of Ollama of that name is ollama:{name}")
    if is_ollama_name(name):
        return Choice(name=f"ollama:{name}", why=f"{named}, which is a name of Ollama")
    return Choice(name=name, why=named)


def refuse_missing_package(settings: ModelSettings, services: ServiceSettings) -> None:
    """Refuse a model whose package is not installed. Nothing is loaded or contacted.

    Raises:
        SettingsError: as of `choose`.
        MissingExtra: the package is not installed.
    """
    kind = choose(settings, services).name.partition(":")[0]
    package = "openai" if services.endpoint(kind) else _PACKAGES.get(kind)
    if package and not is_importable(package):
        raise MissingExtra(package, extra=_EXTRAS.get(package, package))


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
    if services.endpoint(kind):
        services.refuse_incomplete(name)
        from ragstone.services.chat_openai import OpenAIChat

        return OpenAIChat(name, settings, services)
    match kind:
        case "gguf":
            from ragstone.services.chat_gguf import GGUFChat

            return GGUFChat(name, settings)
        case "huggingface":
            from ragstone.services.chat_transformers import TransformersChat

            return TransformersChat(name, settings)
        case _:
            return _custom_model(name, settings)


class _Custom:
    """A model of the user's own class, whose replies are cleaned as those of others are."""

    def __init__(self, model: ChatModel, settings: ModelSettings) -> None:
        self.name, self._model, self._settings, self._habits = model.name, model, settings, Habits()

    def count(self, text: str) -> int:
        return self._model.count(text)

    async def window(self) -> int:
        return self._settings.window_tokens or await window_of(self._model)

    def stream(
        self, messages: Sequence[Message], request: Request, form: type[BaseModel] | None = None
    ) -> AsyncGenerator[Piece]:
        return cleaned(self._model.stream(messages, request, form), self.name, self._habits, form=form is not None)


def _custom_model(name: str, settings: ModelSettings) -> ChatModel:
    factory = load(name, _SETTING, f"{FORMS}, or package.module:Class")
    try:
        model = factory(settings)
    except Exception as error:
        raise ModelError(f"{name} could not be created: {type(error).__name__}: {error}") from error
    require(model, name, _SETTING, ("name", "count", "stream"))
    return _Custom(model, settings)
