"""The vocabulary of answers: what language models exchange, what an answer is made of, and the events of a stream.

Records are frozen, slotted and keyword-only, as those of `contracts`, which stand below them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ragstone.contracts import Evidence, Hit


# ---------------------------------------------------------------- language models
@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation with a `ChatModel`."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The whole reply of a model, and what it cost, in tokens of that model.

    ``cut`` replies reached the longest length, ``estimated`` counts come from us because the server gave none.
    """

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cut: bool = False
    estimated: bool = False


Piece = str | Reply
"""What a model streams: its words as they come, then the whole reply, once."""


# ---------------------------------------------------------------- respond
@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """The exact words a sentence of the answer rests on: ``quote`` is ``document.text[start:end]``.

    ``section`` and ``page`` say where a reader finds them, where the document has headings or pages.
    """

    marker: int
    document_id: str
    chunk_id: str
    start: int
    end: int
    quote: str
    title: str = ""
    url: str = ""
    section: str = ""
    page: str = ""


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
    """What a question cost. Tokens are those of the model that counted them.

    ``cached`` names the steps that were not done again, for the same was asked before: ``search``, ``answer``.
    ``embedding_calls`` and ``embedding_tokens`` are those of an embedding service; others cost nothing.
    ``cost`` is money, in the currency of the price list; nothing where the price of a model is not known.
    """

    embedded_texts: int = 0
    embedding_calls: int = 0
    embedding_tokens: int = 0
    cached: tuple[str, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model_calls: int = 0
    cost: float | None = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A sentence of an answer, characters ``start`` to ``end`` of its text, and what proves it.

    ``markers`` are those of the citations it rests on; ``support``, 0 to 1, is how surely they say what it says.
    """

    start: int
    end: int
    support: float
    supported: bool
    markers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What an answerer returns: the text with its markers, and the proof of each sentence.

    ``answerability`` is the estimated probability, 0 to 1, that the evidence answers the question; ``support`` the
    share of the sentences that the citations prove. ``model`` wrote it;
    ``notices`` tell what the asker should know of how it was made; a ``degraded`` one is not what was asked for, since
    something failed.
    """

    text: str
    citations: tuple[Citation, ...]
    answerability: float
    abstained: bool
    statements: tuple[Statement, ...] = ()
    support: float = 1.0
    model: str = "extractive"
    degraded: bool = False
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A question of a conversation, and what was answered."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeScores:
    """A judge's marks, 0 to 10 each. ``judge`` names who gave them: a model, or the stand-in used without one."""

    relevance: float
    factuality: float
    completeness: float
    feedback: str = ""
    judge: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adequacy:
    """A judge's word, before the answer is written, on whether the evidence suffices: 0 to 10, 7 and more suffice."""

    confidence: float
    reasoning: str
    needs_web_search: bool
    judge: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer and everything needed to check it; ``hits`` are the evidence it was made from.

    Four numbers, never mixed: ``answerability`` is the probability, before answering, that the evidence answers;
    ``support`` the share of sentences proved by citations; ``judge_scores`` a judge's marks; ``confidence`` that of
    the final answer. ``policy`` is the version of what was learned that it was answered under; 0: the settings alone.
    """

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
    answerability: float = 0.0
    support: float = 1.0
    statements: tuple[Statement, ...] = ()
    model: str = "extractive"
    judge_scores: JudgeScores | None = None
    web_search_triggered: bool = False
    notices: tuple[str, ...] = ()
    hits: tuple[Hit, ...] = ()
    policy: int = 0

    def __str__(self) -> str:
        return self.answer


# ---------------------------------------------------------------- streams
@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceFound:
    """The first event of a stream: what the answer will rest on."""

    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class TextWritten:
    """More of the answer, as it is written. Markers of citations come with `SentenceClosed`."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceClosed:
    """A sentence is whole and was checked. ``text`` is the sentence; ``citations`` are those it rests on.

    ``as_shown`` is the sentence as the answer has it: with white space before it, and with markers.
    """

    text: str
    supported: bool
    support: float
    citations: tuple[Citation, ...]
    as_shown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The last event of a stream: the answer as it stands, which replaces what was written before."""

    answer: Answer


Event = EvidenceFound | TextWritten | SentenceClosed | Answered
"""What a question gives while it is answered, in this order. Every interface renders these and nothing else."""
