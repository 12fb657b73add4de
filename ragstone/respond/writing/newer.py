"""What newer versions of the documents say instead of the sentences on which a written answer rests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragstone.core.editions import VERSION_OF
from ragstone.core.protocols import SentenceSplitter
from ragstone.core.question import Question
from ragstone.core.records import Hit
from ragstone.core.table import table_of
from ragstone.respond.quote import Quote
from ragstone.respond.quoting.rivals import MOST, rivals


def newer(cited: Sequence[Quote], hits: Sequence[Hit], question: Question, sentences: SentenceSplitter) -> list[Quote]:
    """Return what the newest versions say instead of what is cited, each sentence once, without what is cited itself.

    Args:
        cited: the quotes of an answer.
        hits: the passages that its writer had.
        question: what is asked; one that fixes a period or a version means no other.
        sentences: splits a passage.
    """
    if question.versions_meant != ():
        return []
    known = {(one.hit.chunk.document_id, one.stands[0]) for one in cited}
    out: dict[tuple[str, int], Quote] = {}
    for one in cited:
        family = one.hit.chunk.metadata.get(VERSION_OF)
        others = [
            quote
            for place, hit in enumerate(hits)
            if family and hit.chunk.metadata.get(VERSION_OF) == family
            for quote in _sentences(place, hit, sentences)
        ]
        found = rivals(one, others, lambda _: 0.0, question) if others else None
        if found and any(older.text == one.text for older in found.older):
            out.setdefault((found.quote.hit.chunk.document_id, found.quote.stands[0]), found.quote)
    return [quote for stands, quote in out.items() if stands not in known][:MOST]


def _sentences(place: int, hit: Hit, sentences: SentenceSplitter) -> Iterator[Quote]:
    """Yield the sentences of a passage, or its rows."""
    table = table_of(hit.chunk)
    for span in table.body if table else sentences(hit.chunk.text):
        yield Quote(hit=hit, place=place, span=span)
