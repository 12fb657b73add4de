"""An embedder that memoizes, so that each text is embedded once for all variants."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.protocols import Embedder, Role, TokenEmbedder, WeighedEmbedder
from ragstone.core.records import Span, TokenVectors
from ragstone.core.request import Request
from ragstone.engine.legs import UNMEASURED_WEIGHT

if TYPE_CHECKING:
    from ragstone.core.records import Vector

TOKENS = 250_000
"""Maximum of token vectors in memory; with 384 dimensions, about 400 MB."""
PASSAGES = 100_000
"""Maximum of passage vectors in memory; with 384 dimensions, about 150 MB."""


class MemoizedEmbedder:
    """Memoizes another embedder. ``saved`` counts the milliseconds saved so far."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.fingerprint, self.dimensions = inner.fingerprint, inner.dimensions
        self.saved = 0.0
        self._vectors: dict[Role, dict[str, Vector]] = {"query": {}, "passage": {}}
        self._familiar: dict[str, float] = {}
        self._tokens: dict[tuple[Role, str], TokenVectors] = {}
        self._held = 0
        self._spent: dict[tuple[str, Role, str], float] = {}

    def vector_weight(self, coverage: float) -> float:
        return self._inner.vector_weight(coverage) if isinstance(self._inner, WeighedEmbedder) else UNMEASURED_WEIGHT

    def familiarity(self, text: str) -> float:
        if text not in self._familiar:
            self._familiar[text] = self._inner.familiarity(text)
        return self._familiar[text]

    def tokens(self, text: str) -> list[Span]:
        return self._inner.tokens(text)

    async def embed(self, texts: Sequence[str], *, role: Role, request: Request) -> Vector:
        kept = self._vectors[role]
        vectors = {text: kept[text] for text in texts if text in kept}
        new = list(dict.fromkeys(text for text in texts if text not in kept))
        self._count_saved("vector", role, vectors)
        if new:
            started = time.perf_counter()
            vectors.update(zip(new, await self._inner.embed(new, role=role, request=request), strict=True))
            self._note_spent("vector", role, new, started)
            kept.update((text, vectors[text]) for text in new)
        while role == "passage" and len(kept) > PASSAGES:  # the oldest go first
            kept.pop(next(iter(kept)))
        return np.stack([vectors[text] for text in texts])

    async def embed_tokens(self, texts: Sequence[str], *, role: Role, request: Request) -> list[TokenVectors]:
        if not isinstance(self._inner, TokenEmbedder):
            raise TypeError(f"{self.fingerprint} has no token vectors")
        new = list(dict.fromkeys(text for text in texts if (role, text) not in self._tokens))
        vectors = {text: self._tokens[role, text] for text in texts if (role, text) in self._tokens}
        self._count_saved("tokens", role, vectors)
        if new:
            started = time.perf_counter()
            vectors.update(zip(new, await self._inner.embed_tokens(new, role=role, request=request), strict=True))
            self._note_spent("tokens", role, new, started)
        for text in new:
            self._tokens[role, text] = vectors[text]
            self._held += len(vectors[text].spans)
        while self._held > TOKENS:  # the oldest go first
            self._held -= len(self._tokens.pop(next(iter(self._tokens))).spans)
        return [vectors[text] for text in texts]

    def _note_spent(self, what: str, role: Role, texts: Sequence[str], started: float) -> None:
        each = (time.perf_counter() - started) * 1000 / len(texts)
        self._spent.update({(what, role, text): each for text in texts})

    def _count_saved(self, what: str, role: Role, texts: Iterable[str]) -> None:
        self.saved += sum(self._spent.get((what, role, text), 0.0) for text in texts)
