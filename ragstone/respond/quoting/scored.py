"""The sentences of the best chunks, each with how well it matches the question, and what a trained model says of it.

The model reads English only, so questions and passages in other languages have their words compared alone.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from ragstone.core.frozen import frozen
from ragstone.core.headings import question_above
from ragstone.core.line_marks import BULLETS, HASHES
from ragstone.core.protocols import PassageReader, SentenceSplitter, TokenMatcher
from ragstone.core.readings import Reading
from ragstone.core.record import prose_start
from ragstone.core.records import Chunk, Evidence, Hit, Span, TokenMatches
from ragstone.core.request import Request
from ragstone.core.table import table_of
from ragstone.language import language_of, plain
from ragstone.language.facts import Word
from ragstone.language.words import written_in
from ragstone.respond.passage_structure import is_caption, is_only_heading
from ragstone.respond.reader import readings

PASSAGES = 5
"""Best chunks that are read sentence by sentence."""

_MARKUP = re.compile(r"$|[|~<]|`(?![^`\s][^`\n]*`)")
"""What sentences that can be quoted do not begin with; inline code may be their first word."""
_BULLET = re.compile(rf"(?:[{BULLETS}>:]|{HASHES}|\d{{1,2}}[.)]|\[\d{{1,3}}\])\s+")
_EDGE = 3


@frozen
class Told:
    """What the reader says of a sentence, as log odds.

    ``answers``: its passage answers; ``evidence``: it is part of the evidence; ``short``: it holds a short answer.
    """

    answers: float
    evidence: float
    short: float


@frozen
class Sentence:
    """A sentence of the hit at this place among the hits.

    ``number`` counts the sentences of the hit; ``own`` is the similarity to the question, below a heading that is a
    question at least the mean with that of the heading; ``told`` is None if no model has read the passages. ``near`` is
    the similarity of each word of the question to the most similar word of the passage or of its headings.
    """

    hit: Hit
    place: int
    number: int
    span: Span
    own: float
    told: Told | None = None
    near: tuple[float, ...] = ()

    @property
    def text(self) -> str:
        return self.span.of(self.hit.chunk.text)


async def read(
    evidence: Evidence,
    matcher: TokenMatcher,
    split: SentenceSplitter,
    request: Request,
    reader: PassageReader | None = None,
) -> list[Sentence]:
    """Return the sentences of the best chunks, and of web pages, with their scores; tables have cells instead."""
    prose = [hit for hit in evidence.hits if _has_prose(hit.chunk)]
    best, more = prose[:PASSAGES], prose[PASSAGES:]
    hits = (*best, *(hit for hit in more if hit.chunk.is_outside))
    question, texts = evidence.question.text, [hit.chunk.headed for hit in hits]
    matches, told = await asyncio.gather(
        matcher.match(question, texts, request), readings(reader, question, texts, request)
    )
    return [
        sentence
        for place, (hit, match, reading) in enumerate(zip(hits, matches, told, strict=True))
        for sentence in _scored(hit, match, reading, place, split, _near(evidence.question.words, match))
    ]


def _near(asked: Sequence[Word], match: TokenMatches) -> tuple[float, ...]:
    """Return the similarity of each word of a question to the most similar token of a text, 0 for none."""
    best = match.similarity.max(axis=1) if match.spans else ()
    return tuple(
        max((float(of) for one, of in zip(match.asked, best, strict=False) if one.overlaps(word.span)), default=0.0)
        for word in asked
    )


def _has_prose(chunk: Chunk) -> bool:
    table = table_of(chunk)
    return bool(table.prose) if table else not is_only_heading(chunk.text)


def _sentences(chunk: Chunk, split: SentenceSplitter) -> list[Span]:
    """Return the sentences of a chunk: in a table, those of the text across it."""
    table = table_of(chunk)
    if table is None:
        return list(split(chunk.text))
    return [
        Span(start=line.start + one.start, end=line.start + one.end)
        for line in table.prose
        for one in split(line.of(chunk.text))
    ]


def _scored(
    hit: Hit,
    match: TokenMatches,
    reading: Reading | None,
    place: int,
    split: SentenceSplitter,
    near: tuple[float, ...],
) -> list[Sentence]:
    """Return the sentences of a chunk with their scores; spans refer to the chunk's text."""
    offset = len(hit.chunk.headed) - len(hit.chunk.text)
    above = question_above(hit.chunk)
    asked = match.score(above) if above else None
    scored: list[Sentence] = []
    for number, span in enumerate(_quotable(_sentences(hit.chunk, split), hit.chunk)):
        within = Span(start=span.start + offset, end=span.end + offset)
        judgement = None
        if reading:
            likely, short = reading.of(within)
            judgement = Told(answers=reading.answers, evidence=likely, short=short)
        own = match.score(within)
        if asked is not None:  # what answers the question of its heading need not repeat it
            own = max(own, (own + asked) / 2)
        scored.append(Sentence(hit=hit, place=place, number=number, span=span, own=own, told=judgement, near=near))
    return scored


def _quotable(spans: Sequence[Span], chunk: Chunk) -> list[Span]:
    """Return the sentences that can be quoted: complete, without markup in front, no captions, tables or code.

    Of an article that is the row of a table, they are those of its text, and not its other fields.
    """
    begin = prose_start(chunk)
    spans = [replace(span, start=max(span.start, begin)) for span in spans if span.end > begin]
    sentences = [span for span in spans if not is_caption(chunk.text, span)]
    kept = [span for span in map(partial(_bare, chunk.text), sentences) if not _MARKUP.match(span.of(chunk.text))]
    # The edges of a chunk may cut its first and last sentence.
    if chunk.index > 0 and kept and kept[0].start <= _EDGE and kept[0].of(chunk.text)[:1].islower():
        kept = kept[1:]
    if chunk.index < chunk.total - 1 and kept and kept[-1].of(chunk.text)[-1:].isalnum():
        kept = kept[:-1]
    return kept or sentences


def _bare(text: str, span: Span) -> Span:
    """Drop the bullet, quote, heading or footnote mark at the start of a sentence."""
    mark = _BULLET.match(text, span.start, span.end)
    return Span(start=mark.end(), end=span.end) if mark and mark.end() < span.end else span


# ---------------------------------------------------------------- sentences that refer to the one before

_BEGINNING = 40
"""Characters of a sentence that an opening may take."""
_EARLY = 6
"""Words of a sentence among which a pronoun without a name before it refers to the sentence before."""
_NOT_LETTER = re.compile(r"[\W\d_]+")
_READ_FOR_LANGUAGE = 600
"""Characters of a text that tell its language."""
_ARTICLES = frozenset(["the", "a", "an"])


def language_at_start(text: str) -> str:
    """Return the language of a text by its beginning, an ISO 639-1 code or empty if unsure."""
    return language_of(text[:_READ_FOR_LANGUAGE])


def refers_back(sentence: str, words: list[Word], language: str) -> bool:
    """Return whether a sentence refers to the one before.

    Args:
        sentence: its text.
        words: its words.
        language: ISO 639-1 code; English if there are no words of it.
    """
    lists = written_in(language)
    if lists.openings.match(plain(_NOT_LETTER.sub(" ", sentence[:_BEGINNING])).strip()):
        return True
    for before, word in pairwise(words[:_EARLY]):
        if before.named or before.lower in _ARTICLES:
            return False
        if word.lower in lists.pronouns:
            return before.stop  # "to her", not "Thomas said he"
    return False
