"""The job queue in the journal of a knowledge base, for all processes that share it."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from ragstone.core.reports import AddReport
from ragstone.core.traces import Traces
from ragstone.engine.jobs.queue import (
    COLUMNS,
    FREE,
    KEPT,
    SERVER_TRIES,
    STEP,
    Job,
    JobCounts,
    Kind,
    Work,
    erased,
    interrupted_message,
    job_from_row,
    job_row,
    let_go,
    longest,
    new_jobs,
    reuse_waiting,
)
from ragstone.history.journal import row_crc
from ragstone.history.store import JournalDatabase, JournalStore


class JournalJobs:
    """The jobs of a knowledge base in its journal: those of a server, and those for workers."""

    def __init__(self, journal: JournalStore, tries: int = SERVER_TRIES) -> None:
        """Take the journal and the most attempts of workers at a job."""
        self._journal, self._clock, self._tries = journal, journal.clock, tries

    def close(self) -> None:
        self._journal.close()

    # ------------------------------------------------------------ jobs of a server

    def new(self, kind: Kind, work: Work, reader: str, server: str) -> Job:
        """Record a new job durably and return it.

        Raises:
            KnowledgeBaseError: the journal cannot be written.
        """
        job = Job(id=secrets.token_hex(8), at=self._clock(), reader=reader, kind=kind, work=work, server=server)
        self.note(job)
        return job

    def note(self, job: Job) -> None:
        """Record the state of a job, and delete old finished jobs.

        Raises:
            KnowledgeBaseError: the journal cannot be written.
        """
        with self._journal.writing() as db:
            _put(db, job)
            if job.is_over:
                _forget_old(db)

    def ended(self, job: Job, *, report: AddReport | None = None, error: str = "") -> Job:
        """Return the job in its final state, with a report or an error."""
        return replace(job, state="failed" if error else "done", ended=self._clock(), report=report, error=error)

    def take_over(self, server: str, alive: Collection[str]) -> list[Job]:
        """Take over the jobs of dead servers of this host, each once, and return them, oldest first.

        A job that was interrupted too often is marked as failed instead. The jobs of other hosts stay theirs: the
        files are there.

        Args:
            server: the id of the server that takes over, which begins with its host.
            alive: the ids of the servers that run on this host.

        Raises:
            KnowledgeBaseError: the journal cannot be written.
        """

        def is_left(job: Job) -> bool:
            return job.server not in alive and _host_of(job.server) == _host_of(server)

        if not any(map(is_left, self._select(_SERVED, []))):
            return []
        out: list[Job] = []
        with self._journal.writing() as db:
            for job in _jobs(db, _SERVED, []):
                if not is_left(job):
                    continue
                if job.tries >= SERVER_TRIES:
                    _put(db, self.ended(job, error=interrupted_message(job)))
                else:
                    out.append(replace(job, server=server, state="waiting"))
                    _put(db, out[-1])
        return out

    def unfinished(self) -> int:
        """Return how many jobs of servers wait or run.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        return len(self._select(_SERVED, []))

    # ------------------------------------------------------------ jobs for workers

    def put(self, kind: Kind, works: Sequence[Work], reader: str = "") -> list[Job]:
        sql = f"SELECT {', '.join(COLUMNS)} FROM jobs WHERE state = 'waiting' AND due IS NOT NULL AND kind = ?"  # noqa: S608
        with self._journal.writing() as db:
            (last,) = db.execute("SELECT coalesce(max(at), 0.0) FROM jobs").fetchone()
            waiting = [job_from_row(row) for row in db.execute(sql, [kind])]
            jobs = reuse_waiting(new_jobs(kind, works, reader, max(self._clock(), last + STEP)), waiting)
            known = {job.id for job in waiting}
            for job in jobs:
                if job.id not in known:
                    _put(db, job)
        return jobs

    def take(self, worker: str, lease: float) -> Job | None:
        free = f"SELECT {', '.join(COLUMNS)}, crc FROM jobs AS job WHERE {FREE} ORDER BY at LIMIT 1"  # noqa: S608
        with self._journal.writing() as db:
            while True:
                now = self._clock()
                row = db.execute(free.format(now="?", latest="?", jobs="jobs"), [now, now + longest(lease)]).fetchone()
                if row is None:
                    return None
                job = job_from_row(row)
                if not _is_sound(row):
                    _put(db, self.ended(job, error="the stored job is damaged; submit it again"))
                elif job.tries >= self._tries:
                    _put(db, self.ended(job, error=job.error or interrupted_message(job)))
                else:
                    job = replace(job, state="running", server=worker, tries=job.tries + 1, due=now + lease)
                    _put(db, job)
                    return job

    def hold(self, job: Job, lease: float) -> bool:
        with self._journal.writing() as db:
            moved = db.execute(f"UPDATE jobs SET due = ? WHERE {_HELD}", [self._clock() + lease, *_holder_values(job)])  # noqa: S608
            return moved.rowcount == 1

    def end(self, job: Job, *, pause: float = 0.0, counted: bool = True) -> bool:
        with self._journal.writing() as db:
            if not db.execute(f"SELECT 1 FROM jobs WHERE {_HELD}", _holder_values(job)).fetchone():  # noqa: S608
                return False
            _put(db, let_go(job, self._clock(), pause, counted=counted))
            _forget_old(db)
            return True

    def counts(self) -> JobCounts:
        with self._journal.reading() as db:
            sql = "SELECT state, count(*) FROM jobs WHERE due IS NOT NULL GROUP BY state"
            return JobCounts(**dict(db.execute(sql).fetchall() if db else []))

    # ------------------------------------------------------------ all jobs

    def erase(self, traces: Traces) -> None:
        with self._journal.reading() as db:
            if db is None:
                return
        with self._journal.writing() as db:
            for job in _jobs(db, "TRUE", []):
                if (kept := erased(job, traces)) is None:
                    db.execute("DELETE FROM jobs WHERE id = ?", [job.id])
                elif kept is not job:
                    _put(db, kept)

    def get(self, id: str) -> Job | None:
        """Return a job, or None if its id is unknown.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        found = self._select("id = ?", [id])
        return found[0] if found else None

    def last(self, count: int) -> list[Job]:
        """Return the last jobs, newest first.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        return self._select("TRUE ORDER BY at DESC LIMIT ?", [count])

    def _select(self, which: str, values: list[object]) -> list[Job]:
        with self._journal.reading() as db:
            return _jobs(db, which, values) if db else []


_SERVED = "ended IS NULL AND due IS NULL ORDER BY at"
"""Unfinished jobs of servers."""


def _host_of(server: str) -> str:
    """Return the host that the id of a server names, as in ``host-id``."""
    return server.rpartition("-")[0]


_REPLACING = "ON CONFLICT (id) DO UPDATE SET " + ", ".join(
    f"{name} = excluded.{name}" for name in (*COLUMNS, "crc") if name != "id"
)
_HELD = "id = ? AND server = ? AND tries = ? AND ended IS NULL"


def _holder_values(job: Job) -> list[object]:
    return [job.id, job.server, job.tries]


def _jobs(db: JournalDatabase, which: str, values: list[object]) -> list[Job]:
    rows = db.execute(f"SELECT {', '.join(COLUMNS)}, crc FROM jobs WHERE {which}", values).fetchall()  # noqa: S608
    return [job_from_row(row) for row in rows if _is_sound(row)]


def _put(db: JournalDatabase, job: Job) -> None:
    *values, due = job_row(job)
    db.execute(
        "INSERT INTO jobs (id, at, reader, kind, what, state, server, tries, ended, result, crc, due)"  # noqa: S608
        f" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) {_REPLACING}",
        [*values, row_crc(*values), due],
    )


def _forget_old(db: JournalDatabase) -> None:
    for state in ("done", "failed"):
        kept = "SELECT id FROM jobs WHERE state = ?1 ORDER BY at DESC LIMIT ?2"
        db.execute(f"DELETE FROM jobs WHERE state = ?1 AND id NOT IN ({kept})", [state, KEPT])  # noqa: S608


def _is_sound(row: Sequence[Any]) -> bool:
    *values, _due, crc = row
    return crc == row_crc(*values)
