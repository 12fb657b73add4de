"""Check whether citations point at the sentences that an answer must be based on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ragstone.core.answers import Citation
from ragstone.core.frozen import frozen
from ragstone.core.records import Span


@frozen
class Place:
    """A range of characters in a document."""

    document_id: str
    span: Span


def locate(sentence: str, documents: Iterable[str], texts: Mapping[str, str]) -> tuple[Place, ...]:
    """Return every place of a sentence in the given documents; differences in white space do not count.

    Args:
        sentence: as an annotator copied it.
        documents: ids of the documents to search.
        texts: document id to text; other documents are skipped.
    """
    words = sentence.split()
    if not words:
        return ()
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    return tuple(
        Place(document_id=document, span=Span(start=found.start(), end=found.end()))
        for document in documents
        for found in pattern.finditer(texts.get(document, ""))
    )


def touches(citation: Citation, places: Iterable[Place]) -> bool:
    """Return whether a citation overlaps one of the places."""
    return any(
        citation.document_id == place.document_id
        and max(citation.start, place.span.start) < min(citation.end, place.span.end)
        for place in places
    )


def is_exact(citation: Citation, texts: Mapping[str, str]) -> bool:
    """Return whether the quote is exactly the text of the document at the cited place."""
    text = texts.get(citation.document_id, "")
    inside = 0 <= citation.start < citation.end <= len(text)
    return inside and text[citation.start : citation.end] == citation.quote
