"""A real model of llama.cpp: cancelled, asked for too much, and locked from others on the machine."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from pathlib import Path
from typing import Annotated
from urllib.error import HTTPError
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

import local_models
import pytest
from pydantic import BaseModel, Field, StringConstraints

from ragstone.core.answers import Message
from ragstone.core.errors import ContextTooLong, ModelError, SettingsError
from ragstone.core.protocols import ChatModel
from ragstone.core.request import Request
from ragstone.services.chat import complete, window_of
from ragstone.services.models import build_chat_model
from ragstone.settings.services import ModelSettings, ServiceSettings

HELLO = [Message(role="user", content="Say hello.")]


class Mark(BaseModel):
    score: int = Field(ge=0, le=10)
    reasons: list[Annotated[str, StringConstraints(max_length=60)]] = Field(max_length=2)


@pytest.fixture(scope="module")
def model() -> ChatModel:
    return local_models.built(f"gguf:{local_models.gguf()}", max_tokens=1500)


def test_repeats_its_reply(model):
    first, second = (
        asyncio.run(complete(model, HELLO, request=Request.by_owner())),
        asyncio.run(complete(model, HELLO, request=Request.by_owner())),
    )
    assert "hello" in first.text.lower()
    assert first.text == second.text  # the temperature is 0
    assert not first.estimated


def test_counts_with_its_own_tokenizer(model):
    assert model.count("one two three") == 3
    reply = asyncio.run(complete(model, HELLO, request=Request.by_owner()))
    assert reply.completion_tokens == model.count(reply.text) + 1  # and the end


def test_grammar_enforces_the_form(model):
    for form_of in ("a poem", "the weather", "nothing at all"):
        asked = [Message(role="user", content=f"Mark {form_of}: a score and two reasons.")]
        reply = asyncio.run(complete(model, asked, Request.by_owner(), Mark))
        assert Mark.model_validate_json(reply.text)  # at the first attempt, limits and all


def at_work(model) -> dict | None:
    """What the model is doing: so many tokens written; nothing where it rests."""
    with model._web.open(HttpRequest(f"{model._address}/slots", headers=model._headers)) as answer:
        (slot,) = json.load(answer)
    return slot if slot["is_processing"] else None


@pytest.mark.parametrize("prompt", ["Write a very long story.", "word " * 400], ids=["writing", "reading"])
def test_closing_the_stream_stops_the_model(model, prompt: str):
    async def listen() -> None:
        asked = [Message(role="user", content=prompt)]
        async with aclosing(model.stream(asked, Request.by_owner())) as pieces:
            async for _ in pieces:
                return

    async def leave() -> None:
        listening = asyncio.create_task(listen())
        while not at_work(model):
            assert not listening.done(), listening
            await asyncio.sleep(0.02)
        if prompt.startswith("word"):
            listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)

    asyncio.run(leave())
    written = 0
    while slot := at_work(model):
        written = max(written, slot["next_token"][0]["n_decoded"])
        assert written < 500  # of 1500
    assert asyncio.run(complete(model, HELLO, request=Request.by_owner())).text


def test_refuses_conversation_longer_than_window(model):
    with pytest.raises(ModelError, match=r"longer than the model's window.*respond\.model\.window_tokens"):
        asyncio.run(complete(model, [Message(role="user", content="word " * 4000)], request=Request.by_owner()))


def test_its_server_answers_as_any_other(model):
    """The server of llama.cpp, by the name and address of a server."""
    place = {"base_url": f"{model._address}/v1", "api_key": model._headers["Authorization"].removeprefix("Bearer ")}
    services = ServiceSettings.model_validate({"servers": {"llamacpp": place}})
    chat = build_chat_model(ModelSettings(name="llamacpp:any", temperature=0, max_tokens=200), services)
    assert chat is not None
    assert asyncio.run(window_of(chat)) == 2048
    reply = asyncio.run(complete(chat, HELLO, Request.by_owner()))
    assert reply.text == asyncio.run(complete(model, HELLO, Request.by_owner())).text
    assert not reply.estimated
    assert Mark.model_validate_json(asyncio.run(complete(chat, HELLO, Request.by_owner(), Mark)).text)
    with pytest.raises(ContextTooLong) as caught:
        asyncio.run(complete(chat, [Message(role="user", content="word " * 4000)], Request.by_owner()))
    assert caught.value.limit == 2048


def test_other_local_users_cannot_call_it(model):
    with pytest.raises(HTTPError, match="401") as refused:
        urlopen(f"{model._address}/v1/chat/completions", data=json.dumps({"messages": []}).encode())
    refused.value.close()
    assert str(model._address).startswith("http://127.0.0.1:")


def test_refuses_files_of_other_formats(tmp_path: Path):
    local_models.gguf()

    def build(path: Path) -> None:
        build_chat_model(ModelSettings(name=f"gguf:{path}"), ServiceSettings())

    with pytest.raises(SettingsError, match="which cannot be read: No such file"):
        build(tmp_path / "none.gguf")
    with pytest.raises(SettingsError, match="which cannot be read: Is a directory"):
        build(tmp_path)
    (tmp_path / "text.gguf").write_text("text")
    with pytest.raises(SettingsError, match="not a GGUF file"):
        build(tmp_path / "text.gguf")
    (tmp_path / "cut.gguf").write_bytes(local_models.GGUF.read_bytes()[:1_000_000])
    with pytest.raises(ModelError, match="cannot be loaded"):
        build(tmp_path / "cut.gguf")
