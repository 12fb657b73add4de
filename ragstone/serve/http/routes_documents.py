"""Routes of documents: list, look at."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query

from ragstone.contracts import Span
from ragstone.serve.http import wire_errors
from ragstone.serve.http.door import Reading
from ragstone.serve.http.service import Here
from ragstone.serve.http.wire import documents as wire

router = APIRouter(tags=["documents"])
DocumentId = Annotated[str, Path(max_length=2_000, description="slashes in it may stand as they are")]
Offset = Annotated[int | None, Query(ge=0, description="of the characters to highlight")]


@router.get("/documents", responses={**wire_errors.reading})
async def documents(
    service: Here,
    caller: Reading,
    q: Annotated[str, Query(max_length=200, description="part of an id or title")] = "",
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    after: Annotated[str, Query(max_length=2_000, description="`next` of the page before")] = "",
) -> wire.DocumentList:
    """The documents that may be read, in the order of their ids."""
    page = await asyncio.to_thread(partial(service.engine.listing, reader=caller.reader, q=q, after=after, limit=limit))
    shown = [wire.DocumentEntry.model_validate(one, from_attributes=True) for one in page.documents]
    return wire.DocumentList(documents=shown, total=page.total, next=page.next or None)


@router.get("/documents/{document_id:path}", responses={**wire_errors.reading})
async def document(
    document_id: DocumentId, service: Here, caller: Reading, start: Offset = None, end: Offset = None
) -> wire.Document:
    """A document with its text; the characters `start` to `end` are its highlight, where it has them."""
    found = await asyncio.to_thread(partial(service.engine.document, document_id, reader=caller.reader))
    return wire.Document.of(found, _span(start, end, len(found.text)))


def _span(start: int | None, end: int | None, length: int) -> Span | None:
    """The characters that were asked for, where the document still has them."""
    if start is None and end is None:
        return None
    span = Span(start=start or 0, end=length if end is None else end)
    return span if span.start <= span.end <= length else None
