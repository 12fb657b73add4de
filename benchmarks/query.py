"""What a question costs as a knowledge base grows: both legs, their fusion and reading the hits, without the embedding.

The unit is the plain way to search the same vectors: ``vectors @ question`` in float32 on one thread, and the ten best
of that. A ratio compares times of one run on one machine. Recall is the share of the plain way's ten that are among the
first ten of the vector leg.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import query_data
from benchmarks.bases import WITHOUT_MODEL, KnownVectors, Parts, opened
from benchmarks.common import Options, Result, Table, child, main, memory_mb, progress, skipped, verdict
from ragstone import index
from ragstone.core.access import OWNER
from ragstone.core.filters import Compare, Filter
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.settings.load import load as load_settings

if TYPE_CHECKING:
    from ragstone.core.records import Vector

SIZES, QUICK_SIZES = (10_000, 100_000, 1_000_000), (10_000, 30_000)
QUESTIONS, QUICK_QUESTIONS = 200, 40
FILTERS: dict[str, Filter | None] = {
    "none": None,
    "10%": Compare(key="tenth", op="=", value=0),
    "1%": Compare(key="hundredth", op="=", value=0),
}
SETTINGS = ("rank.reranker=none", "cache.enabled=false")
"""Reranking computes with the embedding model, at a cost that does not depend on the size."""
TARGETS = {100_000: 0.25, 1_000_000: 0.15}
"""The largest ratio for a question without a filter."""
_CHILD = "import sys; from benchmarks.query import print_fresh; print_fresh(sys.argv[1])"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Questions with one filter: milliseconds, the CPU time in that of the plain scan, recall, and the fewest hits."""

    p50: float
    p95: float
    unit: float
    cpu: float
    first: float
    recall: float
    fewest: int

    @property
    def ratio(self) -> float:
        return self.p50 / self.unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A knowledge base of one size. ``opened`` is seconds to the first result, ``added`` until a search finds it."""

    chunks: int
    by_filter: dict[str, Asked]
    memory: float
    disk: float
    opened: float
    added: float


async def measure(options: Options) -> Result:
    if options.data is None:
        return skipped("questions at scale need passages of data sets")
    embedder = index.build_embedder(load_settings().settings.index)
    real = await query_data.real(options.data, options.keep, embedder, quick=options.quick)
    KnownVectors.known = dict(zip(real.questions, real.question_vectors, strict=True))
    questions = list(real.questions)[: QUICK_QUESTIONS if options.quick else QUESTIONS]
    sizes = QUICK_SIZES if options.quick else SIZES
    return summary([await _measured(options, real, questions, count) for count in sizes])


def _filled(options: Options, real: query_data.Real, questions: Sequence[str], count: int) -> Path:
    """Return a knowledge base of a size, with the questions and their vectors in a file."""
    folder = options.keep / f"query-{count}"
    filled = folder / "filled"
    if not filled.exists():
        with opened(folder, WITHOUT_MODEL) as engine:
            query_data.fill(Parts(engine).catalog, real, count)
            progress(f"query: indexing {count:,} chunks")
            Parts(engine).index()
        filled.touch()
    vectors = np.stack([KnownVectors.known[one] for one in questions])
    np.savez(folder / "questions.npz", questions=np.array(questions), vectors=vectors)
    return folder


async def _measured(options: Options, real: query_data.Real, questions: Sequence[str], count: int) -> Measured:
    folder = _filled(options, real, questions, count)
    progress(f"query: asking {count:,} chunks")
    fresh = child("-c", _CHILD, str(folder))
    vectors = np.concatenate(list(query_data.extended(real.vectors, count)))
    with opened(folder, SETTINGS) as engine:
        by_filter = {name: await _asked(engine, vectors, questions, where) for name, where in FILTERS.items()}
        added = await _added(engine)
    disk = sum(file.stat().st_size for file in (folder / "v1").rglob("*") if file.is_file())
    return Measured(
        chunks=count, by_filter=by_filter, memory=fresh["mb"], opened=fresh["opened"], added=added, disk=disk / 1e6
    )


def print_fresh(folder: str) -> None:
    """Open a knowledge base in a new process, ask it, and print the seconds to the first result and the memory."""
    with np.load(Path(folder) / "questions.npz") as stored:
        KnownVectors.known = dict(zip(stored["questions"].tolist(), stored["vectors"], strict=True))

    async def ask() -> dict[str, float]:
        started = time.perf_counter()
        with opened(Path(folder), SETTINGS) as engine:
            await engine.search(next(iter(KnownVectors.known)), reader=OWNER)
            first = time.perf_counter() - started
            for question in KnownVectors.known:
                await engine.search(question, reader=OWNER)
            return {"opened": first, "mb": memory_mb()}

    print(json.dumps(asyncio.run(ask())))


async def _asked(engine: KnowledgeBase, vectors: Vector, questions: Sequence[str], where: Filter | None) -> Asked:
    """Time the questions, each right after the plain scan, so that both see the same machine."""
    parts = Parts(engine)
    rows = np.arange(1, len(vectors) + 1) if where is None else parts.catalog.select(where)
    allowed = rows[rows <= len(vectors)] - 1
    first = await _timed(lambda: engine.search(questions[0], where=where, reader=OWNER))
    await engine.search(questions[1], where=where, reader=OWNER)
    unit: list[float] = []
    times: list[float] = []
    unit_cpu: list[float] = []
    cpu: list[float] = []
    right, fewest = 0, 10**9
    for question in questions:
        vector = KnownVectors.known[question]
        started, cpu_started = time.perf_counter(), time.process_time()
        scores = vectors @ vector
        np.argpartition(scores, -10)[-10:]
        unit.append(time.perf_counter() - started)
        unit_cpu.append(time.process_time() - cpu_started)
        cpu_started = time.process_time()
        times.append(await _timed(lambda question=question: engine.search(question, where=where, reader=OWNER)))
        cpu.append(time.process_time() - cpu_started)
        best = allowed[np.argpartition(scores[allowed], -10)[-10:]] + 1
        found = await parts.vectors.search(vector, engine.settings.query.fetch_k, where)
        right += len(np.intersect1d(best, found.rows[:10]))
        fewest = min(fewest, len(found))
    return Asked(
        p50=statistics.median(times) * 1e3,
        p95=float(np.quantile(times, 0.95)) * 1e3,
        unit=statistics.median(unit) * 1e3,
        cpu=statistics.median(cpu) / statistics.median(unit_cpu),
        first=first * 1e3,
        recall=right / (10 * len(questions)),
        fewest=fewest,
    )


async def _added(engine: KnowledgeBase) -> float:
    """Return the median seconds from adding a document to the search that finds it."""
    times: list[float] = []
    for number in range(5):
        text = f"zyxw{number} something new {time.time_ns()}"
        started = time.perf_counter()
        await engine.documents.add([Document(id=f"new {text}", text=text)])
        hits = await engine.search(text, 1, reader=OWNER)
        times.append(time.perf_counter() - started)
        assert hits[0].chunk.text == text
        engine.documents.remove([f"new {text}"], reader=OWNER)
    return statistics.median(times)


async def _timed(run: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await run()
    return time.perf_counter() - started


def summary(sizes: Sequence[Measured]) -> Result:
    """Return a table of the questions, one of the rest, and which targets were met."""
    columns = ["chunks", "filter", "p50 ms", "p95 ms", "first ms", "exact scan ms", "ratio", "CPU ratio"]
    asked = Table(
        title="a question, without its embedding",
        columns=[*columns, "recall@10", "fewest"],
        rows=[
            [
                f"{size.chunks:,}",
                name,
                *(f"{value:.1f}" for value in (one.p50, one.p95, one.first, one.unit)),
                *(f"{value:.2f}" for value in (one.ratio, one.cpu)),
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
            [f"{one.chunks:,}", f"{one.memory:.0f}", f"{one.disk:.0f}", f"{one.opened:.2f}", f"{one.added * 1e3:.0f}"]
            for one in sizes
        ],
    )
    notes = [
        f"Target at {one.chunks:,} chunks: a ratio of at most {TARGETS[one.chunks]:g}:"
        f" {verdict(one.by_filter['none'].ratio <= TARGETS[one.chunks])}."
        for one in sizes
        if one.chunks in TARGETS
    ]
    return Result(figures={str(one.chunks): _figures(one) for one in sizes}, tables=[asked, rest], notes=notes)


def _figures(size: Measured) -> dict[str, Any]:
    asked = {
        name: {
            "p50_ms": round(one.p50, 2),
            "p95_ms": round(one.p95, 2),
            "first_ms": round(one.first, 2),
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
    main({"query": measure}, "query")
