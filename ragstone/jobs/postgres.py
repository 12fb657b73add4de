"""The same queue of jobs in PostgreSQL, for workers on several machines.

Rows that another worker is just taking are passed over, so workers do not wait for each other. Leases
go by the server's clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragstone.errors import EngineError
from ragstone.index.postgres.connection import Server, refused
from ragstone.jobs.queue import (
    COLUMNS,
    FREE,
    KEPT,
    STEP,
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
from ragstone.services import PostgresSettings

if TYPE_CHECKING:
    from ragstone.index.postgres.connection import Connection

_TABLE = b"""
    CREATE SCHEMA IF NOT EXISTS ragstone;
    CREATE TABLE IF NOT EXISTS ragstone.jobs (
        queue  text NOT NULL,
        id     text PRIMARY KEY,
        at     double precision NOT NULL,
        reader text NOT NULL,
        kind   text NOT NULL,
        what   text NOT NULL,               -- JSON, an object: what is to be done
        state  text NOT NULL,
        server text NOT NULL,               -- the worker that does it
        tries  integer NOT NULL,
        ended  double precision,
        result text NOT NULL,               -- JSON, an object: the report, or what went wrong
        due    double precision NOT NULL    -- when anybody may take it
    );
    CREATE INDEX IF NOT EXISTS jobs_free ON ragstone.jobs (queue, at) WHERE ended IS NULL;
    CREATE INDEX IF NOT EXISTS jobs_over ON ragstone.jobs (queue, state, at);
"""
_NOW = "extract(epoch FROM clock_timestamp())::double precision"
_FREE = FREE.format(now=_NOW, jobs="ragstone.jobs").replace(
    "WHERE earlier", "WHERE earlier.queue = job.queue AND earlier"
)
_NEXT = f"SELECT {', '.join(COLUMNS)} FROM ragstone.jobs AS job WHERE queue = %s AND {_FREE}"  # noqa: S608
_MINE = "queue = %s AND id = %s AND server = %s AND tries = %s AND ended IS NULL"
_LOCK = 4_116_702_560
"""Number of the lock under which the table is made."""
_MISSING = ("42P01", "3F000")


class PostgresJobs:
    """The jobs of one queue."""

    def __init__(self, settings: PostgresSettings, queue: str, tries: int) -> None:
        """Take where the server is, the name of the queue, and how often a job may be taken.

        Raises:
            SettingsError: the settings do not say where it is.
        """
        self._server, self._queue, self._tries = Server(settings), queue, tries

    def close(self) -> None:
        self._server.close()

    def put(self, kind: Kind, works: Sequence[Work], reader: str = "") -> list[Job]:
        with self._server.transaction() as db:
            db.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
            db.execute(_TABLE)
            sql = f"SELECT {', '.join(COLUMNS)} FROM ragstone.jobs WHERE queue = %s AND state = 'waiting' AND kind = %s"  # noqa: S608
            rows = db.execute(f"{sql} FOR UPDATE SKIP LOCKED".encode(), [self._queue, kind]).fetchall()
            waiting = [job_of(row) for row in rows]
            last = db.execute("SELECT max(at) FROM ragstone.jobs WHERE queue = %s", [self._queue]).fetchone() or (None,)
            now = max(_now(db), (last[0] or 0.0) + STEP)
            jobs = unless_waiting(jobs_of(kind, works, reader, now), waiting)
            known = {job.id for job in waiting}
            values = ", ".join(["%s"] * (1 + len(COLUMNS)))
            insert = f"INSERT INTO ragstone.jobs (queue, {', '.join(COLUMNS)}) VALUES ({values})"  # noqa: S608
            with db.cursor() as cursor:
                cursor.executemany(
                    insert.encode(), [(self._queue, *row_of(job)) for job in jobs if job.id not in known]
                )
        return jobs

    def take(self, worker: str, lease: float) -> Job | None:
        try:
            with self._server.transaction() as db:
                while True:
                    sql = f"{_NEXT} ORDER BY at LIMIT 1 FOR UPDATE SKIP LOCKED"
                    row = db.execute(sql.encode(), [self._queue]).fetchone()
                    if row is None:
                        return None
                    job, now = job_of(row), _now(db)
                    if job.tries < self._tries:
                        job = replace(job, state="running", server=worker, tries=job.tries + 1, due=now + lease)
                        self._write(db, job)
                        return job
                    self._write(db, replace(job, state="failed", ended=now, error=job.error or too_often(job)))
        except EngineError as error:
            if refused(error) in _MISSING:  # nothing was ever put
                return None
            raise

    def hold(self, job: Job, lease: float) -> bool:
        with self._server.transaction() as db:
            sql = f"UPDATE ragstone.jobs SET due = {_NOW} + %s WHERE {_MINE}"  # noqa: S608
            return db.execute(sql.encode(), [lease, *self._whose(job)]).rowcount == 1

    def end(self, job: Job, *, counted: bool = True) -> bool:
        with self._server.transaction() as db:
            sql = f"SELECT 1 FROM ragstone.jobs WHERE {_MINE} FOR UPDATE"  # noqa: S608
            if not db.execute(sql.encode(), self._whose(job)).fetchone():
                return False
            self._write(db, job if counted else replace(job, tries=job.tries - 1))
            kept = "SELECT id FROM ragstone.jobs WHERE queue = %s AND state = %s ORDER BY at DESC OFFSET %s"
            for state in ("done", "failed"):
                db.execute(f"DELETE FROM ragstone.jobs WHERE id IN ({kept})".encode(), [self._queue, state, KEPT])  # noqa: S608
        return True

    def get(self, id: str) -> Job | None:
        found = self._select("id = %s", [id])
        return found[0] if found else None

    def last(self, count: int) -> list[Job]:
        return self._select("TRUE ORDER BY at DESC LIMIT %s", [count])

    def counts(self) -> JobCounts:
        sql = "SELECT state, count(*) FROM ragstone.jobs WHERE queue = %s GROUP BY state"
        return JobCounts(**dict(self._rows(sql, [self._queue])))

    def _select(self, which: str, values: list[object]) -> list[Job]:
        sql = f"SELECT {', '.join(COLUMNS)} FROM ragstone.jobs WHERE queue = %s AND {which}"  # noqa: S608
        return [job_of(row) for row in self._rows(sql, [self._queue, *values])]

    def _rows(self, sql: str, values: list[object]) -> list[Any]:
        try:
            with self._server.transaction() as db:
                return db.execute(sql.encode(), values).fetchall()
        except EngineError as error:
            if refused(error) in _MISSING:
                return []
            raise

    def _write(self, db: Connection, job: Job) -> None:
        told = ", ".join(f"{name} = %s" for name in COLUMNS)
        db.execute(f"UPDATE ragstone.jobs SET {told} WHERE id = %s".encode(), [*row_of(job), job.id])  # noqa: S608

    def _whose(self, job: Job) -> list[object]:
        return [self._queue, job.id, job.server, job.tries]


def _now(db: Connection) -> float:
    row = db.execute(f"SELECT {_NOW}".encode()).fetchone()
    return row[0] if row else 0.0
