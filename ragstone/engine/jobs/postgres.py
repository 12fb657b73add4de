"""The job queue in PostgreSQL, for workers on several machines.

Workers skip rows that another worker has locked, so they never wait for each other. Leases follow the clock of the
database server.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragstone.core.errors import EngineError
from ragstone.core.traces import Traces
from ragstone.engine.jobs.queue import (
    COLUMNS,
    FREE,
    KEPT,
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
from ragstone.services.postgres import Server, is_missing
from ragstone.settings.services import ENGINE_SECONDS, PostgresSettings

if TYPE_CHECKING:
    from ragstone.services.postgres import Connection

_TABLE = b"""
    CREATE SCHEMA IF NOT EXISTS ragstone;
    CREATE TABLE IF NOT EXISTS ragstone.jobs (
        queue  text NOT NULL,
        id     text PRIMARY KEY,
        at     double precision NOT NULL,
        reader text NOT NULL,
        kind   text NOT NULL,
        what   text NOT NULL,               -- JSON object: the work
        state  text NOT NULL,
        server text NOT NULL,               -- the worker that holds the lease
        tries  integer NOT NULL,
        ended  double precision,
        result text NOT NULL,               -- JSON object: the report, or the error
        due    double precision NOT NULL    -- when any worker may take it
    );
    CREATE INDEX IF NOT EXISTS jobs_free ON ragstone.jobs (queue, at) WHERE ended IS NULL;
    CREATE INDEX IF NOT EXISTS jobs_over ON ragstone.jobs (queue, state, at);
"""
_NOW = "extract(epoch FROM clock_timestamp())::double precision"
_FREE = FREE.format(now=_NOW, latest=f"{_NOW} + %s", jobs="ragstone.jobs").replace(
    "WHERE earlier", "WHERE earlier.queue = job.queue AND earlier"
)
_NEXT = f"SELECT {', '.join(COLUMNS)} FROM ragstone.jobs AS job WHERE queue = %s AND {_FREE}"  # noqa: S608
_HELD = "queue = %s AND id = %s AND server = %s AND tries = %s AND ended IS NULL"
_LOCK = 4_116_702_560
"""Key of the advisory lock that guards the creation of the table."""


class PostgresJobs:
    """The jobs of one queue."""

    def __init__(self, settings: PostgresSettings, queue: str, tries: int, *, seconds: float = ENGINE_SECONDS) -> None:
        """Connect to a queue.

        Args:
            settings: connection settings of the server.
            queue: name of the queue.
            tries: maximum of attempts at a job.
            seconds: time limit of a reply.

        Raises:
            SettingsError: the settings do not name a server.
        """
        self._server, self._queue, self._tries = Server(settings, seconds=seconds), queue, tries

    def close(self) -> None:
        self._server.close()

    def put(self, kind: Kind, works: Sequence[Work], reader: str = "") -> list[Job]:
        with self._server.transaction() as db:
            db.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
            db.execute(_TABLE)
            sql = f"SELECT {', '.join(COLUMNS)} FROM ragstone.jobs WHERE queue = %s AND state = 'waiting' AND kind = %s"  # noqa: S608
            rows = db.execute(f"{sql} FOR UPDATE SKIP LOCKED".encode(), [self._queue, kind]).fetchall()
            waiting = [job_from_row(row) for row in rows]
            last = db.execute("SELECT max(at) FROM ragstone.jobs WHERE queue = %s", [self._queue]).fetchone() or (None,)
            now = max(_now(db), (last[0] or 0.0) + STEP)
            jobs = reuse_waiting(new_jobs(kind, works, reader, now), waiting)
            known = {job.id for job in waiting}
            values = ", ".join(["%s"] * (1 + len(COLUMNS)))
            insert = f"INSERT INTO ragstone.jobs (queue, {', '.join(COLUMNS)}) VALUES ({values})"  # noqa: S608
            with db.cursor() as cursor:
                cursor.executemany(
                    insert.encode(), [(self._queue, *job_row(job)) for job in jobs if job.id not in known]
                )
        return jobs

    def take(self, worker: str, lease: float) -> Job | None:
        try:
            with self._server.transaction() as db:
                while True:
                    sql = f"{_NEXT} ORDER BY at LIMIT 1 FOR UPDATE SKIP LOCKED"
                    row = db.execute(sql.encode(), [self._queue, longest(lease)]).fetchone()
                    if row is None:
                        return None
                    job, now = job_from_row(row), _now(db)
                    if job.tries < self._tries:
                        job = replace(job, state="running", server=worker, tries=job.tries + 1, due=now + lease)
                        self._write(db, job)
                        return job
                    self._write(
                        db, replace(job, state="failed", ended=now, error=job.error or interrupted_message(job))
                    )
        except EngineError as error:
            if is_missing(error):  # the table does not exist yet
                return None
            raise

    def hold(self, job: Job, lease: float) -> bool:
        with self._server.transaction() as db:
            sql = f"UPDATE ragstone.jobs SET due = {_NOW} + %s WHERE {_HELD}"  # noqa: S608
            return db.execute(sql.encode(), [lease, *self._holder_values(job)]).rowcount == 1

    def end(self, job: Job, *, pause: float = 0.0, counted: bool = True) -> bool:
        with self._server.transaction() as db:
            sql = f"SELECT 1 FROM ragstone.jobs WHERE {_HELD} FOR UPDATE"  # noqa: S608
            if not db.execute(sql.encode(), self._holder_values(job)).fetchone():
                return False
            self._write(db, let_go(job, _now(db), pause, counted=counted))
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

    def erase(self, traces: Traces) -> None:
        jobs = [(job, erased(job, traces)) for job in self._select("TRUE", [])]
        if changed := [(job, kept) for job, kept in jobs if kept is not job]:
            with self._server.transaction() as db:
                for job, kept in changed:
                    if kept is None:
                        db.execute("DELETE FROM ragstone.jobs WHERE id = %s", [job.id])
                    else:
                        self._write(db, kept)
        if jobs:
            self._server.rewrite("ragstone", "^jobs$")

    def _select(self, which: str, values: list[object]) -> list[Job]:
        sql = f"SELECT {', '.join(COLUMNS)} FROM ragstone.jobs WHERE queue = %s AND {which}"  # noqa: S608
        return [job_from_row(row) for row in self._rows(sql, [self._queue, *values])]

    def _rows(self, sql: str, values: list[object]) -> list[Any]:
        try:
            with self._server.transaction() as db:
                return db.execute(sql.encode(), values).fetchall()
        except EngineError as error:
            if is_missing(error):
                return []
            raise

    def _write(self, db: Connection, job: Job) -> None:
        values = ", ".join(f"{name} = %s" for name in COLUMNS)
        db.execute(f"UPDATE ragstone.jobs SET {values} WHERE id = %s".encode(), [*job_row(job), job.id])  # noqa: S608

    def _holder_values(self, job: Job) -> list[object]:
        return [self._queue, job.id, job.server, job.tries]


def _now(db: Connection) -> float:
    row = db.execute(f"SELECT {_NOW}".encode()).fetchone()
    return row[0] if row else 0.0
