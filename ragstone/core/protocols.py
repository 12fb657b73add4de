"""The protocols between stages. Each stage depends on these, not on another stage.

A protocol requires one method where possible. The settings name third-party components as ``package.module:Class``;
they need no registration.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from ragstone.core.answers import Adequacy, Draft, JudgeScores, Message, Piece, SentenceClosed, TextWritten, Turn
from ragstone.core.filters import Filter
from ragstone.core.readings import Judgement, Reading
from ragstone.core.records import Document, Evidence, Hit, Matches, Span, TokenMatches, TokenVectors
from ragstone.core.request import Request

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ragstone.core.records import Vector

Role = Literal["query", "passage"]

Pace = Callable[[int, int], None]
"""Called with the numbers of finished and of all parts; raises `OutOfTime` if the rest would take too long."""


def no_deadline(done: int, total: int) -> None:
    """Accept any pace, for work without a time limit."""


@runtime_checkable
class Closable(Protocol):
    """A component that holds files or connections open."""

    def close(self) -> None:
        """Release the files and connections."""
        ...


class SentenceSplitter(Protocol):
    """Splits a text into sentences, in order, without surrounding white space."""

    def __call__(self, text: str) -> list[Span]: ...


class Tokens(Protocol):
    """Splits a text into the tokens of the embedding model, in order."""

    def __call__(self, text: str) -> list[Span]: ...


class Analyzer(Protocol):
    """Turns text into the terms that keyword search compares."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the terms of a text would."""
        ...

    def __call__(self, text: str, language: str = "") -> list[str]:
        """Return the terms of a text in a language, an ISO 639-1 code or empty if unknown."""
        ...


class Detector(Protocol):
    """Detects the language of a text and returns its ISO 639-1 code, or an empty text if unsure.

    ``prior`` is the probability of each language before the text is read, usually its share of the knowledge base.
    """

    def __call__(self, text: str, prior: Mapping[str, float] = ...) -> str: ...


class Weigher(Protocol):
    """Weighs words by inverse document frequency in the knowledge base; weights are 0 or more."""

    def __call__(self, words: Sequence[str], request: Request, /) -> list[float]: ...


class PlainEmbedder(Protocol):
    """Embeds texts as L2-normalised vectors, shape (texts, dimensions), float32.

    Every text gets a finite vector, even an empty one, and no texts give no rows. The vector of a text does not depend
    on the other texts of the call, and calls may run at the same time.

    Your own embedder needs only this. Name it in ``index.embedder`` as ``package.module:Class``; the class takes no
    arguments. `ragstone.testing.check_embedder` checks it.

    >>> import numpy as np
    >>> from ragstone.testing import check_embedder
    >>> class Letters:
    ...     fingerprint, dimensions = "letters-1", 27
    ...     async def embed(self, texts, *, role, request):
    ...         counts = [[1, *(text.lower().count(chr(97 + place)) for place in range(26))] for text in texts]
    ...         vectors = np.array(counts, dtype=np.float32).reshape(-1, 27)
    ...         return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    >>> check_embedder(Letters())
    """

    @property
    def fingerprint(self) -> str:
        """Changes whenever the vectors of a text would."""
        ...

    @property
    def dimensions(self) -> int: ...

    async def embed(self, texts: Sequence[str], *, role: Role, request: Request) -> Vector: ...


class Embedder(PlainEmbedder, Protocol):
    """An embedder that knows its tokens; other `PlainEmbedder`s get substitutes."""

    def familiarity(self, text: str) -> float:
        """Return the share of words, 0 to 1, that are single tokens of the model; 1 if unknown."""
        ...

    def tokens(self, text: str) -> list[Span]:
        """Return the tokens of a text of any length, in order."""
        ...


@runtime_checkable
class WeighedEmbedder(Protocol):
    """An embedder with a measured weight of vector search in fusion; all others get the default weight."""

    def vector_weight(self, coverage: float) -> float:
        """Return the weight of vector search, 0 to 1.

        Args:
            coverage: how much of the question the best keyword match contains, 0 to 1.
        """
        ...


@runtime_checkable
class GaugedEmbedder(Protocol):
    """An embedder whose similarities were measured on questions that the documents do not answer."""

    @property
    def related_from(self) -> float:
        """The cosine from which a passage is probably about the question."""
        ...


@runtime_checkable
class BatchingEmbedder(Protocol):
    """An embedder that works best in full batches, and that may have cached vectors."""

    @property
    def batch(self) -> int:
        """How many texts make a full batch."""
        ...

    def kept(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Return the cached vectors, by text."""
        ...


@runtime_checkable
class TokenEmbedder(Protocol):
    """Embeds texts as one vector per token, for late interaction."""

    @property
    def fingerprint(self) -> str: ...

    async def embed_tokens(self, texts: Sequence[str], *, role: Role, request: Request) -> list[TokenVectors]: ...


class Entailment(Protocol):
    """Judges whether evidence supports a claim."""

    def familiarity(self, text: str) -> float:
        """Return the share of the words of a text that the model knows, 0 to 1."""
        ...

    async def judge(self, claims: Sequence[str], evidence: Sequence[str], request: Request) -> list[Judgement]:
        """Return the reading of each claim against the evidence text paired with it."""
        ...


class PassageReader(Protocol):
    """Reads a question together with each passage that may answer it."""

    def familiarity(self, text: str) -> float:
        """Return the share of the words of a text that the model knows, 0 to 1."""
        ...

    async def read(self, question: str, passages: Sequence[str], request: Request) -> list[Reading]:
        """Return what the model says of each passage."""
        ...


class TokenMatcher(Protocol):
    async def match(self, question: str, texts: Sequence[str], request: Request) -> list[TokenMatches]:
        """Match the question with each text, token by token."""
        ...


class VectorIndex(Protocol):
    async def search(self, vector: Vector, k: int, where: Filter | None = None) -> Matches:
        """Return the ``k`` nearest chunks that match ``where``, by cosine similarity, best first."""
        ...


class LexicalIndex(Protocol):
    async def search(self, terms: Sequence[str], k: int, where: Filter | None = None) -> Matches:
        """Return the ``k`` best chunks that match ``where``, by BM25, best first."""
        ...


class Reranker(Protocol):
    """Rescores hits.

    Scores are finite, chunks come back unchanged, and equal calls give equal orders. There may be one hit, or none.

    Name your own in ``rank.reranker`` as ``package.module:Class``; the class takes no arguments.
    `ragstone.testing.check_reranker` checks it.

    >>> from dataclasses import replace
    >>> from ragstone.testing import check_reranker
    >>> class Shortest:
    ...     async def rerank(self, question, hits, request, pace=no_deadline):
    ...         scored = [replace(hit, score=1 / (1 + len(hit.chunk.text))) for hit in hits]
    ...         return sorted(scored, key=lambda hit: -hit.score)
    >>> check_reranker(Shortest())
    """

    async def rerank(self, question: str, hits: Sequence[Hit], request: Request, pace: Pace = no_deadline) -> list[Hit]:
        """Return the same hits with new scores, best first.

        Raises:
            OutOfTime: ``pace``, which is called after each batch, expects the rest to take too long.
        """
        ...


class Answerer(Protocol):
    async def answerability(self, evidence: Evidence, request: Request) -> float:
        """Estimate the probability, 0 to 1, that an answer from this evidence is right."""
        ...

    def stream(
        self, evidence: Evidence, request: Request, before: Sequence[Turn] = ()
    ) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        """Stream the answer while it is generated, and finally the complete `Draft`.

        Args:
            evidence: the only content that the answer may use.
            request: the reader, the deadline and the budget.
            before: earlier turns of the conversation.
        """
        ...


class ChatModel(Protocol):
    """A language model, local or remote.

    Replies may run at the same time. After a caller leaves a stream, the model serves the next call.

    Name your own in ``respond.model.name`` as ``package.module:Class``; the class takes the `ModelSettings`. It may
    also have a coroutine ``window()``, which returns the tokens of its context window.
    `ragstone.testing.check_chat_model` checks it.

    >>> from ragstone.core.answers import Reply
    >>> from ragstone.testing import check_chat_model
    >>> class Parrot:
    ...     name = "own:parrot"
    ...     def count(self, text):
    ...         return len(text.split())
    ...     async def stream(self, messages, request, form=None):
    ...         text = messages[-1].content
    ...         yield text
    ...         yield Reply(text=text, prompt_tokens=self.count(text), completion_tokens=self.count(text))
    >>> check_chat_model(Parrot())
    """

    @property
    def name(self) -> str:
        """The name in the settings, with its kind before a colon: ``openai:gpt-4o-mini``."""
        ...

    def count(self, text: str) -> int:
        """Count the tokens of a text with the model's tokenizer, or overestimate them."""
        ...

    def stream(
        self, messages: Sequence[Message], request: Request, form: type[BaseModel] | None = None
    ) -> AsyncGenerator[Piece]:
        """Stream the text of the reply, and finally the complete `Reply`. Closing the generator stops the model.

        No piece is empty, and the pieces make up the text of the `Reply`, which counts its tokens and those of the
        prompt.

        Args:
            messages: the conversation so far.
            request: the deadline of the reply, and who pays.
            form: schema for a JSON reply; a hint that a server may ignore, so the caller validates the reply.

        Raises:
            ContextTooLong: the messages are longer than the model's window.
            ModelError: the model cannot be reached, refuses, fails while it replies, or sends no words.
        """
        ...


class Judge(Protocol):
    """Scores evidence and answers. Scores are advisory."""

    async def adequacy(self, evidence: Evidence, request: Request) -> Adequacy:
        """Rate whether the evidence can answer its question."""
        ...

    async def judge(self, evidence: Evidence, answer: str, request: Request) -> JudgeScores:
        """Score an answer."""
        ...


class OutsideSearch(Protocol):
    """Searches the web, or asks a tool, if stored documents do not answer. What it finds is never stored."""

    async def search(self, query: str, k: int, request: Request) -> list[Document]:
        """Return at most ``k`` texts, the best first.

        Raises:
            RetrievalError: the service cannot be reached, or refuses.
        """
        ...
