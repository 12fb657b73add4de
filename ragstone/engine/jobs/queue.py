"""The job queue: durable work for a server or its workers.

A job belongs to one server or to any worker. A free worker takes a job under a lease and renews the lease while it
works. The lease of a dead worker expires, and another worker takes the job. So a job may run twice, or in part and
then in full; this is harmless, because adding a stored document changes nothing.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, replace
from typing import Any, Literal, Protocol

from ragstone.core.frozen import frozen
from ragstone.core.records import Decoded, Skipped
from ragstone.core.reports import AddReport
from ragstone.core.traces import Traces
from ragstone.history.erasing import strings

Kind = Literal["upload", "sync", "add", "page"]
State = Literal["waiting", "running", "done", "failed"]
UNFINISHED: tuple[State, ...] = ("waiting", "running")
KEPT = 500
"""Finished jobs kept per outcome."""
SERVER_TRIES = 2
"""Attempts of servers at a job; one that was interrupted more often may be what kills them. Workers have a setting."""
STEP = 1e-6
"""Seconds between the times of jobs submitted together, which keep their order."""
COLUMNS = ("id", "at", "reader", "kind", "what", "state", "server", "tries", "ended", "result", "due")
_NAMED = ("files", "sources")
"""The fields of a work that name documents."""
LONGEST_PAUSE = 300.0
"""Seconds until a failed job is tried again, at most."""
FREE = """ended IS NULL AND (due <= {now} OR due > {latest}) AND (kind <> 'sync' OR NOT EXISTS (
    SELECT 1 FROM {jobs} AS earlier WHERE earlier.ended IS NULL AND earlier.due IS NOT NULL AND earlier.at < job.at))"""
"""SQL condition on jobs that a worker may take. A sync waits for all earlier jobs.

A job due after ``latest``, later than any lease or pause that begins now, was given its time before the clock was set
back. It is taken at once, because the clock may take days to get there.
"""


def longest(lease: float) -> float:
    """Return the seconds that a lease or a pause may last; twice, because other workers may have longer leases."""
    return 2 * max(lease, LONGEST_PAUSE)


@frozen
class Work:
    """The input of a job: files, the groups that may read them and those of their writer, or sources.

    ``conversation`` is the group of the conversation that the files are attached to.
    """

    files: tuple[str, ...] = ()
    groups: tuple[str, ...] | None = None
    writer: tuple[str, ...] | None = None
    sources: tuple[str, ...] = ()
    conversation: str = ""


@frozen
class Job:
    """A piece of work and its state. ``reader`` owns the job; times are seconds since 1970.

    ``server`` is the server or worker that runs it. Any worker may take it after ``due``, which a lease moves forward;
    ``due`` is None for jobs of a server.
    """

    id: str
    at: float
    reader: str
    kind: Kind
    work: Work
    state: State = "waiting"
    server: str = ""
    tries: int = 0
    ended: float | None = None
    report: AddReport | None = None
    error: str = ""
    documents: tuple[str, ...] = field(default=())
    due: float | None = None

    @property
    def is_over(self) -> bool:
        return self.state not in UNFINISHED


@frozen
class JobCounts:
    """Numbers of stored jobs for workers. ``problem`` says why they are unknown; it is empty if they are known."""

    waiting: int = 0
    running: int = 0
    done: int = 0
    failed: int = 0
    problem: str = ""

    @property
    def unfinished(self) -> int:
        return self.waiting + self.running


class JobQueue(Protocol):
    """Jobs that any worker may take.

    Every method raises `KnowledgeBaseError` or `EngineError` if the queue is unavailable.
    """

    def put(self, kind: Kind, works: Sequence[Work], reader: str = "") -> list[Job]:
        """Record jobs durably and return them, in the order of the works.

        Work that already waits for the same reader is not added again; its waiting job is returned.
        """
        ...

    def take(self, worker: str, lease: float) -> Job | None:
        """Lease the oldest free job for ``lease`` seconds and return it; return None if no job is free.

        A job that was taken too often is marked as failed instead.
        """
        ...

    def hold(self, job: Job, lease: float) -> bool:
        """Renew the lease; return False if another worker has the job."""
        ...

    def end(self, job: Job, *, pause: float = 0.0, counted: bool = True) -> bool:
        """Record the end of a job, or release an unfinished one; times are those of the queue's clock.

        Return False if another worker has the job.

        Args:
            job: the new state, with the worker and the tries of the lease.
            pause: seconds until an unfinished job may be taken again.
            counted: whether the attempt counts.
        """
        ...

    def get(self, id: str) -> Job | None: ...

    def last(self, count: int) -> list[Job]:
        """Return the last jobs, newest first."""
        ...

    def counts(self) -> JobCounts: ...

    def erase(self, traces: Traces) -> None:
        """Delete the finished jobs that have traces of documents, and take the documents out of the others."""
        ...

    def close(self) -> None: ...


def erased(job: Job, traces: Traces) -> Job | None:
    """Return a job without traces of documents; None if it is over, or nothing of its work is left.

    A file that waits to be attached to a conversation stays: it is newer than any document that is erased.
    """
    if job.work.conversation and not job.is_over:
        return job
    stored = [part for part in job_row(job) if isinstance(part, str) and part.startswith("{")]
    if not any(traces.is_in(text) for part in stored for text in strings(json.loads(part))):
        return job
    left = {name: tuple(one for one in getattr(job.work, name) if not traces.is_in(one)) for name in _NAMED}
    return None if job.is_over or not any(left.values()) else replace(job, work=replace(job.work, **left), error="")


def interrupted_message(job: Job) -> str:
    """Return the error of a job that was interrupted too often."""
    return f"interrupted {job.tries} times while it was running; submit it again to retry"


def let_go(job: Job, now: float, pause: float, *, counted: bool) -> Job:
    """Return a job that a worker ends or releases now; see `JobQueue.end`."""
    job = replace(job, ended=now) if job.is_over else replace(job, due=now + pause)
    return job if counted else replace(job, tries=job.tries - 1)


def new_jobs(kind: Kind, works: Sequence[Work], reader: str, now: float) -> list[Job]:
    """Return new jobs in the order of the works, due immediately."""
    return [
        Job(id=secrets.token_hex(8), at=now + i * STEP, reader=reader, kind=kind, work=work, due=0.0)
        for i, work in enumerate(dict.fromkeys(works))
    ]


def reuse_waiting(jobs: Sequence[Job], waiting: Sequence[Job]) -> list[Job]:
    """Return the jobs; a waiting job with the same reader and work takes the place of a new one."""
    known = {(one.reader, work_json(one.work)): one for one in waiting}
    return [known.get((job.reader, work_json(job.work)), job) for job in jobs]


def work_json(work: Work) -> str:
    """Return work as JSON; equal work gives equal text."""
    return json.dumps(asdict(work))


def job_row(job: Job) -> tuple[object, ...]:
    """Return a job as a row of `COLUMNS`."""
    result = {"report": asdict(job.report) if job.report else None, "error": job.error, "documents": job.documents}
    values = (job.id, job.at, job.reader, job.kind, work_json(job.work), job.state, job.server, job.tries)
    return (*values, job.ended, json.dumps(result), job.due)


def job_from_row(values: Sequence[Any]) -> Job:
    """Return the job in a row of `COLUMNS`; further columns are ignored."""
    row: Mapping[str, Any] = dict(zip(COLUMNS, values, strict=False))
    work, result = json.loads(row["what"]), json.loads(row["result"])
    report: Any = result["report"]
    if report:
        skipped = tuple(Skipped(**one) for one in report["skipped"])
        decoded = tuple(Decoded(**one) for one in report["decoded"])
        report = AddReport(**(report | {"skipped": skipped, "decoded": decoded, "notices": tuple(report["notices"])}))
    groups, writer = work["groups"], work["writer"]
    return Job(
        id=row["id"],
        at=row["at"],
        reader=row["reader"],
        kind=row["kind"],
        work=Work(
            files=tuple(work["files"]),
            groups=None if groups is None else tuple(groups),
            writer=None if writer is None else tuple(writer),
            sources=tuple(work["sources"]),
            conversation=work.get("conversation", ""),
        ),
        state=row["state"],
        server=row["server"],
        tries=row["tries"],
        ended=row["ended"],
        report=report,
        error=result["error"],
        documents=tuple(result["documents"]),
        due=row["due"],
    )
