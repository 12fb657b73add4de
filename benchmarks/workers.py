"""How fast several workers add documents from one queue, and what limits them.

Workers read, cut and embed at once; one at a time commits and updates the indexes. Each is a process whose embedder has
one thread. The rate runs from the end of the first job to the end of the last, so that the start of Python does not
count. Where the time goes is measured in the workers: embedding, waiting for the lock, committing, and updating the
indexes. A second embedder, which takes no time, shows what commits and indexes allow however many hosts embed.

Stores: a folder with a queue in its journal; and PostgreSQL for the catalog, the journal with the queue, vectors and
keywords, on the same machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.bases import NO_CACHE, WITHOUT_MODEL, opened
from benchmarks.common import ROOT, Options, Result, Table, main, progress
from benchmarks.ingest import WORDS
from ragstone.catalog.catalog import SqlCatalog
from ragstone.catalog.lock import Patience
from ragstone.catalog.protocol import Prepared
from ragstone.core.records import Finished
from ragstone.engine import ingest
from ragstone.engine.components import Components
from ragstone.engine.jobs.worker import Worker
from ragstone.index.embed.local import MiniLM
from servers.postgres_server import PostgresServer, programs

if TYPE_CHECKING:
    from ragstone.core.records import Vector

FILES, QUICK_FILES = 600, 60
FAST_FILES = 3000
"""Files for the embedder that takes no time."""
JOB, QUICK_JOB = 50, 20
"""Files of a job; 50 is the default."""
PARAGRAPHS = 4
"""Of 100 words each; a chunk has about two."""
WORKERS = (1, 2, 4)
MODELS = {"packaged": ("index.embedder=minilm", "index.threads=1"), "none": WITHOUT_MODEL}
SERVED = ("index.catalog=postgres", "index.vectors=postgres", "index.keywords=postgres")
WAIT = 1800.0
"""The most seconds for a worker to end."""
PARTS = ("embedding", "waiting for the lock", "committing", "updating indexes")
_CHILD = "import sys; from benchmarks.workers import print_work; print_work(*sys.argv[1:])"


async def measure(options: Options) -> Result:
    rows: list[list[str]] = []
    figures: dict[str, Any] = {}
    with ExitStack() as stack:
        stores: dict[str, PostgresServer | None] = {"folder": None}
        if programs() is not None:
            stores["PostgreSQL"] = server = PostgresServer()
            stack.callback(server.stop)
        for model in MODELS:
            files = QUICK_FILES if options.quick else FILES if model == "packaged" else FAST_FILES
            settings = (*MODELS[model], f"jobs.files={QUICK_JOB if options.quick else JOB}")
            folder = _written(options.keep / f"files {files}", files)
            for (store, server), workers in ((one, count) for one in stores.items() for count in WORKERS):
                name = f"{model}, {store}, {workers}"
                progress(f"workers: {name}")
                figures[name] = found = await asyncio.to_thread(
                    _measured, options.keep / name.replace(", ", "-"), folder, workers, settings, server
                )
                shares = (f"{found[part]:.1f}" for part in PARTS)
                cpu = (f"{found['worker CPU s']:.1f}", f"{found['server CPU s']:.1f}" if server else "-")
                rows.append([model, store, str(workers), f"{found['chunks/s']:.0f}", *cpu, *shares])
    columns = (
        "embedder",
        "store",
        "workers",
        "chunks/s",
        "worker CPU s",
        "server CPU s",
        *(f"{one} s" for one in PARTS),
    )
    note = "The last four columns are seconds by the clock, of all workers together."
    return Result(figures=figures, tables=[Table(title="Workers", columns=columns, rows=rows)], notes=[note])


def _written(folder: Path, count: int) -> Path:
    if not folder.exists():
        chance = random.Random(1)
        folder.mkdir(parents=True)
        for number in range(count):
            parts = [f"Report {number}, part {part}. {_paragraph(chance)}" for part in range(PARAGRAPHS)]
            (folder / f"r{number:05}.txt").write_text("\n\n".join(parts), encoding="utf-8")
    return folder


def _paragraph(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=100)).capitalize() + "."


def _measured(
    kb: Path, folder: Path, workers: int, settings: Sequence[str], server: PostgresServer | None
) -> dict[str, float]:
    settings = [*settings, *NO_CACHE]
    if server is not None:
        database = server.database(f"workers{time.monotonic_ns()}")
        settings += [*SERVED, f"services.postgres.dsn={server.address(database)}"]
    before = _cpu(server)
    with opened(kb, settings) as engine:
        engine.documents.queue_sync([str(folder)])
        command = [sys.executable, "-c", _CHILD, str(kb), json.dumps(settings)]
        own = {**os.environ, "PYTHONPATH": str(ROOT)}
        started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=own) for _ in range(workers)]
        told = defaultdict[str, float](float)
        for process in started:
            out, _ = process.communicate(timeout=WAIT)
            if process.returncode:
                raise RuntimeError("a worker failed")
            for part, seconds in json.loads(out.splitlines()[-1]).items():
                told[part] += seconds
        jobs = [job for job in engine.documents.jobs.last(10_000) if job.kind == "add" and job.state == "done"]
    jobs.sort(key=lambda job: job.ended or 0)
    lasted = max((jobs[-1].ended or 1) - (jobs[0].ended or 0), 1e-9)
    chunks = sum(job.report.chunks for job in jobs[1:] if job.report)
    found = {part: round(told[part], 2) for part in (*PARTS, "worker CPU s")}
    return {"chunks/s": round(chunks / lasted, 1), **found, "server CPU s": round(_cpu(server) - before, 2)}


def _cpu(server: PostgresServer | None) -> float:
    """Return the CPU seconds of a server: of its processes, and of those that ended."""
    if server is None:
        return 0.0
    tick, total = os.sysconf("SC_CLK_TCK"), 0
    for pid in server.pids:
        file = Path(f"/proc/{pid}/stat")
        if file.is_file():
            times = file.read_text(encoding="utf-8").rpartition(")")[2].split()[11:15]
            total += sum(map(int, times))
    return total / tick


# ---------------------------------------------------------------- in a worker


def print_work(folder: str, settings: str) -> None:
    """Work until the queue is empty, and print the seconds of each part of the work."""
    told = defaultdict[str, float](float)
    _time_parts(told)
    with opened(Path(folder), json.loads(settings)) as engine:
        worker = Worker(engine, lambda _: None, lambda text: progress(f"worker: {text}"))
        asyncio.run(worker.run(until_empty=True))
    times = os.times()
    print(json.dumps({**told, "worker CPU s": times.user + times.system}))


def _time_parts(told: defaultdict[str, float]) -> None:
    """Make the parts of an ingest note their seconds, in this process only."""
    take, commit = ingest.lock, SqlCatalog.commit

    async def lock(version: Components, patience: Patience) -> ExitStack:
        began = time.perf_counter()
        held = await take(version, patience)
        told["waiting for the lock"] += time.perf_counter() - began
        return held

    def committed(
        self: SqlCatalog,
        prepared: Sequence[Prepared],
        vectors: Mapping[str, Vector],
        finished: Sequence[Finished] = (),
    ) -> int:
        began = time.perf_counter()
        try:
            return commit(self, prepared, vectors, finished)
        finally:
            told["committing"] += time.perf_counter() - began

    ingest.lock, SqlCatalog.commit = lock, committed
    ingest.follow_to_the_end = partial(_timed, told, "updating indexes", ingest.follow_to_the_end)
    embed = MiniLM.embed

    async def embedded(self: MiniLM, *given: Any, **named: Any) -> Any:
        return await _timed(told, "embedding", partial(embed, self, **named), *given)

    MiniLM.embed = embedded


async def _timed(told: defaultdict[str, float], part: str, call: Callable[..., Awaitable[Any]], *given: Any) -> Any:
    began = time.perf_counter()
    try:
        return await call(*given)
    finally:
        told[part] += time.perf_counter() - began


if __name__ == "__main__":
    main({"workers": measure}, "workers")
