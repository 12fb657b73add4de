"""The sentences of the best chunks, each with how well it matches the question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ragstone.core.protocols import SentenceSplitter, TokenMatcher
from ragstone.core.records import Chunk, Evidence, Hit, Span, TokenMatches
from ragstone.core.request import Request
from ragstone.core.table import table_of
from ragstone.respond.passage_structure import is_caption

PASSAGES = 3
"""Best chunks that are read sentence by sentence."""

_MARKUP = ("", "|", "`", "~", "<")
_BULLET = re.compile(r"(?:[-*+>:]|#{1,6}|\d{1,2}[.)]|\[\d{1,3}\])\s+")
_EDGE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of the hit at this place among the hits.

    ``number`` counts the sentences of the hit; ``own`` is the similarity to the question.
    """

    hit: Hit
    place: int
    number: int
    span: Span
    own: float

    @property
    def text(self) -> str:
        return self.span.of(self.hit.chunk.text)


async def read(evidence: Evidence, matcher: TokenMatcher, split: SentenceSplitter, request: Request) -> list[Sentence]:
    """Return the sentences of the best chunks, and of web pages, with their scores; tables have cells instead."""
    prose = [hit for hit in evidence.hits if table_of(hit.chunk) is None]
    best, more = prose[:PASSAGES], prose[PASSAGES:]
    hits = (*best, *(hit for hit in more if hit.chunk.is_web))
    matches = await matcher.match(evidence.question, [hit.chunk.headed for hit in hits], request)
    return [
        sentence
        for place, (hit, match) in enumerate(zip(hits, matches, strict=True))
        for sentence in _scored(hit, match, place, split)
    ]


def _scored(hit: Hit, match: TokenMatches, place: int, split: SentenceSplitter) -> list[Sentence]:
    """Return the sentences of a chunk with their scores; spans refer to the chunk's text."""
    offset = len(hit.chunk.headed) - len(hit.chunk.text)
    scored: list[Sentence] = []
    for number, span in enumerate(_quotable(split(hit.chunk.text), hit.chunk)):
        own = match.score(Span(start=span.start + offset, end=span.end + offset))
        scored.append(Sentence(hit=hit, place=place, number=number, span=span, own=own))
    return scored


def _quotable(spans: Sequence[Span], chunk: Chunk) -> list[Span]:
    """Return the sentences that can be quoted: complete, without markup in front, no captions, tables or code."""
    said = [span for span in spans if not is_caption(chunk.text, span)]
    kept = [span for span in map(partial(_bare, chunk.text), said) if span.of(chunk.text)[:1] not in _MARKUP]
    # The edges of a chunk may cut its first and last sentence.
    if chunk.index > 0 and kept and kept[0].start <= _EDGE and kept[0].of(chunk.text)[:1].islower():
        kept = kept[1:]
    if chunk.index < chunk.total - 1 and kept and kept[-1].of(chunk.text)[-1:].isalnum():
        kept = kept[:-1]
    return kept or said


def _bare(text: str, span: Span) -> Span:
    """Drop the bullet, quote, heading or footnote mark at the start of a sentence."""
    mark = _BULLET.match(text, span.start, span.end)
    return Span(start=mark.end(), end=span.end) if mark and mark.end() < span.end else span
