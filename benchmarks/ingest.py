"""How fast documents are added, what adding costs besides embedding, and how fast a folder is brought up to date.

The cost is the CPU time of `add` against that of embedding the same chunks once more, on one thread; memory is the peak
of the process. Both are measured for a folder of real abstracts and for one four times as large. `sync` runs over a
folder of small made-up documents: first, unchanged, and with one document in a hundred changed. Workers share a queue;
their rate runs from the end of the first job to the end of the last, so that the start of Python does not count.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.bases import Parts, opened
from benchmarks.common import COMMAND, ROOT, Options, Result, Table, child, main, memory_mb, progress, verdict
from ragstone.core.reports import AddReport
from ragstone.core.request import Request

DOCUMENTS, QUICK_DOCUMENTS = 400, 40
TARGET_RATIO = 1.15
"""The most CPU time that `add` may take, as a multiple of embedding."""
SYNCED, QUICK_SYNCED = 2000, 300
TARGET_SECONDS = 2.0
"""The most seconds for a sync of unchanged documents."""
QUEUED, QUICK_QUEUED = 1500, 120
WORKERS = {"one worker": (1, 0), "one worker, one thread": (1, 1), "two workers, one thread each": (2, 1)}
"""The number of workers, and of threads of each embedder; 0 means all cores."""
WAIT = 1800.0
"""The most seconds for a worker to end."""
_WORDS = (
    "room mill tide river bread garden letter window winter summer engine paper market bridge teacher student music "
    "number colour answer question morning evening table water stone glass house street village island harbour north "
    "south early late small large old new quiet bright open closed green grey red carries finds makes opens closes "
    "keeps leaves reads writes holds turns moves grows falls rises"
)
WORDS = _WORDS.split()
_CHILD = "import asyncio, sys; from benchmarks.ingest import print_cost; asyncio.run(print_cost(*sys.argv[1:]))"


async def measure(options: Options) -> Result:
    corpus = options.folder("scifact/dev/corpus.jsonl")
    with TemporaryDirectory(prefix="ragstone-ingest-") as place:
        folder = Path(place)
        costs = _costs(corpus, folder, QUICK_DOCUMENTS if options.quick else DOCUMENTS) if corpus else []
        runs = await measure_sync(folder, QUICK_SYNCED if options.quick else SYNCED)
        rates = await asyncio.to_thread(_rates, folder, QUICK_QUEUED if options.quick else QUEUED)
    return summary(costs, runs, rates)


# ---------------------------------------------------------------- cost and memory of `add`


def _costs(corpus: Path, place: Path, count: int) -> list[dict[str, float]]:
    costs: list[dict[str, float]] = []
    for documents in (count, 4 * count):
        progress(f"ingest: {documents} documents")
        folder = place / f"{documents}"
        folder.mkdir()
        with corpus.open(encoding="utf-8") as lines:
            for _, line in zip(range(documents), lines, strict=False):
                one = json.loads(line)
                (folder / f"{one['id']}.txt").write_text(f"{one['title']}\n\n{one['text']}", encoding="utf-8")
        costs.append(child("-c", _CHILD, str(folder), str(place / f"kb{documents}")))
    return costs


async def print_cost(folder: str, kb: str) -> None:
    """Add a folder, embed its chunks once more, and print the figures as JSON."""
    with opened(Path(kb), ["index.threads=1"]) as engine:
        parts = Parts(engine)
        await parts.embedder.embed(["warm up"] * 2000, role="passage", request=Request.by_owner())
        before, started = time.process_time(), time.perf_counter()
        report = await engine.documents.add([folder])
        whole, seconds = time.process_time() - before, time.perf_counter() - started
        peak = memory_mb("VmHWM")
        texts = [chunk.headed for _, chunk in parts.catalog.chunks_since(0)]
        before = time.process_time()
        await parts.embedder.embed(texts, role="passage", request=Request.by_owner())
        bare = time.process_time() - before
    figures = {
        "documents": report.added,
        "chunks": report.chunks,
        "cpu_s": round(whole, 2),
        "embedding_cpu_s": round(bare, 2),
        "ratio": round(whole / bare, 3),
        "documents_per_s": round(report.added / seconds, 1),
        "peak_mb": round(peak),
    }
    print(json.dumps(figures))


# ---------------------------------------------------------------- sync


async def measure_sync(place: Path, count: int) -> dict[str, tuple[float, AddReport]]:
    """Return the seconds and the report of each run of `sync`."""
    chance = random.Random(1)
    folder = place / "synced"
    folder.mkdir()
    paths = [folder / f"{number:05}.txt" for number in range(count)]
    for path in paths:
        path.write_text(f"{_paragraph(chance)}\n\n{_paragraph(chance)}", encoding="utf-8")
    runs: dict[str, tuple[float, AddReport]] = {}
    with opened(place / "sync-kb") as engine:
        for name in ("first", "unchanged", "1% changed"):
            progress(f"sync: {name}")
            for path in paths[::100] if name == "1% changed" else ():
                _change(path, chance)
            started = time.perf_counter()
            report = await engine.documents.sync([str(folder)])
            runs[name] = time.perf_counter() - started, report
    return runs


def _paragraph(chance: random.Random, words: int = 30) -> str:
    return " ".join(chance.choices(WORDS, k=words)).capitalize() + "."


def _change(path: Path, chance: random.Random) -> None:
    """Replace the last paragraph and advance the time of the file, because some disks have coarse clocks."""
    first = path.read_text(encoding="utf-8").rpartition("\n\n")[0]
    now = path.stat().st_mtime_ns
    path.write_text(f"{first}\n\n{_paragraph(chance)}", encoding="utf-8")
    os.utime(path, ns=(now + 10**9, now + 10**9))


# ---------------------------------------------------------------- workers


def _rates(place: Path, count: int) -> dict[str, float]:
    """Return the documents per second of each number of workers."""
    folder, chance = place / "queued", random.Random(1)
    folder.mkdir()
    for number in range(count):
        parts = [f"Report {number}, part {part}. {_paragraph(chance, 100)}" for part in range(4)]
        (folder / f"r{number:05}.txt").write_text("\n\n".join(parts), encoding="utf-8")
    return {name: _rate(place / name, folder, *how) for name, how in WORKERS.items()}


def _rate(kb: Path, folder: Path, workers: int, threads: int) -> float:
    progress(f"ingest: {workers} workers, {threads} threads")
    settings = ("jobs.files=10", f"index.threads={threads}")
    words = [word for one in settings for word in ("--set", one)]
    own = {**os.environ, "PYTHONPATH": str(ROOT)}
    with opened(kb, settings) as engine:
        engine.documents.queue_sync([str(folder)])
        command = [*COMMAND, "worker", "--kb", str(kb), "--until-empty", *words]
        started = [
            subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=own)
            for _ in range(workers)
        ]
        for process in started:
            if process.wait(WAIT):
                sys.exit("a worker failed; run `ragstone worker` to see why")
        done = [job for job in engine.documents.jobs.last(10_000) if job.kind == "add" and job.state == "done"]
    jobs = sorted(done, key=lambda job: job.ended or 0)
    lasted = (jobs[-1].ended or 1) - (jobs[0].ended or 0)
    return sum(len(job.work.files) for job in jobs[1:]) / max(lasted, 1e-9)


def summary(costs: list[dict[str, float]], runs: dict[str, tuple[float, AddReport]], rates: dict[str, float]) -> Result:
    """Return a table for each part, and whether the targets are met."""
    tables: list[Table] = []
    notes: list[str] = []
    if costs:
        names = list(costs[0])
        rows = [[f"{one[name]:,}" for name in names] for one in costs]
        columns = [name.replace("_", " ") for name in names]
        tables.append(Table(title="`add` of text files, one thread", columns=columns, rows=rows))
        met = verdict(costs[-1]["ratio"] <= TARGET_RATIO)
        notes.append(f"Target: at most {TARGET_RATIO} times the CPU time of embedding alone: {met}.")
    rows = [
        [name, f"{seconds:.2f}", *(f"{n:,}" for n in (r.added, r.updated, r.unchanged, r.chunks, r.embedded))]
        for name, (seconds, r) in runs.items()
    ]
    columns = ["run", "seconds", "added", "updated", "unchanged", "chunks", "embedded"]
    tables.append(Table(title="`sync` of a folder", columns=columns, rows=rows))
    met = verdict(runs["unchanged"][0] < TARGET_SECONDS)
    notes.append(f"Target: a sync without changes in less than {TARGET_SECONDS:g} s: {met}.")
    rows = [[name, f"{rate:.1f}"] for name, rate in rates.items()]
    tables.append(Table(title="Workers on one queue", columns=["workers", "documents per second"], rows=rows))
    figures = {
        "add": costs,
        "sync": {
            name: {"seconds": round(seconds, 3), "chunks": report.chunks, "embedded": report.embedded}
            for name, (seconds, report) in runs.items()
        },
        "workers": {name: round(rate, 2) for name, rate in rates.items()},
    }
    return Result(figures=figures, tables=tables, notes=notes)


if __name__ == "__main__":
    main({"ingest": measure}, "ingest")
