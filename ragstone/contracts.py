"""The whole vocabulary: the records that flow through Ragstone and the seams between its stages.

Records are frozen, slotted and keyword-only. Higher scores are always better. A *row* is the
catalog's number of a chunk, never used twice, and the key under which every index knows it.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

Scalar = str | int | float | bool
Metadata = Mapping[str, Scalar | tuple[Scalar, ...]]
"""Facts of a document or chunk, all usable in filters. Dates are ISO 8601 text, which sorts."""

Role = Literal["query", "passage"]


# ---------------------------------------------------------------- acquire


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text with an identity. ``id`` comes from the source and stays the same when the text changes."""

    id: str
    text: str
    source: str = ""
    title: str = ""
    url: str = ""
    metadata: Metadata = field(default_factory=dict)

    @property
    def content_hash(self) -> str:
        """SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A source, or a part of one, that gave no document, and why."""

    source: str
    reason: str


# ---------------------------------------------------------------- chunk


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Span:
    """Characters ``start`` to ``end`` (exclusive) of a text, counted as Python counts them."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a document: ``text`` is ``document.text[start:end]``, exactly."""

    id: str
    document_id: str
    index: int
    total: int
    start: int
    end: int
    text: str
    title: str = ""
    url: str = ""
    metadata: Metadata = field(default_factory=dict)

    @property
    def headed(self) -> str:
        """What is embedded and analysed: the text under its document's title."""
        return f"{self.title}\n{self.text}" if self.title else self.text


# ---------------------------------------------------------------- filters


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare:
    """A metadata value against a constant. A list in the metadata matches when any member does."""

    key: str
    op: Literal["=", "!=", "<", "<=", ">", ">="]
    value: Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class In:
    key: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exists:
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class And:
    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Or:
    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Not:
    part: Filter


Filter = Compare | In | Exists | And | Or | Not
"""What ``where`` may say. Evaluated inside every index, before ranking."""


# ---------------------------------------------------------------- index, query, rank


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What an index returns: a chunk by its row, and how well it matches."""

    row: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One line of a hit's history: what a stage gave it, and why."""

    stage: str
    score: float
    rank: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A chunk found by one or more legs of the search, after fusion; not yet read."""

    row: int
    score: float
    why: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A chunk with its score and the history of that score; ``vector`` where a later stage needs it."""

    chunk: Chunk
    score: float
    why: tuple[Step, ...] = ()
    vector: Vector | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What retrieval hands to the answer. ``missing`` says which legs failed, in words."""

    question: str
    hits: tuple[Hit, ...]
    method: str
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenVectors:
    """L2-normalised vectors of a text's tokens (tokens, dimensions), and each token's characters."""

    vectors: Vector
    spans: tuple[Span, ...]


# ---------------------------------------------------------------- respond


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """The exact words a sentence of the answer rests on: ``quote`` is ``document.text[start:end]``."""

    marker: int
    document_id: str
    chunk_id: str
    start: int
    end: int
    quote: str
    title: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A document or web page an answer used, once, with the best score any of its chunks had."""

    type: Literal["internal", "web"]
    title: str
    author: str
    url: str
    document_id: str
    relevance_score: float
    sentiment: str | float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a question cost. Tokens are those of the model that counted them."""

    embedded_texts: int = 0
    embedded_tokens: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What an answerer returns: the text with its markers, and the proof of each sentence.

    ``answerability`` is the estimated probability, 0 to 1, that the evidence answers the question.
    """

    text: str
    citations: tuple[Citation, ...]
    answerability: float
    abstained: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeScores:
    """A judge's marks, 0 to 10 each."""

    relevance: float
    factuality: float
    completeness: float
    feedback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer and everything needed to check it."""

    response_id: str
    question: str
    answer: str
    abstained: bool
    citations: tuple[Citation, ...]
    sources: tuple[Source, ...]
    confidence: float
    retrieval_method: str
    timestamp: str
    timings_ms: Mapping[str, float]
    usage: Usage
    judge_scores: JudgeScores | None = None
    web_search_triggered: bool = False
    notices: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a chat prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


# ---------------------------------------------------------------- reports


@dataclass(frozen=True, slots=True, kw_only=True)
class AddReport:
    """What an ingest did. Counts are documents, but for the last three."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    skipped: tuple[Skipped, ...] = ()
    chunks: int = 0
    embedded: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Sent after every commit of an ingest: what is counted here is durable."""

    committed: tuple[str, ...]
    documents: int
    chunks: int
    embedded: int


# ---------------------------------------------------------------- seams


class Reader(Protocol):
    """Reads one source into documents; what cannot be read becomes a ``Skipped``, never an exception."""

    def __call__(self, source: str) -> Iterator[Document | Skipped]: ...


class SentenceSplitter(Protocol):
    """Sentences of a text, in order, without the white space around them."""

    def __call__(self, text: str) -> list[Span]: ...


class Chunker(Protocol):
    """Cuts a text into spans that cover every non-blank character, none longer than its size."""

    def __call__(self, text: str) -> list[Span]: ...


class Analyzer(Protocol):
    """Turns text into the terms that keyword search compares."""

    def __call__(self, text: str) -> list[str]: ...


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

    async def embed(self, texts: Sequence[str], *, role: Role) -> Vector: ...


class TokenEmbedder(Protocol):
    """Texts to one vector per token, for late interaction."""

    async def embed_tokens(self, texts: Sequence[str], *, role: Role) -> list[TokenVectors]: ...


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
    def stream(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """The reply, piece by piece."""
        ...


class Judge(Protocol):
    async def judge(self, question: str, evidence: Evidence, answer: str) -> JudgeScores: ...


class WebSearch(Protocol):
    async def search(self, query: str, k: int) -> list[Document]: ...


class Store(Protocol):
    """What an index needs of the catalog: rows that a filter lets through, and what changed since."""

    def select(self, where: Filter) -> NDArray[np.int64]:
        """Rows, ascending, of the live chunks that ``where`` lets through."""
        ...

    def generation(self) -> int:
        """Number of the last committed change."""
        ...
