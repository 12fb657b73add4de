"""A summary without a language model: the outline of one document, with the most telling sentence of each part.

How much a sentence tells is said by `ragstone.respond.overview.telling`; words of the heading count twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragstone.core.answers import Citation, Draft
from ragstone.core.protocols import SentenceSplitter, Weigher
from ragstone.core.records import Hit, Span
from ragstone.core.request import Request
from ragstone.respond.drafts import cite, moved, shortened, unmarked
from ragstone.respond.links import strip_links
from ragstone.respond.overview.telling import Told, can_be_quoted
from ragstone.respond.proof.by_words import Quote
from ragstone.respond.quoting.quoted_text import written
from ragstone.respond.replies import opening, plain_reply
from ragstone.respond.words import replies

MAX_PARTS = 30
"""Parts that a summary names."""
UNHEADED_PARTS, UNHEADED_LENGTH = 5, 400
"""Parts of a document with fewer than two headings, at most, and their least characters: equal shares of its text."""
MAX_TITLE = 80
"""Characters of the title above it."""
CONSIDERED = 40
"""Sentences of a part that are compared, from its beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a document, characters ``start`` to ``end`` of its text; ``level`` is 0 before the first heading."""

    title: str
    start: int
    end: int
    level: int


def parts_of(sections: Sequence[Part], length: int) -> list[Part]:
    """Return the parts to name: all headings if they are few, else those of the upper levels.

    A document with fewer than two headings has equal shares of its text as parts.

    Args:
        sections: in order and without gaps, each to the next heading.
        length: characters of the document.
    """
    headed = [one for one in sections if one.level]
    if len(headed) < 2:
        count = max(1, min(UNHEADED_PARTS, length // UNHEADED_LENGTH))
        starts = [length * number // count for number in range(count)]
        ends = [*starts[1:], length]
        return [Part(title="", start=at, end=end, level=0) for at, end in zip(starts, ends, strict=True)]
    levels = sorted({one.level for one in headed})
    fitting = [level for level in levels if 2 <= sum(one.level <= level for one in headed) <= MAX_PARTS]
    deepest = fitting[-1] if fitting else next((x for x in levels if sum(o.level <= x for o in headed) > 1), levels[0])
    kept = [one for one in headed if one.level <= deepest][:MAX_PARTS]
    ends = [*[one.start for one in headed if one.level <= deepest][1:], length]
    return [replace(one, end=end) for one, end in zip(kept, ends, strict=False)]


def outline(
    parts: Sequence[Part],
    hits: Sequence[Hit],
    *,
    title: str,
    sentences: SentenceSplitter,
    weigh: Weigher,
    request: Request,
    language: str,
) -> Draft:
    """Return the most telling sentence of each part, quoted exactly; a part without sentences has its heading quoted.

    Args:
        parts: of the document, in order.
        hits: the chunks of the document.
        title: of the document.
        sentences: splits a text.
        weigh: weighs words by how rare they are.
        request: who asks.
        language: of the lines that are not quoted.
    """
    citations, labels = list[Citation](), list[str]()
    for part in parts:
        inside = [
            Quote(hit=hit, span=span) for hit, span in _sentences(hits, part, sentences) if can_be_quoted(hit, span)
        ]
        best = Told(inside, weigh, request, part.title).best() or _heading(hits, part)
        if best is None:
            continue
        hit, span = best.hit, best.span
        citations.append(cite(len(citations) + 1, hit, span))
        is_heading = span.of(hit.chunk.text).strip() == part.title
        labels.append("" if is_heading else part.title)
    if not citations and hits:
        citations, labels = [cite(1, hits[0], opening(hits[0]))], [""]
    text, statements = written(citations, labels, (), apart=True)
    lead = replies(language).outline.format(title=shortened(unmarked(strip_links(title)), MAX_TITLE)) + "\n"
    shown = tuple(moved(one, len(lead)) for one in statements)
    return replace(plain_reply(lead + text), citations=tuple(citations), statements=shown)


def _sentences(hits: Sequence[Hit], part: Part, split: SentenceSplitter) -> list[tuple[Hit, Span]]:
    """Return the sentences of a part with the chunk each lies in, those of overlapping chunks once."""
    found: dict[int, tuple[Hit, Span]] = {}
    for hit in hits:
        chunk = hit.chunk
        if chunk.end <= part.start or chunk.start >= part.end or len(found) >= CONSIDERED:
            continue
        for span in split(chunk.text):
            at = chunk.start + span.start
            if part.start <= at < part.end:
                found.setdefault(at, (hit, span))
    return [found[at] for at in sorted(found)][:CONSIDERED]


def _heading(hits: Sequence[Hit], part: Part) -> Quote | None:
    """Return the words of a heading where they stand; None if they are not in a chunk."""
    for hit in hits:
        chunk = hit.chunk
        if chunk.start <= part.start < chunk.end and part.title:
            at = chunk.text.find(part.title, part.start - chunk.start)
            if at >= 0:
                return Quote(hit=hit, span=Span(start=at, end=at + len(part.title)))
    return None
