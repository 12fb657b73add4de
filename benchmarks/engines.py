"""Every engine on the same chunks: how fast it takes them in, what it finds, how soon, and what it holds in memory.

Each is tried in a process of its own, after the embedded one and beside nothing else of ours. The chunks are real
passages and made ones; the questions are real, and their vectors are known before, so that no model takes part. Recall
is against comparing every vector. Qdrant is its own engine behind a small server of the tests.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from servers import chroma_server, qdrant_server
from servers.postgres_server import PostgresServer, programs

from benchmarks import load as load_benchmark
from benchmarks import query_data
from benchmarks.common import ROOT, Options, Result, Table, main, skipped, told
from benchmarks.query_memory import resident
from ragstone import index
from ragstone.conditions import Compare, Filter
from ragstone.config import load as load_settings
from ragstone.engine import Engine

CHUNKS, QUICK_CHUNKS = 100_000, 2_000
ASKED, QUICK_ASKED = 100, 20
AMONG = 10
FILTERS: dict[str, Filter] = {
    "50%": Compare(key="tenth", op="<", value=5),
    "10%": Compare(key="tenth", op="=", value=0),
    "1%": Compare(key="hundredth", op="=", value=0),
}
NEVER = ("cache.enabled=false", "review.statistics_days=0", "review.responses_days=0", "rank.reranker=none")
EXACT = 1000
"""Chunks up to which engines compare every vector: few, so that what they do with many can be seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one engine did; ``filtered`` has recall by filter, ``full`` whether every search gave all that were wanted.

    Memory is of the process that asks; ``server_mb`` of the engine's own processes, where it has any.
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
    measured = [one for name in _engines() if (one := _tried(name, base, asked))]
    return summary(count, measured)


def _engines() -> list[str]:
    """Those that are here, the embedded one first."""
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


def _tried(name: str, base: Path, asked: Path) -> Measured | None:
    """One engine, in two processes: one fills it, the other starts and asks."""
    kb = base.with_name("engines-tried")
    shutil.rmtree(kb, ignore_errors=True)
    shutil.copytree(base, kb)
    if name == "embedded":
        shutil.rmtree(kb / "v1" / "vectors", ignore_errors=True)
    try:
        with _serving(name) as (settings, megabytes, ready):
            filled = _process("fill", name, kb, asked, settings)
            ready()
            found = _process("ask", name, kb, asked, settings)
            one = Measured(engine=name, **{**filled, **found, "server_mb": megabytes()})
    except RuntimeError as error:
        told(f"engines: {name} could not be measured: {error}")
        return None
    finally:
        shutil.rmtree(kb, ignore_errors=True)
    told(f"engines: {one}")
    return one


@contextmanager
def _serving(name: str) -> Iterator[tuple[list[str], Callable[[], float], Callable[[], None]]]:
    """Settings for an engine with its server running; what that holds in memory; and what ends its preparations."""
    settings = [*NEVER, f"index.exact_limit={EXACT}"]
    engine = name.partition(" ")[0].strip(",")
    keywords = engine if name.endswith(", both legs") else "embedded"
    settings += [f"index.vectors={engine}", f"index.keywords={keywords}"]
    with ExitStack() as stack:
        if engine == "qdrant":
            server = qdrant_server.QdrantServer()
            stack.callback(server.stop)
            settings += [f"services.qdrant.url={server.url}", "services.qdrant.timeout_seconds=60"]
            yield settings, lambda: resident(server.pid), server.optimize
        elif name == "chroma server":
            chroma = chroma_server.ChromaServer()
            stack.callback(chroma.stop)
            settings += [f"services.chroma.url={chroma.url}"]
            yield settings, lambda: resident(chroma.pid), lambda: None
        elif name.startswith("postgres"):
            postgres = PostgresServer()
            stack.callback(postgres.stop)
            settings += [f"services.postgres.dsn={postgres.address()}", "services.postgres.timeout_seconds=60"]
            yield settings, lambda: sum(map(resident, postgres.pids)), lambda: None
        else:
            yield settings, lambda: 0.0, lambda: None


def _process(what: str, name: str, kb: Path, asked: Path, settings: Sequence[str]) -> dict[str, object]:
    own = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.engines", f"--{what}", str(kb), str(asked), *settings]
    done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{what} {name}: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout.splitlines()[-1])


# ------------------------------------------------------------ in a process of their own


class Known:
    """The vectors of questions, as an embedder; nothing is embedded."""

    dimensions = 384

    def __init__(self, vectors: dict[str, np.ndarray], fingerprint: str) -> None:
        self._vectors, self.fingerprint = vectors, fingerprint

    def familiarity(self, text: str) -> float:
        del text
        return 1.0

    def tokens(self, text: str) -> list[object]:
        del text
        return []

    async def embed(self, texts: Sequence[str], *, role: str) -> np.ndarray:
        del role
        return np.stack([self._vectors[text] for text in texts])


def fill(kb: str, asked: str, *settings: str) -> dict[str, object]:
    """Bring the engine up: the vectors, and keywords where they are not embedded, which all have."""
    del asked
    with closing(Engine.open(kb, settings)) as engine:
        began, cpu = time.perf_counter(), time.process_time()
        engine._terms.follow()
        engine._keywords.follow(write=True)
        engine._vectors.follow(write=True)
        return {"fill_s": time.perf_counter() - began, "fill_cpu_s": time.process_time() - cpu}


async def ask(kb: str, asked: str, *settings: str) -> dict[str, object]:
    """Start, ask with both legs, then look at what vectors find, with filters and without."""
    with np.load(asked) as stored:
        vectors = dict(zip(stored["questions"].tolist(), stored["vectors"], strict=True))
    with closing(index.Catalog(Path(kb) / "v1" / "catalog.db")) as catalog:
        known = Known(vectors, str(catalog.built_with()["embedder"]))
    began = time.perf_counter()
    with closing(Engine.open(kb, settings, build_embedder=lambda *_: known)) as engine:  # pyright: ignore
        questions = list(vectors)
        await engine.search(questions[0], AMONG)
        start, took = time.perf_counter() - began, []
        for question in questions:
            begun = time.perf_counter()
            await engine.search(question, AMONG)
            took.append(1000 * (time.perf_counter() - begun))
        megabytes = resident(os.getpid())
        exact, rows = _everything(engine)
        recall, full = await _recall(engine, list(vectors.values()), exact, rows, None)
        filtered = {}
        for name, where in FILTERS.items():
            filtered[name], whole = await _recall(engine, list(vectors.values()), exact, rows, where)
            full = full and whole
    return {
        "start_s": start,
        "p50_ms": float(np.quantile(took, 0.5)),
        "p95_ms": float(np.quantile(took, 0.95)),
        "recall": recall,
        "filtered": filtered,
        "full": full,
        "mb": megabytes,
    }


def _everything(engine: Engine) -> tuple[np.ndarray, np.ndarray]:
    parts = list(engine._catalog.vectors_since(0, Known.dimensions))
    return np.concatenate([vectors for _, vectors in parts]), np.concatenate([rows for rows, _ in parts])


async def _recall(
    engine: Engine, asked: Sequence[np.ndarray], exact: np.ndarray, rows: np.ndarray, where: Filter | None
) -> tuple[float, bool]:
    """The share of the nearest that is found, and whether always as many were as asked for."""
    if where is not None:
        allowed = np.isin(rows, engine._catalog.select(where))
        exact, rows = exact[allowed], rows[allowed]
    right, full = 0, True
    for vector in asked:
        nearest = rows[np.argpartition(-(exact @ vector), AMONG)[:AMONG]]
        found = (await engine._vectors.search(vector, AMONG, where)).rows
        right += len(np.intersect1d(nearest, found))
        full = full and len(found) == AMONG
    return right / (AMONG * len(asked)), full


def summary(count: int, measured: Sequence[Measured]) -> Result:
    """A table, with ratios against the embedded engine of the same run."""
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
    table = Table(
        title=f"{count:,} chunks, {base.p50_ms:.1f} ms for the embedded engine in the same run",
        columns=[
            "engine", "chunks/s taken in", "CPU of who fills", "start to first answer", "hybrid p50 / p95",
            "of embedded", "recall@10", f"filtered to {' / '.join(FILTERS)}", "MB + server",
        ],
        rows=rows,
    )  # fmt: skip
    full = all(one.full for one in measured)
    return Result(
        figures={"chunks": count, "full": full, "engines": [asdict(one) for one in measured]},
        tables=[table],
        notes=[f"Target: a filter never leaves too few: {'met' if full else 'MISSED'}."],
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fill"]:
        print(json.dumps(fill(*sys.argv[2:])))
    elif sys.argv[1:2] == ["--ask"]:
        print(json.dumps(asyncio.run(ask(*sys.argv[2:]))))
    else:
        main({"engines": measure}, "engines")
