"""Answers without a language model: the sentences that answer, quoted exactly.

Every sentence of the best chunks is scored by late interaction, its tokens embedded within their paragraph so
that "it" is read in context. The best sentence is quoted, and those nearly as good, in reading order. Whether
the evidence answers at all is a probability (`ragstone.respond.answerability`); below a threshold the
answer says what was looked for, and that it was not found.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ragstone.contracts import Chunk, Citation, Draft, Evidence, Hit, Span, TokenMatches
from ragstone.protocols import SentenceSplitter, TokenMatcher
from ragstone.respond.answerability import Features, probability
from ragstone.sections import RespondSettings

_MARKUP = ("", "|", "`", "~", "<")
_BULLET = re.compile(r"(?:[-*+>]|#{1,6}|\d{1,2}[.)]|\[\d{1,3}\])\s+")
_EDGE = 3
CONTEXT = 0.5
"""How much a sentence's chunk counts beside the sentence: a short answer owes its topic to its title and neighbours."""
MARGIN = 0.06
"""A further sentence is quoted when its score is at most so much below the best."""
RANK = 0.02
"""What each place further down in the ranking costs a sentence."""
LONGEST_ECHO = 300
"""Characters of a question that a refusal repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    hit: Hit
    place: int
    span: Span
    score: float


class ExtractiveAnswerer:
    def __init__(
        self,
        settings: RespondSettings,
        *,
        matcher: TokenMatcher,
        sentences: SentenceSplitter,
        familiarity: Callable[[str], float],
    ) -> None:
        """Take the parts of other stages that it needs.

        Args:
            settings: how many passages and sentences, and when to abstain.
            matcher: late interaction between a question and texts.
            sentences: splits a text.
            familiarity: share of a question's words that the embedder knows.
        """
        self._settings, self._matcher = settings, matcher
        self._sentences, self._familiarity = sentences, familiarity

    async def answer(self, evidence: Evidence) -> Draft:
        """Quote what answers the question, or abstain."""
        hits = evidence.hits[: self._settings.passages]
        matches = await self._matcher.match(evidence.question, [hit.chunk.headed for hit in hits])
        scored = [
            sentence
            for place, (hit, match) in enumerate(zip(hits, matches, strict=True))
            for sentence in self._scored(hit, match, place)
        ]
        if not scored:
            return self._abstained(evidence, 0.0)
        best = max(sentence.score for sentence in scored)
        familiarity = self._familiarity(evidence.question)
        answerability = probability(Features(best_sentence=best, familiarity=familiarity))
        if answerability < self._settings.abstain_below:
            return self._abstained(evidence, answerability)
        # A question in the text, such as a heading, tells that the answer is near; it is none itself.
        telling = [one for one in scored if not one.span.of(one.hit.chunk.text).endswith("?")] or scored
        chosen = sorted(telling, key=lambda sentence: -sentence.score)[: self._settings.sentences]
        quoted = sorted(
            (sentence for sentence in chosen if sentence.score >= chosen[0].score - MARGIN),
            key=lambda sentence: (sentence.place, sentence.span),
        )
        citations = tuple(_citation(marker, sentence) for marker, sentence in enumerate(_distinct(quoted), start=1))
        text = " ".join(f"{' '.join(citation.quote.split())} [{citation.marker}]" for citation in citations)
        return Draft(text=text, citations=citations, answerability=answerability, abstained=False)

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

    def _abstained(self, evidence: Evidence, answerability: float) -> Draft:
        titles = dict.fromkeys(hit.chunk.title or hit.chunk.document_id for hit in evidence.hits)
        nearest = f"\nNearest to it: {'; '.join(list(titles)[:3])}" if titles else ""
        asked = evidence.question.strip()
        asked = asked if len(asked) <= LONGEST_ECHO else asked[:LONGEST_ECHO].rstrip() + " …"
        text = f"The documents do not seem to tell: {asked}{nearest}"
        return Draft(text=text, citations=(), answerability=answerability, abstained=True)


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
    """Overlapping chunks hold the same sentence twice; it is quoted once."""
    seen: set[tuple[str, int, int]] = set()
    out = []
    for sentence in sentences:
        chunk = sentence.hit.chunk
        key = (chunk.document_id, chunk.start + sentence.span.start, chunk.start + sentence.span.end)
        if key not in seen:
            seen.add(key)
            out.append(sentence)
    return out


def _citation(marker: int, sentence: _Sentence) -> Citation:
    chunk = sentence.hit.chunk
    return Citation(
        marker=marker,
        document_id=chunk.document_id,
        chunk_id=chunk.id,
        start=chunk.start + sentence.span.start,
        end=chunk.start + sentence.span.end,
        quote=sentence.span.of(chunk.text),
        title=chunk.title,
        url=chunk.url,
        section=str(chunk.facts.get("section", "")),
        page=str(chunk.facts.get("page", "")),
    )
