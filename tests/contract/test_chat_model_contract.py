"""Every language model: pieces that make up the reply, a reply that counts, an end when asked, forms that are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

import local_models
import pytest
from pydantic import BaseModel

from ragstone.core.answers import Message
from ragstone.core.protocols import ChatModel
from ragstone.core.request import Request
from ragstone.services.chat import complete, complete_as
from ragstone.services.models import build_chat_model
from ragstone.settings.services import ModelSettings, ServiceSettings
from ragstone.testing import CHAT_MODEL_CHECKS
from ragstone.testing.chat_models import ASKED
from servers.openai_server import KEY, OpenAIServer


class Verdict(BaseModel):
    """A form with what judges ask for."""

    score: int
    reason: Literal["good", "bad"]


def told(_messages: object) -> str:
    return '{"score": 7, "reason": "good"}'


@contextmanager
def on_server(*, azure: bool) -> Iterator[ChatModel]:
    with OpenAIServer(told, azure=azure, pause=0.01) as server:
        known = {"azure": {"endpoint": server.url}} if azure else {"openai": {"base_url": server.url}}
        (place,) = known.values()
        services = ServiceSettings.model_validate({name: {**place, "api_key": KEY} for name in known})
        kind = "azure" if azure else "openai"
        model = build_chat_model(ModelSettings(name=f"{kind}:a-model", max_tokens=local_models.MOST), services)
        assert model is not None
        yield model


@contextmanager
def in_gguf() -> Iterator[ChatModel]:
    file = local_models.gguf()
    yield local_models.built(f"gguf:{file}")


@contextmanager
def in_transformers() -> Iterator[ChatModel]:
    with local_models.tiny_transformer() as folder:
        yield local_models.built(f"huggingface:{folder}")


CLIENTS = {
    "openai": lambda: on_server(azure=False),
    "azure": lambda: on_server(azure=True),
    "gguf": in_gguf,
    "transformers": in_transformers,
}


@pytest.fixture(scope="module", params=list(CLIENTS))
def model(request: pytest.FixtureRequest) -> Iterator[ChatModel]:
    with CLIENTS[request.param]() as model:
        yield model


@pytest.mark.parametrize("check", CHAT_MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_protocol(model: ChatModel, check: Callable[[ChatModel], None]) -> None:
    check(model)


def test_reply_keeps_to_its_length(model: ChatModel) -> None:
    reply = asyncio.run(complete(model, ASKED, request=Request.by_owner()))
    assert 1 <= reply.completion_tokens <= local_models.MOST


def test_keeps_to_a_form(model: ChatModel):
    if model.name.startswith("huggingface:"):
        pytest.skip("weights drawn by chance write no JSON, and nothing makes them")
    verdict = asyncio.run(
        complete_as(
            model, [Message(role="user", content="Mark this as JSON: well done.")], Verdict, request=Request.by_owner()
        )
    )
    assert isinstance(verdict.score, int)


def test_error_never_shows_the_key(model: ChatModel):
    assert KEY not in repr(model)
