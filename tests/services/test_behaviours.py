"""Every known behaviour of a server: a complete reply is never lost, and a failure keeps its words."""

from __future__ import annotations

import asyncio
import re
from contextlib import aclosing

import pytest
from services.behaviours import BEHAVIOURS, THOUGHT, Behaviour

from ragstone.core.answers import Message, Reply
from ragstone.core.errors import ContextTooLong, ModelError
from ragstone.core.protocols import ChatModel
from ragstone.core.request import Request
from ragstone.services.models import build_chat_model
from ragstone.settings.services import ModelSettings, ServiceSettings
from servers.scripted_chat import Script, ScriptedChat

CONVERSATION = (
    Message(role="system", content="Answer from the sources."),
    Message(role="user", content="Hello."),
    Message(role="assistant", content=" "),
    Message(role="user", content="1. The pump at the north gate runs at 4.2 bar."),
    Message(role="user", content="At what pressure does the pump run?"),
)


def built(server: ScriptedChat, name: str = "openai:a-model") -> ChatModel:
    services = ServiceSettings.model_validate(
        {
            "openai": {"base_url": server.url},
            "retries": 0,
            "timeout_seconds": 5,
            "deadline_seconds": 10,
        }
    )
    model = build_chat_model(ModelSettings(name=name), services)
    assert model is not None
    return model


async def streamed(model: ChatModel) -> tuple[str, Reply]:
    words = ""
    async with aclosing(model.stream(CONVERSATION, Request.by_owner())) as pieces:
        async for piece in pieces:
            if isinstance(piece, Reply):
                return words, piece
            assert piece
            words += piece
    raise AssertionError("the stream ended without a reply")


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda one: one.name)
def test_loses_no_complete_reply(behaviour: Behaviour):
    script = Script(chat=lambda body: behaviour.refuses(body) or behaviour.sends)
    with ScriptedChat(script) as server:
        model = built(server)
        if behaviour.fails:
            with pytest.raises(ModelError, match=f"(?s){behaviour.fails}"):
                asyncio.run(streamed(model))
            return
        words, reply = asyncio.run(streamed(model))
        assert (reply.text, reply.reasoning) == (behaviour.text, behaviour.reasoning)
        assert words == reply.text
        assert THOUGHT not in words
        assert reply.prompt_tokens > 0
        assert reply.completion_tokens > 0
        first = len(server.asked)
        assert asyncio.run(streamed(model))[1].text == behaviour.text
        if behaviour.remembered:
            assert len(server.asked) == first + 1


def test_names_of_behaviours_differ():
    assert len({one.name for one in BEHAVIOURS}) == len(BEHAVIOURS) >= 70


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        ("This model's maximum context length is 4096 tokens. However, you requested 5120 tokens.", 4096),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200000),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1048576),
        ("length of prompt_tokens (163280) must be less than max_seq_len (32768).", 32768),
        ("the model is too small for so long a context length", None),
    ],
)
def test_too_long_states_the_window(said: str, limit: int | None):
    from services.behaviours import error

    with ScriptedChat(Script(chat=lambda _: error(said))) as server:
        with pytest.raises(ContextTooLong, match=re.escape("lower respond.context_tokens")) as caught:
            asyncio.run(streamed(built(server)))
        assert caught.value.limit == limit


def test_completes_an_address_without_a_path():
    one = next(one for one in BEHAVIOURS if one.name == "as specified")
    with ScriptedChat(Script(chat=lambda _: one.sends)) as server:
        services = ServiceSettings.model_validate({"openai": {"base_url": server.origin}, "retries": 0})
        model = build_chat_model(ModelSettings(name="openai:a-model"), services)
        assert model is not None
        assert asyncio.run(streamed(model))[1].text == one.text
