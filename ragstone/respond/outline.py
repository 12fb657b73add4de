"""A summary without a language model: the outline of one document, with the most telling sentence of each part.

A sentence tells much of its part if the words that are frequent there and rare elsewhere are in it (centroid-based
extraction: Radev et al. 2004, "Centroid-based summarization of multiple documents"). Words of the heading count twice,
and the first sentences of a part are preferred a little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log

from ragstone.core.answers import Citation, Draft
from ragstone.core.protocols import SentenceSplitter, Weigher
from ragstone.core.records import Hit, Span
from ragstone.core.request import Request
from ragstone.respond import passage_structure as structure
from ragstone.respond.drafts import cite, moved, shortened
from ragstone.respond.facts import words
from ragstone.respond.links import strip_links
from ragstone.respond.quoting.quoted_text import written
from ragstone.respond.replies import opening, plain_reply
from ragstone.respond.words import replies

MAX_PARTS = 30
"""Parts that a summary names."""
UNHEADED_PARTS, UNHEADED_LENGTH = 5, 400
"""Parts of a document without headings, at most, and the least characters of each: equal shares of its text."""
MAX_TITLE = 80
"""Characters of the title above it."""
LEAST_WORDS, MOST_WORDS = 5, 60
"""Words of a sentence that can be quoted."""
CONSIDERED = 40
"""Sentences of a part that are compared, from its beginning."""
EARLY = 0.15
"""How much the first sentence is preferred; the preference falls with each further one."""
HEADED = 2.0
"""How much more a word of the heading counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a document, characters ``start`` to ``end`` of its text; ``level`` is 0 before the first heading."""

    title: str
    start: int
    end: int
    level: int


def parts_of(sections: Sequence[Part], length: int) -> list[Part]:
    """Return the parts to name: all headings if they are few, else those of the upper levels.

    A document without headings has equal shares of its text as parts.

    Args:
        sections: in order and without gaps, each to the next heading.
        length: characters of the document.
    """
    headed = [one for one in sections if one.level]
    if not headed:
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
        inside = [one for one in _sentences(hits, part, sentences) if _can_be_quoted(*one)]
        best = _most_telling(inside, part, weigh, request) or _heading(hits, part)
        if best is None:
            continue
        hit, span = best
        citations.append(cite(len(citations) + 1, hit, span))
        is_heading = span.of(hit.chunk.text).strip() == part.title
        labels.append("" if is_heading else part.title)
    if not citations and hits:
        citations, labels = [cite(1, hits[0], opening(hits[0]))], [""]
    text, statements = written(citations, labels, (), apart=True)
    lead = replies(language).outline.format(title=shortened(strip_links(title), MAX_TITLE)) + "\n"
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


def _can_be_quoted(hit: Hit, span: Span) -> bool:
    text = hit.chunk.text
    count = len(span.of(text).split())
    return (
        LEAST_WORDS <= count <= MOST_WORDS
        and not hit.chunk.facts.get("is_code")
        and not structure.is_heading(text, span)
        and not structure.is_table(text, span)
        and not structure.is_directive(text, span)
        and structure.code_around(text, span.start) is None
        and not span.of(text).rstrip().endswith(("?", ":"))
    )


def _most_telling(
    inside: Sequence[tuple[Hit, Span]], part: Part, weigh: Weigher, request: Request
) -> tuple[Hit, Span] | None:
    """Return the sentence closest to the centroid of its part; None if there is none."""
    if not inside:
        return None
    said = [{word.lower for word in words(span.of(hit.chunk.text)) if not word.stop} for hit, span in inside]
    counts = Counter(stem for one in said for stem in one)
    heading = {word.lower for word in words(part.title) if not word.stop}
    names = list(counts)
    rare = dict(zip(names, weigh(names, request), strict=True))
    worth = {name: rare[name] * log(1 + counts[name]) * (HEADED if name in heading else 1) for name in names}
    norm = [sum(worth[stem] for stem in one) / (len(one) + 4) * (1 + EARLY / (1 + at)) for at, one in enumerate(said)]
    return inside[max(range(len(inside)), key=norm.__getitem__)]


def _heading(hits: Sequence[Hit], part: Part) -> tuple[Hit, Span] | None:
    """Return the words of a heading where they stand; None if they are not in a chunk."""
    for hit in hits:
        chunk = hit.chunk
        if chunk.start <= part.start < chunk.end and part.title:
            at = chunk.text.find(part.title, part.start - chunk.start)
            if at >= 0:
                return hit, Span(start=at, end=at + len(part.title))
    return None
