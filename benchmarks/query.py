"""What a question costs as a knowledge base grows: both legs, their fusion and reading the hits; not the embedding.

The unit is the plain way to search the same vectors: ``vectors @ question`` in float32 on one thread, and the ten
best of that. A ratio compares times of the same run and machine. Recall is the share of the plain way's ten that the
vector leg has among its first ten, over questions of all data sets.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchmarks import query_data
from benchmarks.common import Options, Result, Table, main, skipped, told
from ragstone.conditions import Compare, Filter
from ragstone.contracts import Document, Span
from ragstone.engine import Engine
from ragstone.protocols import Role

if TYPE_CHECKING:
    from ragstone.contracts import Vector

SIZES, QUICK_SIZES = (10_000, 100_000, 1_000_000), (10_000, 30_000)
QUESTIONS, QUICK_QUESTIONS = 200, 40
FILTERS: dict[str, Filter | None] = {
    "none": None,
    "10%": Compare(key="tenth", op="=", value=0),
    "1%": Compare(key="hundredth", op="=", value=0),
}
WITHOUT_MODEL = ("rank.reranker=none", "cache.enabled=false")
"""Reranking computes with the embedding model, at a cost that does not depend on how much is stored. Every question
is worked out."""
TARGETS = {100_000: 0.25, 1_000_000: 0.15}
"""At most so many units for a question without a filter."""


class Given:
    """An embedder that knows the vectors of the benchmark's texts; any other text gets one by its hash."""

    fingerprint, dimensions = "given", 384
    known: ClassVar[dict[str, Vector]] = {}

    def familiarity(self, text: str) -> float:
        return float(bool(text))

    def tokens(self, text: str) -> list[Span]:
        return [Span(start=0, end=len(text))]

    async def embed(self, texts: Sequence[str], *, role: Role) -> Vector:
        del role
        return np.array([self.known[text] if text in self.known else _by_hash(text) for text in texts])


def _by_hash(text: str) -> Vector:
    vector = np.random.default_rng(abs(hash(text))).standard_normal(Given.dimensions, dtype=np.float32)
    return vector / np.linalg.norm(vector)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Questions with one filter: milliseconds, recall of the vector leg, and the fewest hits of it.

    ``cpu`` is the processor time of a question in that of the plain scan: other programs disturb it less.
    """

    p50: float
    p95: float
    unit: float
    cpu: float
    cold: float
    recall: float
    fewest: int

    @property
    def ratio(self) -> float:
        return self.p50 / self.unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A knowledge base of a size. ``opened`` is seconds to the first result, ``added`` to the search that finds it."""

    chunks: int
    by_filter: dict[str, Asked]
    memory: float
    disk: float
    opened: float
    added: float


async def measure(options: Options) -> Result:
    if options.data is None:
        return skipped("questions at scale")
    real = await _real(options)
    questions = list(Given.known)[: QUICK_QUESTIONS if options.quick else QUESTIONS]
    sizes = QUICK_SIZES if options.quick else (len(real.passages), *SIZES)
    return summary([await _measured(options, real, questions, count) for count in sizes])


async def base(options: Options, count: int) -> Path:
    """Where a knowledge base of so many chunks is kept, with the questions and their vectors beside it."""
    return _filled(options, await _real(options), list(Given.known)[:QUESTIONS], count)


async def _real(options: Options) -> query_data.Real:
    from ragstone import index
    from ragstone.config import load

    assert options.data is not None
    embedder = index.build_embedder(load().settings.index)
    real = await query_data.real(options.data, options.keep, embedder, quick=options.quick)
    Given.known = dict(zip(real.questions, real.question_vectors, strict=True))
    return real


def _filled(options: Options, real: query_data.Real, questions: Sequence[str], count: int) -> Path:
    folder = options.keep / f"query-{count}"
    filled = folder / "filled"
    if not filled.exists():
        with closing(Engine.open(folder, ("index.embedder=benchmarks.query:Given",), create=True)) as engine:
            query_data.fill(engine._catalog, real, count)
            told(f"query: indexing {count:,} chunks")
            engine._follow()
        filled.touch()
    asked_file = folder / "questions.npz"
    np.savez(asked_file, questions=np.array(questions), vectors=np.stack([Given.known[one] for one in questions]))
    return folder


async def _measured(options: Options, real: query_data.Real, questions: Sequence[str], count: int) -> Measured:
    folder = _filled(options, real, questions, count)
    told(f"query: asking {count:,} chunks")
    fresh = json.loads(
        subprocess.run(
            [sys.executable, "-m", "benchmarks.query_memory", str(folder), str(folder / "questions.npz")],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        ).stdout
    )
    vectors = np.concatenate(list(query_data.extended(real.vectors, count)))
    with closing(Engine.open(folder, WITHOUT_MODEL)) as engine:
        by_filter = {name: await _asked(engine, vectors, questions, where) for name, where in FILTERS.items()}
        added = await _added(engine)
    disk = sum(file.stat().st_size for file in (folder / "v1").rglob("*") if file.is_file())
    return Measured(
        chunks=count, by_filter=by_filter, memory=fresh["mb"], opened=fresh["opened"], added=added, disk=disk / 1e6
    )


async def _asked(engine: Engine, vectors: Vector, questions: Sequence[str], where: Filter | None) -> Asked:
    """Time the questions, each right after the plain scan, so that both meet the same machine."""
    rows = np.arange(1, len(vectors) + 1) if where is None else engine._catalog.select(where)
    allowed = rows[rows <= len(vectors)] - 1
    cold = await _timed(lambda: engine.search(questions[0], where=where))
    await engine.search(questions[1], where=where)
    unit, times, right, fewest = [], [], 0, 10**9
    unit_cpu, cpu = [], []
    for question in questions:
        vector = Given.known[question]
        started, cpu_started = time.perf_counter(), time.process_time()
        scores = vectors @ vector
        np.argpartition(scores, -10)[-10:]
        unit.append(time.perf_counter() - started)
        unit_cpu.append(time.process_time() - cpu_started)
        cpu_started = time.process_time()
        times.append(await _timed(lambda question=question: engine.search(question, where=where)))
        cpu.append(time.process_time() - cpu_started)
        best = allowed[np.argpartition(scores[allowed], -10)[-10:]] + 1
        found = await engine._vectors.search(vector, engine.settings.query.fetch_k, where)
        right += len(np.intersect1d(best, found.rows[:10]))
        fewest = min(fewest, len(found))
    return Asked(
        p50=statistics.median(times) * 1e3,
        p95=float(np.quantile(times, 0.95)) * 1e3,
        unit=statistics.median(unit) * 1e3,
        cpu=statistics.median(cpu) / statistics.median(unit_cpu),
        cold=cold * 1e3,
        recall=right / (10 * len(questions)),
        fewest=fewest,
    )


async def _added(engine: Engine) -> float:
    """Seconds from a document in hand to the search that finds it; the median of a few."""
    times = []
    for number in range(5):
        text = f"zyxw{number} something new {time.time_ns()}"
        started = time.perf_counter()
        await engine.add([Document(id=f"new {text}", text=text)])
        hits = await engine.search(text, 1)
        times.append(time.perf_counter() - started)
        assert hits[0].chunk.text == text
        engine.remove([f"new {text}"])
    return statistics.median(times)


async def _timed(run: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await run()
    return time.perf_counter() - started


def summary(sizes: Sequence[Measured]) -> Result:
    """A table of the questions, one of the rest, and which targets were met."""
    asked = Table(
        title="a question, without its embedding",
        columns=[
            "chunks",
            "filter",
            "p50 ms",
            "p95 ms",
            "first ms",
            "exact scan ms",
            "ratio",
            "CPU ratio",
            "recall@10",
            "fewest",
        ],
        rows=[
            [
                f"{size.chunks:,}",
                name,
                *(f"{value:.1f}" for value in (one.p50, one.p95, one.cold, one.unit)),
                f"{one.ratio:.2f}",
                f"{one.cpu:.2f}",
                f"{one.recall:.3f}",
                str(one.fewest),
            ]
            for size in sizes
            for name, one in size.by_filter.items()
        ],
    )
    rest = Table(
        title="the rest",
        columns=["chunks", "memory MB", "disk MB", "open to first result s", "add one document ms"],
        rows=[
            [
                f"{size.chunks:,}",
                f"{size.memory:.0f}",
                f"{size.disk:.0f}",
                f"{size.opened:.2f}",
                f"{size.added * 1e3:.0f}",
            ]
            for size in sizes
        ],
    )
    notes = [
        f"Target at {size.chunks:,} chunks: a ratio of at most {TARGETS[size.chunks]:g}:"
        f" {'met' if size.by_filter['none'].ratio <= TARGETS[size.chunks] else 'MISSED'}."
        for size in sizes
        if size.chunks in TARGETS
    ]
    return Result(figures={str(size.chunks): _figures(size) for size in sizes}, tables=[asked, rest], notes=notes)


def _figures(size: Measured) -> dict[str, Any]:
    asked = {
        name: {
            "p50_ms": round(one.p50, 2),
            "p95_ms": round(one.p95, 2),
            "cold_ms": round(one.cold, 2),
            "ratio": round(one.ratio, 3),
            "cpu_ratio": round(one.cpu, 3),
            "recall@10": round(one.recall, 4),
            "fewest": one.fewest,
        }
        for name, one in size.by_filter.items()
    }
    return {
        "filters": asked,
        "memory_mb": round(size.memory),
        "disk_mb": round(size.disk),
        "open_s": round(size.opened, 3),
        "add_ms": round(size.added * 1e3, 1),
    }


if __name__ == "__main__":
    # The class that the knowledge base names must be the one that is given the vectors.
    from benchmarks import query

    main({"query": query.measure}, "query")
