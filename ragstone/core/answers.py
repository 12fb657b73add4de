"""The records of answering: messages of language models, the parts of an answer, and the events of a stream.

Like those in `records`, they are frozen, slotted and keyword-only.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import asdict
from typing import Any, Literal, TypeVar

from ragstone.core.errors import ResponseError
from ragstone.core.frozen import frozen
from ragstone.core.kinds import Kind
from ragstone.core.records import TOOL, Evidence, Hit, SourceType
from ragstone.core.search_step import SearchStep
from ragstone.core.shown import shown, shown_html

E = TypeVar("E")
EXTRACTIVE = "extractive"
"""The model of answers that quote the documents: none."""


# ---------------------------------------------------------------- language models
@frozen
class Message:
    """One turn of a conversation with a `ChatModel`.

    ``mark`` is the random text that encloses quotations in this conversation, if there is one. ``pictures`` are JPEG
    images, which only the last message may have, and only that to a vision model.
    """

    role: Literal["system", "user", "assistant"]
    content: str
    mark: str = ""
    pictures: tuple[bytes, ...] = ()


@frozen
class Reply:
    """The complete reply of a model, with its token counts.

    ``reasoning`` is what the model thought before it answered; it is no part of ``text``. ``cut`` says that the reply
    reached the length limit; ``estimated`` says that the server gave no counts.
    """

    text: str
    reasoning: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cut: bool = False
    estimated: bool = False


Piece = str | Reply
"""An item of a model's stream: text as it arrives, and finally the complete reply."""


# ---------------------------------------------------------------- respond
@frozen(repr=False)
class Citation:
    """The exact text that supports a sentence of the answer: ``quote`` is ``document.text[start:end]``.

    ``section`` and ``page`` locate the quote, if the document has headings or pages. ``described_by`` names the model
    that wrote the words as the description of a picture; it is empty for the words of the original. ``head`` has the
    headings above the row of a table that the quote is, with bars between them.

    >>> from ragstone import Ragstone
    >>> with Ragstone("kb") as kb:
    ...     report = kb.add("docs/")
    ...     answer = kb.ask("When was the pump in hall three built?")
    >>> answer.citations[0].quote
    'The pump in hall three runs at 4 bar. It was built in 1987.'
    """

    __repr__ = shown
    _repr_html_ = shown_html

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
    described_by: str = ""
    head: str = ""

    @property
    def origin(self) -> str:
        """Whose words the quote has, if they do not stand in the original; empty if they do."""
        if self.chunk_id.startswith(TOOL):
            return "the result of a tool"
        return f"a description of a picture by {self.described_by}" if self.described_by else ""

    @property
    def where(self) -> str:
        """The address of the document, or its id; empty for the result of a tool without an address."""
        return self.url or ("" if self.chunk_id.startswith(TOOL) else self.document_id)


@frozen
class Source:
    """What is behind an answer, with the best score of its chunks: a document, a web page, or the result of a tool.

    None stands for what is unknown.
    """

    type: SourceType
    title: str | None
    author: str | None
    url: str | None
    document_id: str
    relevance_score: float
    sentiment: str | float | None = None


@frozen
class Usage:
    """The cost of a question. Each model counts its own tokens.

    ``cached`` names the steps that were served from the cache: ``search``, ``response``, ``answer``.
    ``embedding_calls`` and ``embedding_tokens`` count only embedding services; local embedders are free. ``cost`` is
    in the currency of the price list; None if a price is unknown.
    """

    embedded_texts: int = 0
    embedding_calls: int = 0
    embedding_tokens: int = 0
    cached: tuple[str, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model_calls: int = 0
    cost: float | None = 0.0


State = Literal["supported", "unchecked", "missing", "contradicted"]
"""The state of a written sentence: the evidence supports it, nothing is sure, the evidence lacks it, or denies it."""
FLAGGED: frozenset[State] = frozenset({"missing", "contradicted"})
"""The states of sentences that are marked or left out."""
_STATES_TOLD: Mapping[State, str] = {
    "contradicted": "contradicted by the documents",
    "missing": "not found in the documents",
}


@frozen
class Statement:
    """A sentence of an answer, characters ``start`` to ``end`` of its text, and its state.

    ``markers`` are the markers of its citations; ``support`` is the probability, 0 to 1, that these entail it.
    ``reason`` says what is wrong with a contradicted one, and what of a missing one stands nowhere. The defaults are
    those of a quote.
    """

    start: int
    end: int
    state: State = "supported"
    support: float = 1.0
    markers: tuple[int, ...] = ()
    reason: str = ""


@frozen
class Sent:
    """A call of a service outside this process: its kind, its address, and what it was sent."""

    kind: str
    address: str
    what: str


Outcome = Literal["answer", "closest", "refusal", "reply", "clarification"]
"""The outcome of a question: an answer, passages that may hold it and are labelled as such, or neither.

A ``reply`` needs no search and has no estimated probability: a courtesy, a list from the catalog, or an outline of one
document. A ``clarification`` asks the user back.
"""
ABSTAINED: frozenset[Outcome] = frozenset({"closest", "refusal", "clarification"})
"""The outcomes that claim no answer."""


@frozen
class Draft:
    """The result of an answerer: the text with its markers, and the state of each sentence.

    ``answerability`` is the estimated probability, 0 to 1, that the evidence answers; None if a language model read it
    and answered. ``support`` is the share of claims that citations support. ``rightness`` is the estimated
    probability that a written answer is right; None for quotes, which are right if the evidence answers. ``model``
    names the author; ``notices`` inform the asker; ``degraded`` says that a failure forced a simpler answer than
    requested; ``failed`` that the language model failed, and that the first paragraph says so.
    """

    text: str
    citations: tuple[Citation, ...]
    answerability: float | None
    outcome: Outcome = "answer"
    statements: tuple[Statement, ...] = ()
    support: float = 1.0
    rightness: float | None = None
    model: str = EXTRACTIVE
    degraded: bool = False
    failed: bool = False
    notices: tuple[str, ...] = ()

    @property
    def abstained(self) -> bool:
        """Whether it does not claim to answer."""
        return self.outcome in ABSTAINED

    @property
    def sure(self) -> float:
        """The probability, without a judge, that it is right."""
        return sure(self.answerability, self.support, self.rightness)


def sure(answerability: float | None, support: float, rightness: float | None) -> float:
    """Return the probability, without a judge, that an answer is right; the arguments are those of a `Draft`."""
    return (answerability or 0.0) * support if rightness is None else rightness


@frozen
class Turn:
    """A question of a conversation, and its answer."""

    question: str
    answer: str


@frozen
class JudgeScores:
    """A judge's scores, 0 to 10 each. ``judge`` names the model, or the heuristic used without one."""

    relevance: float
    factuality: float
    completeness: float
    feedback: str = ""
    judge: str = ""


@frozen
class Adequacy:
    """A judge's rating of the evidence before answering: ``confidence`` is 0 to 10; 7 and above suffices."""

    confidence: float
    reasoning: str
    needs_web_search: bool
    judge: str = ""


@frozen(repr=False)
class Answer:
    """An answer and everything needed to check it; ``hits`` are its evidence.

    Four separate measures: ``answerability`` is the probability, before answering, that the evidence answers, None if
    it was not estimated, because a model read the evidence and answered; ``support`` is the share of claims that
    citations support; ``judge_scores`` are a judge's; ``confidence`` is the confidence of the final answer, from its
    ``rightness`` and these scores. A reply has no estimate; its probabilities are 0. ``policy`` is the version of the
    learned policy; 0 means the settings alone. ``kind`` is the kind of the question. ``steps`` are the searches after
    the first one. ``sent`` are the calls of services, in order. ``failed`` says that the language model failed, and
    that the first paragraph of the ``answer`` says so. ``is_private`` says that files are or were attached to its
    conversation: it may repeat words that only their person may read.

    >>> from ragstone import Ragstone
    >>> with Ragstone("kb") as kb:
    ...     report = kb.add("docs/")
    ...     answer = kb.ask("When was the pump in hall three built?")
    >>> answer.outcome, answer.sources[0].title
    ('answer', 'Pump')
    """

    __repr__ = shown
    _repr_html_ = shown_html

    response_id: str
    question: str
    answer: str
    outcome: Outcome
    citations: tuple[Citation, ...]
    sources: tuple[Source, ...]
    confidence: float
    retrieval_method: str
    timestamp: str
    timings_ms: Mapping[str, float]
    usage: Usage
    answerability: float | None = 0.0
    support: float = 1.0
    rightness: float = 0.0
    statements: tuple[Statement, ...] = ()
    model: str = EXTRACTIVE
    judge_scores: JudgeScores | None = None
    web_search_triggered: bool = False
    notices: tuple[str, ...] = ()
    hits: tuple[Hit, ...] = ()
    policy: int = 0
    kind: Kind = "question"
    steps: tuple[SearchStep, ...] = ()
    sent: tuple[Sent, ...] = ()
    failed: bool = False
    is_private: bool = False

    @property
    def abstained(self) -> bool:
        """Whether it does not claim to answer."""
        return self.outcome in ABSTAINED

    @property
    def flags(self) -> tuple[str, ...]:
        """What is wrong with sentences marked ``[?]``, and how many they are, for readers of the bare text."""
        return tuple(told for state in _STATES_TOLD if (told := self._told(state)))

    def _told(self, state: State) -> str:
        some, every = [one for one in self.statements if one.state == state], len(self.statements)
        reasons = "; ".join(dict.fromkeys(one.reason for one in some if one.reason))
        share = f"{len(some)} of {every} {'sentence' if every == 1 else 'sentences'}"
        told = f"[?] {share} {'is' if len(some) == 1 else 'are'} {_STATES_TOLD[state]}"
        return "" if not some else f"{told}: {reasons}" if reasons else told

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as every interface returns it, ready for JSON: its fields without the evidence."""
        return {
            "response_id": self.response_id,
            "question": self.question,
            "kind": self.kind,
            "answer": self.answer,
            "outcome": self.outcome,
            "abstained": self.abstained,
            "sources": [asdict(source) for source in self.sources],
            "confidence": self.confidence,
            "answerability": self.answerability,
            "support": self.support,
            "rightness": self.rightness,
            "model": self.model,
            "failed": self.failed,
            "judge_scores": asdict(self.judge_scores) if self.judge_scores else None,
            "retrieval_method": self.retrieval_method,
            "web_search_triggered": self.web_search_triggered,
            "timestamp": self.timestamp,
            "citations": [asdict(citation) for citation in self.citations],
            "statements": [asdict(statement) for statement in self.statements],
            "timings_ms": dict(self.timings_ms),
            "usage": asdict(self.usage),
            "notices": list(self.notices),
            "policy": self.policy,
            "steps": [asdict(step) for step in self.steps],
            "sent": [asdict(one) for one in self.sent],
        }

    def __str__(self) -> str:
        return self.answer


# ---------------------------------------------------------------- streams
@frozen
class EvidenceFound:
    """The first event of a stream: the evidence for the answer.

    >>> from ragstone import Ragstone
    >>> with Ragstone("kb") as kb:
    ...     report = kb.add("docs/")
    ...     for event in kb.stream("When was the pump in hall three built?"):
    ...         if isinstance(event, EvidenceFound):
    ...             print(event.evidence.hits[0].chunk.title)
    Pump
    """

    evidence: Evidence


@frozen
class TextWritten:
    """Further text of the answer. Citation markers follow with `SentenceClosed`.

    >>> from ragstone import Ragstone
    >>> with Ragstone("kb") as kb:
    ...     report = kb.add("docs/")
    ...     for event in kb.stream("When was the pump in hall three built?"):
    ...         if isinstance(event, TextWritten):
    ...             print(event.text)
    The pump in hall three runs at 4 bar. It was built in 1987. [1]
    """

    text: str


@frozen
class SentenceClosed:
    """A complete, checked sentence and its citations.

    ``as_shown`` is the sentence as it appears in the answer, with leading white space and markers. ``state``,
    ``support`` and ``reason`` are those of its `Statement`.

    >>> from ragstone import Ragstone
    >>> with Ragstone("kb") as kb:
    ...     report = kb.add("docs/")
    ...     for event in kb.stream("When was the pump in hall three built?"):
    ...         if isinstance(event, SentenceClosed):
    ...             print(event.citations[0].quote)
    The pump in hall three runs at 4 bar. It was built in 1987.
    """

    text: str
    citations: tuple[Citation, ...]
    as_shown: str
    state: State = "supported"
    support: float = 1.0
    reason: str = ""


@frozen
class Stage:
    """A stage of a question: its name, its start in milliseconds after that of the question, and its milliseconds."""

    name: str
    start: float
    milliseconds: float


@frozen
class Answered:
    """The last event of a stream: the final answer, which replaces the streamed text, and the stages that it took.

    >>> from ragstone import Ragstone
    >>> with Ragstone("kb") as kb:
    ...     report = kb.add("docs/")
    ...     for event in kb.stream("When was the pump in hall three built?"):
    ...         if isinstance(event, Answered):
    ...             print(event.answer.outcome)
    answer
    """

    answer: Answer
    stages: tuple[Stage, ...] = ()


@frozen
class Failed:
    """A question without an answer: the error, and the milliseconds until it was raised.

    >>> from ragstone import Ragstone, RagstoneError
    >>> with Ragstone("kb") as kb:
    ...     report = kb.add("docs/")
    ...     remove = kb.subscribe(lambda outcome: print(type(outcome).__name__))
    ...     try:
    ...         kb.ask(" ")
    ...     except RagstoneError as error:
    ...         print(error)
    Failed
    the question is empty
    """

    question: str
    error: Exception
    milliseconds: float


Listener = Callable[[Answered | Failed], None]
"""Called at the end of a question."""
Event = EvidenceFound | TextWritten | SentenceClosed | Answered
"""An event of the stream of an answer, in this order. Every interface renders only these."""


async def answer_in(events: AsyncGenerator[E], heard: Callable[[E], Awaitable[None]] | None = None) -> Answer:
    """Return the answer that ends a stream, and close the stream; ``heard`` is called with each event before it.

    Raises:
        ResponseError: there is no answer.
    """
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Answered):
                return event.answer
            if heard:
                await heard(event)
    raise ResponseError("the stream ended without an answer")
