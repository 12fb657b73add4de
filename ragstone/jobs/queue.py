"""Work that is to be done, written down before anybody is told that it will be.

A job is a server's own, or anybody's: then whichever worker is free takes it, for as long as its lease, and renews
that while it works. When a worker is gone its lease runs out and the job is another's. A job may so be done twice, or
half and then whole; that changes nothing, since adding what is stored already does not.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

from ragstone.contracts import Skipped
from ragstone.reports import AddReport

Kind = Literal["upload", "sync", "add"]
State = Literal["waiting", "running", "done", "failed"]
UNFINISHED: tuple[State, ...] = ("waiting", "running")
KEPT = 500
"""Jobs of each outcome that are remembered."""
TRIES = 2
"""A job that was under way when its server ended so often may be what ended it."""
STEP = 1e-6
"""Seconds between jobs put at once, so that their order is known."""
COLUMNS = ("id", "at", "reader", "kind", "what", "state", "server", "tries", "ended", "result", "due")
FREE = """ended IS NULL AND due <= {now} AND (kind <> 'sync' OR NOT EXISTS (
    SELECT 1 FROM {jobs} AS earlier WHERE earlier.ended IS NULL AND earlier.due IS NOT NULL AND earlier.at < job.at))"""
"""Whether a job may be taken. What follows a source waits for what was to be added before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is to be done: files, to be added or that were uploaded, with the groups they are for; or sources."""

    files: tuple[str, ...] = ()
    groups: tuple[str, ...] | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A piece of work, and what became of it. ``reader`` is whose it is; times are seconds since 1970.

    ``server`` is who does it. ``due`` is when anybody may take it, which a lease puts off; None for a server's own.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCounts:
    """How many jobs for workers there are; of those that are over, of the last ones. ``problem``: why none is told."""

    waiting: int = 0
    running: int = 0
    done: int = 0
    failed: int = 0
    problem: str = ""

    @property
    def unfinished(self) -> int:
        return self.waiting + self.running


class JobQueue(Protocol):
    """Jobs that any worker may take. Every method raises KnowledgeBaseError or EngineError where it cannot be had."""

    def put(self, kind: Kind, works: Sequence[Work], reader: str = "") -> list[Job]:
        """Write down what is to be done; durable when this returns.

        What waits already for the same reader is not put again; its job is given.
        """
        ...

    def take(self, worker: str, lease: float) -> Job | None:
        """The oldest job that is free, which is this worker's for so many seconds; nothing where none is.

        One that was taken too often has failed.
        """
        ...

    def hold(self, job: Job, lease: float) -> bool:
        """Renew the lease; false where the job is somebody else's by now."""
        ...

    def end(self, job: Job, *, counted: bool = True) -> bool:
        """Write down a job as it ended, or, if it is not over, that it is free at its ``due``; false as of `hold`.

        Args:
            job: as it is now; its worker and its tries are those it was taken with.
            counted: whether this was a try.
        """
        ...

    def get(self, id: str) -> Job | None: ...

    def last(self, count: int) -> list[Job]:
        """The jobs, the newest first."""
        ...

    def counts(self) -> JobCounts: ...

    def close(self) -> None: ...


def too_often(job: Job) -> str:
    """Why a job is given up."""
    return f"interrupted {job.tries} times while it was under way; it is not tried again"


def jobs_of(kind: Kind, works: Sequence[Work], reader: str, now: float) -> list[Job]:
    """New jobs, in the order of the works; free at once."""
    return [
        Job(id=secrets.token_hex(8), at=now + i * STEP, reader=reader, kind=kind, work=work, due=now)
        for i, work in enumerate(dict.fromkeys(works))
    ]


def unless_waiting(jobs: Sequence[Job], waiting: Sequence[Job]) -> list[Job]:
    """The jobs; in the place of one that waits already, that one."""
    known = {(one.reader, written(one.work)): one for one in waiting}
    return [known.get((job.reader, written(job.work)), job) for job in jobs]


def written(work: Work) -> str:
    """As it is written down; the same for the same work."""
    return json.dumps(asdict(work))


def row_of(job: Job) -> tuple[object, ...]:
    """A job as a row of `COLUMNS`."""
    result = {"report": asdict(job.report) if job.report else None, "error": job.error, "documents": job.documents}
    told = (job.id, job.at, job.reader, job.kind, written(job.work), job.state, job.server, job.tries)
    return (*told, job.ended, json.dumps(result), job.due)


def job_of(values: Sequence[Any]) -> Job:
    """The job of such a row; what stands behind is not looked at."""
    row: Mapping[str, Any] = dict(zip(COLUMNS, values, strict=False))
    work, result = json.loads(row["what"]), json.loads(row["result"])
    report = result["report"]
    if report:
        skipped = tuple(Skipped(**one) for one in report["skipped"])
        report = AddReport(**{**report, "skipped": skipped, "notices": tuple(report["notices"])})
    groups = work["groups"]
    return Job(
        id=row["id"],
        at=row["at"],
        reader=row["reader"],
        kind=row["kind"],
        work=Work(
            files=tuple(work["files"]),
            groups=None if groups is None else tuple(groups),
            sources=tuple(work["sources"]),
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
