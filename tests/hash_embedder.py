"""An embedder without a model: each word has a vector, drawn from its hash, and a text has their mean."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ragstone.core.protocols import Role
from ragstone.core.records import Span, TokenVectors
from ragstone.core.request import Request

_WORD = re.compile(r"\w+")


class HashEmbedder:
    """Fast and the same everywhere; ``seen`` keeps every passage it was given."""

    dimensions = 32
    fingerprint = "hash-1"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def familiarity(self, text: str) -> float:
        return 1.0 if text else 0.0

    def tokens(self, text: str) -> list[Span]:
        return [Span(start=one.start(), end=one.end()) for one in _WORD.finditer(text)]

    async def embed(self, texts: Sequence[str], *, role: Role, request: Request) -> NDArray[np.float32]:  # noqa: ARG002
        if role == "passage":
            self.seen += texts
        sums = [np.sum([word_vector(word) for word in words_of(text)], axis=0) for text in texts]
        return np.array([one / np.linalg.norm(one) for one in sums], dtype=np.float32).reshape(-1, self.dimensions)

    async def embed_tokens(self, texts: Sequence[str], *, role: Role, request: Request) -> list[TokenVectors]:  # noqa: ARG002
        assert role in ("query", "passage")
        out = []
        for text in texts:
            spans = tuple(self.tokens(text))
            vectors = np.array([word_vector(span.of(text).lower()) for span in spans], dtype=np.float32)
            out.append(TokenVectors(vectors=vectors.reshape(-1, self.dimensions), spans=spans))
        return out


class OtherEmbedder(HashEmbedder):
    """The same with a fingerprint of its own."""

    fingerprint = "hash-2"


def words_of(text: str) -> list[str]:
    return _WORD.findall(text.lower()) or [text]


@cache
def word_vector(word: str) -> NDArray[np.float32]:
    seed = int.from_bytes(hashlib.sha256(word.encode(errors="surrogatepass")).digest()[:8])
    vector = np.random.default_rng(seed).normal(size=HashEmbedder.dimensions)
    return (vector / np.linalg.norm(vector)).astype(np.float32)
