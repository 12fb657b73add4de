"""The seams between stages: what a stage needs of another, without knowing which.

One required method where that is honest. An outsider's `Embedder` or `Analyzer` is named in the settings,
``package.module:Class``, and needs no registration.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from ragstone.contracts import (
    Document,
    Draft,
    Evidence,
    Filter,
    Hit,
    JudgeScores,
    Match,
    Message,
    Span,
    TokenMatches,
    TokenVectors,
)

if TYPE_CHECKING:
    from ragstone.contracts import Vector

Role = Literal["query", "passage"]


class SentenceSplitter(Protocol):
    """Sentences of a text, in order, without the white space around them."""

    def __call__(self, text: str) -> list[Span]: ...


class Tokens(Protocol):
    """The tokens of a text as the embedding model counts them, in order."""

    def __call__(self, text: str) -> list[Span]: ...


class Analyzer(Protocol):
    """Turns text into the terms that keyword search compares."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the terms of a text would."""
        ...

    def __call__(self, text: str) -> list[str]: ...


class Weigher(Protocol):
    """How much each word tells apart the chunks of the knowledge base: inverse document frequency, 0 or more."""

    def __call__(self, words: Sequence[str]) -> list[float]: ...


class Embedder(Protocol):
    """Texts to L2-normalised vectors, shape (texts, dimensions)."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the vectors of a text would."""
        ...

    @property
    def dimensions(self) -> int: ...

    def familiarity(self, text: str) -> float:
        """Share of the words, 0 to 1, that the model's vocabulary knows whole; 1 where it cannot be told."""
        ...

    def tokens(self, text: str) -> list[Span]:
        """The tokens of a text, however long, in order."""
        ...

    async def embed(self, texts: Sequence[str], *, role: Role) -> Vector: ...


@runtime_checkable
class TokenEmbedder(Protocol):
    """Texts to one vector per token, for late interaction."""

    async def embed_tokens(self, texts: Sequence[str], *, role: Role) -> list[TokenVectors]: ...


class TokenMatcher(Protocol):
    async def match(self, question: str, texts: Sequence[str]) -> list[TokenMatches]:
        """The question against each text."""
        ...


class VectorIndex(Protocol):
    async def search(self, vector: Vector, k: int, where: Filter | None = None) -> list[Match]:
        """The ``k`` nearest chunks by cosine similarity, best first, of those ``where`` lets through."""
        ...


class LexicalIndex(Protocol):
    async def search(self, terms: Sequence[str], k: int, where: Filter | None = None) -> list[Match]:
        """The ``k`` best chunks by BM25, best first, of those ``where`` lets through."""
        ...


class Reranker(Protocol):
    async def rerank(self, question: str, hits: Sequence[Hit]) -> list[Hit]:
        """The same hits with new scores, best first."""
        ...


class Answerer(Protocol):
    async def answer(self, evidence: Evidence) -> Draft: ...


class ChatModel(Protocol):
    """A language model. Announced; nothing calls one yet, and neither a `Judge` nor a `WebSearch`."""

    def stream(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """The reply, piece by piece."""
        ...


class Judge(Protocol):
    """Marks an answer. Announced."""

    async def judge(self, question: str, evidence: Evidence, answer: str) -> JudgeScores: ...


class WebSearch(Protocol):
    """Documents from the web, where the stored ones do not answer. Announced."""

    async def search(self, query: str, k: int) -> list[Document]: ...
