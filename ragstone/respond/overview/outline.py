"""A summary without a language model: the most telling sentences of each part of one document, below its headings.

How much a sentence tells is said by `ragstone.respond.overview.telling`; words of the headings count twice. Which
sections make a part is decided by `ragstone.respond.overview.parts`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ragstone.core.answers import Draft
from ragstone.core.line_marks import BULLETS
from ragstone.core.protocols import SentenceSplitter, Weigher
from ragstone.core.records import Hit, Span
from ragstone.core.request import Request
from ragstone.language import plain
from ragstone.respond.drafts import shortened
from ragstone.respond.links import strip_links
from ragstone.respond.overview.page import Group, Labelled, page
from ragstone.respond.overview.parts import Part, Section, parts_of, shares
from ragstone.respond.overview.telling import Telling, can_be_quoted, content, is_cut
from ragstone.respond.quote import Quote
from ragstone.respond.replies import opening, replies

MAX_PARTS = 20
"""Parts that a summary tells of."""
LEAST_QUOTES, QUOTE_EACH = 5, 400
"""Sentences quoted of a document with fewer parts: one for so many characters that can be quoted."""
MAX_TITLE = 80
"""Characters of the title above it."""
MAX_HEADING = 80
"""Characters of a heading."""
MOST_HEADINGS = 4
"""Headings that are named of a part."""
MOST_READ = 500_000
"""Characters that are read; of a longer document, every second chunk, or third, or so on."""
EARLY = 0.5
"""How much the first sentence of a section is preferred: what it is about is said at its beginning."""
BETWEEN = " · "
"""Stands between the headings of a part."""
_ITEM = re.compile(rf"\s*[■□○—{BULLETS}]\s+")


def outline(
    sections: Sequence[Section],
    hits: Sequence[Hit],
    *,
    title: str,
    sentences: SentenceSplitter,
    weigh: Weigher,
    request: Request,
    language: str,
) -> Draft:
    """Return the most telling sentences of each part, quoted exactly; the headings if no sentence can be quoted.

    Args:
        sections: of the document, in order and without gaps, each to the next heading.
        hits: the chunks of the document, in order.
        title: of the document.
        sentences: splits a text.
        weigh: weighs words by how rare they are.
        request: who asks.
        language: of the lines that are not quoted.
    """
    parts = parts_of(_with_quotes(sections, hits, sentences), MAX_PARTS)
    wanted = min(LEAST_QUOTES, sum(part.size for part in parts) // QUOTE_EACH)
    groups = list[Group]()
    for part, count in zip(parts, shares(parts, wanted), strict=True):
        quotes = _told(part, count, weigh, request)
        groups.append(Group(heading=_names(part, quotes), lines=tuple((Labelled(quote=one),) for one in quotes)))
    if hits and not any(group.lines for group in groups):
        shown = _headings(sections, hits) or [Quote(hit=hits[0], span=opening(hits[0]))]
        groups = [Group(heading="", lines=tuple((Labelled(quote=one),) for one in shown))]
    lead = replies(language).outline.format(title=shortened(strip_links(title), MAX_TITLE))
    return page(lead, groups)


def _with_quotes(sections: Sequence[Section], hits: Sequence[Hit], split: SentenceSplitter) -> list[Section]:
    """Return the sections with the sentences that can be quoted, each once. A section without any has its phrases."""
    starts = [one.start for one in sections]
    whole, fragments = [list[Quote]() for _ in sections], [list[Quote]() for _ in sections]
    seen, begun, end = set[str](), set[int](), 0
    step = -(-sum(len(hit.chunk.text) for hit in hits) // MOST_READ) or 1
    for hit in hits[::step]:
        chunk = hit.chunk
        for span in _items(chunk.text, split):
            at, sentence = chunk.start + span.start, " ".join(span.of(chunk.text).split())
            goes_on = at < end and at not in begun  # the chunk begins within a sentence of the one before
            begun.add(at)
            end = max(end, chunk.start + span.end)
            if goes_on or sentence in seen or not can_be_quoted(hit, span):
                continue
            seen.add(sentence)
            quote, section = Quote(hit=hit, span=span), max(bisect_right(starts, at) - 1, 0)
            if not is_cut(quote) and sentence[0] != "(":  # what is in brackets is an aside or a note
                whole[section].append(quote)
            elif _is_phrase(sentence) and sentence not in sections[section].title:
                fragments[section].append(quote)
    return [
        replace(one, quotes=tuple(own or other)) for one, own, other in zip(sections, whole, fragments, strict=True)
    ]


def _items(text: str, split: SentenceSplitter) -> Iterator[Span]:
    """Yield the sentences of a text without the marks of list items."""
    for span in split(text):
        mark = _ITEM.match(text, span.start, span.end)
        yield Span(start=mark.end() if mark else span.start, end=span.end)


def _is_phrase(text: str) -> bool:
    """Return whether words without an end are worded as prose, unlike names or cells of a table."""
    return text[0].isalnum() and len(content(text)) < len({plain(word) for word in text.split()})


def _told(part: Part, count: int, weigh: Weigher, request: Request) -> list[Quote]:
    """Return the sentence that tells most of a part; if more are wanted, those of equal shares of it."""
    quotes = part.quotes
    headed = " ".join(section.title for section in part.sections)
    early = [1 + EARLY / (1 + place) for section in part.sections for place in range(len(section.quotes))]
    telling = Telling(quotes, weigh, request, headed, early=0.0)
    worth = [value * factor for value, factor in zip(telling.worth, early, strict=True)]
    ends = [len(quotes) * at // count for at in range(count + 1)]
    return [quotes[max(range(start, end), key=worth.__getitem__)] for start, end in pairwise(ends) if start < end]


def _headings(sections: Sequence[Section], hits: Sequence[Hit]) -> list[Quote]:
    """Return the first headings where they stand in the text; those that are in no chunk are left out."""
    headings = list[Quote]()
    for section in [one for one in sections if one.title][:MAX_PARTS]:
        for hit in hits:
            at = hit.chunk.text.find(section.title, max(section.start - hit.chunk.start, 0))
            if hit.chunk.start <= section.start < hit.chunk.end and at >= 0:
                headings.append(Quote(hit=hit, span=Span(start=at, end=at + len(section.title))))
                break
    return headings


def _names(part: Part, quotes: Sequence[Quote]) -> str:
    """Return the headings of a part in order; if they are many, those of the quotes, then the highest and longest."""
    quoted = {id(one) for one in quotes}
    unlike = dict[str, tuple[bool, int, int]]()
    for one in part.sections:
        worth = (any(id(quote) in quoted for quote in one.quotes), -one.level, one.size)
        if one.title:
            unlike[one.title] = max(worth, unlike.get(one.title, worth))
    kept = sorted(unlike, key=lambda title: unlike[title], reverse=True)[:MOST_HEADINGS]
    names = [shortened(strip_links(title), MAX_HEADING) for title in unlike if title in kept]
    return BETWEEN.join(names) + ("" if len(kept) == len(unlike) else f"{BETWEEN}…")
