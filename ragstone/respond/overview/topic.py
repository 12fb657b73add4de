"""What the documents say of a topic: by document, or by date; only from passages that are about it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from ragstone.core.answers import Draft
from ragstone.core.naming import name_of
from ragstone.core.protocols import SentenceSplitter, Weigher
from ragstone.core.records import Hit, date_of
from ragstone.core.request import Request
from ragstone.language import replies
from ragstone.language.facts import alike_in_topic, words
from ragstone.respond.overview.page import Group, Labelled, page
from ragstone.respond.overview.telling import Telling, quotable
from ragstone.respond.quote import Quote
from ragstone.respond.replies import opening

LEAST_WORDS = 0.6
"""Share of the words of a topic, by how rare they are, that a passage about it has."""
MOST_SENTENCES, EACH = 10, 3
"""Sentences of a digest, and of one document in it."""
LEAST_DATED = 2
"""Dated documents that make a timeline."""


class Topic:
    """The words of a topic, and which texts have them."""

    def __init__(self, text: str, weigh: Weigher, request: Request) -> None:
        self.text = text
        self._asked = [word.lower for word in words(text) if not word.stop]
        self._weights = weigh(self._asked, request) if self._asked else []

    def share(self, text: str) -> float:
        """Return the share of the words of the topic that a text has, by how rare they are: 0 to 1."""
        said, whole = {word.lower for word in words(text)}, sum(self._weights)
        held = [any(alike_in_topic(asked, word) for word in said) for asked in self._asked]
        if not whole:  # no document has the words
            return float(bool(held) and all(held))
        return sum(weight for has, weight in zip(held, self._weights, strict=True) if has) / whole

    def fitting(self, hits: Sequence[Hit]) -> list[Hit]:
        """Return the hits that are about the topic: those with most of its words, and some that are as near to it.

        A search returns the nearest passages even if none is near. A passage with few of the words is about the topic
        if its vector is as near as those of half of the passages that have most of them.
        """
        shares = [self.share(f"{hit.chunk.title} {hit.chunk.headed}") for hit in hits]
        cosines = [next((step.score for step in hit.why if step.stage == "vector"), 0.0) for hit in hits]
        known = [cosine for cosine, share in zip(cosines, shares, strict=True) if share >= LEAST_WORDS]
        if not known:
            return []
        near = median(known)
        return [
            hit
            for hit, share, cosine in zip(hits, shares, cosines, strict=True)
            if share >= LEAST_WORDS or (share > 0 and cosine > near)
        ]

    def telling(self, hits: Sequence[Hit], sentences: SentenceSplitter) -> list[Quote]:
        """Return the sentences that have a word of the topic; all that can be quoted if none has."""
        every = quotable(hits, sentences)
        return [one for one in every if self.share(one.text)] or every


def digest(
    topic: Topic, hits: Sequence[Hit], *, sentences: SentenceSplitter, weigh: Weigher, request: Request, language: str
) -> Draft:
    """Return the sentences that tell most of a topic and do not repeat each other, by document.

    Args:
        topic: what they are to be about.
        hits: passages about it, best first.
        sentences: splits a text.
        weigh: weighs words by how rare they are.
        request: who asks.
        language: of the lines that are not quoted.
    """
    telling = Telling(topic.telling(hits, sentences), weigh, request, topic.text)
    chosen = telling.chosen(MOST_SENTENCES, each=EACH) or [_opening(hit) for hit in hits[:EACH]]
    order = list(dict.fromkeys(hit.chunk.document_id for hit in hits))
    names = {hit.chunk.document_id: name_of(hit.chunk) for hit in hits}
    groups = [
        Group(heading=f"{names[id]}:", lines=tuple((Labelled(quote=one),) for one in _in_order(chosen, id)))
        for id in order
    ]
    return page(replies(language).digest.format(topic=topic.text), groups)


def timeline(
    topic: Topic, hits: Sequence[Hit], *, sentences: SentenceSplitter, weigh: Weigher, request: Request, language: str
) -> Draft | None:
    """Return one sentence of each document by its date, the oldest first; None if fewer than two are dated.

    Args:
        topic: what they are to be about.
        hits: passages about it, best first.
        sentences: splits a text.
        weigh: weighs words by how rare they are.
        request: who asks.
        language: of the lines that are not quoted.
    """
    passages = dict[str, list[Hit]]()
    for hit in hits:
        passages.setdefault(hit.chunk.document_id, []).append(hit)
    dated = [(date_of(own[0].chunk.metadata), own) for own in passages.values()]
    if sum(bool(date) for date, _ in dated) < LEAST_DATED:
        return None
    lines = [
        (date, Telling(topic.telling(own, sentences), weigh, request, topic.text).best() or _opening(own[0]))
        for date, own in dated
    ]
    texts = replies(language)
    with_date = [
        (Labelled(quote=one, label=f"{date}, {name_of(one.hit.chunk)}"),)
        for date, one in sorted(lines, key=lambda line: line[0])
        if date
    ]
    unknown = [(Labelled(quote=one, label=name_of(one.hit.chunk)),) for date, one in lines if not date]
    groups = [Group(heading="", lines=tuple(with_date)), Group(heading=texts.undated, lines=tuple(unknown))]
    return page(texts.timeline.format(topic=topic.text), groups)


def _in_order(chosen: Sequence[Quote], document: str) -> list[Quote]:
    own = [one for one in chosen if one.hit.chunk.document_id == document]
    return sorted(own, key=lambda one: one.stands[0])


def _opening(hit: Hit) -> Quote:
    return Quote(hit=hit, span=opening(hit))
