"""The HTTP API under load: a real server process, answers that are quoted, every question worked out anew.

Clients ask one question after another over connections of their own, from this machine: what they cost is taken from
the same processors. Stages are those that answers tell of themselves, with one client.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import query_data
from benchmarks.common import Options, Result, Table, main, skipped, told
from benchmarks.serving import Run, Server, load, make_key, served, warmed
from ragstone import index
from ragstone.config import load as load_settings
from ragstone.engine import Engine
from ragstone.usage.keys import KeyLimits

CHUNKS, QUICK_CHUNKS = 100_000, 10_000
CLIENTS = (1, 8, 32, 128)
SECONDS, QUICK_SECONDS = 30.0, 3.0
WARMING, QUICK_WARMING = 20.0, 2.0
"""Seconds that are not counted: files come from the disk, and word lists are read, once."""
SOAKING, SOAK, QUICK_SOAK = 32, 600.0, 6.0
SETTLED = 0.2
"""Share of the soak after which memory is compared with that at its end."""
GROWTH = 0.05
SETTINGS = ("cache.enabled=false", "serve.limits.rate_per_minute=0", "serve.limits.concurrent=0")
CEILINGS = {"search": 50.0, "rank": 200.0, "retrieval": 250.0}
"""Milliseconds that stages may take: both legs of the search with the question's embedding, reranking, all of it."""
RATE, BURST, TIMES = 60, 2, 10
"""Questions a minute that one key may ask, how many at once, and how many times that it tries to ask."""
OTHERS, SLOWER = 2, 2.0
"""Clients with another key, and how many times slower their p95 may become."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Soak:
    """A long run: what was asked, and megabytes of the server after a while and at the end."""

    run: Run
    before: float
    after: float

    @property
    def growth(self) -> float:
        return self.after / self.before - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowded:
    """Others alone, others beside one who asks far too much, and what became of that one's questions."""

    alone: Run
    beside: Run
    greedy: Run

    @property
    def slower(self) -> float:
        return self.beside.quantile(0.95) / self.alone.quantile(0.95)


async def measure(options: Options) -> Result:
    if options.data is None:
        return skipped("questions under load")
    count = QUICK_CHUNKS if options.quick else CHUNKS
    kb, questions = await base(options, count)
    seconds = QUICK_SECONDS if options.quick else SECONDS
    key = make_key(kb, f"load-{secrets.token_hex(4)}", KeyLimits())
    with served(kb, SETTINGS) as server:
        await warmed(server, key, questions[0])
        await load(server, key, questions, clients=8, seconds=QUICK_WARMING if options.quick else WARMING)
        runs = {}
        for clients in CLIENTS:
            told(f"load: {clients} clients for {seconds:g} s")
            runs[clients] = await load(server, key, questions, clients=clients, seconds=seconds)
        told("load: one key asks ten times what it may")
        crowded = await _crowded(kb, server, key, questions, seconds)
        lasts = QUICK_SOAK if options.quick else SOAK
        told(f"load: {SOAKING} clients for {lasts:g} s")
        soak = await _soak(server, key, questions, lasts)
    return summary(count, runs, soak, crowded)


async def base(options: Options, count: int) -> tuple[Path, list[str]]:
    """A knowledge base of so many chunks, with the vectors of the default embedder, and questions for it."""
    assert options.data is not None
    embedder = index.build_embedder(load_settings().settings.index)
    real = await query_data.real(options.data, options.keep, embedder, quick=options.quick)
    kb = options.keep / f"load-{count}"
    filled = kb / "filled"
    if not filled.exists():
        with closing(Engine.open(kb, ("index.embedder=minilm",), create=True)) as engine:
            query_data.fill(engine._catalog, real, count)
            told(f"load: indexing {count:,} chunks")
            engine._follow()
        filled.touch()
    return kb, list(real.questions)


async def _soak(server: Server, key: str, questions: Sequence[str], seconds: float) -> Soak:
    asking = asyncio.create_task(load(server, key, questions, clients=SOAKING, seconds=seconds))
    held = []
    while not asking.done():
        held.append(server.megabytes())
        await asyncio.wait({asking}, timeout=max(0.2, seconds / 200))
    tenth = max(1, len(held) // 10)
    settled = int(len(held) * SETTLED)
    before, after = np.median(held[settled : settled + tenth]), np.median(held[-tenth:])
    return Soak(run=await asking, before=float(before), after=float(after))


async def _crowded(kb: Path, server: Server, key: str, questions: Sequence[str], seconds: float) -> Crowded:
    limits = KeyLimits(rate_per_minute=RATE, burst=BURST)
    greedy = make_key(kb, f"greedy-{secrets.token_hex(4)}", limits)
    await asyncio.sleep(1)  # the server looks for new keys twice a second
    alone = await load(server, key, questions, clients=OTHERS, seconds=seconds)
    every = 60 / RATE
    beside, much = await asyncio.gather(
        load(server, key, questions, clients=OTHERS, seconds=seconds),
        load(server, greedy, questions, clients=TIMES, seconds=seconds, every=every),
    )
    return Crowded(alone=alone, beside=beside, greedy=much)


def summary(count: int, runs: dict[int, Run], soak: Soak, crowded: Crowded) -> Result:
    """Tables, figures, and whether the targets are met."""
    one = runs[CLIENTS[0]]
    one.stages["retrieval"] = [sum(pair) for pair in zip(one.stages["search"], one.stages["rank"], strict=True)]
    failed = sum(run.failed for run in (*runs.values(), soak.run, crowded.alone, crowded.beside))
    shares = [(f"{name} p{share:.0%}"[:-1], one.stage(name, share)) for name in CEILINGS for share in (0.5, 0.95)]
    met = {
        "no request failed": failed == 0,
        "stages below their ceilings": all(one.stage(name, 0.95) <= most for name, most in CEILINGS.items()),
        "memory grows by less than 5%": soak.growth < GROWTH,
        "others are less than twice as slow": crowded.slower < SLOWER,
    }
    tables = [
        Table(
            title=f"questions over HTTP, {count:,} chunks, answers quoted, nothing cached",
            columns=["clients", "answers/s", "p50", "p95", "answered", "failed"],
            rows=[
                [
                    str(clients),
                    f"{run.rate():.1f}",
                    f"{run.quantile(0.5):.0f} ms",
                    f"{run.quantile(0.95):.0f} ms",
                    f"{len(run.seconds):,}",
                    str(run.failed),
                ]
                for clients, run in runs.items()
            ],
        ),
        Table(
            title="stages of a question, one client",
            columns=["stage", "p50", "p95", "ceiling"],
            rows=[
                [name, f"{one.stage(name, 0.5):.0f} ms", f"{one.stage(name, 0.95):.0f} ms", f"{most:.0f} ms"]
                for name, most in CEILINGS.items()
            ],
        ),
        Table(
            title="what lasts, and what others notice",
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
                    f"others' p95 {crowded.alone.quantile(0.95):.0f} to {crowded.beside.quantile(0.95):.0f} ms,"
                    f" {crowded.slower:.2f} times",
                ],
            ],
        ),
    ]
    figures = {
        "chunks": count,
        "per_second": {str(clients): round(run.rate(), 1) for clients, run in runs.items()},
        "p50_ms": {str(clients): round(run.quantile(0.5)) for clients, run in runs.items()},
        "p95_ms": {str(clients): round(run.quantile(0.95)) for clients, run in runs.items()},
        "stages_ms": {name: round(value, 1) for name, value in shares},
        "failed": failed,
        "soak_answers": len(soak.run.seconds),
        "soak_growth": round(soak.growth, 4),
        "others_slower": round(crowded.slower, 2),
        "refused": crowded.greedy.statuses[429],
    }
    notes = [f"{name}: {'met' if fine else 'MISSED'}" for name, fine in met.items()]
    kinds = {words for run in (*runs.values(), soak.run) for words in run.errors[:3]}
    return Result(figures=figures, tables=tables, notes=["Targets: " + "; ".join(notes) + ".", *sorted(kinds)])


if __name__ == "__main__":
    main({"load": measure}, "load")
