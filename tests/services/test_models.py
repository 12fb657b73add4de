"""Which language model is meant, and what is said where none can be."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence

import pytest

from ragstone.core.answers import Message, Piece, Reply
from ragstone.core.errors import ModelError, SettingsError
from ragstone.core.request import Request
from ragstone.services.chat import complete
from ragstone.services.models import build_chat_model, choose
from ragstone.settings.services import ModelSettings, ServiceSettings

KEY = "sk-canary-77aa"
NOTHING = ServiceSettings()
OPENAI = ServiceSettings.model_validate({"openai": {"api_key": KEY}})
OWN = ServiceSettings.model_validate({"openai": {"base_url": "http://127.0.0.1:8080/v1"}})
AZURE = ServiceSettings.model_validate({"azure": {"api_key": KEY, "endpoint": "https://one.openai.azure.com/"}})
BOTH = ServiceSettings(openai=OPENAI.openai, azure=AZURE.azure)


class Parrot:
    """An outsider's model."""

    def __init__(self, settings: ModelSettings) -> None:
        self.name = settings.name

    def count(self, text: str) -> int:
        return len(text)

    async def stream(self, messages: Sequence[Message], request: Request, form: object = None) -> AsyncGenerator[Piece]:  # noqa: ARG002
        assert form is None
        yield Reply(text=messages[-1].content)


class Mute:
    def __init__(self, settings: ModelSettings) -> None:
        self.name = settings.name


class Broken:
    def __init__(self, settings: ModelSettings) -> None:
        raise OSError(f"no weights for {settings.name}")


@pytest.mark.parametrize(
    ("name", "services", "meant", "why"),
    [
        ("extractive", OPENAI, "extractive", "respond.model.name is extractive"),
        ("gpt-4o", OPENAI, "openai:gpt-4o", "respond.model.name is gpt-4o"),
        ("gpt-4o", BOTH, "openai:gpt-4o", "respond.model.name"),
        ("gpt-4o", AZURE, "azure:gpt-4o", "respond.model.name"),
        ("openai:llama3.2:1b", OWN, "openai:llama3.2:1b", "respond.model.name"),
        ("gguf:/models/a.gguf", NOTHING, "gguf:/models/a.gguf", "respond.model.name"),
        ("llama3.2:3b", NOTHING, "ollama:llama3.2:3b", "a name of Ollama"),
        ("llama3.2:3b", OPENAI, "ollama:llama3.2:3b", "a name of Ollama"),
        ("mistral:7b", NOTHING, "ollama:mistral:7b", "a name of Ollama"),
        ("mistral:mistral-small-latest", NOTHING, "mistral:mistral-small-latest", "respond.model.name"),
        ("phi3:mini", NOTHING, "ollama:phi3:mini", "a name of Ollama"),
        ("qwen2.5:7b", NOTHING, "ollama:qwen2.5:7b", "a name of Ollama"),
        ("llama3:instruct", NOTHING, "ollama:llama3:instruct", "a name of Ollama"),
        ("mixtral:8x7b-instruct", NOTHING, "ollama:mixtral:8x7b-instruct", "a name of Ollama"),
        ("mixtral:instruct", NOTHING, "ollama:mixtral:instruct", "a name of Ollama"),
        ("deepseek-llm:chat", NOTHING, "ollama:deepseek-llm:chat", "a name of Ollama"),
        ("openchat:latest", NOTHING, "ollama:openchat:latest", "a name of Ollama"),
        ("codellama:code", NOTHING, "ollama:codellama:code", "a name of Ollama"),
        (
            "hf.co/unsloth/gemma-3-4b-it-GGUF:Q4_K_M",
            NOTHING,
            "ollama:hf.co/unsloth/gemma-3-4b-it-GGUF:Q4_K_M",
            "Ollama",
        ),
        ("google/gemma-3-4b-it", OPENAI, "huggingface:google/gemma-3-4b-it", "Hugging Face"),
        ("google/gemma-3-4b-it", OWN, "openai:google/gemma-3-4b-it", "respond.model.name"),
        ("json:loads", NOTHING, "json:loads", "respond.model.name"),
    ],
)
def test_settings_name_the_model(name: str, services: ServiceSettings, meant: str, why: str):
    choice = choose(ModelSettings(name=name), services)
    assert choice.name == meant
    assert why in str(choice)
    assert KEY not in repr(choice)


@pytest.mark.parametrize("services", [NOTHING, OPENAI, AZURE, BOTH])
def test_builds_no_model_by_default(services: ServiceSettings):
    assert choose(ModelSettings(), services).name == "extractive"
    assert build_chat_model(ModelSettings(), services) is None
    with pytest.raises(ValueError, match="a key no longer selects a model"):
        ModelSettings(name="auto")


@pytest.mark.parametrize(
    ("name", "services", "told"),
    [
        ("gpt-4o-mini", NOTHING, "there is no key; set services.openai.api_key, or OPENAI_API_KEY"),
        ("azure:writer", NOTHING, "services.azure.endpoint"),
        ("openai:", OPENAI, "names no model; use extractive, openai:NAME"),
        ("model.gguf", NOTHING, "write it as gguf:model.gguf"),
        ("claude 3:opus", NOTHING, "it can be extractive, openai:NAME, azure:DEPLOYMENT, huggingface:NAME"),
        ("no.such.module:Model", NOTHING, "cannot be imported: No module named"),
        ("respond.test_models:Nothing", NOTHING, "cannot be imported"),
        (f"{__name__}:Mute", NOTHING, "which lacks count, stream"),
        ("opnai:gpt", NOTHING, "did you mean openai:gpt? A model of Ollama of that name is ollama:opnai:gpt"),
        ("OpenAI:gpt-4o", OPENAI, "did you mean openai:gpt-4o?"),
        ("antropic:claude", NOTHING, "did you mean anthropic:claude?"),
        ("olama:mine", NOTHING, "did you mean ollama:mine?"),
    ],
)
def test_refuses_impossible_names(name: str, services: ServiceSettings, told: str):
    with pytest.raises(SettingsError, match=re.escape(told)):
        build_chat_model(ModelSettings(name=name), services)


def test_builds_a_custom_model():
    model = build_chat_model(ModelSettings(name=f"{__name__}:Parrot"), NOTHING)
    assert model is not None
    assert (model.name, model.count("four")) == (f"{__name__}:Parrot", 4)
    said = [Message(role="user", content="<think>Repeat it.</think>Good morning.<|im_end|>")]
    reply = asyncio.run(complete(model, said, Request.by_owner()))
    assert (reply.text, reply.reasoning) == ("Good morning.", "Repeat it.")
    with pytest.raises(ModelError, match="could not be created: OSError: no weights"):
        build_chat_model(ModelSettings(name=f"{__name__}:Broken"), NOTHING)


@pytest.mark.parametrize(
    "address", ["ftp://a/b", "api.openai.com", "https://me:sk-1@host/v1", "https://host/?key=sk-1"]
)
def test_refuses_bad_addresses(address: str):
    with pytest.raises(ValueError, match=r"is not an address|must have no user, password, query or fragment") as caught:
        ServiceSettings.model_validate({"openai": {"base_url": address}})
    assert all("sk-1" not in error["msg"] for error in caught.value.errors())  # pyright: ignore
