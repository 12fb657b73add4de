"""The HTTP API under load: a real server process, quoted answers, nothing cached.

Clients ask one question after another over connections of their own, from this machine, so that their cost comes out of
the same processors. Then one key asks ten times what it may, and many clients ask for ten minutes. The times of stages
are those that answers report, with one client. At last the same is asked of one and of two processes with the cache:
every question is new, and the encodings of passages that were read before are kept.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import numpy as np

from benchmarks import query_data
from benchmarks.bases import Parts, opened
from benchmarks.common import Options, Result, Table, main, memory_mb, progress, skipped, verdict
from benchmarks.serving import UNLIMITED, Run, Server, load, make_key, new, served, warm
from ragstone import index
from ragstone.history.keys import KeyLimits
from ragstone.settings.load import load as load_settings

CHUNKS, QUICK_CHUNKS = 100_000, 10_000
CLIENTS = (1, 8, 32, 128)
SECONDS, QUICK_SECONDS = 30.0, 3.0
WARMING, QUICK_WARMING = 20.0, 2.0
"""Seconds that do not count, in which files and word lists are read for the first time."""
SOAKING, SOAK, QUICK_SOAK = 32, 600.0, 6.0
SETTLED = 0.2
"""The share of the soak after which memory is compared with memory at the end."""
GROWTH = 0.05
SETTINGS = ("cache.enabled=false", *UNLIMITED)
PROCESSES = (1, 2)
KEPT = ("cache.entries=1",)
"""Answers of an earlier run must not be found."""
GOAL_RATE, GOAL_SECONDS = 40.0, 1.5
"""New answers per second on two cores with `SOAKING` clients, and the p95 of their seconds."""
CEILINGS = {"search": 50.0, "rank": 200.0, "retrieval": 250.0}
"""The most milliseconds for both legs with the embedding of the question, for reranking, and for all of it."""
RATE, BURST, TIMES = 60, 2, 10
"""Questions a minute that one key may ask, how many at once, and how many times as many it tries."""
OTHERS, SLOWER = 2, 2.0
"""The number of clients with another key, and how many times slower their p95 may become."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Soak:
    """A long run, and the server's megabytes after a while and at the end."""

    run: Run
    before: float
    after: float

    @property
    def growth(self) -> float:
        return self.after / self.before - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowded:
    """Other clients alone, other clients next to a greedy client, and the greedy client."""

    alone: Run
    disturbed: Run
    greedy: Run

    @property
    def slower(self) -> float:
        return self.disturbed.ms(95) / self.alone.ms(95)


async def measure(options: Options) -> Result:
    if options.data is None:
        return skipped("load needs passages and questions of data sets")
    count = QUICK_CHUNKS if options.quick else CHUNKS
    kb, questions = await base(options, count)
    seconds = QUICK_SECONDS if options.quick else SECONDS
    key = make_key(kb, f"load-{secrets.token_hex(4)}", KeyLimits())
    warming = QUICK_WARMING if options.quick else WARMING
    with served(kb, SETTINGS) as server:
        await warm(server, key, questions[0])
        await load(server, key, cycle(questions), clients=8, seconds=warming)
        runs: dict[int, Run] = {}
        for clients in CLIENTS:
            progress(f"load: {clients} clients for {seconds:g} s")
            runs[clients] = await load(server, key, cycle(questions), clients=clients, seconds=seconds)
        progress("load: one key asks ten times what it may")
        crowded = await _crowded(kb, server, key, questions, seconds)
        lasts = QUICK_SOAK if options.quick else SOAK
        progress(f"load: {SOAKING} clients for {lasts:g} s")
        soak = await _soak(server, key, questions, lasts)
    asked = new(questions)
    kept = {processes: await _with_kept(kb, key, asked, processes, warming, seconds) for processes in PROCESSES}
    return summary(count, runs, soak, crowded, kept)


async def _with_kept(kb: Path, key: str, asked: Iterator[str], processes: int, warming: float, seconds: float) -> Run:
    """Return what new questions take if the encodings of passages are kept, after so many seconds of warming up."""
    progress(f"load: {SOAKING} clients for {seconds:g} s, encodings kept, {processes} processes")
    with served(kb, (f"serve.workers={processes}", *KEPT, *UNLIMITED)) as server:
        await warm(server, key, next(asked))
        await load(server, key, asked, clients=8, seconds=warming)
        return await load(server, key, asked, clients=SOAKING, seconds=seconds)


async def base(options: Options, count: int) -> tuple[Path, list[str]]:
    """Return a knowledge base with vectors of the default embedder, and questions for it."""
    assert options.data is not None
    embedder = index.build_embedder(load_settings().settings.index)
    real = await query_data.real(options.data, options.keep, embedder, quick=options.quick)
    kb = options.keep / f"load-{count}"
    filled = kb / "filled"
    if not filled.exists():
        with opened(kb, ("index.embedder=minilm",)) as engine:
            query_data.fill(Parts(engine).catalog, real, count)
            progress(f"load: indexing {count:,} chunks")
            Parts(engine).index()
        filled.touch()
    return kb, list(real.questions)


async def _soak(server: Server, key: str, questions: Sequence[str], seconds: float) -> Soak:
    asking = asyncio.create_task(load(server, key, cycle(questions), clients=SOAKING, seconds=seconds))
    held: list[float] = []
    while not asking.done():
        held.append(memory_mb(pid=server.pid))
        await asyncio.wait({asking}, timeout=max(0.2, seconds / 200))
    tenth, settled = max(1, len(held) // 10), int(len(held) * SETTLED)
    before, after = np.median(held[settled : settled + tenth]), np.median(held[-tenth:])
    return Soak(run=await asking, before=float(before), after=float(after))


async def _crowded(kb: Path, server: Server, key: str, questions: Sequence[str], seconds: float) -> Crowded:
    limits = KeyLimits(rate_per_minute=RATE, burst=BURST)
    greedy_key = make_key(kb, f"greedy-{secrets.token_hex(4)}", limits)
    alone = await load(server, key, cycle(questions), clients=OTHERS, seconds=seconds)
    disturbed, greedy = await asyncio.gather(
        load(server, key, cycle(questions), clients=OTHERS, seconds=seconds),
        load(server, greedy_key, cycle(questions), clients=TIMES, seconds=seconds, every=60 / RATE),
    )
    return Crowded(alone=alone, disturbed=disturbed, greedy=greedy)


def summary(count: int, runs: dict[int, Run], soak: Soak, crowded: Crowded, kept: dict[int, Run]) -> Result:
    """Return tables, figures, and whether the targets are met; ``kept`` are the runs with the cache, by processes."""
    one = runs[CLIENTS[0]]
    one.stages["retrieval"] = [sum(pair) for pair in zip(one.stages["search"], one.stages["rank"], strict=True)]
    failed = sum(run.failed for run in (*runs.values(), *kept.values(), soak.run, crowded.alone, crowded.disturbed))
    met = {
        "no request failed": failed == 0,
        "stages below their ceilings": all(one.stage_ms(name, 95) <= most for name, most in CEILINGS.items()),
        "memory grows by less than 5%": soak.growth < GROWTH,
        "others are less than twice as slow": crowded.slower < SLOWER,
        f"{GOAL_RATE:g} new answers/s, p95 {GOAL_SECONDS:g} s, encodings kept": any(
            run.rate() >= GOAL_RATE and run.ms(95) <= 1000 * GOAL_SECONDS for run in kept.values()
        ),
    }
    asked = Table(
        title=f"questions over HTTP, {count:,} chunks, answers quoted, nothing cached",
        columns=["clients", "answers/s", "p50 ms", "p95 ms", "answered", "failed"],
        rows=[
            [
                str(clients),
                f"{run.rate():.1f}",
                f"{run.ms(50):.0f}",
                f"{run.ms(95):.0f}",
                f"{len(run.seconds):,}",
                str(run.failed),
            ]
            for clients, run in runs.items()
        ],
    )
    before = runs[SOAKING]
    with_kept = Table(
        title=f"new questions of {SOAKING} clients, encodings of passages kept",
        columns=["processes", "answers/s", "p50 ms", "p95 ms", "answered", "failed", "times nothing kept"],
        rows=[
            [
                str(processes),
                f"{run.rate():.1f}",
                f"{run.ms(50):.0f}",
                f"{run.ms(95):.0f}",
                f"{len(run.seconds):,}",
                str(run.failed),
                f"{run.rate() / before.rate():.1f}",
            ]
            for processes, run in kept.items()
        ],
    )
    stages = Table(
        title="stages of a question, one client",
        columns=["stage", "p50 ms", "p95 ms", "ceiling ms"],
        rows=[
            [name, f"{one.stage_ms(name, 50):.0f}", f"{one.stage_ms(name, 95):.0f}", f"{most:.0f}"]
            for name, most in CEILINGS.items()
        ],
    )
    long = Table(
        title="a long run, and a greedy key",
        columns=["what", "figure", "note"],
        rows=[
            [
                f"{SOAKING} clients for {soak.run.lasted:.0f} s",
                f"{len(soak.run.seconds):,} answers, {soak.run.failed} failed",
                f"memory {soak.before:.0f} to {soak.after:.0f} MB, {soak.growth:+.1%}",
            ],
            [
                f"one key asks {TIMES} times its {RATE} a minute",
                f"{crowded.greedy.statuses[200]} answered, {crowded.greedy.statuses[429]} refused (429)",
                f"others' p95 {crowded.alone.ms(95):.0f} to {crowded.disturbed.ms(95):.0f} ms,"
                f" {crowded.slower:.2f} times",
            ],
        ],
    )
    figures = {
        "chunks": count,
        "per_second": {str(clients): round(run.rate(), 1) for clients, run in runs.items()},
        "p50_ms": {str(clients): round(run.ms(50)) for clients, run in runs.items()},
        "p95_ms": {str(clients): round(run.ms(95)) for clients, run in runs.items()},
        "stages_ms": {f"{name} p{p}": round(one.stage_ms(name, p), 1) for name in CEILINGS for p in (50, 95)},
        "kept_per_second": {str(processes): round(run.rate(), 1) for processes, run in kept.items()},
        "kept_p95_ms": {str(processes): round(run.ms(95)) for processes, run in kept.items()},
        "failed": failed,
        "soak_answers": len(soak.run.seconds),
        "soak_growth": round(soak.growth, 4),
        "others_slower": round(crowded.slower, 2),
        "refused": crowded.greedy.statuses[429],
    }
    errors = {error for run in (*runs.values(), *kept.values(), soak.run) for error in run.errors[:3]}
    targets = "; ".join(f"{name}: {verdict(fine)}" for name, fine in met.items())
    return Result(
        figures=figures, tables=[asked, with_kept, stages, long], notes=[f"Targets: {targets}.", *sorted(errors)]
    )


if __name__ == "__main__":
    main({"load": measure}, "load")
