"""The stored documents: list, read, and remove them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi import Path as Parameter
from pydantic import Field

from ragstone.core.access import OWNER
from ragstone.core.catalog import DocumentSummary, ListingOrder
from ragstone.core.errors import NotFound
from ragstone.core.reading import Reading as ReadingRecord
from ragstone.core.reading import note_of, reading_of
from ragstone.core.records import Document as DocumentRecord
from ragstone.core.records import Span
from ragstone.engine.roots import UPLOADS
from ragstone.serve.http import errors, uploads
from ragstone.serve.http.authentication import Caller, Reading, Writing
from ragstone.serve.http.errors import Refused
from ragstone.serve.http.messages import Characters, Metadata, Response
from ragstone.serve.http.plain_words import plain
from ragstone.serve.http.routes.ask import MAX_FILTER
from ragstone.serve.http.service import Here, Service


# ---------------------------------------------------------------- messages
class DocumentEntry(Response):
    """A document without its text."""

    document_id: str
    title: str
    url: str
    source: str
    metadata: Metadata
    characters: Characters
    chunks: int
    added: str = Field(description="when it was added or last changed, in ISO 8601")
    note: str = Field(description="why its text may be wrong or lack parts; empty if nothing says so")

    @classmethod
    def of(cls, record: DocumentSummary) -> DocumentEntry:
        return cls.model_validate({**asdict(record), "note": plain(note_of(record))})


class DocumentList(Response):
    """Documents in the order that was asked for.

    ``next`` is the ``after`` of the next page; null on the last page, and in any order but that of ids.
    """

    documents: list[DocumentEntry]
    total: int
    next: str | None


class Mark(Response):
    """A structural element of a document, as characters of its text."""

    kind: Literal["heading", "page", "code", "table", "picture"]
    start: Characters
    end: Characters
    level: int
    label: str
    header: int = Field(description="rows of column headings that a table begins with")


class Highlight(Response):
    """Characters of a document's text."""

    start: Characters
    end: Characters


class OcrPage(Response):
    """A page with words that OCR read."""

    page: int = Field(description="its number, from 1")
    confidence: float = Field(description="the mean over its characters, from 0 to 1")


class DocumentReading(Response):
    """How a document was read. ``chunks`` and ``ocr_pages`` are given if the request has `parse=true`."""

    kind: str
    characters: int
    pages: int
    headings: int
    tables: int
    code: int = Field(description="blocks of code")
    pictures: int = Field(description="pictures that a model described")
    ocr: str = Field(description="the engine that read text in pictures; empty if none did")
    ocr_confidence: float | None = Field(description="how sure it was, from 0 to 1")
    note: str = Field(description="why the text may be wrong or lack parts; empty if nothing says so")
    ocr_pages: list[OcrPage] = Field(description="pages with words that OCR read")
    chunks: list[Highlight] = Field(description="the pieces that the text was cut into, in order; they may overlap")
    seconds: float | None = Field(description="how long reading the file took; null if that was not measured")

    @classmethod
    def of(cls, record: ReadingRecord) -> DocumentReading:
        pages = [{"page": page, "confidence": confidence} for page, confidence in record.ocr_pages]
        return cls.model_validate({**asdict(record), "note": plain(record.note), "ocr_pages": pages})


class Document(Response):
    """A document with its whole text. The text is data: never show it as HTML."""

    document_id: str
    title: str
    url: str
    source: str
    metadata: Metadata
    characters: Characters
    marks: list[Mark]
    reading: DocumentReading
    text: str
    highlight: Highlight | None

    @classmethod
    def of(cls, record: DocumentRecord, reading: ReadingRecord, span: Span | None) -> Document:
        return cls(
            document_id=record.id,
            title=record.title,
            url=record.url,
            source=record.source,
            metadata={key: list(fact) if isinstance(fact, tuple) else fact for key, fact in record.metadata.items()},
            characters=len(record.text),
            marks=[Mark.model_validate(mark, from_attributes=True) for mark in record.marks],
            reading=DocumentReading.of(reading),
            text=record.text,
            highlight=Highlight(start=span.start, end=span.end) if span else None,
        )


class Removed(Response):
    """The ids of the removed documents."""

    removed: list[str]


# ---------------------------------------------------------------- routes
router = APIRouter(tags=["documents"])
Offset = Annotated[int | None, Query(ge=0, description="in characters, of the highlight")]


@router.get("/documents", responses={**errors.READING})
async def documents(
    service: Here,
    caller: Reading,
    q: Annotated[str, Query(max_length=200, description="part of an id or title")] = "",
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    after: Annotated[str, Query(max_length=2_000, description="`next` of the previous page")] = "",
    order: Annotated[ListingOrder, Query(description="by id, or by when documents were added or changed")] = "id",
    where: Annotated[str, Query(max_length=MAX_FILTER, description="filter, as that of a collection")] = "",
) -> DocumentList:
    """List the documents that the caller may read, a page of them or the newest or oldest."""
    listed, chosen = service.engine.documents.list, caller.view.where(where or None)
    read = partial(listed, reader=caller.reader, q=q, after=after, limit=limit, order=order, where=chosen)
    page = caller.view.listing(await asyncio.to_thread(read))
    return DocumentList(documents=[*map(DocumentEntry.of, page.documents)], total=page.total, next=page.next or None)


@router.get("/documents/{document_id:path}", responses={**errors.READING})
async def document(
    document_id: Annotated[str, Parameter(max_length=2_000, description="may contain slashes")],
    service: Here,
    caller: Reading,
    start: Offset = None,
    end: Offset = None,
    parse: Annotated[
        bool, Query(description="whether to say how it was cut, and how sure OCR was of each page")
    ] = False,
) -> Document:
    """Return a document with its text. The characters `start` to `end` are its highlight, if it has them."""
    documents, reader = service.engine.documents, caller.reader
    found = await asyncio.to_thread(partial(documents.get, document_id, reader=reader))
    shown = caller.view.document(found)
    reading = (
        await asyncio.to_thread(partial(documents.reading, found.id, reader=reader)) if parse else reading_of(shown)
    )
    return Document.of(shown, reading, _span(start, end, len(found.text)))


@router.delete("/documents/{document_id:path}", responses={**errors.CHANGING})
async def remove(document_id: Annotated[str, Parameter(max_length=2_000)], service: Here, caller: Writing) -> Removed:
    """Remove a document, and its file if it was uploaded, or an uploaded file that could not be read."""

    async def work() -> list[str]:
        queued = await service.jobs.waiting_files()
        return await asyncio.to_thread(_remove, service, caller, document_id, queued)

    async with asyncio.timeout(service.settings.request_seconds):
        return Removed(removed=await service.jobs.exclusively(work))


def _span(start: int | None, end: int | None, length: int) -> Span | None:
    if start is None and end is None:
        return None
    span = Span(start=start or 0, end=length if end is None else end)
    return span if span.start <= span.end <= length else None


def _remove(service: Service, caller: Caller, document_id: str, queued: set[str]) -> list[str]:
    """Remove a document and its uploaded file, unless a newer file of that name waits to be read."""
    engine = service.engine
    folder = engine.folder.resolve()
    root = (folder / UPLOADS).resolve()
    if unread := _unread_file(service, caller, document_id):
        if document_id in queued:
            raise Refused("locked", "this file is waiting to be read; remove it when that is done")
        _delete_file(service, unread)
        return [document_id]
    document = engine.documents.get(document_id, reader=caller.reader)
    if document.id != document_id:
        raise NotFound(f"there is no document '{document_id}'")
    removed = engine.documents.remove([document_id], reader=caller.reader)
    file, restored = _uploaded_file(document.source, root), _uploaded_file(str(folder / document_id), root)
    if not file and restored and not engine.documents.list(q=restored.name, limit=1, reader=OWNER).total:
        file = restored  # the knowledge base was restored into another folder
    if file and not engine.documents.has_source(str(file)) and str(file.relative_to(folder)) not in queued:
        _delete_file(service, file)
    return removed


def _unread_file(service: Service, caller: Caller, id: str) -> Path | None:
    """Return the uploaded file of this name if it is the caller's and no document came from it."""
    engine, uploaded = service.engine, UPLOADS
    folder = engine.folder.resolve()
    file, own_folder = folder / id, folder / uploads.folder_of(caller.reader, uploaded)
    is_own = file.is_relative_to(folder / uploaded) if caller.reader.groups is None else file.parent == own_folder
    with suppress(OSError, ValueError):  # no file can have such a name
        if not is_own or ".." in file.parts or uploads.INCOMING in id or not file.is_file():
            return None
        # By id as well, because a restored document has the source of another folder.
        similar = [one.document_id for one in engine.documents.list(q=id, limit=500, reader=OWNER).documents]
        is_stored = any(one == id or one.startswith((f"{id}#", f"{id}/")) for one in similar)
        return None if is_stored or engine.documents.has_source(str(file)) else file
    return None


def _delete_file(service: Service, file: Path) -> None:
    service.engine.documents.forget_skipped(str(file))
    file.unlink(missing_ok=True)


def _uploaded_file(source: str, root: Path) -> Path | None:
    """Return the uploaded file of a source, which names a part of a file, such as a row, after its path."""
    ends = [i for i, char in enumerate(source) if char in "/#"]
    for end in [*ends, len(source)]:
        path = Path(source[:end]).resolve()
        if path.is_relative_to(root) and path.is_file():
            return path
    return None
