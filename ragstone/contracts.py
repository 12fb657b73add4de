"""The vocabulary: the records that flow through Ragstone. The seams between its stages are in `protocols`.

Records are frozen, slotted and keyword-only. Higher scores are always better. A *row* is the
catalog's number of a chunk, never used twice, and the key under which every index knows it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ragstone.conditions import Scalar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

Metadata = Mapping[str, Scalar | tuple[Scalar, ...]]
"""Facts of a document or chunk, all usable in filters. Dates are ISO 8601 text, which sorts."""


# ---------------------------------------------------------------- acquire
@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Structure of a document, as characters of its text.

    A ``heading`` covers its own line and has a ``level`` from 1 and its words as ``label``; a ``page`` covers
    the whole page and is labelled as printed, such as "12"; ``code`` covers the code without its fences
    and is labelled with its language; ``table`` is labelled with its caption, where it has one.
    """

    kind: Literal["heading", "page", "code", "table"]
    start: int
    end: int
    level: int = 0
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text with an identity. ``id`` comes from the source and stays the same when the text changes.

    ``marks`` are in order of ``start``; pages and the rest may overlap each other.
    """

    id: str
    text: str
    source: str = ""
    title: str = ""
    url: str = ""
    metadata: Metadata = field(default_factory=dict)
    marks: tuple[Mark, ...] = ()

    @property
    def content_hash(self) -> str:
        """SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A source, or a part of one, that gave no document, and why."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """A source that is as it was when all its documents were last stored; it was not read again."""

    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """Everything of a source has been read, and nothing of it was skipped. ``stamp`` tells its present state."""

    source: str
    stamp: str


Acquired = Document | Skipped | Unchanged | Finished
"""What reading gives, in order: the end of a source comes after its documents."""


# ---------------------------------------------------------------- chunk
@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Span:
    """Characters ``start`` to ``end`` (exclusive) of a text, counted as Python counts them."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]


WEB = "web:"
"""Beginning of the ids of pages of the web, which are evidence for one question and never stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a document: ``text`` is ``document.text[start:end]``, exactly.

    ``context`` is put before the text where it is embedded and analysed: titles, which say what it is about
    and are no part of the span. ``facts`` are the chunk's own, ``metadata`` its document's; filters see both.
    """

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
    context: str = ""
    facts: Metadata = field(default_factory=dict)

    @property
    def is_web(self) -> bool:
        """Whether it is a page of the web. No stored chunk can be taken for one: their ids are hashes."""
        return self.id.startswith(WEB)

    @property
    def headed(self) -> str:
        """What is embedded and analysed: the text under its context."""
        return f"{self.context}\n{self.text}" if self.context else self.text


# ---------------------------------------------------------------- query
Intent = Literal[
    "troubleshooting",
    "comparison",
    "how_to",
    "example",
    "location",
    "time",
    "person",
    "quantity",
    "definition",
    "reason",
    "confirmation",
    "other",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """Something a question names, of a kind that the settings list."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAnalysis:
    """What a question is after.

    ``keywords`` are its words that tell something, lower case; ``technical`` identifiers and the like, as
    written; ``difficulty`` is empty where it shows none; ``keyword_like`` questions are no sentences.
    """

    intent: Intent = "other"
    keywords: tuple[str, ...] = ()
    technical: tuple[str, ...] = ()
    entities: tuple[Entity, ...] = ()
    wants_code: bool = False
    difficulty: str = ""
    recent: bool = False
    keyword_like: bool = False


# ---------------------------------------------------------------- index, query, rank
@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question as it was ``asked``, and its ``text`` as it was meant: diacritics and typing errors put right.

    ``language`` is its ISO 639-1 code, empty where it does not tell; ``analysis`` what it is after; ``variations``
    are other wordings that are searched for beside it.
    """

    asked: str
    text: str
    language: str = ""
    analysis: QueryAnalysis = QueryAnalysis()
    variations: tuple[str, ...] = ()

    @property
    def notices(self) -> tuple[str, ...]:
        """What the asker should know."""
        also = (() if self.text == self.asked else (self.text,)) + self.variations
        return tuple(f"searched also for: {one}" for one in also)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Matches:
    """What an index returns: chunks by their rows (n,), each once, and how well each matches (n,); best first."""

    rows: NDArray[np.int64]
    scores: NDArray[np.floating]

    def __len__(self) -> int:
        return len(self.rows)

    def reaching(self, least: float) -> Matches:
        """Those with at least this score."""
        count = int((self.scores >= least).sum())
        return Matches(rows=self.rows[:count], scores=self.scores[:count])


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
class Considered:
    """A candidate for the evidence, by its document, and what each leg gave it; None: that leg did not find it."""

    document_id: str
    vector: float | None = None
    keyword: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What retrieval hands to the answer.

    ``question`` is as it was meant; ``missing`` says, in words, what failed or had no time, ``notices`` what else the
    asker should know; ``language`` is that of the question, where it tells; ``asked`` the question as it was typed,
    where that differs. ``considered`` are all that had a chance of a place, best first as they were fused.
    """

    question: str
    hits: tuple[Hit, ...]
    method: str
    language: str = ""
    asked: str = ""
    missing: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    considered: tuple[Considered, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """How evidence came about: what each stage of the search handed on, best first.

    ``found`` is how many chunks each leg gave, ``weights`` what the legs counted; ``fused`` are the best candidates
    after fusion, ``ranked`` what boosts and the reranker made of those that had a chance of a place.
    """

    question: Question
    found: Mapping[str, int]
    weights: Mapping[str, float]
    fused: tuple[Hit, ...]
    ranked: tuple[Hit, ...]
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenVectors:
    """L2-normalised vectors of a text's tokens (tokens, dimensions), and each token's characters."""

    vectors: Vector
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenMatches:
    """A question against a text, token by token.

    ``weights`` (question tokens,) sum to 1; ``similarity`` is (question tokens, text tokens), cosines;
    ``spans`` are the characters of the text's tokens, ``asked`` those of the question's.
    """

    weights: Vector
    similarity: Vector
    spans: tuple[Span, ...]
    asked: tuple[Span, ...] = ()

    def score(self, within: Span | None = None) -> float:
        """Weighted mean, over the question's tokens, of the best cosine with a token of the text, or of a part."""
        part = [within is None or within.start <= s.start < within.end for s in self.spans]
        return float(self.weights @ self.similarity[:, part].max(axis=1)) if any(part) else 0.0
