"""Files that are attached to one conversation: only its person finds them, and only in it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi import Request as HttpRequest
from fastapi import Response as HttpResponse
from pydantic import Field

from ragstone.core.errors import KnowledgeBaseError, NotFound
from ragstone.engine.attached import FOLDER, Attached, bytes_of_person, folder_of, until
from ragstone.engine.jobs.queue import Work
from ragstone.engine.roots import UPLOADS
from ragstone.serve.http import errors, uploads
from ragstone.serve.http.authentication import Caller, Reading
from ragstone.serve.http.errors import Refused
from ragstone.serve.http.messages import Characters, Response
from ragstone.serve.http.routes.ask import PRINTABLE
from ragstone.serve.http.routes.jobs import Job, job_of
from ragstone.serve.http.service import Here, Service


# ---------------------------------------------------------------- messages
class Attachment(Response):
    """A file of a conversation that was read."""

    file: str
    document_ids: list[str] = Field(description="its documents: one, or those of the rows of a table")
    characters: Characters
    added: str = Field(description="when it was attached, in ISO 8601")
    until: str = Field(description="when it is erased at the latest, in ISO 8601")


class AttachmentList(Response):
    """The files of a conversation, by name."""

    attachments: list[Attachment]


class Detached(Response):
    """The ids of the documents that were removed. What is left of them is erased soon."""

    removed: list[str]


# ---------------------------------------------------------------- routes
router = APIRouter(tags=["people"])
SessionQuery = Annotated[
    str, Query(min_length=1, max_length=200, pattern=PRINTABLE, description="name of the caller's conversation")
]
FileQuery = Annotated[str, Query(min_length=1, max_length=300, description="name of the file")]


@router.post(
    "/attachments", status_code=202, response_model=Job, openapi_extra=uploads.form({}), responses={**errors.UPLOADING}
)
async def attach(
    request: HttpRequest, response: HttpResponse, service: Here, caller: Reading, session: SessionQuery
) -> Job:
    """Attach files to a conversation, which a job reads. A file replaces one of the same name.

    Only questions of the caller in this conversation find them. They are erased with the conversation, or after
    `serve.uploads.attached_days`. Status 413: a file is too large, the conversation has `serve.uploads.attached_files`,
    or the files of all conversations of the caller would take more than `serve.uploads.attached_mb`.
    """
    most, settings = service.settings.uploads.attached_files, service.settings.uploads
    if caller.is_visitor or not most:
        raise Refused("forbidden", "files cannot be attached to conversations here")
    folder, inside = service.engine.folder, caller.reader.within(session).conversation
    try:
        received = await uploads.receive(
            request.stream(),
            request.headers.get("content-type", ""),
            folder / UPLOADS,
            settings,
            service.jobs.server,
        )
        try:
            if received.groups is not None:
                raise Refused("usage", "attached files are for the caller alone; leave out 'groups'")
            async with uploads.alone(folder / FOLDER):
                if len({*await _names(service, caller, session), *received.files}) > most:
                    raise Refused("too_large", f"a conversation may have {most} attached files; remove one first")
                used = await asyncio.to_thread(bytes_of_person, folder, inside, received.files)
                if used + received.size > settings.attached_mb * uploads.MEGABYTE:
                    raise Refused(
                        "too_large",
                        f"the files that you attach to conversations may take {settings.attached_mb:g} MB in total;"
                        " remove some, or delete conversations with files",
                    )
                files = await asyncio.to_thread(uploads.store, received, folder, folder_of(inside))
                work = Work(files=files, conversation=inside)
                status = await service.jobs.submit("upload", work, caller.reader.who)
        except BaseException:
            received.discard()
            raise
    except OSError as error:
        raise KnowledgeBaseError(f"the files could not be written: {error}") from error
    response.headers["location"] = f"{service.settings.url}/jobs/{status.job.id}"
    return job_of(status, service, caller)


@router.get("/attachments", responses={**errors.READING})
async def attachments(service: Here, caller: Reading, session: SessionQuery) -> AttachmentList:
    """List the files that are attached to a conversation of the caller."""
    days = service.settings.uploads.attached_days
    held = await asyncio.to_thread(partial(service.engine.documents.attached, session, reader=caller.reader))
    files = dict[str, list[Attached]]()
    for one in held:
        files.setdefault(one.file, []).append(one)
    listed = [_shown(name, documents, days) for name, documents in sorted(files.items())]
    return AttachmentList(attachments=listed)


@router.delete("/attachments", responses={**errors.CHANGING})
async def detach(service: Here, caller: Reading, session: SessionQuery, file: FileQuery) -> Detached:
    """Remove a file of a conversation: no question finds it any more.

    Its traces on the disk, and what names it in stored answers, are erased within minutes by a server that runs jobs.
    """
    held = await asyncio.to_thread(partial(service.engine.documents.attached, session, reader=caller.reader))
    ids = [one.document_id for one in held if one.file == file]
    if not ids:
        raise NotFound("the conversation has no such file")
    async with asyncio.timeout(service.settings.request_seconds):
        return Detached(removed=await service.sweeper.detach(ids, session, caller.reader))


async def _names(service: Service, caller: Caller, session: str) -> set[str]:
    """Return the names of the files of a conversation, also of those that jobs have yet to read."""
    folder = f"{folder_of(caller.reader.within(session).conversation)}/"
    # First: a job that ends meanwhile has stored what it read.
    waiting = await service.jobs.waiting_files()
    held = await asyncio.to_thread(partial(service.engine.documents.attached, session, reader=caller.reader))
    return {one.file for one in held} | {one.removeprefix(folder) for one in waiting if one.startswith(folder)}


def _shown(name: str, documents: list[Attached], days: float) -> Attachment:
    added = min(one.added for one in documents)
    return Attachment(
        file=name,
        document_ids=[one.document_id for one in documents],
        characters=sum(one.characters for one in documents),
        added=added,
        until=until(added, days),
    )
