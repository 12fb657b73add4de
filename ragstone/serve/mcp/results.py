"""The results of the tools: records with the field names of `as_json`, each with the text that a model reads.

Text from documents is made printable and indented, so that none of its lines can pass for a source.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ragstone.core import catalog as stored
from ragstone.core.answers import Answer, Citation, Outcome, Source
from ragstone.core.errors import UsageError
from ragstone.core.frozen import frozen
from ragstone.core.printable import one_line, printable
from ragstone.core.records import Document, Hit, Span
from ragstone.serve import as_json

MAX_CHARACTERS = 20_000
"""Characters of a document that one call reads."""


@frozen
class FoundHit:
    """A passage: characters ``start`` to ``end`` of a document."""

    rank: int
    score: float
    document_id: str
    chunk_id: str
    title: str
    url: str
    start: int
    end: int
    text: str
    metadata: dict[str, Any]

    @classmethod
    def of(cls, hit: Hit, rank: int) -> FoundHit:
        return cls(**as_json.hit(hit, rank))


@frozen
class Found:
    """Passages, best first."""

    query: str
    hits: tuple[FoundHit, ...]
    note: str = ""

    def for_reading(self) -> str:
        if not self.hits:
            return "No passage matches."
        note = f"Note: {self.note}.\n\n" if self.note else ""
        return note + "\n\n".join(f"[{hit.rank}] {_place(hit)}\n    {_indented(hit.text)}" for hit in self.hits)


@frozen
class Replied:
    """An answer, or the reason for abstaining. Markers such as [1] refer to ``citations``."""

    response_id: str
    answer: str
    outcome: Outcome
    abstained: bool
    citations: tuple[Citation, ...]
    sources: tuple[Source, ...]
    confidence: float
    answerability: float | None
    support: float
    model: str
    notices: tuple[str, ...]

    @classmethod
    def of(cls, answer: Answer) -> Replied:
        told = replace(answer, notices=(*answer.notices, *answer.flags))
        return cls(**{name: getattr(told, name) for name in cls.__dataclass_fields__})

    def for_reading(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield _indented(self.answer)
        if self.citations:
            yield "\nSources"
        for citation in self.citations:
            yield f"[{citation.marker}] {_place(citation)}"
            yield f"    “{one_line(citation.quote)}”"
        if self.outcome == "answer":
            yield f"\nConfidence {self.confidence:.2f}; citations support {self.support:.0%} of the sentences."
        for notice in self.notices:
            yield f"Note: {one_line(notice)}"


@frozen
class ReadText:
    """Characters ``start`` to ``end`` of a document with ``characters`` in total."""

    document_id: str
    title: str
    url: str
    source: str
    metadata: dict[str, Any]
    characters: int
    note: str
    start: int
    end: int
    text: str

    @classmethod
    def of(cls, document: Document, start: int, end: int | None) -> ReadText:
        """Return a part of a document, cut off if it is too long.

        Raises:
            UsageError: the document has no such part.
        """
        span = part_of(document, start, end)
        limited = Span(start=start, end=min(span.end, start + MAX_CHARACTERS))
        return cls(**as_json.document(document, limited))

    def for_reading(self) -> str:
        more = f"; continue with start={self.end}" if self.end < self.characters else ""
        note = f"\nNote: {one_line(self.note)}." if self.note else ""
        return f"{_place(self)} of {self.characters}{more}{note}\n\n{printable(self.text)}"


@frozen
class ListedDocument:
    """A stored document."""

    document_id: str
    title: str
    url: str
    source: str
    characters: int
    chunks: int

    @classmethod
    def of(cls, document: stored.DocumentSummary) -> ListedDocument:
        return cls(**{name: getattr(document, name) for name in cls.__dataclass_fields__})


@frozen
class Listing:
    """A page of ``total`` documents; ``next`` is the ``after`` of the next page, empty on the last one."""

    documents: tuple[ListedDocument, ...]
    total: int
    next: str

    @classmethod
    def of(cls, page: stored.Listing) -> Listing:
        return cls(documents=tuple(map(ListedDocument.of, page.documents)), total=page.total, next=page.next)

    def for_reading(self) -> str:
        rows = [f"{one_line(one.document_id)}: {one_line(one.title)}" for one in self.documents]
        more = f"\nMore: after={self.next}" if self.next else ""
        count = "1 document" if self.total == 1 else f"{self.total} documents"
        return "\n".join([count, *rows]) + more


def part_of(document: Document, start: int, end: int | None) -> Span:
    """Return the span from ``start`` to ``end``, or to the end of the document.

    Raises:
        UsageError: the document has no such part.
    """
    length = len(document.text)
    span = Span(start=start, end=length if end is None else end)
    if not span.start <= span.end <= length:
        raise UsageError(f"{document.id} has characters 0 to {length}, not {span.start} to {span.end}")
    return span


def _place(result: FoundHit | Citation | ReadText) -> str:
    """Return where a text stands: the title, then the arguments of `read_source`."""
    named = [one_line(result.title)]
    if isinstance(result, Citation):
        page = f"page {one_line(result.page)}" if result.page else ""
        named += [one_line(result.section), page, one_line(result.origin)]
    where = f"{one_line(result.document_id)}, characters {result.start}-{result.end}"
    return " — ".join([*filter(None, [", ".join(filter(None, named)), where])])


def _indented(text: str) -> str:
    """Return printable text with every line but the first indented."""
    return printable(text).replace("\n", "\n    ")
