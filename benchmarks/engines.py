"""Every index engine on the same chunks: how fast it fills, what it finds, how soon, and how much memory it takes.

Each engine runs in processes of its own, the embedded one first, with nothing else running. The questions
are real and their vectors are known, so that no model takes part. Recall is against comparing every vector. Qdrant is
its own engine behind a small server on loopback.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import load as load_benchmark
from benchmarks import query_data
from benchmarks.bases import NO_CACHE, KnownVectors, Parts, opened
from benchmarks.common import Options, Result, Table, child, main, memory_mb, percentile, progress, skipped, verdict
from ragstone import index
from ragstone.catalog.sqlite import open_catalog
from ragstone.core.access import OWNER
from ragstone.core.filters import Compare, Filter
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.settings.load import load as load_settings
from servers import chroma_server, qdrant_server
from servers.postgres_server import PostgresServer, programs

if TYPE_CHECKING:
    from ragstone.core.catalog import Rows
    from ragstone.core.records import Vector

CHUNKS, QUICK_CHUNKS = 100_000, 2_000
ASKED, QUICK_ASKED = 100, 20
AMONG = 10
FILTERS: dict[str, Filter] = {
    "50%": Compare(key="tenth", op="<", value=5),
    "10%": Compare(key="tenth", op="=", value=0),
    "1%": Compare(key="hundredth", op="=", value=0),
}
SETTINGS = (
    *NO_CACHE,
    "review.statistics_days=0",
    "review.responses_days=0",
    "rank.reranker=none",
    "index.exact_limit=1000",  # few, to see what engines do with many
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one engine did. ``filtered`` is recall by filter; ``full`` means that no search gave too few.

    ``mb`` is the memory of the process that asks, ``server_mb`` that of the engine's own processes.
    """

    engine: str
    fill_s: float
    fill_cpu_s: float
    start_s: float
    p50_ms: float
    p95_ms: float
    recall: float
    filtered: dict[str, float]
    full: bool
    mb: float
    server_mb: float = 0.0


async def measure(options: Options) -> Result:
    if options.data is None:
        return skipped("engines are compared on the passages of the data sets")
    count = QUICK_CHUNKS if options.quick else CHUNKS
    base, _ = await load_benchmark.base(options, count)
    embedder = index.build_embedder(load_settings().settings.index)
    real = await query_data.real(options.data, options.keep, embedder, quick=options.quick)
    asked = options.keep / f"engines-{count}.npz"
    some = slice(0, QUICK_ASKED if options.quick else ASKED)
    np.savez(asked, questions=np.array(real.questions[some]), vectors=real.question_vectors[some])
    return summary(count, [one for name in _installed() if (one := _try(name, base, asked))])


def _installed() -> list[str]:
    """Return the engines that are installed, the embedded one first."""
    names = ["embedded"]
    if find_spec("faiss"):
        names += [f"faiss:{kind}" for kind in ("Flat", "HNSW", "IVF", "PQ")]
    if chroma_server.is_installed():
        names += ["chroma", "chroma server"]
    if qdrant_server.is_installed():
        names += ["qdrant", "qdrant, both legs"]
    if programs():
        names += ["postgres", "postgres, both legs"]
    return names


def _try(name: str, base: Path, asked: Path) -> Measured | None:
    """Measure one engine with two processes: one fills it, the other starts and asks."""
    kb = base.with_name("engines-tried")
    shutil.rmtree(kb, ignore_errors=True)
    shutil.copytree(base, kb)
    if name == "embedded":
        shutil.rmtree(kb / "v1" / "vectors", ignore_errors=True)
    try:
        with _serving(name) as (settings, megabytes, settle):
            filled = _run("fill", kb, asked, settings)
            settle()
            found = _run("ask", kb, asked, settings)
            one = Measured(engine=name, **filled, **found, server_mb=megabytes())
    except RuntimeError as error:
        progress(f"engines: {name} could not be measured: {error}")
        return None
    finally:
        shutil.rmtree(kb, ignore_errors=True)
    progress(f"engines: {one}")
    return one


@contextmanager
def _serving(name: str) -> Generator[tuple[list[str], Callable[[], float], Callable[[], None]]]:
    """Run the server of an engine; yield settings, what tells the server's memory, and what waits for its indexing."""
    engine = name.partition(" ")[0].strip(",")
    keywords = engine if name.endswith(", both legs") else "embedded"
    settings = [*SETTINGS, f"index.vectors={engine}", f"index.keywords={keywords}"]
    if engine == "qdrant":
        qdrant = qdrant_server.QdrantServer()
        settings += [f"services.qdrant.url={qdrant.url}", "services.engine_seconds=60"]
        try:
            yield settings, lambda: memory_mb(pid=qdrant.pid), qdrant.optimize
        finally:
            qdrant.stop()
    elif name == "chroma server":
        chroma = chroma_server.ChromaServer()
        try:
            yield [*settings, f"services.chroma.url={chroma.url}"], lambda: memory_mb(pid=chroma.pid), lambda: None
        finally:
            chroma.stop()
    elif engine == "postgres":
        postgres = PostgresServer()
        settings += [f"services.postgres.dsn={postgres.address()}", "services.engine_seconds=60"]
        try:
            yield settings, lambda: sum(memory_mb(pid=pid) for pid in postgres.pids), lambda: None
        finally:
            postgres.stop()
    else:
        yield settings, lambda: 0.0, lambda: None


def _run(what: str, kb: Path, asked: Path, settings: Sequence[str]) -> dict[str, Any]:
    code = f"import sys; from benchmarks.engines import print_{what}; print_{what}(*sys.argv[1:])"
    return child("-c", code, str(kb), str(asked), *settings)


# ------------------------------------------------------------ in a process of their own


def print_fill(kb: str, asked: str, *settings: str) -> None:
    """Fill the vectors, and the keywords if they are not embedded, which all have; print the seconds."""
    del asked
    with opened(Path(kb), settings) as engine:
        parts = Parts(engine)
        began, cpu = time.perf_counter(), time.process_time()
        parts.terms.follow()
        parts.keywords.follow(write=True)
        parts.vectors.follow(write=True)
        print(json.dumps({"fill_s": time.perf_counter() - began, "fill_cpu_s": time.process_time() - cpu}))


def print_ask(kb: str, asked: str, *settings: str) -> None:
    """Start, ask with both legs, measure the recall of vectors, and print the figures."""
    print(json.dumps(asyncio.run(_ask(Path(kb), Path(asked), settings))))


async def _ask(kb: Path, asked: Path, settings: Sequence[str]) -> dict[str, Any]:
    with np.load(asked) as stored:
        KnownVectors.known = dict(zip(stored["questions"].tolist(), stored["vectors"], strict=True))
    with closing(open_catalog(kb / "v1" / "catalog.db")) as catalog:
        KnownVectors.fingerprint = str(catalog.built_with()["embedder"])
    questions, vectors = list(KnownVectors.known), list(KnownVectors.known.values())
    began = time.perf_counter()
    with opened(kb, settings, embedder=KnownVectors()) as engine:
        await engine.search(questions[0], AMONG, reader=OWNER)
        start = time.perf_counter() - began
        took: list[float] = []
        for question in questions:
            began = time.perf_counter()
            await engine.search(question, AMONG, reader=OWNER)
            took.append(1000 * (time.perf_counter() - began))
        megabytes = memory_mb(pid=os.getpid())
        parts = list(Parts(engine).catalog.vectors_since(0, KnownVectors.dimensions))
        exact = np.concatenate([block for _, block in parts])
        rows = np.concatenate([numbers for numbers, _ in parts])
        recall, full = await _recall(engine, vectors, exact, rows, None)
        filtered: dict[str, float] = {}
        for name, where in FILTERS.items():
            filtered[name], whole = await _recall(engine, vectors, exact, rows, where)
            full = full and whole
    return {
        "start_s": start,
        "p50_ms": percentile(took, 50),
        "p95_ms": percentile(took, 95),
        "recall": recall,
        "filtered": filtered,
        "full": full,
        "mb": megabytes,
    }


async def _recall(
    engine: KnowledgeBase, asked: Sequence[Vector], exact: Vector, rows: Rows, where: Filter | None
) -> tuple[float, bool]:
    """Return the share of the nearest that are found, and whether no search gave too few."""
    parts = Parts(engine)
    if where is not None:
        allowed = np.isin(rows, parts.catalog.select(where))
        exact, rows = exact[allowed], rows[allowed]
    right, full = 0, True
    for vector in asked:
        nearest = rows[np.argpartition(-(exact @ vector), AMONG)[:AMONG]]
        found = (await parts.vectors.search(vector, AMONG, where)).rows
        right += len(np.intersect1d(nearest, found))
        full = full and len(found) == AMONG
    return right / (AMONG * len(asked)), full


def summary(count: int, measured: Sequence[Measured]) -> Result:
    """Return a table, with ratios to the embedded engine of the same run."""
    base = measured[0]
    rows = [
        [
            one.engine,
            f"{count / one.fill_s:,.0f}",
            f"{one.fill_cpu_s:.1f} s",
            f"{one.start_s:.1f} s",
            f"{one.p50_ms:.1f} / {one.p95_ms:.1f} ms",
            f"{one.p50_ms / base.p50_ms:.1f}",
            f"{one.recall:.3f}",
            " / ".join(f"{value:.3f}" for value in one.filtered.values()) + ("" if one.full else ", not full"),
            f"{one.mb:.0f}" + (f" + {one.server_mb:.0f}" if one.server_mb else ""),
        ]
        for one in measured
    ]
    columns = ["engine", "chunks/s filled", "CPU of filling", "start to first answer", "hybrid p50 / p95"]
    columns += ["of embedded", "recall@10", f"filtered to {' / '.join(FILTERS)}", "MB + server"]
    full = all(one.full for one in measured)
    return Result(
        figures={"chunks": count, "full": full, "engines": [asdict(one) for one in measured]},
        tables=[Table(title=f"{count:,} chunks", columns=columns, rows=rows)],
        notes=[f"Target: no filter leaves too few: {verdict(full)}."],
    )


if __name__ == "__main__":
    main({"engines": measure}, "engines")
