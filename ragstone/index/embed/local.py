"""The embedded English model: all-MiniLM-L6-v2, from weights that come as a Python package. Nothing is downloaded.

The network runs on ONNX Runtime in float32, or on OpenVINO in bfloat16 (`onnxruntime_network`, `openvino_network`).
Word embeddings stay int8, as they are packaged, and are expanded row by row as texts need them.

Model: Wang et al. 2020, "MiniLM: Deep Self-Attention Distillation" (arXiv 2002.10957); Reimers and
Gurevych 2019, "Sentence-BERT" (arXiv 1908.10084).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from tokenizers import Encoding, Tokenizer, models, normalizers, pre_tokenizers

from ragstone.core.errors import MissingExtra
from ragstone.core.records import Span, TokenVectors
from ragstone.core.request import Request
from ragstone.index.embed.encoder import Encoder, Network, unit
from ragstone.index.embed.minilm.weights import DIMENSIONS, FOLDER, SHA256, Weights, vocabulary

if TYPE_CHECKING:
    from ragstone.core.protocols import Role
    from ragstone.core.records import Vector

WINDOW = 254
"""Tokens read at once, without the two markers. The model was trained on 256; longer texts are read in windows."""
BATCH_TOKENS = 1024
"""Tokens of a batch with padding. More do not fit into a core's cache, which was an eighth slower."""
BULK_TOKENS = 8 * BATCH_TOKENS
"""Tokens from which OpenVINO's slower start pays off; a single question does not reach it."""
CLS, SEP = 101, 102

Engine = Literal["auto", "onnxruntime", "openvino"]


class MiniLM:
    """Embeds English text; knows little of other languages (see `familiarity`)."""

    dimensions = DIMENSIONS
    window = WINDOW
    batch_tokens = BATCH_TOKENS
    after = (SEP,)
    fingerprint = f"minilm-{SHA256['model.onnx'][:12]}-window{WINDOW}"

    def __init__(self, *, threads: int = 0, engine: Engine = "auto") -> None:
        """Load and verify the weights.

        Args:
            threads: threads of one call; 0 stands for one per core.
            engine: what runs the network; ``auto`` takes OpenVINO where it is installed and the processor has
                bfloat16, for much text at once. The fingerprint is the same: vectors agree to a cosine of .9999.

        Raises:
            MissingExtra: the engine is not installed.
            Damaged: the packaged weights or the vocabulary are not the ones expected.
        """
        weights, self._encoder = Weights(), Encoder(self)
        self.before: Mapping[Role, Sequence[int]] = {
            "query": (CLS,),
            "passage": (CLS,),
        }  # this model reads questions and passages alike
        self._tokenizer = _tokenizer(vocabulary())
        self._word, self._word_scale = weights.raw("word_q"), weights.raw("word_scale")
        self._place = weights.matrix("position") + weights.raw("type")[0]
        self._weights, self._threads = weights, threads
        installed = find_spec("openvino") is not None
        if engine == "openvino" and not installed:
            raise MissingExtra("openvino", extra="fast")
        is_faster = engine == "auto" and installed and has_bfloat16()
        self._worth_openvino = 0 if engine == "openvino" else BULK_TOKENS if is_faster else math.inf

    @cached_property
    def _onnxruntime(self) -> Network:
        from ragstone.index.embed.onnxruntime_network import OnnxRuntimeNetwork

        return OnnxRuntimeNetwork(FOLDER / "graph.onnx", self._weights.tensors(), self._threads)

    @cached_property
    def _openvino(self) -> Network:
        from ragstone.index.embed.openvino_network import OpenVinoNetwork

        return OpenVinoNetwork(self._weights, self._threads, bfloat16=has_bfloat16())

    def network_for(self, windows: Sequence[Sequence[int]]) -> Network:
        return self._openvino if sum(map(len, windows)) >= self._worth_openvino else self._onnxruntime

    def tokens(self, text: str) -> list[Span]:
        """Return the tokens of a text, however long, in order."""
        return self._encoder.tokens(text)

    async def embed(self, texts: Sequence[str], *, role: Role, request: Request) -> Vector:
        """Return a vector for each text, L2-normalised, shape (texts, dimensions)."""
        return await self._encoder.embed(texts, role=role, request=request)

    async def embed_tokens(self, texts: Sequence[str], *, role: Role, request: Request) -> list[TokenVectors]:
        """Return a vector for each token of each text, L2-normalised."""
        return await self._encoder.embed_tokens(texts, role=role, request=request)

    def familiarity(self, text: str) -> float:
        """Return the share of words that are single tokens: high if the model knows the language."""
        tokens = self._tokenizer.encode(text, add_special_tokens=False)
        pieces = np.bincount(np.array([i for i in tokens.word_ids if i is not None], dtype=np.int64))
        words = [
            count == 1
            for count, span in ((n, tokens.word_to_chars(i)) for i, n in enumerate(pieces))
            if span is not None and text[slice(*span)].isalpha()
        ]
        return sum(words) / len(words) if words else 1.0

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        return self._tokenizer.encode_batch(list(texts), add_special_tokens=False)

    def comparable(self, vectors: Vector) -> Vector:
        return unit(vectors)

    def look_up(self, ids: np.ndarray) -> Vector:
        return self._word[ids] * self._word_scale[ids] + self._place[: ids.shape[1]]


def has_bfloat16(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Return whether the processor multiplies bfloat16; False if the system does not say."""
    try:
        return bool({"avx512_bf16", "amx_bf16"} & set(cpuinfo.read_text(encoding="utf-8").split()))
    except OSError:
        return False


def _tokenizer(vocabulary: Sequence[str]) -> Tokenizer:
    words = {word: i for i, word in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(words, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer
