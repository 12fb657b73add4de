"""Answers, hits and documents as JSON objects, whose names are the fields of the records."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ragstone.core.answers import Answer
from ragstone.core.catalog import Listing
from ragstone.core.hits import Hits
from ragstone.core.reading import note_of
from ragstone.core.records import Document, Hit, Span
from ragstone.core.research import Notebook


def answer(answer: Answer, *, explain: bool = False, metadata: bool = True) -> dict[str, Any]:
    """Return an answer; ``explain`` adds the evidence with the history of its scores."""
    out = answer.to_dict()
    if explain:
        hits = enumerate(answer.hits, start=1)
        out["hits"] = [hit(one, rank, explain=True, metadata=metadata) for rank, one in hits]
    return out


def search_note(hits: Hits) -> str:
    """Return what to say of the hits of a search as a whole; empty if nothing was missing and they match well."""
    weak = ("nothing matches well; these are only the nearest passages",) if any(one.is_weak for one in hits) else ()
    return "; ".join((*hits.notices, *weak))


def notebook(notebook: Notebook) -> dict[str, Any]:
    """Return what research did for a question, the documents that it read, and its list or comparison."""
    read = {one.chunk.document_id: one.chunk.title for one in notebook.hits}
    return {
        "question": notebook.question.text,
        "actions": [asdict(one) for one in notebook.taken],
        "documents": [{"document_id": id, "title": title} for id, title in read.items()],
        "open": list(notebook.open),
        "items": asdict(notebook.items) if notebook.items else None,
        "compared": asdict(notebook.compared) if notebook.compared else None,
    }


def hit(hit: Hit, rank: int, *, explain: bool = False, metadata: bool = True) -> dict[str, Any]:
    """Return a hit without its vector; ``explain`` adds the history of its score."""
    chunk = hit.chunk
    out: dict[str, Any] = {
        "rank": rank,
        "score": hit.score,
        "document_id": chunk.document_id,
        "chunk_id": chunk.id,
        "title": chunk.title,
        "url": chunk.url,
        "start": chunk.start,
        "end": chunk.end,
        "text": chunk.text,
    }
    if metadata:
        out["metadata"] = dict(chunk.described)
    if explain:
        out["why"] = [asdict(step) for step in hit.why]
    return out


def listing(found: Listing) -> dict[str, Any]:
    """Return a list of documents without their text, and how many there are in all."""
    documents = [
        {
            "document_id": one.document_id,
            "title": one.title,
            "url": one.url,
            "metadata": dict(one.metadata),
            "characters": one.characters,
            "chunks": one.chunks,
            "added": one.added,
            "note": note_of(one),
        }
        for one in found.documents
    ]
    return {"documents": documents, "total": found.total}


def document(document: Document, span: Span) -> dict[str, Any]:
    """Return a document with the part of its text in a span."""
    return {
        "document_id": document.id,
        "title": document.title,
        "url": document.url,
        "source": document.source,
        "metadata": dict(document.metadata),
        "characters": len(document.text),
        "note": note_of(document),
        "start": span.start,
        "end": span.end,
        "text": span.of(document.text),
    }
