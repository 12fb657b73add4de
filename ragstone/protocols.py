"""The seams between stages: what a stage needs of another, without knowing which.

One required method where that is honest. An outsider's `Embedder` or `Analyzer` is named in the settings,
``package.module:Class``, and needs no registration.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from ragstone.answers import Adequacy, Draft, JudgeScores, Message, Piece, SentenceClosed, TextWritten, Turn
from ragstone.conditions import Filter
from ragstone.contracts import Document, Evidence, Hit, Matches, Span, TokenMatches, TokenVectors

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ragstone.contracts import Vector

Role = Literal["query", "passage"]

Pace = Callable[[int, int], None]
"""Told how many parts of all are done; raises `OutOfTime` where the rest would not end in time."""


def unhurried(done: int, total: int) -> None:
    """The pace of what may take as long as it does."""


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

    def __call__(self, text: str, language: str = "") -> list[str]:
        """The terms of a text in a language, given as ISO 639-1 code; empty where it is not known."""
        ...


class Detector(Protocol):
    """Tells the language of a text, as ISO 639-1 code; empty where the text does not tell.

    ``prior`` is how likely each language is before the text is read; the shares of the knowledge base, mostly.
    """

    def __call__(self, text: str, prior: Mapping[str, float] = ...) -> str: ...


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
class WeighedEmbedder(Protocol):
    """One of which was measured what its vectors should count beside keyword search; of others, as much."""

    def vector_weight(self, coverage: float) -> float:
        """0 to 1, where keyword search finds this share of what was asked: none 0, all of it in one chunk 1."""
        ...


@runtime_checkable
class TokenEmbedder(Protocol):
    """Texts to one vector per token, for late interaction."""

    @property
    def fingerprint(self) -> str: ...

    async def embed_tokens(self, texts: Sequence[str], *, role: Role) -> list[TokenVectors]: ...


class TokenMatcher(Protocol):
    async def match(self, question: str, texts: Sequence[str]) -> list[TokenMatches]:
        """The question against each text."""
        ...


class VectorIndex(Protocol):
    async def search(self, vector: Vector, k: int, where: Filter | None = None) -> Matches:
        """The ``k`` nearest chunks by cosine similarity, best first, of those ``where`` lets through."""
        ...


class LexicalIndex(Protocol):
    async def search(self, terms: Sequence[str], k: int, where: Filter | None = None) -> Matches:
        """The ``k`` best chunks by BM25, best first, of those ``where`` lets through."""
        ...


class Reranker(Protocol):
    async def rerank(self, question: str, hits: Sequence[Hit], pace: Pace = unhurried) -> list[Hit]:
        """The same hits with new scores, best first.

        Raises:
            OutOfTime: by ``pace``, which is told now and then how far it is.
        """
        ...


class Answerer(Protocol):
    async def answerability(self, evidence: Evidence) -> float:
        """The probability, 0 to 1, that the evidence answers its question."""
        ...

    def stream(
        self, evidence: Evidence, before: Sequence[Turn] = ()
    ) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        """The answer as it is made, and last the whole `Draft`.

        Args:
            evidence: all that it may rest on.
            before: what was said before in the same conversation.
        """
        ...


class ChatModel(Protocol):
    """A language model, wherever it runs."""

    @property
    def name(self) -> str:
        """As the settings name it, such as ``openai:gpt-4o-mini``."""
        ...

    def count(self, text: str) -> int:
        """Tokens of a text by the model's own tokenizer, or an estimate that is rather too high."""
        ...

    def stream(self, messages: Sequence[Message], form: type[BaseModel] | None = None) -> AsyncGenerator[Piece]:
        """The reply piece by piece, and last the whole `Reply`. Closing the generator stops the model.

        Args:
            messages: the conversation so far.
            form: what the reply should be as JSON; a hint to a server that can keep to it. The caller checks.

        Raises:
            ModelError: the model cannot be reached, refuses, or fails in the middle.
        """
        ...


class Judge(Protocol):
    """Marks evidence and answers. What it gives is advice, never trusted as truth."""

    async def adequacy(self, evidence: Evidence) -> Adequacy:
        """Whether the evidence can answer its question."""
        ...

    async def judge(self, question: str, evidence: Evidence, answer: str) -> JudgeScores:
        """How good an answer is."""
        ...


class WebSearch(Protocol):
    """Pages of the web, where the stored documents do not answer. They are never stored."""

    async def search(self, query: str, k: int) -> list[Document]:
        """The ``k`` best pages.

        Raises:
            RetrievalError: the service cannot be reached, or refuses.
        """
        ...
