"""The shipped families of Hugging Face models: a tiny model of each architecture reads the publications prompt.

The weights are random; what is checked is the way from the messages to the prompt in the family's own form, and that
the model then writes. The templates follow the forms that the model cards describe.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import local_models
import pytest

from ragstone.core.answers import Message, Reply, Turn
from ragstone.core.records import Chunk, Evidence, Hit
from ragstone.core.request import Request
from ragstone.question import read
from ragstone.respond.writing.prompt import PromptBudget, compose, load_prompt

torch = pytest.importorskip("torch", reason="the extra `transformers` is not installed")
transformers = pytest.importorskip("transformers", reason="the extra `transformers` is not installed")

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
LLAMA = (
    "<|begin_of_text|>{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n{{ m.content | trim }}"
    "<|eot_id|>{% endfor %}{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
ALTERNATING = "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('must alternate') }}{% endif %}"
GEMMA_TURN = "<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}\n"
GEMMA_2 = (
    "<bos>{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for m in messages %}" + ALTERNATING + GEMMA_TURN + "{{ m.content | trim }}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
GEMMA_3 = (
    "<bos>{% set ns = namespace(first='') %}{% if messages[0].role == 'system' %}"
    "{% set ns.first = messages[0].content ~ '\n\n' %}{% set messages = messages[1:] %}{% endif %}"
    "{% for m in messages %}" + ALTERNATING + GEMMA_TURN + "{% if loop.first %}{{ ns.first }}{% endif %}"
    "{{ m.content | trim }}<end_of_turn>\n{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
SMALL = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 8192,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A template, its special tokens (the last two end a reply), how turns look, and a tiny model."""

    template: str
    special: tuple[str, ...]
    begins: str
    user: str
    model: str
    end: str
    build: Callable[[dict[str, Any]], Any]


def _chatml(build: Callable[[dict[str, Any]], Any]) -> Family:
    return Family(
        template=CHATML,
        special=("<|im_start|>", "<|im_end|>", "<|endoftext|>"),
        begins="<|im_start|>system\nYou are the assistant of Deutsche Telekom",
        user="<|im_start|>user\n",
        model="<|im_start|>assistant\n",
        end="<|im_end|>\n",
        build=build,
    )


def _gemma(template: str, build: Callable[[dict[str, Any]], Any]) -> Family:
    return Family(
        template=template,
        special=("<bos>", "<start_of_turn>", "<end_of_turn>", "<eos>"),
        begins="<bos><start_of_turn>user\nYou are the assistant of Deutsche Telekom",
        user="<start_of_turn>user\n",
        model="<start_of_turn>model\n",
        end="<end_of_turn>\n",
        build=build,
    )


def _gemma_3_with_pictures(common: dict[str, Any]) -> Any:
    sight = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.Gemma3Config(
        text_config={**SMALL, **common, "sliding_window": 64},
        vision_config={**sight, "image_size": 28, "patch_size": 14},
        mm_tokens_per_image=4,
        **{key: value for key, value in common.items() if key.endswith("_id")},
    )
    return transformers.Gemma3ForConditionalGeneration(config)


FAMILIES = {
    "qwen2.5": _chatml(lambda own: transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**SMALL, **own))),
    "qwen3": _chatml(lambda own: transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**SMALL, **own))),
    "llama3": Family(
        template=LLAMA,
        special=("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|end_of_text|>"),
        begins="<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nYou are the assistant of Deutsche",
        user="<|start_header_id|>user<|end_header_id|>\n\n",
        model="<|start_header_id|>assistant<|end_header_id|>\n\n",
        end="<|eot_id|>",
        build=lambda own: transformers.LlamaForCausalLM(transformers.LlamaConfig(**SMALL, **own)),
    ),
    "gemma2": _gemma(
        GEMMA_2,
        lambda own: transformers.Gemma2ForCausalLM(transformers.Gemma2Config(**SMALL, **own, sliding_window=64)),
    ),
    "gemma3:development": _gemma(
        GEMMA_3,
        lambda own: transformers.Gemma3ForCausalLM(transformers.Gemma3TextConfig(**SMALL, **own, sliding_window=64)),
    ),
    "gemma3": _gemma(GEMMA_3, _gemma_3_with_pictures),
}


@pytest.fixture(scope="module", params=list(FAMILIES))
def family(request: pytest.FixtureRequest) -> Family:
    return FAMILIES[request.param]


@pytest.fixture(scope="module")
def folder(family: Family, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model of a family, saved as the hub has it."""
    place = tmp_path_factory.mktemp("model")
    tokenizer = local_models.byte_tokenizer(family.special)
    tokenizer.chat_template = family.template
    ends = tokenizer.convert_tokens_to_ids(list(family.special[-2:]))
    torch.manual_seed(7)
    model = family.build(
        {"vocab_size": len(tokenizer), "eos_token_id": ends[1], "pad_token_id": ends[1], "bos_token_id": 0}
    )
    model.generation_config.eos_token_id = ends
    model.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


def publications_prompt() -> tuple[Message, ...]:
    chunk = Chunk(
        id="c",
        document_id="press/181.txt",
        index=0,
        total=1,
        start=0,
        end=28,
        text="The lab in Bonn opens today.",
        metadata={"publication_id": "181", "source": "Deutsche Telekom"},
    )
    evidence = Evidence(question=read("Where is the lab?"), hits=(Hit(chunk=chunk, score=1.0),), method="vector")
    before = [Turn(question="Who are you?", answer="An assistant.")]
    budget = PromptBudget(tokens=6000, characters=800, count=len)
    return compose(load_prompt("publications"), evidence, before, budget=budget).messages


def test_the_prompt_has_the_form_of_the_family(family: Family, folder: Path) -> None:
    messages = publications_prompt()
    model: Any = local_models.built(f"huggingface:{folder}", window_tokens=8192)
    prompt = model._tokenizer.decode(model._encoded(messages)["input_ids"][0])
    assert prompt.startswith(family.begins)
    assert prompt.endswith(family.end + family.model)
    # One turn for each message but the system's, in their order, and nothing lost.
    turns = [family.user if one.role == "user" else family.model for one in messages[1:]]
    assert prompt.count(family.user) == turns.count(family.user)
    assert prompt.count(family.model) == turns.count(family.model) + 1
    assert all(one.content.strip() in prompt for one in messages)
    assert "1. [Publication ID: 181]" in prompt


@pytest.mark.parametrize("precision", ["int8", "full"])
def test_each_family_streams(folder: Path, precision: str) -> None:
    model = local_models.built(f"huggingface:{folder}", max_tokens=12, window_tokens=8192, precision=precision)

    async def pieces() -> list[str | Reply]:
        async with aclosing(model.stream(publications_prompt(), request=Request.by_owner())) as stream:
            return [piece async for piece in stream]

    *texts, reply = asyncio.run(pieces())
    assert isinstance(reply, Reply)
    assert "".join(map(str, texts)) == reply.text
    assert 1 <= reply.completion_tokens <= 12
    assert reply.prompt_tokens > 100
