"""Answers without a language model: the sentences that answer, quoted exactly.

Every sentence of the best chunks is scored by late interaction, its tokens embedded within their paragraph so
that "it" is read in context. The best sentence is quoted, and those nearly as good, in reading order. Whether
the evidence answers at all is a probability (`ragstone.respond.answerability`); below a threshold the
answer says what was looked for, and that it was not found.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ragstone.core.answers import Citation, Draft, Outcome, SentenceClosed, Statement, TextWritten, Turn
from ragstone.core.protocols import SentenceSplitter, TokenMatcher, Weigher
from ragstone.core.records import Chunk, Evidence, Hit, Span, TokenMatches
from ragstone.core.request import Request
from ragstone.respond import passage_structure as structure
from ragstone.respond.answerability import Estimate, Features, match_question
from ragstone.respond.drafts import (
    MAX_PASSAGES,
    MAX_SOURCES,
    ClosestPassage,
    abstained,
    cite,
    closest_lead,
    replayed,
)
from ragstone.respond.links import strip_links, strip_links_from_code
from ragstone.settings import RespondSettings

_MARKUP = ("", "|", "`", "~", "<")
_BULLET = re.compile(r"(?:[-*+>:]|#{1,6}|\d{1,2}[.)]|\[\d{1,3}\])\s+")
_WORD = re.compile(r"\w+")
_ONE_WORD = re.compile(r"[^\W\d_]+[.!]\s+")
_EDGE = 3
_PASSAGES = 3
"""Best chunks that are read sentence by sentence."""
CONTEXT = 0.5
"""Weight of the chunk's score next to the sentence's: a short answer gets its topic from its title and neighbours."""
MARGIN = 0.06
"""A further sentence is quoted if its score is at most this much below the best."""
BEST = 2
"""Sentences searched for a number or a name, if the question asks for one."""
RANK = 0.02
"""Score that a sentence loses for each rank of its chunk."""
TITLED = 0.9
"""Least probability of an answer if a document has the question itself as its title, as an FAQ does.

All 120 such titles about an illness, in five languages, were answered from their document (95% interval: at least
97%); the estimate alone refused two. Titles that are not questions get no such minimum. Titles of articles may ask
what the article leaves open: the estimate alone refused none of 67 such abstracts.
"""

_RISK_TOO_SMALL = (
    "respond.risk is smaller than this embedder can guarantee, so no question is answered; raise it or set it to 0"
)

Known = Callable[[Sequence[str], Request], Sequence[bool]]
"""Returns for each word whether any document contains it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    """A sentence of the hit at this rank; ``code`` is the code chunk that the sentence introduces."""

    hit: Hit
    place: int
    span: Span
    score: float
    code: Hit | None = None

    @property
    def text(self) -> str:
        return self.span.of(self.hit.chunk.text)

    @property
    def is_code(self) -> bool:
        """Whether it is a complete code chunk."""
        return bool(self.hit.chunk.facts.get("is_code")) and len(self.text) == len(self.hit.chunk.text)


class ExtractiveAnswerer:
    """Quotes the sentences that answer a question, or abstains."""

    def __init__(
        self,
        settings: RespondSettings,
        *,
        matcher: TokenMatcher,
        sentences: SentenceSplitter,
        familiarity: Callable[[str], float],
        known: Known,
        weigh: Weigher,
        estimate: Estimate,
        abstain_below: float,
    ) -> None:
        """Take the parts of other stages.

        Args:
            settings: how many passages and sentences, and when to abstain.
            matcher: late interaction between a question and texts.
            sentences: splits a text.
            familiarity: returns the share of a question's words that the embedder knows.
            known: says for each word whether any document contains it.
            weigh: weighs words.
            estimate: estimates the probability of an answer; fitted to the matcher's embedder.
            abstain_below: least probability of an answer; above 1 to refuse every question.
        """
        self._settings, self._matcher, self._sentences = settings, matcher, sentences
        self._familiarity, self._known, self._weigh = familiarity, known, weigh
        self._estimate, self._abstain_below = estimate, abstain_below

    async def stream(
        self,
        evidence: Evidence,
        request: Request,
        before: Sequence[Turn] = (),  # noqa: ARG002
    ) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        """Yield quotes that answer the question, or a refusal; earlier turns have no effect."""
        draft = await self._draft(evidence, request)
        for event in replayed(draft):
            yield event
        yield draft

    async def _draft(self, evidence: Evidence, request: Request) -> Draft:
        scored = await self._read(evidence, request)
        if not scored:
            return abstained(evidence, 0.0, (), self._settings)
        answerability = self._probability(evidence, scored, request)
        scored = _under_title(evidence.question, scored) or scored
        if answerability < min(self._abstain_below, self._settings.closest_from):
            draft = abstained(evidence, answerability, _closest(scored), self._settings)
            return replace(draft, notices=(_RISK_TOO_SMALL,)) if self._abstain_below > 1 else draft
        candidates = [whole for one in scored if (whole := _whole(one, evidence.hits))] or scored
        ranked = sorted(candidates, key=lambda sentence: -sentence.score)
        outcome: Outcome = "answer" if answerability >= self._abstain_below else "closest"
        lead = closest_lead(evidence, self._settings) if outcome == "closest" else ""
        if outcome == "closest":
            by_document = {one.hit.chunk.document_id: one for one in reversed(ranked)}
            quoted = sorted(by_document.values(), key=lambda sentence: sentence.place)[:MAX_SOURCES]
        else:
            chosen = ranked[: self._settings.sentences]
            quoted = sorted(
                (sentence for sentence in chosen if sentence.score >= chosen[0].score - MARGIN),
                key=lambda sentence: (sentence.place, sentence.span),
            )
        quotes = _distinct(_with_code(quoted))
        citations = tuple(cite(marker, one.hit, one.span) for marker, one in enumerate(quotes, start=1))
        code = {marker for marker, one in enumerate(quotes, start=1) if one.is_code}
        text, statements = _written(citations, code, apart=outcome == "closest")
        return Draft(
            text=f"{lead}{text}",
            citations=citations,
            answerability=answerability,
            outcome=outcome,
            statements=tuple(_moved(one, len(lead)) for one in statements),
        )

    async def answerability(self, evidence: Evidence, request: Request) -> float:
        """Return the probability, 0 to 1, that the evidence answers its question."""
        scored = await self._read(evidence, request)
        return self._probability(evidence, scored, request) if scored else 0.0

    async def features(self, evidence: Evidence, request: Request) -> Features | None:
        """Return the input of the estimate; None if the evidence has no sentences."""
        scored = await self._read(evidence, request)
        return self._features(evidence.question, scored, request) if scored else None

    def _probability(self, evidence: Evidence, scored: Sequence[_Sentence], request: Request) -> float:
        estimate = self._estimate(self._features(evidence.question, scored, request), evidence.language)
        titles = [one.hit.chunk.title for one in _under_title(evidence.question, scored)]
        return max(estimate, TITLED) if any(map(_is_question, titles)) else estimate

    def _features(self, question: str, scored: Sequence[_Sentence], request: Request) -> Features:
        words = _WORD.findall(question)
        best = sorted(scored, key=lambda sentence: -sentence.score)[:BEST]
        match = match_question(question, best[0].hit.chunk, [one.text for one in best], self._weigh, request)
        return Features(
            best_sentence=best[0].score,
            familiarity=self._familiarity(question),
            known_words=sum(self._known(words, request)) / len(words) if words else 1.0,
            coverage=match.coverage,
            mistyped=match.mistyped,
            words=match.words,
        )

    async def _read(self, evidence: Evidence, request: Request) -> list[_Sentence]:
        """Return the sentences of the best chunks, and of web pages, with their scores."""
        best, more = evidence.hits[:_PASSAGES], evidence.hits[_PASSAGES:]
        hits = (*best, *(hit for hit in more if hit.chunk.is_web))
        matches = await self._matcher.match(evidence.question, [hit.chunk.headed for hit in hits], request)
        return [
            sentence
            for place, (hit, match) in enumerate(zip(hits, matches, strict=True))
            for sentence in self._scored(hit, match, place)
        ]

    def _scored(self, hit: Hit, match: TokenMatches, place: int) -> list[_Sentence]:
        """Return the sentences of a chunk with their scores; spans refer to the chunk's text."""
        offset = len(hit.chunk.headed) - len(hit.chunk.text)
        whole = match.score()
        scored: list[_Sentence] = []
        for span in _quotable(self._sentences(hit.chunk.text), hit.chunk):
            own = match.score(Span(start=span.start + offset, end=span.end + offset))
            score = (own + CONTEXT * whole) / (1 + CONTEXT) - RANK * place
            scored.append(_Sentence(hit=hit, place=place, span=span, score=score))
        return scored


def _under_title(question: str, scored: Sequence[_Sentence]) -> list[_Sentence]:
    """Return the sentences of documents whose title is the question itself."""
    asked = _words(question)
    return [one for one in scored if asked and _words(one.hit.chunk.title) == asked and not one.hit.chunk.is_web]


def _is_question(title: str) -> bool:
    return title.rstrip().endswith(("?", "？", "؟"))


def _closest(scored: Sequence[_Sentence]) -> tuple[ClosestPassage, ...]:
    """Return the best sentence of each document, closest documents first."""
    best: dict[str, _Sentence] = {}
    candidates = [one for one in scored if _whole(one, ())] or scored
    for one in sorted(candidates, key=lambda sentence: -sentence.score):
        best.setdefault(one.hit.chunk.document_id, one)
    return tuple(ClosestPassage(hit=one.hit, span=one.span) for one in list(best.values())[:MAX_PASSAGES])


def _whole(sentence: _Sentence, hits: Sequence[Hit]) -> _Sentence | None:
    """Extend a sentence over what it introduces, or over the code block around it; None if it cannot be an answer.

    A sentence may introduce the next chunk, if that is code and among the hits. Questions, headings, tables and
    directives are not answers.
    """
    text, span = sentence.hit.chunk.text, sentence.span
    if code := structure.code_around(text, span.start):
        return replace(sentence, span=code) if code.end - code.start <= structure.MAX_QUOTE else None
    if span.of(text).endswith("?") or structure.is_heading(text, span) or structure.is_table(text, span):
        return None
    if structure.is_directive(text, span):
        return None
    span = structure.with_introduced(text, span)
    code = None
    if span == sentence.span and structure.introduces_next_chunk(text, span):
        code = _code_after(sentence.hit.chunk, hits)
        if code is None:
            return None  # it introduces a chunk that was not found
    return replace(sentence, span=_with_yes_or_no(sentence.hit.chunk, span), code=code)


def _code_after(chunk: Chunk, hits: Sequence[Hit]) -> Hit | None:
    """Return the next chunk of the document if it is among the hits and is code short enough to quote."""
    for hit in hits:
        other = hit.chunk
        if (other.document_id, other.index) == (chunk.document_id, chunk.index + 1) and other.facts.get("is_code"):
            return hit if len(other.text) <= structure.MAX_QUOTE else None
    return None


def _with_code(sentences: Sequence[_Sentence]) -> list[_Sentence]:
    """Return the sentences, each followed by the code chunk it introduces."""
    out: list[_Sentence] = []
    for one in sentences:
        out.append(one)
        if one.code:
            span = Span(start=0, end=len(one.code.chunk.text))
            out.append(replace(one, hit=one.code, span=span, code=None))
    return out


def _with_yes_or_no(chunk: Chunk, span: Span) -> Span:
    """Include the single word before a sentence that answers the question in the title: "No. Masks do not help." """
    answers = chunk.index == 0 and _is_question(chunk.title)
    return Span(start=0, end=span.end) if answers and _ONE_WORD.fullmatch(chunk.text[: span.start]) else span


def _quotable(spans: list[Span], chunk: Chunk) -> list[Span]:
    """Return the sentences that can be quoted: complete, without leading markup, not in a table or fence."""
    kept = [span for span in map(partial(_bare, chunk.text), spans) if span.of(chunk.text)[:1] not in _MARKUP]
    # The edges of a chunk may cut its first and last sentence.
    if chunk.index > 0 and kept and kept[0].start <= _EDGE and kept[0].of(chunk.text)[:1].islower():
        kept = kept[1:]
    if chunk.index < chunk.total - 1 and kept and kept[-1].of(chunk.text)[-1:].isalnum():
        kept = kept[:-1]
    return kept or spans


def _bare(text: str, span: Span) -> Span:
    """Drop the bullet, quote, heading or footnote mark at the start of a sentence."""
    mark = _BULLET.match(text, span.start, span.end)
    return Span(start=mark.end(), end=span.end) if mark and mark.end() < span.end else span


def _distinct(sentences: list[_Sentence]) -> list[_Sentence]:
    """Drop sentences that a longer quote contains, because chunks overlap and documents repeat each other."""
    longest_first = sorted(sentences, key=lambda one: one.span.start - one.span.end)
    kept: list[_Sentence] = []
    for sentence in longest_first:
        if not any(_is_inside(sentence, one) for one in kept):
            kept.append(sentence)
    return [one for one in sentences if one in kept]


def _is_inside(sentence: _Sentence, other: _Sentence) -> bool:
    """Return whether another sentence covers the same characters, or contains the same words."""
    (start, end), (first, last) = _place(sentence), _place(other)
    if sentence.hit.chunk.document_id == other.hit.chunk.document_id and first <= start and end <= last:
        return True
    own = _words(sentence.text)
    return bool(own) and f" {own} " in f" {_words(other.text)} "


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _place(sentence: _Sentence) -> tuple[int, int]:
    """Return the start and end of a sentence in its document."""
    offset = sentence.hit.chunk.start
    return offset + sentence.span.start, offset + sentence.span.end


def _written(
    citations: Sequence[Citation], code: set[int], *, apart: bool = False
) -> tuple[str, tuple[Statement, ...]]:
    """Join the quotes, without links, into the text of an answer; each is a statement supported by itself.

    Args:
        citations: the quotes.
        code: markers of the quotes that are code without a fence.
        apart: whether each quote begins a line.
    """
    text, statements = "", list[Statement]()
    for citation in citations:
        is_code = citation.marker in code
        words = _readable(citation.quote, has_lines=is_code or structure.has_lines(citation.quote))
        own_line = apart or "\n" in words or "\n" in text or is_code
        text += ("\n" if own_line else " ") if text else ""
        start = len(text)
        text += words + ("\n" if is_code or structure.ends_in_code(words) else " ") + f"[{citation.marker}]"
        statements.append(
            Statement(start=start, end=len(text), support=1.0, supported=True, markers=(citation.marker,))
        )
    return text, tuple(statements)


def _moved(statement: Statement, by: int) -> Statement:
    return replace(statement, start=statement.start + by, end=statement.end + by)


def _readable(quote: str, *, has_lines: bool) -> str:
    """Return a quote as an answer shows it: without links, and on one line unless it is a list or code."""
    if not has_lines:
        return " ".join(strip_links(quote).split())
    lines = strip_links_from_code(strip_links(quote)).splitlines()
    return "\n".join(line.rstrip() for line in lines if line.strip())
