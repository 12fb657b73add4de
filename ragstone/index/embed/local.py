"""The embedded English model: all-MiniLM-L6-v2, from weights that come as a Python package. Nothing is downloaded.

The network runs on ONNX Runtime, in int8 where the processor is fast at it (`minilm.int8`), else in float32. Word
embeddings stay int8, as they are packaged, and are expanded row by row as texts need them.

Model: Wang et al. 2020, "MiniLM: Deep Self-Attention Distillation" (arXiv 2002.10957); Reimers and
Gurevych 2019, "Sentence-BERT" (arXiv 1908.10084).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
from tokenizers import Encoding, Tokenizer, models, normalizers, pre_tokenizers

from ragstone.core.records import Span, TokenVectors
from ragstone.core.request import Request
from ragstone.index.embed.encoder import Encoder, Network, trusted, unit
from ragstone.index.embed.minilm.network import Precision, packaged_network
from ragstone.index.embed.minilm.weights import DIMENSIONS, FOLDER, SHA256, Weights, vocabulary

if TYPE_CHECKING:
    from ragstone.core.protocols import Role
    from ragstone.core.records import Vector

WINDOW = 254
"""Tokens read at once, without the two markers. The model was trained on 256; longer texts are read in windows."""
BATCH_TOKENS = 256
"""Tokens of a batch. More are hardly faster, and leave less to read side by side."""
CLS, SEP = 101, 102
TRUST, FULL_TRUST = 0.3, 0.7
"""The weight of vectors relative to keywords if keyword search covers the question, and if it finds nothing of it."""
COVERED = 0.5
"""The share of the question from which keyword search covers it."""

RELATED_FROM = 0.3
"""The cosine that a passage about the question reaches: 97 of 100 questions to their own documents do, and 4 of 100
questions to documents about something else (CLAP NQ and CUDA-Q)."""


class MiniLM:
    """Embeds English text; knows little of other languages (see `familiarity`)."""

    dimensions = DIMENSIONS
    window = WINDOW
    batch_tokens = BATCH_TOKENS
    after = (SEP,)
    related_from = RELATED_FROM
    fingerprint = f"minilm-{SHA256['model.onnx'][:12]}-window{WINDOW}"

    def __init__(self, *, threads: int = 0, precision: Precision = "auto", watched: Network | None = None) -> None:
        """Load and verify the weights.

        Args:
            threads: windows to read side by side; 0 stands for one per core.
            precision: of the network. The fingerprint is the same: text vectors agree to a cosine of .998.
            watched: a network to use instead, which watches what is computed.

        Raises:
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
        self._weights, self._threads, self._given = weights, threads, watched
        self._precision: Precision = precision

    @property
    def network(self) -> Network:
        return self._network

    @cached_property
    def _network(self) -> Network:
        if self._given is not None:
            return self._given
        ranges = FOLDER / "ranges.json"
        return packaged_network(self._weights, ranges=ranges, precision=self._precision, threads=self._threads)

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

    def vector_weight(self, coverage: float) -> float:
        """Return the weight, which is lowest if a chunk has the question's words, as in technical documentation.

        Chosen on the development parts of XQuAD, CLAP NQ and CUDA-Q, and on headings of documentation as questions
        (`benchmarks/documentation.py`).
        """
        return trusted(coverage, least=TRUST, most=FULL_TRUST, covered=COVERED)

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        return self._tokenizer.encode_batch(list(texts), add_special_tokens=False)

    def comparable(self, vectors: Vector) -> Vector:
        return unit(vectors)

    def look_up(self, ids: np.ndarray) -> Vector:
        return self._word[ids] * self._word_scale[ids] + self._place[: ids.shape[1]]


@cache
def _tokenizer(vocabulary: tuple[str, ...]) -> Tokenizer:
    words = {word: i for i, word in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(words, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer
