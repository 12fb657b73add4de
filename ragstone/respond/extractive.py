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

from ragstone.answers import Citation, Draft, SentenceClosed, Statement, TextWritten, Turn
from ragstone.contracts import Chunk, Evidence, Hit, Span, TokenMatches
from ragstone.protocols import SentenceSplitter, TokenMatcher, Weigher
from ragstone.respond import blocks
from ragstone.respond.abstention import Nearest, abstained
from ragstone.respond.answerability import Estimate, Features
from ragstone.respond.asked import fit
from ragstone.respond.cite import cite
from ragstone.respond.replay import replayed
from ragstone.respond.unlinked import unlinked, unlinked_code
from ragstone.sections import RespondSettings

_MARKUP = ("", "|", "`", "~", "<")
_BULLET = re.compile(r"(?:[-*+>:]|#{1,6}|\d{1,2}[.)]|\[\d{1,3}\])\s+")
_WORD = re.compile(r"\w+")
_ONE_WORD = re.compile(r"[^\W\d_]+[.!]\s+")
_EDGE = 3
CONTEXT = 0.5
"""How much a sentence's chunk counts beside the sentence: a short answer owes its topic to its title and neighbours."""
MARGIN = 0.06
"""A further sentence is quoted when its score is at most so much below the best."""
BEST = 2
"""Sentences in which a number or a name is looked for, where the question asks for one."""
SHOWN = 3
"""Passages that a refusal names, each with its nearest sentence."""
RANK = 0.02
"""What each place further down in the ranking costs a sentence."""
TITLED = 0.9
"""The least probability of an answer where a document has the very question for its title, as in lists of questions.

Of 120 such titles on an illness, in five languages, all were answered from their document (95% interval: 97% or more);
by the estimate alone two were refused. Titles that are no questions, such as names of things, get no such help. Titles
of articles may ask what the article leaves open: of 67 such abstracts the estimate alone refused none.
"""

_UNPROMISED = "so small a risk (respond.risk) cannot be promised with this embedder, so nothing is answered"

Known = Callable[[Sequence[str]], Sequence[bool]]
"""For each of some words, whether any document has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    """A sentence of a hit, which is at this place of the ranking; ``code`` is the chunk of code that it leads to."""

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
        """Whether it is a whole chunk of code."""
        return bool(self.hit.chunk.facts.get("is_code")) and len(self.text) == len(self.hit.chunk.text)


class ExtractiveAnswerer:
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
        """Take the parts of other stages that it needs.

        Args:
            settings: how many passages and sentences, and when to abstain.
            matcher: late interaction between a question and texts.
            sentences: splits a text.
            familiarity: share of a question's words that the embedder knows.
            known: whether any document has a word.
            weigh: how much each word tells.
            estimate: of the probability that the evidence answers, fitted to the matcher's embedder.
            abstain_below: of that probability; above 1 where nothing may be answered.
        """
        self._settings, self._matcher, self._sentences = settings, matcher, sentences
        self._familiarity, self._known, self._weigh = familiarity, known, weigh
        self._estimate, self._abstain_below = estimate, abstain_below

    async def stream(
        self,
        evidence: Evidence,
        before: Sequence[Turn] = (),  # noqa: ARG002
    ) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        """Quote what answers the question, or abstain; what was said before changes no quote."""
        draft = await self._draft(evidence)
        for event in replayed(draft):
            yield event
        yield draft

    async def _draft(self, evidence: Evidence) -> Draft:
        scored = await self._read(evidence)
        if not scored:
            return abstained(evidence, 0.0, (), self._settings)
        answerability = self._probability(evidence.question, scored)
        scored = _under_title(evidence.question, scored) or scored
        if answerability < self._abstain_below:
            draft = abstained(evidence, answerability, _nearest(scored), self._settings)
            return replace(draft, notices=(_UNPROMISED,)) if self._abstain_below > 1 else draft
        telling = [whole for one in scored if (whole := _whole(one, evidence.hits))] or scored
        chosen = sorted(telling, key=lambda sentence: -sentence.score)[: self._settings.sentences]
        quoted = sorted(
            (sentence for sentence in chosen if sentence.score >= chosen[0].score - MARGIN),
            key=lambda sentence: (sentence.place, sentence.span),
        )
        quotes = _distinct(_with_code(quoted))
        citations = tuple(cite(marker, one.hit, one.span) for marker, one in enumerate(quotes, start=1))
        code = {marker for marker, one in enumerate(quotes, start=1) if one.is_code}
        text, statements = _written(citations, code)
        return Draft(
            text=text, citations=citations, answerability=answerability, abstained=False, statements=statements
        )

    async def answerability(self, evidence: Evidence) -> float:
        """The probability, 0 to 1, that the evidence answers its question."""
        scored = await self._read(evidence)
        return self._probability(evidence.question, scored) if scored else 0.0

    async def features(self, evidence: Evidence) -> Features | None:
        """What the probability of an answer rests on; None where there is nothing to read."""
        scored = await self._read(evidence)
        return self._features(evidence.question, scored) if scored else None

    def _probability(self, question: str, scored: Sequence[_Sentence]) -> float:
        estimate = self._estimate(self._features(question, scored))
        titles = [one.hit.chunk.title for one in _under_title(question, scored)]
        return max(estimate, TITLED) if any(map(_asks, titles)) else estimate

    def _features(self, question: str, scored: Sequence[_Sentence]) -> Features:
        words = _WORD.findall(question)
        best = sorted(scored, key=lambda sentence: -sentence.score)[:BEST]
        fits = fit(question, best[0].hit.chunk, [one.text for one in best], self._weigh)
        return Features(
            best_sentence=best[0].score,
            familiarity=self._familiarity(question),
            known_words=sum(self._known(words)) / len(words) if words else 1.0,
            coverage=fits.coverage,
            mistyped=fits.mistyped,
            words=fits.words,
        )

    async def _read(self, evidence: Evidence) -> list[_Sentence]:
        """The sentences of the best chunks, and of pages of the web, with their scores."""
        best, more = evidence.hits[: self._settings.passages], evidence.hits[self._settings.passages :]
        hits = (*best, *(hit for hit in more if hit.chunk.is_web))
        matches = await self._matcher.match(evidence.question, [hit.chunk.headed for hit in hits])
        return [
            sentence
            for place, (hit, match) in enumerate(zip(hits, matches, strict=True))
            for sentence in self._scored(hit, match, place)
        ]

    def _scored(self, hit: Hit, match: TokenMatches, place: int) -> list[_Sentence]:
        """The sentences of a chunk with their scores; spans are within the chunk's text."""
        offset = len(hit.chunk.headed) - len(hit.chunk.text)
        whole = match.score()
        scored = []
        for span in _quotable(self._sentences(hit.chunk.text), hit.chunk):
            own = match.score(Span(start=span.start + offset, end=span.end + offset))
            score = (own + CONTEXT * whole) / (1 + CONTEXT) - RANK * place
            scored.append(_Sentence(hit=hit, place=place, span=span, score=score))
        return scored


def _under_title(question: str, scored: Sequence[_Sentence]) -> list[_Sentence]:
    """The sentences of documents whose title is the question itself."""
    asked = _words(question)
    return [one for one in scored if asked and _words(one.hit.chunk.title) == asked and not one.hit.chunk.is_web]


def _asks(title: str) -> bool:
    return title.rstrip().endswith(("?", "？", "؟"))


def _nearest(scored: Sequence[_Sentence]) -> tuple[Nearest, ...]:
    """The best sentence of each document, the nearest documents first."""
    best: dict[str, _Sentence] = {}
    telling = [one for one in scored if _whole(one, ())] or scored
    for one in sorted(telling, key=lambda sentence: -sentence.score):
        best.setdefault(one.hit.chunk.document_id, one)
    return tuple(Nearest(hit=one.hit, span=one.span) for one in list(best.values())[:SHOWN])


def _whole(sentence: _Sentence, hits: Sequence[Hit]) -> _Sentence | None:
    """A sentence with what it leads to, or the code it stands in; nothing where it is none that answers.

    What it leads to may be a chunk of code by itself, if that is among the hits.

    A question in the text, or a heading, tells that the answer is near; it is none itself.
    """
    text, span = sentence.hit.chunk.text, sentence.span
    if code := blocks.code_around(text, span.start):
        return replace(sentence, span=code) if code.end - code.start <= blocks.LONGEST else None
    if span.of(text).endswith("?") or blocks.is_heading(text, span) or blocks.is_table(text, span):
        return None
    if blocks.is_directive(text, span):
        return None
    span = blocks.led_to(text, span)
    code = None
    if span == sentence.span and blocks.leads_out(text, span) and not (code := _code_after(sentence.hit.chunk, hits)):
        return None  # what it leads to is in a chunk that is not at hand
    return replace(sentence, span=_with_yes_or_no(sentence.hit.chunk, span), code=code)


def _code_after(chunk: Chunk, hits: Sequence[Hit]) -> Hit | None:
    """The next chunk of the document, if it is among the hits, and code that is short enough to be quoted."""
    for hit in hits:
        other = hit.chunk
        if (other.document_id, other.index) == (chunk.document_id, chunk.index + 1) and other.facts.get("is_code"):
            return hit if len(other.text) <= blocks.LONGEST else None
    return None


def _with_code(sentences: Sequence[_Sentence]) -> list[_Sentence]:
    """The sentences, each with the chunk of code right behind it that it leads to."""
    out: list[_Sentence] = []
    for one in sentences:
        out.append(one)
        if one.code:
            span = Span(start=0, end=len(one.code.chunk.text))
            out.append(replace(one, hit=one.code, span=span, code=None))
    return out


def _with_yes_or_no(chunk: Chunk, span: Span) -> Span:
    """A sentence with the one word before it that answers the question in the title: "No. Masks do not help." """
    answers = chunk.index == 0 and _asks(chunk.title)
    return Span(start=0, end=span.end) if answers and _ONE_WORD.fullmatch(chunk.text[: span.start]) else span


def _quotable(spans: list[Span], chunk: Chunk) -> list[Span]:
    """The sentences that read as one: whole, without the markup before them, and neither table nor fence."""
    kept = [span for span in map(partial(_bare, chunk.text), spans) if span.of(chunk.text)[:1] not in _MARKUP]
    # The chunk's edges may cut a sentence: one that began before it, or that ends after it.
    if chunk.index > 0 and kept and kept[0].start <= _EDGE and kept[0].of(chunk.text)[:1].islower():
        kept = kept[1:]
    if chunk.index < chunk.total - 1 and kept and kept[-1].of(chunk.text)[-1:].isalnum():
        kept = kept[:-1]
    return kept or spans


def _bare(text: str, span: Span) -> Span:
    """A sentence without the bullet, quote, heading or footnote mark that it begins with."""
    mark = _BULLET.match(text, span.start, span.end)
    return Span(start=mark.end(), end=span.end) if mark and mark.end() < span.end else span


def _distinct(sentences: list[_Sentence]) -> list[_Sentence]:
    """What a longer quote says is left out: overlapping chunks hold a sentence twice, a list its items, and documents
    repeat each other.
    """
    longest_first = sorted(sentences, key=lambda one: one.span.start - one.span.end)
    kept: list[_Sentence] = []
    for sentence in longest_first:
        if not any(_is_inside(sentence, one) for one in kept):
            kept.append(sentence)
    return [one for one in sentences if one in kept]


def _is_inside(sentence: _Sentence, other: _Sentence) -> bool:
    """Whether another sentence has these characters of the document, or these words."""
    (start, end), (first, last) = _place(sentence), _place(other)
    if sentence.hit.chunk.document_id == other.hit.chunk.document_id and first <= start and end <= last:
        return True
    said = _words(sentence.text)
    return bool(said) and f" {said} " in f" {_words(other.text)} "


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _place(sentence: _Sentence) -> tuple[int, int]:
    """Where a sentence stands in its document."""
    offset = sentence.hit.chunk.start
    return offset + sentence.span.start, offset + sentence.span.end


def _written(citations: Sequence[Citation], code: set[int]) -> tuple[str, tuple[Statement, ...]]:
    """The quotes one after the other without their links, each a statement that its own words prove.

    Args:
        citations: the quotes.
        code: the markers of those that are code without a fence.
    """
    text, statements = "", []
    for citation in citations:
        is_code = citation.marker in code
        words = _readable(citation.quote, has_lines=is_code or blocks.has_lines(citation.quote))
        apart = "\n" in words or "\n" in text or is_code
        text += ("\n" if apart else " ") if text else ""
        start = len(text)
        text += words + ("\n" if is_code or blocks.ends_in_code(words) else " ") + f"[{citation.marker}]"
        statements.append(
            Statement(start=start, end=len(text), support=1.0, supported=True, markers=(citation.marker,))
        )
    return text, tuple(statements)


def _readable(quote: str, *, has_lines: bool) -> str:
    """A quote as it stands in an answer: without links, on one line, but for lists and code."""
    if not has_lines:
        return " ".join(unlinked(quote).split())
    lines = unlinked_code(unlinked(quote)).splitlines()
    return "\n".join(line.rstrip() for line in lines if line.strip())
