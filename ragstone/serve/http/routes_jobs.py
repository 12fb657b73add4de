"""Routes that change what is stored: uploads, syncs, and how it stands with them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi import Path as Parameter

from ragstone.access import EVERYONE, groups_in
from ragstone.errors import KnowledgeBaseError, NotFound
from ragstone.jobs.queue import Work
from ragstone.serve.http import uploads, wire_errors
from ragstone.serve.http.door import Administering, Caller, Reading, Writing
from ragstone.serve.http.jobs import Standing
from ragstone.serve.http.problems import REQUEST_ID, Refused, trouble
from ragstone.serve.http.service import Here, Service
from ragstone.serve.http.sse import STREAM, EventStream, Sent, described
from ragstone.serve.http.wire import jobs as wire
from ragstone.serve.http.wire.base import Problem

router = APIRouter(tags=["documents"])
LONGEST_WATCH = 3600.0
"""Seconds that a job may be watched in one request."""
_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "additionalProperties": False,
                    "properties": {
                        "files": {
                            "type": "array",
                            "minItems": 1,
                            "items": {"type": "string", "format": "binary"},
                            "description": "files of kinds that Ragstone reads; their names have to tell the kind",
                        },
                        "groups": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "groups that may read them; * is everyone. Not given: as files and rules"
                            " say, or the groups of the key",
                        },
                    },
                }
            }
        },
    }
}


@router.post(
    "/documents",
    status_code=202,
    response_model=wire.Job,
    openapi_extra=_FORM,
    responses={**wire_errors.uploading},
)
async def upload(request: Request, response: Response, service: Here, caller: Writing) -> wire.Job:
    """Send files, which are read and stored in a job. Files of the same names are replaced."""
    folder, own = service.engine.folder, service.settings.uploads
    try:
        content_type = request.headers.get("content-type", "")
        came = await uploads.receive(request.stream(), content_type, folder / own.folder, own)
        try:
            groups = _groups(came.groups, caller)
            home = uploads.home_of(caller.reader, own.folder)
            files = await asyncio.to_thread(uploads.put_in_place, came, folder, home)
        except BaseException:
            uploads.discard(came)
            raise
    except OSError as error:
        raise KnowledgeBaseError(f"the files could not be written: {error}") from error
    standing = await service.jobs.submit("upload", Work(files=files, groups=groups), caller.reader.who)
    response.headers["location"] = f"/jobs/{standing.job.id}"
    return _told(standing, service)


@router.delete("/documents/{document_id:path}", responses={**wire_errors.changing})
async def remove(
    document_id: Annotated[str, Parameter(max_length=2_000)], service: Here, caller: Writing
) -> wire.Removed:
    """Take a document out; of one that was uploaded, the file too. Also an uploaded file that could not be read."""
    async with asyncio.timeout(service.settings.request_seconds):
        async with service.jobs.indexing:
            jobs = await service.jobs.last(500)
            awaited = {file for one in jobs if not one.job.is_over for file in one.job.work.files}
            removed = await asyncio.to_thread(_removed, service, caller, document_id, awaited)
    return wire.Removed(removed=removed)


@router.post(
    "/sync",
    status_code=202,
    response_model=wire.Job,
    responses={**wire_errors.changing},
)
async def sync(
    service: Here, caller: Administering, response: Response, body: wire.SyncRequest | None = None
) -> wire.Job:
    """Follow the sources that the settings name, in a job: what is new is added, what is gone removed."""
    known = service.settings.sources
    wanted = known if body is None or body.sources is None else tuple(dict.fromkeys(body.sources))
    if not wanted:
        raise Refused("conflict", "there is nothing to follow; the setting serve.sources names what can be")
    if unknown := [one for one in wanted if one not in known]:
        raise NotFound(f"'{unknown[0]}' is not among serve.sources, and nothing else is followed")
    standing = await service.jobs.submit("sync", Work(sources=wanted), caller.reader.who)
    response.headers["location"] = f"/jobs/{standing.job.id}"
    return _told(standing, service)


@router.get("/jobs", responses={**wire_errors.reading})
async def jobs(service: Here, caller: Reading, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> wire.JobList:
    """The jobs of whoever asks; of an administrator, all. The newest first."""
    found = [one for one in await service.jobs.last(500) if _is_theirs(one, caller)]
    return wire.JobList(jobs=[_told(one, service) for one in found[:limit]])


@router.get(
    "/jobs/{job_id}",
    response_model=wire.Job,
    responses={
        200: {
            "description": "How it stands; as events, until it is over, where the client accepts `text/event-stream`.",
            "content": described(wire.JobEvents),
        },
        **wire_errors.reading,
    },
)
async def job(
    job_id: Annotated[str, Parameter(min_length=1, max_length=100)], request: Request, service: Here, caller: Reading
) -> Any:
    """How it stands with a job."""
    now = await service.jobs.get(job_id)
    if not _is_theirs(now, caller):
        raise NotFound(f"there is no job '{job_id}'")
    if STREAM not in request.headers.get("accept", ""):
        return _told(now, service)
    request_id = request.scope[REQUEST_ID]
    return EventStream(
        _watched(service, job_id),
        LONGEST_WATCH,
        lambda error: Sent(event="error", data=Problem(error=trouble(error, request_id))),
    )


async def _watched(service: Service, id: str) -> AsyncGenerator[Sent]:
    async with aclosing(service.jobs.watch(id)) as moves:
        async for now in moves:
            yield Sent(event="end" if now.job.is_over else "progress", data=_told(now, service))


def _told(standing: Standing, service: Service) -> wire.Job:
    return wire.Job.of(standing, f"{service.engine.folder.resolve()}/")


def _is_theirs(standing: Standing, caller: Caller) -> bool:
    return caller.may("admin") or standing.job.reader == caller.reader.who


def _groups(named: list[str] | None, caller: Caller) -> tuple[str, ...] | None:
    """The groups that uploaded documents are for: what was said, and no others than those of the key."""
    own = caller.reader.groups
    if named is None:
        return tuple(sorted(own)) or (EVERYONE,) if own is not None else None
    groups = groups_in(named)
    foreign = [one for one in groups if own is not None and one not in {*own, EVERYONE}]
    if foreign:
        raise Refused("forbidden", f"this key does not speak for the group '{foreign[0]}'")
    return groups


def _removed(service: Service, caller: Caller, document_id: str, awaited: set[str]) -> list[str]:
    """Take it out, and its file unless that is a newer one, which waits to be read."""
    engine = service.engine
    folder = engine.folder.resolve()
    root = (folder / service.settings.uploads.folder).resolve()
    unread = _unread(service, caller, document_id)
    if unread and document_id in awaited:
        raise Refused("locked", "this file waits to be read; it can be removed when that is done")
    if unread:
        _unlink(service, unread)
        return [document_id]
    found = engine.document(document_id, reader=caller.reader)
    if found.id != document_id:
        raise NotFound(f"there is no document '{document_id}'")
    removed = engine.remove([document_id], reader=caller.reader)
    file, moved = _file_of(found.source, root), _file_of(str(folder / document_id), root)
    if not file and moved and not engine.listing(q=moved.name, limit=1).total:  # it was restored from elsewhere
        file = moved
    if file and not engine.holds_source(str(file)) and str(file.relative_to(folder)) not in awaited:
        _unlink(service, file)
    return removed


def _unread(service: Service, caller: Caller, id: str) -> Path | None:
    """The uploaded file of this name, if nothing of it is stored, and it is one of this caller's."""
    engine, own = service.engine, service.settings.uploads.folder
    folder = engine.folder.resolve()
    file, home = folder / id, folder / uploads.home_of(caller.reader, own)
    is_theirs = file.is_relative_to(folder / own) if caller.reader.groups is None else file.parent == home
    with suppress(OSError, ValueError):  # no file can have such a name
        if not is_theirs or ".." in file.parts or uploads.INCOMING in id or not file.is_file():
            return None
        near = [one.document_id for one in engine.listing(q=id, limit=500).documents]  # of a restored one, no source
        is_stored = any(one == id or one.startswith((f"{id}#", f"{id}/")) for one in near)
        return None if is_stored or engine.holds_source(str(file)) else file
    return None


def _unlink(service: Service, file: Path) -> None:
    service.engine.forget_skipped(str(file))
    file.unlink(missing_ok=True)


def _file_of(source: str, root: Path) -> Path | None:
    """The uploaded file that a document came from: a part of a file, such as a row, is named behind it."""
    ends = [i for i, char in enumerate(source) if char in "/#"]
    for end in [*ends, len(source)]:
        path = Path(source[:end]).resolve()
        if path.is_relative_to(root) and path.is_file():
            return path
    return None
