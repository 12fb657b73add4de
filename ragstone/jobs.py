"""Work that a server was told to do, written down before it says that it will: a stopped server takes it up again."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from ragstone.contracts import Skipped
from ragstone.index.journal import Journal, row_crc
from ragstone.reports import AddReport

Kind = Literal["upload", "sync"]
State = Literal["waiting", "running", "done", "failed"]
UNFINISHED: tuple[State, ...] = ("waiting", "running")
KEPT = 500
"""Jobs that are remembered."""
TRIES = 2
"""A job that was under way when its server ended so often may be what ended it."""
_COLUMNS = ("id", "at", "reader", "kind", "what", "state", "server", "tries", "ended", "result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is to be done: files that were uploaded, with the groups they are for; or sources that are followed."""

    files: tuple[str, ...] = ()
    groups: tuple[str, ...] | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A piece of work, and what became of it. ``reader`` is whose it is; times are seconds since 1970."""

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

    @property
    def is_over(self) -> bool:
        return self.state not in UNFINISHED


class JobBook:
    """The jobs of a knowledge base."""

    def __init__(self, journal: Journal, clock: Callable[[], float] = time.time) -> None:
        """Take the journal, and what tells the seconds since 1970."""
        self._journal, self._clock = journal, clock

    def new(self, kind: Kind, work: Work, reader: str, server: str) -> Job:
        """Write down something to do; durable when this returns.

        Raises:
            KnowledgeBaseError: it could not be written.
        """
        job = Job(id=secrets.token_hex(8), at=self._clock(), reader=reader, kind=kind, work=work, server=server)
        self.note(job)
        return job

    def note(self, job: Job) -> None:
        """Write down how it stands with a job; of old ones that are over, only the last are kept.

        Raises:
            KnowledgeBaseError: it could not be written.
        """
        row = _row(job)
        sql = "INSERT OR REPLACE INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        old = "ended IS NOT NULL AND id NOT IN (SELECT id FROM jobs ORDER BY at DESC LIMIT ?)"
        with self._journal.writing() as db:
            db.execute(sql, [*row, row_crc(*row)])
            db.execute(f"DELETE FROM jobs WHERE {old}", [KEPT])  # noqa: S608

    def over(self, job: Job, *, report: AddReport | None = None, error: str = "") -> Job:
        """The job as it ended: with a report, or with what went wrong."""
        return replace(job, state="failed" if error else "done", ended=self._clock(), report=report, error=error)

    def get(self, id: str) -> Job | None:
        """A job, unless it is not known.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        found = self._select("WHERE id = ?", [id])
        return found[0] if found else None

    def last(self, count: int) -> list[Job]:
        """The jobs, the newest first.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        return self._select("ORDER BY at DESC LIMIT ?", [count])

    def take_over(self, server: str, alive: Collection[str]) -> list[Job]:
        """Jobs of servers that are no more, the oldest first: they are this server's now.

        One that was under way too often when its server ended has failed.

        Raises:
            KnowledgeBaseError: the journal cannot be written.
        """
        out: list[Job] = []
        for job in self._select("WHERE ended IS NULL ORDER BY at", []):
            if job.server in alive:
                continue
            if job.tries >= TRIES:
                told = f"interrupted {job.tries} times while it was under way; it is not tried again"
                self.note(self.over(job, error=told))
                continue
            taken = replace(job, server=server, state="waiting")
            self.note(taken)
            out.append(taken)
        return out

    def _select(self, which: str, values: list[object]) -> list[Job]:
        with self._journal.reading() as db:
            sql = f"SELECT {', '.join(_COLUMNS)}, crc FROM jobs {which}"  # noqa: S608
            rows = db.execute(sql, values).fetchall() if db else []
        return [_job(dict(zip(_COLUMNS, row, strict=False))) for row in rows if row[-1] == row_crc(*row[:-1])]


def _row(job: Job) -> tuple[object, ...]:
    result = {"report": asdict(job.report) if job.report else None, "error": job.error, "documents": job.documents}
    told = (job.id, job.at, job.reader, job.kind, json.dumps(asdict(job.work)), job.state, job.server, job.tries)
    return (*told, job.ended, json.dumps(result))


def _job(row: Mapping[str, Any]) -> Job:
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
    )
