"""The files behind documents: pages as images, the places of cited words on them, and the files themselves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from functools import partial
from typing import IO, Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Header, Query
from fastapi import Path as Parameter
from fastapi import Response as HttpResponse
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.types import Receive, Scope, Send

from ragstone.serve.http import errors
from ragstone.serve.http.authentication import Reading
from ragstone.serve.http.messages import Characters, Response, Share
from ragstone.serve.http.plain_words import plain
from ragstone.serve.http.service import Here

BLOCK_BYTES = 256_000
MOST_WIDTH = 2_400
REVALIDATED = "private, no-cache"
"""Browsers keep an image but ask each time whether it may still be shown."""
_BINARY = {"type": "string", "format": "binary"}


# ---------------------------------------------------------------- messages
class Box(Response):
    """A part of a page, as shares of its width and height from its upper left corner."""

    left: Share
    top: Share
    right: Share
    bottom: Share


class CitedPage(Response):
    """A page, counted from 1, and where cited words stand on it; no boxes if that is not known."""

    page: int
    boxes: list[Box]


class Original(Response):
    """The file that a document was read from."""

    document_id: str
    state: Literal["same", "changed", "gone", "part", "none"] = Field(
        description="`same`: as it was read; `changed` or `gone` since; `part`: the document is a part of the file,"
        " such as a row of a table; `none`: it did not come from a file"
    )
    name: str = Field(description="of the file; empty if there is none")
    bytes: int = Field(description="size of the file, if the caller may have it")
    may_save: bool = Field(description="whether `GET /originals/{document_id}` returns the file")
    pages: int = Field(description="pages that `GET /pages/{document_id}` can draw")
    is_row: bool = Field(description="whether `GET /rows/{document_id}` shows it in its table")
    cited: list[CitedPage] = Field(description="where the characters `start` to `end` stand")
    note: str = Field(description="why the text may be wrong or lack parts; empty if nothing says so")


class CitedCell(Response):
    """A part of a cell of the cited row, as characters of it; columns count from 0."""

    column: int
    start: Characters
    end: Characters


class TableRows(Response):
    """A document that is a row of a table, between rows around it that the caller may read.

    The cells are as the file has them; of those in other rows, only the beginning. `at` is the place of the row.
    """

    columns: list[str]
    rows: list[list[str]]
    at: int
    cited: list[CitedCell]


# ---------------------------------------------------------------- routes
router = APIRouter(tags=["documents"])
DocumentId = Annotated[str, Parameter(max_length=2_000, description="may contain slashes")]
Offset = Annotated[Characters, Query(le=1_000_000_000)]


@router.get("/places/{document_id:path}", responses={**errors.READING})
async def places(
    document_id: DocumentId, service: Here, caller: Reading, start: Offset = 0, end: Offset = 0
) -> Original:
    """Return what is known of the file of a document, and where characters of its text stand on the pages."""
    originals, reader = service.engine.originals, caller.reader
    original = await asyncio.to_thread(partial(originals.find, document_id, reader=reader))
    cited = await asyncio.to_thread(partial(originals.cited, original.document_id, start, end, reader=reader))
    return Original(
        document_id=original.document_id,
        state=original.state,
        name=original.name,
        bytes=original.size,
        may_save=original.may_save,
        pages=original.pages,
        is_row=original.is_row,
        note=plain(original.note),
        cited=[
            CitedPage(page=one.number, boxes=[Box.model_validate(box, from_attributes=True) for box in one.boxes])
            for one in cited
        ],
    )


@router.get("/rows/{document_id:path}", responses={**errors.READING})
async def rows(
    document_id: DocumentId, service: Here, caller: Reading, start: Offset = 0, end: Offset = 0
) -> TableRows:
    """Return a row of a CSV or TSV file in its table. The file has to be as it was when it was read."""
    read = partial(service.engine.originals.rows, document_id, start, end, reader=caller.reader)
    async with asyncio.timeout(service.settings.request_seconds):
        return TableRows.model_validate(await service.drawing.draw(read), from_attributes=True)


@router.get(
    "/pages/{document_id:path}",
    response_class=HttpResponse,
    responses={
        200: {"description": "The page as an image.", "content": {"image/png": {"schema": _BINARY}}},
        304: {"description": "The image is the one that `If-None-Match` names."},
        **errors.READING,
    },
)
async def page(
    document_id: DocumentId,
    service: Here,
    caller: Reading,
    number: Annotated[int, Query(ge=1, le=1_000_000, description="counted from 1")] = 1,
    width: Annotated[int, Query(ge=16, le=MOST_WIDTH, description="of the image, in pixels at most")] = 1_000,
    if_none_match: Annotated[str, Header(max_length=1_000)] = "",
) -> HttpResponse:
    """Draw a page of a PDF or picture. It has to be as it was when it was read."""
    originals, reader = service.engine.originals, caller.reader
    etag = await asyncio.to_thread(partial(originals.etag, document_id, number, width, reader=reader))
    headers = {"etag": f'"{etag}"', "cache-control": REVALIDATED}
    if headers["etag"] in if_none_match:
        return HttpResponse(status_code=304, headers=headers)
    async with asyncio.timeout(service.settings.request_seconds):
        drawn = await service.drawing.draw(partial(originals.draw, document_id, number, width, reader=reader))
    return HttpResponse(drawn, media_type="image/png", headers=headers)


@router.get(
    "/originals/{document_id:path}",
    response_class=HttpResponse,
    responses={
        200: {"description": "The file.", "content": {"application/octet-stream": {"schema": _BINARY}}},
        **errors.READING,
    },
)
async def original(document_id: DocumentId, service: Here, caller: Reading) -> HttpResponse:
    """Return the file of a document, to be saved and not to be shown: it may hold scripts."""
    about, file = await asyncio.to_thread(partial(service.engine.originals.open, document_id, reader=caller.reader))
    headers = {
        "content-disposition": f"attachment; filename*=UTF-8''{quote(about.name, safe='')}",
        "content-length": str(about.size),
        "content-security-policy": "sandbox; default-src 'none'",
    }
    return _FileResponse(file, about.size, headers)


class _FileResponse(StreamingResponse):
    """Sends an open file, and closes it whatever happens.

    Starlette's FileResponse opens a path, which may be another file by then.
    """

    def __init__(self, file: IO[bytes], size: int, headers: dict[str, str]) -> None:
        super().__init__(_blocks(file, size), media_type="application/octet-stream", headers=headers)
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.close()


async def _blocks(file: IO[bytes], size: int) -> AsyncGenerator[bytes]:
    while size > 0 and (block := await asyncio.to_thread(file.read, min(BLOCK_BYTES, size))):
        size -= len(block)
        yield block
