"""Jobs that change what is stored: uploads, syncs, and their progress."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi import Path as Parameter
from fastapi import Request as HttpRequest
from fastapi import Response as HttpResponse
from pydantic import Field

from ragstone.core import reports
from ragstone.core.access import EVERYONE, groups_in
from ragstone.core.errors import KnowledgeBaseError, NotFound
from ragstone.core.reports import AddReport
from ragstone.engine.jobs.queue import Kind, Work
from ragstone.engine.roots import UPLOADS
from ragstone.serve.http import errors, uploads
from ragstone.serve.http.authentication import Administering, Caller, Reading, Writing
from ragstone.serve.http.errors import REQUEST_ID, Problem, Refused
from ragstone.serve.http.job_runner import JobStatus
from ragstone.serve.http.messages import Request, Response, Share
from ragstone.serve.http.plain_words import plain, without_addresses
from ragstone.serve.http.service import Here, Service
from ragstone.serve.http.streaming import STREAM, EventStream, ServerEvent, described
from ragstone.serve.view import View

MAX_WATCH_SECONDS = 3600.0
"""How long one request may watch a job."""


# ---------------------------------------------------------------- messages
class Skipped(Response):
    """A source, or a part of one, that gave no document, and why."""

    source: str
    reason: str


class Decoded(Response):
    """A file whose text may be wrong or lack parts, and why."""

    source: str
    note: str


class Report(Response):
    """What a job did. Counts are of documents, except ``chunks`` and ``embedded``."""

    added: int
    updated: int
    unchanged: int
    removed: int
    skipped: list[Skipped]
    decoded: list[Decoded]
    chunks: int
    embedded: int
    seconds: float
    notices: list[str]

    @classmethod
    def of(cls, record: AddReport, folder: str, view: View) -> Report:
        """Return a report for people: without the folder of the knowledge base, and without advice for its owner."""
        report = cls.model_validate(record, from_attributes=True)
        skipped = [
            Skipped(source=one.source.removeprefix(folder), reason=plain(one.reason.replace(folder, "")))
            for one in report.skipped
        ]
        decoded = [Decoded(source=one.source.removeprefix(folder), note=plain(one.note)) for one in report.decoded]
        notices = list(view.notices(report.notices))
        return report.model_copy(update={"skipped": skipped, "decoded": decoded, "notices": notices})


class Progress(Response):
    """How far a job is. What it counts is stored and answers questions."""

    documents: int
    chunks: int
    share: Share = Field(description="the share of files done")
    files: int = Field(description="files done, or addresses of a web site visited")
    total: int = Field(description="how many there are, as far as known; 0 if unknown")
    pages: int = Field(description="pages of the stored documents that have pages")
    chunks_per_second: float
    seconds_left: float | None = Field(description="an estimate")
    current: str = Field(description="the name of the file, or the address, that is read now")
    waiting: str = Field(
        description="the process that is indexing, which this job waits for; empty while the job works"
    )

    @classmethod
    def of(cls, now: reports.Progress) -> Progress:
        return cls(
            documents=now.documents,
            chunks=now.chunks,
            share=now.share,
            files=now.files,
            total=now.total,
            pages=now.pages,
            chunks_per_second=now.rate,
            seconds_left=now.seconds_left,
            current=now.current if "://" in now.current else now.current.rpartition("/")[2],
            waiting=now.waiting,
        )


class Job(Response):
    """A job and its state. Times are seconds since 1970."""

    job_id: str
    kind: Kind
    state: Literal["waiting", "running", "done", "failed"]
    at: float
    ended: float | None
    files: list[str] = Field(description="names of the files that are uploaded or added")
    sources: list[str] = Field(description="the sources of a sync, or the address of a page")
    document_ids: list[str] = Field(description="stored documents, at most the first hundred")
    progress: Progress
    report: Report | None = Field(description="present once the job is done")
    error: str | None = Field(description="why the job failed")

    @classmethod
    def of(cls, status: JobStatus, folder: str, view: View) -> Job:
        job, report = status.job, status.job.report
        now, error = status.progress, job.error.replace(folder, "")
        if job.kind == "page":  # its caller named the address, and must not learn of the network from it
            error = without_addresses(error)
        elif error:
            (error,) = view.notices([error])
        if report:  # all counts of a job that is over are those of its report
            stored = report.added + report.updated
            now = replace(now, documents=stored, chunks=report.chunks, seconds=report.seconds, files=1, total=1)
        return cls(
            job_id=job.id,
            kind=job.kind,
            state=job.state,
            at=job.at,
            ended=job.ended,
            files=[file.rpartition("/")[2] for file in job.work.files],
            sources=list(job.work.sources),
            document_ids=list(job.documents),
            progress=Progress.of(now),
            report=Report.of(report, folder, view) if report else None,
            error=error or None,
        )


class JobList(Response):
    """Jobs, newest first."""

    jobs: list[Job]


class JobEvents(Response):
    """The events of ``GET /jobs/{job_id}`` by name, each with its ``data``.

    ``progress`` comes whenever something has changed. The last event is ``end``, or ``error`` if watching failed.
    """

    progress: Job
    end: Job
    error: Problem


class SyncRequest(Request):
    """Sources to sync: all of ``serve.sources``, or some of them."""

    sources: Annotated[list[str], Field(max_length=100)] | None = None


class PageRequest(Request):
    """A web page or feed to add."""

    address: Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"^https?://[^\s]+$")]


_FORM = uploads.form(
    {
        "groups": {
            "type": "array",
            "items": {"type": "string"},
            "description": "groups that may read them at most; * is everyone. By default, those of the key. Files and"
            " settings narrow them. A file may name only groups of the key",
        },
    }
)

# ---------------------------------------------------------------- routes
router = APIRouter(tags=["documents"])


@router.post(
    "/documents",
    status_code=202,
    response_model=Job,
    openapi_extra=_FORM,
    responses={**errors.UPLOADING},
)
async def upload(request: HttpRequest, response: HttpResponse, service: Here, caller: Writing) -> Job:
    """Upload files, which a job reads and stores. A file replaces one of the same name."""
    folder, settings = service.engine.folder, service.settings.uploads
    content_type = request.headers.get("content-type", "")
    try:
        received = await uploads.receive(
            request.stream(), content_type, folder / UPLOADS, settings, service.jobs.server
        )
        try:
            groups = _groups(received.groups, caller)
            target = uploads.folder_of(caller.reader, UPLOADS)
            files = await asyncio.to_thread(uploads.store, received, folder, target)
        except BaseException:
            received.discard()
            raise
    except OSError as error:
        raise KnowledgeBaseError(f"the files could not be written: {error}") from error
    own = caller.reader.groups
    work = Work(files=files, groups=groups, writer=None if own is None else tuple(sorted(own)))
    status = await service.jobs.submit("upload", work, caller.reader.who)
    response.headers["location"] = f"{service.settings.url}/jobs/{status.job.id}"
    return job_of(status, service, caller)


@router.post("/pages", status_code=202, response_model=Job, responses={**errors.CHANGING})
async def add_page(body: PageRequest, service: Here, caller: Writing, response: HttpResponse) -> Job:
    """Add a web page, or the entries of a feed, in a job, if the setting `serve.web_pages` allows it.

    Everyone may read what is added. So a key of some groups may not add pages: it could replace those of others.
    """
    if not may_add_pages(service, caller):
        raise Refused("forbidden", "web pages cannot be added here with this key")
    status = await service.jobs.submit("page", Work(sources=(body.address,)), caller.reader.who)
    response.headers["location"] = f"{service.settings.url}/jobs/{status.job.id}"
    return job_of(status, service, caller)


def may_add_pages(service: Service, caller: Caller) -> bool:
    """Return whether a caller may add web pages by their address."""
    return service.settings.web_pages and caller.may("write") and caller.reader.groups is None


@router.post(
    "/sync",
    status_code=202,
    response_model=Job,
    responses={**errors.CHANGING},
)
async def sync(service: Here, caller: Administering, response: HttpResponse, body: SyncRequest | None = None) -> Job:
    """Sync sources of the setting `serve.sources`, or added ones, in a job: add what is new, remove what is gone."""
    known = await service.scheduler.sources()
    wanted = tuple(known) if body is None or body.sources is None else tuple(dict.fromkeys(body.sources))
    if not wanted:
        raise Refused("conflict", "there is nothing to sync; list sources in the setting serve.sources")
    if unknown := [source for source in wanted if source not in known]:
        raise NotFound(f"'{unknown[0]}' is not in the setting serve.sources, and was not added")
    status = await service.jobs.submit("sync", Work(sources=wanted), caller.reader.who)
    await service.noted(caller, "sync", ", ".join(wanted))
    response.headers["location"] = f"{service.settings.url}/jobs/{status.job.id}"
    return job_of(status, service, caller)


@router.get("/jobs", responses={**errors.READING})
async def jobs(service: Here, caller: Reading, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> JobList:
    """List the caller's jobs, newest first. Administrators see all jobs."""
    own = [status for status in await service.jobs.last(500) if _may_see(status, caller)]
    return JobList(jobs=[job_of(status, service, caller) for status in own[:limit]])


@router.get(
    "/jobs/{job_id}",
    response_model=Job,
    responses={
        200: {
            "description": "The job; a stream of events until it has ended if the client accepts `text/event-stream`.",
            "content": described(JobEvents),
        },
        **errors.READING,
    },
)
async def job(
    job_id: Annotated[str, Parameter(min_length=1, max_length=100)],
    request: HttpRequest,
    service: Here,
    caller: Reading,
) -> Any:
    """Return a job and its progress."""
    status = await service.jobs.get(job_id)
    if not _may_see(status, caller):
        raise NotFound(f"there is no job '{job_id}'")
    if STREAM not in request.headers.get("accept", ""):
        return job_of(status, service, caller)
    request_id = request.scope[REQUEST_ID]
    return EventStream(
        _watched(service, job_id, caller),
        MAX_WATCH_SECONDS,
        lambda error: ServerEvent(event="error", data=errors.problem(error, request_id)),
    )


async def _watched(service: Service, id: str, caller: Caller) -> AsyncGenerator[ServerEvent]:
    async with aclosing(service.jobs.watch(id)) as changes:
        async for status in changes:
            yield ServerEvent(event="end" if status.job.is_over else "progress", data=job_of(status, service, caller))


def job_of(status: JobStatus, service: Service, caller: Caller) -> Job:
    """Return a job as its caller sees it."""
    return Job.of(status, f"{service.engine.folder.resolve()}/", caller.view)


def _may_see(status: JobStatus, caller: Caller) -> bool:
    is_own = status.job.reader == caller.reader.who
    return is_own or (caller.is_admin and not status.job.work.conversation)


def _groups(named: list[str] | None, caller: Caller) -> tuple[str, ...] | None:
    """Return the groups that may read uploaded documents; a key can name only its own groups."""
    own = caller.reader.groups
    if named is None:
        return tuple(sorted(own)) or (EVERYONE,) if own is not None else None
    groups = groups_in(named)
    foreign = [group for group in groups if own is not None and group not in {*own, EVERYONE}]
    if foreign:
        raise Refused("forbidden", f"this key does not belong to the group '{foreign[0]}'")
    return groups
