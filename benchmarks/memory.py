"""An embedder that remembers, so that a question is embedded once, however many variants answer it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragstone.contracts import Span, TokenVectors
from ragstone.protocols import Embedder, Role, TokenEmbedder

if TYPE_CHECKING:
    from ragstone.contracts import Vector

TOKENS = 250_000
"""Token vectors of passages held at once; at 384 numbers each this is about 400 MB."""


class Remembering:
    """Gives what the embedder inside gives; only questions and the token vectors of passages are kept."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.fingerprint, self.dimensions = inner.fingerprint, inner.dimensions
        self._questions: dict[str, Vector] = {}
        self._familiar: dict[str, float] = {}
        self._tokens: dict[tuple[Role, str], TokenVectors] = {}
        self._held = 0

    def familiarity(self, text: str) -> float:
        if text not in self._familiar:
            self._familiar[text] = self._inner.familiarity(text)
        return self._familiar[text]

    def tokens(self, text: str) -> list[Span]:
        return self._inner.tokens(text)

    async def embed(self, texts: Sequence[str], *, role: Role) -> Vector:
        if role == "passage":
            return await self._inner.embed(texts, role=role)
        if new := [text for text in texts if text not in self._questions]:
            self._questions.update(zip(new, await self._inner.embed(new, role=role), strict=True))
        return np.stack([self._questions[text] for text in texts])

    async def embed_tokens(self, texts: Sequence[str], *, role: Role) -> list[TokenVectors]:
        if not isinstance(self._inner, TokenEmbedder):
            raise TypeError(f"{self.fingerprint} has no token vectors")
        new = list(dict.fromkeys(text for text in texts if (role, text) not in self._tokens))
        found = {text: self._tokens[role, text] for text in texts if (role, text) in self._tokens}
        if new:
            found.update(zip(new, await self._inner.embed_tokens(new, role=role), strict=True))
        for text in new:
            self._tokens[role, text] = found[text]
            self._held += len(found[text].spans)
        while self._held > TOKENS:  # the oldest go first
            self._held -= len(self._tokens.pop(next(iter(self._tokens))).spans)
        return [found[text] for text in texts]
