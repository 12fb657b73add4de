"""What the tools give: records whose fields are named as in `as_json`, each with the text that a model reads.

Whatever comes from a document passes `printable`, and its lines stand further in, so that none passes for a source.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ragstone import index
from ragstone.answers import Answer, Citation, Source
from ragstone.contracts import Document, Hit, Span
from ragstone.errors import UsageError
from ragstone.serve import as_json
from ragstone.serve.screen import one_line, printable

LONGEST = 20_000
"""Characters of a document that are read at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Passages, best first."""

    query: str
    hits: tuple[FoundHit, ...]

    def for_reading(self) -> str:
        if not self.hits:
            return "Nothing was found."
        return "\n\n".join(f"[{hit.rank}] {_place(hit)}\n    {_further_in(hit.text)}" for hit in self.hits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    """An answer, or, where ``abstained``, why there is none. Markers such as [1] stand for ``citations``."""

    response_id: str
    answer: str
    abstained: bool
    citations: tuple[Citation, ...]
    sources: tuple[Source, ...]
    confidence: float
    answerability: float
    support: float
    model: str
    notices: tuple[str, ...]

    @classmethod
    def of(cls, answer: Answer) -> Replied:
        return cls(**{name: getattr(answer, name) for name in cls.__dataclass_fields__})

    def for_reading(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield _further_in(self.answer)
        if self.citations:
            yield "\nSources"
        for citation in self.citations:
            yield f"[{citation.marker}] {_place(citation)}"
            yield f"    “{one_line(citation.quote)}”"
        if not self.abstained:
            yield f"\nConfidence {self.confidence:.2f}; the citations prove {self.support:.0%} of the sentences."
        for notice in self.notices:
            yield f"Note: {one_line(notice)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadText:
    """Characters ``start`` to ``end`` of a document that has ``characters`` in all."""

    document_id: str
    title: str
    url: str
    source: str
    metadata: dict[str, Any]
    characters: int
    start: int
    end: int
    text: str

    @classmethod
    def of(cls, document: Document, start: int, end: int | None) -> ReadText:
        """A part of a document, cut off where it is too long.

        Raises:
            UsageError: there is no such part.
        """
        whole = len(document.text)
        last = whole if end is None else end
        if not start <= last <= whole:
            raise UsageError(f"{start} to {last} is no part of {document.id}, whose characters are 0 to {whole}")
        return cls(**as_json.document(document, Span(start=start, end=min(last, start + LONGEST))))

    def for_reading(self) -> str:
        more = f"; go on with start={self.end}" if self.end < self.characters else ""
        return f"{_place(self)} of {self.characters}{more}\n\n{printable(self.text)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDocument:
    """A document that is there."""

    document_id: str
    title: str
    url: str
    source: str
    characters: int
    chunks: int

    @classmethod
    def of(cls, document: index.Listed) -> ListedDocument:
        return cls(**{name: getattr(document, name) for name in cls.__dataclass_fields__})


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Some of ``total`` documents; ``next`` leads to those after them, and is empty at the end."""

    documents: tuple[ListedDocument, ...]
    total: int
    next: str

    @classmethod
    def of(cls, page: index.Listing) -> Listing:
        return cls(documents=tuple(map(ListedDocument.of, page.documents)), total=page.total, next=page.next)

    def for_reading(self) -> str:
        rows = [f"{one_line(one.document_id)}: {one_line(one.title)}" for one in self.documents]
        more = f"\nMore: after={self.next}" if self.next else ""
        return "\n".join([f"{self.total} documents", *rows]) + more


def _place(found: FoundHit | Citation | ReadText) -> str:
    """Where a text stands: the title, then what `read_source` wants to know."""
    named = [one_line(found.title)]
    if isinstance(found, Citation):
        named += [one_line(found.section), f"page {one_line(found.page)}" if found.page else ""]
    where = f"{one_line(found.document_id)}, characters {found.start}-{found.end}"
    return " — ".join([*filter(None, [", ".join(filter(None, named)), where])])


def _further_in(text: str) -> str:
    """Every line but the first further in."""
    return printable(text).replace("\n", "\n    ")
