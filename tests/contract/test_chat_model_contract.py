"""Every language model: pieces that make up the reply, a reply that counts, an end when asked, forms that are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from typing import Literal

import local_models
import pytest
from pydantic import BaseModel

from ragstone.core.answers import Message, Piece, Reply
from ragstone.core.protocols import ChatModel
from ragstone.core.request import Request
from ragstone.services.chat import complete, complete_as
from ragstone.services.models import build_chat_model
from ragstone.settings.services import ModelSettings, ServiceSettings
from servers.openai_server import KEY, OpenAIServer

ASKED = [
    Message(role="system", content="You are brief."),
    Message(role="user", content="Count from one to twenty, in words."),
]


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


async def pieces_of(model: ChatModel) -> list[Piece]:
    async with aclosing(model.stream(ASKED, request=Request.by_owner())) as stream:
        return [piece async for piece in stream]


def test_pieces_make_up_the_final_reply(model: ChatModel):
    *words, last = asyncio.run(pieces_of(model))
    assert isinstance(last, Reply)
    assert last.text
    assert all(isinstance(word, str) and word for word in words)
    assert "".join(word for word in words if isinstance(word, str)) == last.text
    assert len(words) > 2


def test_reply_counts_its_tokens(model: ChatModel):
    reply = asyncio.run(complete(model, ASKED, request=Request.by_owner()))
    assert reply.prompt_tokens >= 5
    assert 1 <= reply.completion_tokens <= local_models.MOST
    long = [*ASKED[:1], Message(role="user", content=ASKED[1].content * 5)]
    assert asyncio.run(complete(model, long, request=Request.by_owner())).prompt_tokens > reply.prompt_tokens


def test_has_a_name_and_counts_tokens(model: ChatModel):
    assert ":" in model.name
    assert model.count("") <= 2
    assert 5 <= model.count("one two three four five six") < model.count("one two three four five six " * 10)


def test_serves_several_event_loops_at_once(model: ChatModel):
    async def both() -> list[Reply]:
        return list(
            await asyncio.gather(
                complete(model, ASKED, request=Request.by_owner()), complete(model, ASKED, request=Request.by_owner())
            )
        )

    assert all(reply.text for reply in asyncio.run(both()))


def test_closing_the_stream_ends_it_soon(model: ChatModel):
    async def begin() -> str:
        async with aclosing(model.stream(ASKED, request=Request.by_owner())) as stream:
            async for piece in stream:
                assert isinstance(piece, str)
                return piece
        return ""

    assert asyncio.run(begin())
    assert asyncio.run(complete(model, ASKED, request=Request.by_owner())).text  # and it is free for the next


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
