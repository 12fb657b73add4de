"""Every language model: pieces that make up the reply, a reply that counts, an end when asked, forms that are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from typing import Literal

import local_models
import pytest
from pydantic import BaseModel
from servers.openai_server import KEY, OpenAIServer

from ragstone.answers import Message, Piece, Reply
from ragstone.models.chat import complete, complete_as
from ragstone.protocols import ChatModel
from ragstone.respond.models import build_chat_model
from ragstone.services import ModelSettings, ServiceSettings

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
    async with aclosing(model.stream(ASKED)) as stream:
        return [piece async for piece in stream]


def test_pieces_make_up_the_reply_which_comes_last(model: ChatModel):
    *words, last = asyncio.run(pieces_of(model))
    assert isinstance(last, Reply)
    assert last.text
    assert all(isinstance(word, str) and word for word in words)
    assert "".join(word for word in words if isinstance(word, str)) == last.text
    assert len(words) > 2


def test_a_reply_tells_what_it_cost(model: ChatModel):
    reply = asyncio.run(complete(model, ASKED))
    assert reply.prompt_tokens >= 5
    assert 1 <= reply.completion_tokens <= local_models.MOST
    long = [*ASKED[:1], Message(role="user", content=ASKED[1].content * 5)]
    assert asyncio.run(complete(model, long)).prompt_tokens > reply.prompt_tokens


def test_it_has_a_name_and_counts(model: ChatModel):
    assert ":" in model.name
    assert model.count("") <= 2
    assert 5 <= model.count("one two three four five six") < model.count("one two three four five six " * 10)


def test_one_model_serves_several_event_loops_and_several_at_once(model: ChatModel):
    async def both() -> list[Reply]:
        return list(await asyncio.gather(complete(model, ASKED), complete(model, ASKED)))

    assert all(reply.text for reply in asyncio.run(both()))


def test_closing_the_stream_ends_it_soon(model: ChatModel):
    async def begin() -> str:
        async with aclosing(model.stream(ASKED)) as stream:
            async for piece in stream:
                assert isinstance(piece, str)
                return piece
        return ""

    assert asyncio.run(begin())
    assert asyncio.run(complete(model, ASKED)).text  # and it is free for the next


def test_a_form_is_kept_to(model: ChatModel):
    if model.name.startswith("huggingface:"):
        pytest.skip("weights drawn by chance write no JSON, and nothing makes them")
    verdict = asyncio.run(complete_as(model, [Message(role="user", content="Mark this as JSON: well done.")], Verdict))
    assert isinstance(verdict.score, int)


def test_the_key_is_in_no_words_of_the_model(model: ChatModel):
    assert KEY not in repr(model)
