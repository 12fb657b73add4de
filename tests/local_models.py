"""Language models that run here: one that a package brings, and one whose weights are drawn by chance."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.protocols import ChatModel
from ragstone.services.models import build_chat_model
from ragstone.settings.services import ModelSettings, ServiceSettings

GGUF = Path(__file__).parent.parent / ".ragstone-models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
"""Put there by tools/test_model.py."""
MOST = 100
"""Tokens of a reply."""
TEMPLATE = (
    "{% for message in messages %}<{{ message.role }}> {{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def gguf() -> Path:
    """The file of the model; a test that asks for it is skipped where it cannot be run."""
    if find_spec("xllamacpp") is None:
        pytest.skip("the extra `gguf` is not installed")
    if not GGUF.is_file():
        pytest.skip("there is no model: python tools/test_model.py fetches it")
    return GGUF


def built(name: str, *, max_tokens: int = MOST, window_tokens: int = 2048, precision: str = "auto") -> ChatModel:
    own = {"max_tokens": max_tokens, "window_tokens": window_tokens, "precision": precision, "temperature": 0}
    settings = ModelSettings.model_validate({"name": name, **own})
    model = build_chat_model(settings, ServiceSettings())
    assert model is not None
    return model


def byte_tokenizer(special: tuple[str, ...]) -> Any:
    """A tokenizer of bytes and a few words for transformers; the last special token ends a text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast  # pyright: ignore

    tokenizer = Tokenizer(models.BPE(byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=list(special), initial_alphabet=alphabet)
    tokenizer.train_from_iterator(["one two three four five six seven eight nine ten"] * 4, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=special[-1], pad_token=special[-1])


@contextmanager
def tiny_transformer() -> Iterator[Path]:
    """A folder with a small model of random weights, its own tokenizer and chat template."""
    if find_spec("transformers") is None or find_spec("torch") is None:
        pytest.skip("the extra `transformers` is not installed")
    import torch  # pyright: ignore[reportMissingImports]
    from transformers import LlamaConfig, LlamaForCausalLM  # pyright: ignore

    fast = byte_tokenizer(("<end>",))
    fast.chat_template = TEMPLATE
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=len(fast),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        eos_token_id=fast.eos_token_id,
        pad_token_id=fast.pad_token_id,
    )
    with tempfile.TemporaryDirectory() as folder:
        LlamaForCausalLM(config).save_pretrained(folder)
        fast.save_pretrained(folder)
        yield Path(folder)
