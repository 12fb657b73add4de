"""Every known behaviour of a server: a complete reply is never lost, and a failure keeps its words."""

from __future__ import annotations

import asyncio
import re

import pytest
from services.behaviours import BEHAVIOURS, THOUGHT, Behaviour, error, listened, model_at, script

from ragstone.core.errors import ContextTooLong, ModelError
from servers.scripted_chat import Script, ScriptedChat


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda one: one.name)
def test_loses_no_complete_reply(behaviour: Behaviour):
    with ScriptedChat(script(behaviour)) as server:
        model = model_at(server.url)
        if behaviour.fails:
            with pytest.raises(ModelError, match=f"(?s){behaviour.fails}"):
                asyncio.run(listened(model))
            return
        words, reply = asyncio.run(listened(model))
        assert (reply.text, reply.reasoning) == (behaviour.text, behaviour.reasoning)
        assert words == reply.text
        assert THOUGHT not in words
        assert reply.prompt_tokens > 0
        assert reply.completion_tokens > 0
        first = len(server.asked)
        assert asyncio.run(listened(model))[1].text == behaviour.text
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
    with ScriptedChat(Script(chat=lambda _: error(said))) as server:
        with pytest.raises(ContextTooLong, match=re.escape("lower respond.context_tokens")) as caught:
            asyncio.run(listened(model_at(server.url)))
        assert caught.value.limit == limit


def test_completes_an_address_without_a_path():
    with ScriptedChat(script(BEHAVIOURS[0])) as server:
        assert asyncio.run(listened(model_at(server.origin)))[1].text == BEHAVIOURS[0].text
