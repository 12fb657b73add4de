"""Whether citations point at the sentences an answer must rest on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ragstone.answers import Citation
from ragstone.contracts import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Characters of a document."""

    document_id: str
    span: Span


def locate(sentence: str, documents: Iterable[str], texts: Mapping[str, str]) -> tuple[Place, ...]:
    """Every place where a sentence stands in the documents named; differences in white space do not count.

    Args:
        sentence: words as an annotator copied them.
        documents: ids of the documents looked into.
        texts: document id to text; a document that is not in it is passed over.
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
    """Whether a citation shares at least one character with one of the places."""
    return any(
        citation.document_id == place.document_id
        and max(citation.start, place.span.start) < min(citation.end, place.span.end)
        for place in places
    )


def is_exact(citation: Citation, texts: Mapping[str, str]) -> bool:
    """Whether the quote is, character by character, what the document has at the place cited."""
    text = texts.get(citation.document_id, "")
    inside = 0 <= citation.start < citation.end <= len(text)
    return inside and text[citation.start : citation.end] == citation.quote
