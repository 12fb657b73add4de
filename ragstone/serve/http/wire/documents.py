"""Documents that are stored."""

from __future__ import annotations

from typing import Literal

from ragstone.contracts import Document as DocumentRecord
from ragstone.contracts import Span as SpanRecord
from ragstone.serve.http.wire.base import Characters, Metadata, Response


class DocumentEntry(Response):
    """A document without its text."""

    document_id: str
    title: str
    url: str
    source: str
    metadata: Metadata
    characters: Characters
    chunks: int


class DocumentList(Response):
    """Documents in the order of their ids. ``next`` is the ``after`` of the next page; null: this is the last."""

    documents: list[DocumentEntry]
    total: int
    next: str | None


class Mark(Response):
    """Structure of a document, as characters of its text."""

    kind: Literal["heading", "page", "code", "table"]
    start: Characters
    end: Characters
    level: int
    label: str


class Highlight(Response):
    """The characters of a document's text that were asked for."""

    start: Characters
    end: Characters


class Document(Response):
    """A document with its whole text. The text is data: it is never to be shown as HTML."""

    document_id: str
    title: str
    url: str
    source: str
    metadata: Metadata
    characters: Characters
    marks: list[Mark]
    text: str
    highlight: Highlight | None

    @classmethod
    def of(cls, record: DocumentRecord, span: SpanRecord | None) -> Document:
        return cls(
            document_id=record.id,
            title=record.title,
            url=record.url,
            source=record.source,
            metadata={key: list(fact) if isinstance(fact, tuple) else fact for key, fact in record.metadata.items()},
            characters=len(record.text),
            marks=[Mark.model_validate(mark, from_attributes=True) for mark in record.marks],
            text=record.text,
            highlight=Highlight(start=span.start, end=span.end) if span else None,
        )
