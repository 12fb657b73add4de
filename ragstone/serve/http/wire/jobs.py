"""Work that takes longer than a request: files that are taken in, sources that are followed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ragstone.reports import AddReport
from ragstone.serve.http.jobs import Standing
from ragstone.serve.http.wire.base import Problem, Request, Response, Share


class Skipped(Response):
    """Something that gave no document, and why."""

    source: str
    reason: str


class Report(Response):
    """What was done. Counts are documents, but for the chunks."""

    added: int
    updated: int
    unchanged: int
    removed: int
    skipped: list[Skipped]
    chunks: int
    embedded: int
    seconds: float
    notices: list[str]

    @classmethod
    def of(cls, record: AddReport, folder: str) -> Report:
        """As it is told to those who need not know where the knowledge base lies."""
        told = cls.model_validate(record, from_attributes=True)
        skipped = [
            Skipped(source=one.source.removeprefix(folder), reason=one.reason.replace(folder, ""))
            for one in told.skipped
        ]
        return told.model_copy(update={"skipped": skipped})


class Progress(Response):
    """How far it has come; what is counted is stored, and answers questions. ``share`` is that of the files."""

    documents: int
    chunks: int
    share: Share


class Job(Response):
    """A piece of work and how it stands. Times are seconds since 1970."""

    job_id: str
    kind: Literal["upload", "sync", "add"]
    state: Literal["waiting", "running", "done", "failed"]
    at: float
    ended: float | None
    files: list[str] = Field(description="names of the files, of an upload, or of what is added")
    sources: list[str] = Field(description="what is followed, of a sync")
    document_ids: list[str] = Field(description="documents that were stored, the first hundred")
    progress: Progress
    report: Report | None = Field(description="once it is done")
    error: str | None = Field(description="why it failed")

    @classmethod
    def of(cls, standing: Standing, folder: str) -> Job:
        it = standing.job
        return cls(
            job_id=it.id,
            kind=it.kind,
            state=it.state,
            at=it.at,
            ended=it.ended,
            files=[file.rpartition("/")[2] for file in it.work.files],
            sources=list(it.work.sources),
            document_ids=list(it.documents),
            progress=Progress(documents=standing.documents, chunks=standing.chunks, share=standing.share)
            if not it.report
            else Progress(documents=it.report.added + it.report.updated, chunks=it.report.chunks, share=1.0),
            report=Report.of(it.report, folder) if it.report else None,
            error=it.error.replace(folder, "") or None,
        )


class JobList(Response):
    """Jobs, the newest first."""

    jobs: list[Job]


class JobEvents(Response):
    """The events of ``GET /jobs/{job_id}`` by their names, each with what stands in its ``data``.

    ``progress`` comes whenever something has changed; the last is ``end``, or ``error`` where watching failed.
    """

    progress: Job
    end: Job
    error: Problem


class SyncRequest(Request):
    """Sources to follow: those of ``serve.sources``, or some of them."""

    sources: Annotated[list[str], Field(max_length=100)] | None = None


class Removed(Response):
    """Ids of documents that were taken out."""

    removed: list[str]
