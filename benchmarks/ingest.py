"""What ingesting costs beside embedding: reading, cutting, metadata, the catalog and both indexes; and its memory.

Real abstracts, a text file each. Processor time of `add`, whole, against that of embedding the same chunk texts once
more, in one process and with one thread. Memory is the peak of a process of its own, for a folder and one four times
as large: it must not grow with the folder but by what the indexes hold.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.common import ROOT, Options, Result, Table, main, skipped, told
from ragstone.engine import Engine

DOCUMENTS, QUICK_DOCUMENTS = 400, 40
TARGET = 1.15
_ALONE = "import asyncio, sys; from benchmarks.ingest import alone; asyncio.run(alone(*sys.argv[1:]))"


async def measure(options: Options) -> Result:
    if options.data is None:
        return skipped("ingest")
    count = QUICK_DOCUMENTS if options.quick else DOCUMENTS
    runs = []
    with TemporaryDirectory(prefix="ragstone-ingest-") as place:
        for documents in (count, 4 * count):
            told(f"ingest: {documents} documents")
            folder = Path(place) / f"{documents}"
            _write(options.data / "scifact" / "dev" / "corpus.jsonl", folder, documents)
            command = [sys.executable, "-c", _ALONE, str(folder), str(Path(place) / f"kb{documents}")]
            run = subprocess.run(command, cwd=ROOT, env={**os.environ}, stdout=subprocess.PIPE, text=True, check=True)
            runs.append(json.loads(run.stdout.splitlines()[-1]))
    return summary(runs)


async def alone(folder: str, home: str) -> None:
    """Ingest a folder, embed its chunks once more, and print the figures."""
    with closing(Engine.open(Path(home), ["index.threads=1"], create=True)) as engine:
        await engine._embedder.embed(["warm up"] * 2000, role="passage")
        before, started = time.process_time(), time.perf_counter()
        report = await engine.add([folder])
        whole, seconds = time.process_time() - before, time.perf_counter() - started
        peak = _peak_mb()
        texts = [chunk.headed for _, chunk in engine._catalog.chunks_since(0)]
        before = time.process_time()
        await engine._embedder.embed(texts, role="passage")
        bare = time.process_time() - before
    figures = {
        "documents": report.added,
        "chunks": report.chunks,
        "cpu_s": round(whole, 2),
        "embedding_cpu_s": round(bare, 2),
        "ratio": round(whole / bare, 3),
        "documents_per_s": round(report.added / seconds, 1),
        "peak_mb": peak,
    }
    print(json.dumps(figures))


def summary(runs: list[dict[str, float]]) -> Result:
    """A row for each folder, and whether the larger one met the target."""
    names = list(runs[0])
    rows = [[f"{run[name]:,}" for name in names] for run in runs]
    verdict = "met" if runs[-1]["ratio"] <= TARGET else "MISSED"
    note = f"Target: at most {TARGET} times the processor time of embedding alone: {verdict}."
    title = "`add` of text files, one thread"
    columns = [name.replace("_", " ") for name in names]
    return Result(figures={"runs": runs}, tables=[Table(title=title, columns=columns, rows=rows)], notes=[note])


def _write(corpus: Path, folder: Path, count: int) -> None:
    folder.mkdir()
    with corpus.open(encoding="utf-8") as lines:
        for _, line in zip(range(count), lines, strict=False):
            one = json.loads(line)
            (folder / f"{one['id']}.txt").write_text(f"{one['title']}\n\n{one['text']}", encoding="utf-8")


def _peak_mb() -> int:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / 1024**2 if sys.platform == "darwin" else peak / 1024)


if __name__ == "__main__":
    main({"ingest": measure}, "ingest")
