"""Several workers on one knowledge base: how fast they add, and what is left of it when ten of them are killed.

Workers are processes as ``ragstone worker`` starts them, with the real embedder. The rate is that between the end of
the first job and of the last, so that it does not count the start of Python.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from servers.postgres_server import PostgresServer, programs

from benchmarks.common import ROOT, Options, Result, Table, main, told
from ragstone.engine import Engine
from ragstone.jobs.queue import Job
from ragstone.keeping.doctor import doctor

WORKER = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from ragstone.serve.cli import main; main()"
KILLS = 10
LEASE = 3
WAIT = 600.0
"""Seconds after which workers count as never ending."""
WAYS = {"one worker": (1, 0), "one worker, one thread": (1, 1), "two workers, one thread each": (2, 1)}
"""Workers, and threads of the embedder of each; 0: all cores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survived:
    """What was there after the kills; all but the first three should be 0."""

    kills: int
    server_kills: int
    jobs: int
    unfinished: int
    failed: int
    lost: int
    twice: int
    findings: int
    tries: int


async def measure(options: Options) -> Result:
    count = 120 if options.quick else 1500
    docs = options.keep / "docs"
    _write(docs, count)
    rates = {name: _rate(options.keep / name, docs, *how) for name, how in WAYS.items()}
    survived = {"journal": await _survive(options.keep / "killed", docs, ())}
    if programs() is not None:
        server = PostgresServer()
        try:
            dsn = server.address(server.database("jobs"))
            settings = ("jobs.queue=postgres", f"services.postgres.dsn={dsn}", "services.postgres.timeout_seconds=3")
            survived["postgres"] = await _survive(options.keep / "killed-too", docs, settings, server)
        finally:
            server.stop()
    return _result(count, rates, survived)


def _write(folder: Path, count: int) -> None:
    """Documents of about 2,400 characters, no two paragraphs the same."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(1)
    words = [f"{a}{b}" for a in ("mar", "tol", "ven", "sir", "kal", "bro") for b in ("ta", "min", "dor", "les", "ga")]
    for number in range(count):
        parts = [f"Report {number}, part {part}. " + " ".join(rng.choices(words, k=90)) + "." for part in range(4)]
        (folder / f"r{number:05}.txt").write_text("\n\n".join(parts), encoding="utf-8")


def _start(kb: Path, settings: Sequence[str]) -> subprocess.Popen[bytes]:
    named = [word for setting in settings for word in ("--set", setting)]
    command = [sys.executable, "-c", WORKER, "worker", "--kb", str(kb), "--until-empty", *named]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ.copy())


def _queued(kb: Path, docs: Path, settings: Sequence[str]) -> Engine:
    engine = Engine.open(kb, settings, create=True)
    engine.queue_sync([str(docs)])
    return engine


def _rate(kb: Path, docs: Path, workers: int, threads: int) -> float:
    """Documents in a second."""
    settings = ("jobs.files=10", f"index.threads={threads}")
    with closing(_queued(kb, docs, settings)) as engine:
        processes = [_start(kb, settings) for _ in range(workers)]
        for process in processes:
            process.wait(WAIT)
        jobs = sorted(_done(engine), key=lambda job: job.ended or 0)
    first, last = jobs[0].ended or 0, jobs[-1].ended or 1
    rate = sum(len(job.work.files) for job in jobs[1:]) / max(last - first, 1e-9)
    told(f"{workers} workers, {threads} threads: {rate:.1f} documents in a second")
    return rate


def _done(engine: Engine) -> list[Job]:
    return [job for job in engine.jobs.last(10_000) if job.kind == "add" and job.state == "done"]


async def _survive(kb: Path, docs: Path, settings: Sequence[str], server: PostgresServer | None = None) -> Survived:
    """Two workers; one of them is killed ten times, and, where there is one, the server of the queue three times."""
    rng, kills, server_kills = random.Random(2), 0, 0
    settings = ("jobs.files=4", f"jobs.lease_seconds={LEASE}", "jobs.tries=20", "index.threads=1", *settings)
    with closing(_queued(kb, docs, settings)) as engine:
        workers = [_start(kb, settings) for _ in range(2)]
        while kills < KILLS:
            await asyncio.sleep(0.05)
            if workers[0].poll() is None and workers[0].pid not in _at_work(engine):
                continue  # it is starting; a kill now would prove little
            await asyncio.sleep(rng.uniform(0.0, 0.3))
            victim = workers.pop(0)
            if victim.poll() is None:
                victim.send_signal(signal.SIGKILL)
                kills += 1
            victim.wait()
            if server and kills in (3, 6, 9) and server_kills < kills // 3:
                server.kill()
                await asyncio.sleep(0.5)
                server.start()
                server_kills += 1
            if not engine.jobs.counts().unfinished:
                _change(docs, kills)
                engine.queue_sync([str(docs)])
            workers.append(_start(kb, settings))
        for worker in workers:
            worker.wait(WAIT)
        jobs, counts = engine.jobs.last(10_000), engine.jobs.counts()
        stored = [document.source for document in engine.documents()]
        expected = {str(file) for file in docs.iterdir()}
    health = doctor(kb)
    told(f"{kb.name}: {kills} kills, {counts}")
    return Survived(
        kills=kills,
        server_kills=server_kills,
        jobs=len(jobs),
        unfinished=counts.unfinished,
        failed=counts.failed,
        lost=len(expected - set(stored)),
        twice=len(stored) - len(set(stored)),
        findings=len(health.findings),
        tries=sum(job.tries for job in jobs),
    )


def _at_work(engine: Engine) -> set[int]:
    """The processes that have a job."""
    return {int(job.server.split(":")[1]) for job in engine.jobs.last(10_000) if job.state == "running"}


def _change(docs: Path, number: int) -> None:
    """Give each document another end, so that there is something to do again."""
    for file in docs.iterdir():
        file.write_text(f"{file.read_text(encoding='utf-8')} And once more, number {number}.", encoding="utf-8")


def _result(count: int, rates: dict[str, float], survived: dict[str, Survived]) -> Result:
    speed = Table(
        title=f"Adding {count:,} documents of about 2,400 characters",
        columns=("workers", "documents in a second"),
        rows=[(name, f"{rate:.1f}") for name, rate in rates.items()],
    )
    names = ("kills", "server_kills", "jobs", "tries", "unfinished", "failed", "lost", "twice", "findings")
    kept = Table(
        title="Two workers, killed again and again while they add",
        columns=("queue", *(name.replace("_", " ") for name in names)),
        rows=[(where, *(str(asdict(one)[name]) for name in names)) for where, one in survived.items()],
    )
    figures = {"documents_per_second": rates, "survived": {where: asdict(one) for where, one in survived.items()}}
    notes = ["`server kills` are those of PostgreSQL. `findings` are what `ragstone doctor` found wrong afterwards."]
    return Result(figures=figures, tables=[speed, kept], notes=notes)


if __name__ == "__main__":
    main({"workers": measure}, "workers")
