"""The jobs of a knowledge base in its journal, where every process of this machine finds them."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from ragstone.index.journal import Journal, row_crc
from ragstone.jobs.queue import (
    COLUMNS,
    FREE,
    KEPT,
    STEP,
    TRIES,
    Job,
    JobCounts,
    Kind,
    Work,
    job_of,
    jobs_of,
    row_of,
    too_often,
    unless_waiting,
)
from ragstone.reports import AddReport


class JobBook:
    """The jobs of a knowledge base, in its journal: a server's own, and those of its workers."""

    def __init__(self, journal: Journal, clock: Callable[[], float] = time.time, tries: int = TRIES) -> None:
        """Take the journal, what tells the seconds since 1970, and how often a job may be taken."""
        self._journal, self._clock, self._tries = journal, clock, tries

    def close(self) -> None:
        self._journal.close()

    # ------------------------------------------------------------ a server's own

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
        with self._journal.writing() as db:
            _put(db, job)
            if job.is_over:
                _forget_old(db)

    def over(self, job: Job, *, report: AddReport | None = None, error: str = "") -> Job:
        """The job as it ended: with a report, or with what went wrong."""
        return replace(job, state="failed" if error else "done", ended=self._clock(), report=report, error=error)

    def take_over(self, server: str, alive: Collection[str]) -> list[Job]:
        """Jobs of servers that are no more, the oldest first: they are this server's now.

        One that was under way too often when its server ended has failed.

        Raises:
            KnowledgeBaseError: the journal cannot be written.
        """
        out: list[Job] = []
        for job in self._select("ended IS NULL AND due IS NULL ORDER BY at", []):
            if job.server in alive:
                continue
            if job.tries >= TRIES:
                self.note(self.over(job, error=too_often(job)))
                continue
            taken = replace(job, server=server, state="waiting")
            self.note(taken)
            out.append(taken)
        return out

    # ------------------------------------------------------------ those of workers

    def put(self, kind: Kind, works: Sequence[Work], reader: str = "") -> list[Job]:
        sql = f"SELECT {', '.join(COLUMNS)} FROM jobs WHERE state = 'waiting' AND due IS NOT NULL AND kind = ?"  # noqa: S608
        with self._journal.writing() as db:
            (last,) = db.execute("SELECT ifnull(max(at), 0.0) FROM jobs").fetchone()
            waiting = [job_of(row) for row in db.execute(sql, [kind])]
            jobs = unless_waiting(jobs_of(kind, works, reader, max(self._clock(), last + STEP)), waiting)
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
                row = db.execute(free.format(now="?", jobs="jobs"), [now]).fetchone()
                if row is None:
                    return None
                job = job_of(row)
                if not _is_sound(row):
                    _put(db, self.over(job, error="what was to be done is not what was written"))
                elif job.tries >= self._tries:
                    _put(db, self.over(job, error=job.error or too_often(job)))
                else:
                    job = replace(job, state="running", server=worker, tries=job.tries + 1, due=now + lease)
                    _put(db, job)
                    return job

    def hold(self, job: Job, lease: float) -> bool:
        with self._journal.writing() as db:
            moved = db.execute(f"UPDATE jobs SET due = ? WHERE {_MINE}", [self._clock() + lease, *_whose(job)])  # noqa: S608
            return moved.rowcount == 1

    def end(self, job: Job, *, counted: bool = True) -> bool:
        with self._journal.writing() as db:
            if not db.execute(f"SELECT 1 FROM jobs WHERE {_MINE}", _whose(job)).fetchone():  # noqa: S608
                return False
            _put(db, job if counted else replace(job, tries=job.tries - 1))
            _forget_old(db)
            return True

    def counts(self) -> JobCounts:
        with self._journal.reading() as db:
            sql = "SELECT state, count(*) FROM jobs WHERE due IS NOT NULL GROUP BY state"
            return JobCounts(**dict(db.execute(sql).fetchall() if db else []))

    # ------------------------------------------------------------ all of them

    def get(self, id: str) -> Job | None:
        """A job, unless it is not known.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        found = self._select("id = ?", [id])
        return found[0] if found else None

    def last(self, count: int) -> list[Job]:
        """The jobs, the newest first.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        return self._select("TRUE ORDER BY at DESC LIMIT ?", [count])

    def _select(self, which: str, values: list[object]) -> list[Job]:
        with self._journal.reading() as db:
            sql = f"SELECT {', '.join(COLUMNS)}, crc FROM jobs WHERE {which}"  # noqa: S608
            rows = db.execute(sql, values).fetchall() if db else []
        return [job_of(row) for row in rows if _is_sound(row)]


_MINE = "id = ? AND server = ? AND tries = ? AND ended IS NULL"


def _whose(job: Job) -> list[object]:
    return [job.id, job.server, job.tries]


def _put(db: Any, job: Job) -> None:
    *told, due = row_of(job)
    db.execute(
        "INSERT OR REPLACE INTO jobs (id, at, reader, kind, what, state, server, tries, ended, result, crc, due)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [*told, row_crc(*told), due],
    )


def _forget_old(db: Any) -> None:
    for state in ("done", "failed"):
        kept = "SELECT id FROM jobs WHERE state = ?1 ORDER BY at DESC LIMIT ?2"
        db.execute(f"DELETE FROM jobs WHERE state = ?1 AND id NOT IN ({kept})", [state, KEPT])  # noqa: S608


def _is_sound(row: Sequence[Any]) -> bool:
    *told, _due, crc = row
    return crc == row_crc(*told)
