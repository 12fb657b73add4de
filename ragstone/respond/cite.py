"""A citation of a part of a hit: the place in its document, and the words that stand there."""

from __future__ import annotations

from ragstone.answers import Citation
from ragstone.contracts import Hit, Span


def cite(marker: int, hit: Hit, span: Span) -> Citation:
    """The citation with this marker of these characters of the hit's text."""
    chunk = hit.chunk
    return Citation(
        marker=marker,
        document_id=chunk.document_id,
        chunk_id=chunk.id,
        start=chunk.start + span.start,
        end=chunk.start + span.end,
        quote=span.of(chunk.text),
        title=chunk.title,
        url=chunk.url,
        section=str(chunk.facts.get("section", "")),
        page=str(chunk.facts.get("page", "")),
    )
