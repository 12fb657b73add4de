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

from ragstone.answers import Message, Reply
from ragstone.errors import MissingExtra, ModelError, SettingsError
from ragstone.models.chat import complete
from ragstone.respond.models import build_chat_model
from ragstone.respond.pairs import pairs, resolved
from ragstone.services import ModelSettings, ServiceSettings

ASKED = [Message(role="system", content="be brief"), Message(role="user", content="one two three")]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with local_models.tiny_transformer() as folder:
        yield folder


def build(name: object, **settings: object):
    made = ModelSettings.model_validate({"name": f"huggingface:{name}", "download": False, **settings})
    return build_chat_model(made, ServiceSettings())


@pytest.mark.parametrize("precision", ["auto", "full", "int8"])
def test_each_precision_writes(folder: Path, precision: str):
    reply = asyncio.run(complete(build(folder, precision=precision, temperature=0, max_tokens=20), ASKED))
    assert reply.text
    assert reply.cut == (reply.completion_tokens == 20)


def test_temperature_decides_whether_chance_does(folder: Path):
    cold, warm = build(folder, temperature=0, max_tokens=20), build(folder, temperature=1.5, max_tokens=20)
    assert len({asyncio.run(complete(cold, ASKED)).text for _ in range(3)}) == 1
    assert len({asyncio.run(complete(warm, ASKED)).text for _ in range(3)}) > 1


def test_the_prompt_is_what_the_template_makes(folder: Path):
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
        async with aclosing(model.stream(ASKED)) as pieces:
            assert isinstance(await anext(pieces), str)

    steps = []
    model._model.register_forward_hook(lambda *_: steps.append(1))
    asyncio.run(begin())
    with model._free:  # it is let go of
        assert len(steps) < 2000


def test_a_conversation_longer_than_it_reads_is_refused(folder: Path):
    model = build(folder, window_tokens=256)
    with pytest.raises(ModelError, match=r"the model reads 256; lower respond\.context_tokens"):
        asyncio.run(complete(model, [Message(role="user", content="one two three " * 300)]))


def test_the_reply_ends_where_the_window_does(folder: Path):
    model = build(folder, window_tokens=256, max_tokens=1000, temperature=0)
    model._model.generation_config.eos_token_id = None
    reply: Reply = asyncio.run(complete(model, ASKED))
    assert reply.prompt_tokens + reply.completion_tokens == 256
    assert reply.cut


def test_what_fails_inside_is_one_error(folder: Path):
    model = build(folder, max_tokens=5)
    model._model.generate = None
    with pytest.raises(ModelError, match="failed: TypeError"):
        asyncio.run(complete(model, ASKED))


def test_folders_that_hold_no_model(folder: Path, tmp_path: Path):
    with pytest.raises(SettingsError, match="which transformers cannot load"):
        build(tmp_path)
    with pytest.raises(SettingsError, match="which transformers cannot load"):
        build("nobody/no-such-model")
    assert folder.is_dir()


def test_pairs_are_named_by_their_family():
    assert resolved("qwen2.5") == "Qwen/Qwen2.5-3B-Instruct"
    assert resolved("gemma3:development") == "google/gemma-3-1b-it"
    assert resolved("some/model") == "some/model"
    assert resolved("/a/folder") == "/a/folder"
    assert all(
        re.fullmatch(r"[\w-]+/[\w.-]+", name) for pair in pairs().values() for name in pair.model_dump().values()
    )


@pytest.mark.skipif(find_spec("transformers") is not None, reason="transformers is installed")
def test_without_its_package_the_extra_is_named():
    with pytest.raises(MissingExtra, match=r"pip install 'ragstone\[transformers\]'"):
        build("qwen2.5")
