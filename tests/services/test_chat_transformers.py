"""Models run by transformers: a tiny one of random weights with a real tokenizer and chat template."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import aclosing
from importlib.util import find_spec
from pathlib import Path

import local_models
import pytest

from ragstone.core.answers import Message, Reply
from ragstone.core.errors import MissingExtra, ModelError, SettingsError
from ragstone.core.installation import install_command
from ragstone.core.request import Request
from ragstone.services.chat import complete
from ragstone.services.model_families import model_families, resolve_name
from ragstone.services.models import build_chat_model
from ragstone.settings.services import ModelSettings, ServiceSettings

ASKED = [Message(role="system", content="be brief"), Message(role="user", content="one two three")]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with local_models.tiny_transformer() as folder:
        yield folder


def build(name: object, **settings: object):
    made = ModelSettings.model_validate({"name": f"huggingface:{name}", **settings})
    return build_chat_model(made, ServiceSettings())


@pytest.mark.parametrize("precision", ["auto", "full", "int8"])
def test_each_precision_writes(folder: Path, precision: str):
    reply = asyncio.run(
        complete(build(folder, precision=precision, temperature=0, max_tokens=20), ASKED, request=Request.by_owner())
    )
    assert reply.text
    assert reply.cut == (reply.completion_tokens == 20)


def test_temperature_controls_randomness(folder: Path):
    cold, warm = build(folder, temperature=0, max_tokens=20), build(folder, temperature=1.5, max_tokens=20)
    assert len({asyncio.run(complete(cold, ASKED, request=Request.by_owner())).text for _ in range(3)}) == 1
    assert len({asyncio.run(complete(warm, ASKED, request=Request.by_owner())).text for _ in range(3)}) > 1


def test_prompt_comes_from_the_chat_template(folder: Path):
    model = build(folder, max_tokens=5)
    found = model._tokenizer.decode(model._encoded(ASKED)["input_ids"][0])
    assert found == "<system> be brief\n<user> one two three\n<assistant>"
    refusing = (
        "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + local_models.TEMPLATE
    )
    model._tokenizer.chat_template = refusing
    found = model._tokenizer.decode(model._encoded(ASKED)["input_ids"][0])
    assert found == "<user> be brief\n\none two three\n<assistant>"


def test_closing_the_stream_stops_the_model(folder: Path):
    model = build(folder, temperature=0, max_tokens=3900)
    model._model.generation_config.eos_token_id = None

    async def begin() -> None:
        async with aclosing(model.stream(ASKED, request=Request.by_owner())) as pieces:
            assert isinstance(await anext(pieces), str)

    steps = []
    model._model.register_forward_hook(lambda *_: steps.append(1))
    asyncio.run(begin())
    with model._free:  # it is let go of
        assert len(steps) < 2000


def test_refuses_conversation_longer_than_window(folder: Path):
    model = build(folder, window_tokens=256)
    with pytest.raises(ModelError, match=r"the model's window is 256; lower respond\.context_tokens"):
        asyncio.run(complete(model, [Message(role="user", content="one two three " * 300)], request=Request.by_owner()))


def test_reply_ends_at_the_window(folder: Path):
    model = build(folder, window_tokens=256, max_tokens=1000, temperature=0)
    model._model.generation_config.eos_token_id = None
    reply: Reply = asyncio.run(complete(model, ASKED, request=Request.by_owner()))
    assert reply.prompt_tokens + reply.completion_tokens == 256
    assert reply.cut


def test_internal_failure_is_one_error(folder: Path):
    model = build(folder, max_tokens=5)
    model._model.generate = None
    with pytest.raises(ModelError, match="failed: TypeError"):
        asyncio.run(complete(model, ASKED, request=Request.by_owner()))


def test_refuses_folders_without_a_model(folder: Path, tmp_path: Path):
    with pytest.raises(SettingsError, match="which transformers cannot load"):
        build(tmp_path)
    with pytest.raises(SettingsError, match="which transformers cannot load"):
        build("nobody/no-such-model")
    assert folder.is_dir()


def test_families_have_two_models():
    assert resolve_name("qwen2.5") == "Qwen/Qwen2.5-3B-Instruct"
    assert resolve_name("gemma3:development") == "google/gemma-3-1b-it"
    assert resolve_name("some/model") == "some/model"
    assert resolve_name("/a/folder") == "/a/folder"
    assert all(
        re.fullmatch(r"[\w-]+/[\w.-]+", name)
        for pair in model_families().values()
        for name in pair.model_dump().values()
    )


@pytest.mark.skipif(find_spec("transformers") is not None, reason="transformers is installed")
def test_missing_package_names_the_extra():
    with pytest.raises(MissingExtra, match=re.escape(install_command("transformers"))):
        build("qwen2.5")
