"""Answers while what they depend on is stopped under load: a language model, web search, an embedder, index files.

A real server process is asked by several clients. After a third of the time the service is stopped, or the files are
removed, and stays so. Every question must still get an answer, and each one that is asked later tells what was missing.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from servers.openai_server import KEY, OpenAIServer
from servers.searxng_server import SearxngServer

from benchmarks.common import Options, Result, Table, main, skipped, told
from benchmarks.faults import SET
from benchmarks.serving import Run, Server, load, make_key, served, warmed
from ragstone.contracts import Document
from ragstone.engine import Engine
from ragstone.review.dataset import load as load_set
from ragstone.usage.keys import KeyLimits

DOCUMENTS, CLIENTS = 40, 4
SECONDS, QUICK_SECONDS = 420.0, 6.0
LATE = 1.0
"""Seconds after a stop from which on an answer must tell."""
WANTED = 0.999
"""Share of the questions that must be answered."""
_COMMON = (
    "cache.enabled=false",
    "serve.limits.rate_per_minute=0",
    "serve.limits.concurrent=0",
    "services.timeout_seconds=1",
    "services.deadline_seconds=3",
    "services.retries=1",
    "services.first_wait_seconds=0.05",
    "services.max_wait_seconds=0.5",
    "respond.abstain_below=0",
    f"services.openai.api_key={KEY}",
)
Stop = Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Something that can fail: the settings that depend on it, and the words by which an answer tells."""

    name: str
    settings: Sequence[str]
    tells: str


MODEL = Case(
    name="model server",
    settings=("respond.model.name=openai:writer",),
    tells="is quoted from the documents instead",
)
WEB = Case(
    name="web search",
    settings=("respond.model.name=extractive", "query.web.engine=searxng", "query.web.threshold=1"),
    tells="the web was not searched",
)
EMBEDDER = Case(name="embedder", settings=("respond.model.name=extractive",), tells="vector search failed")
FILES = Case(name="index files", settings=("respond.model.name=extractive",), tells="")
"""What a running server has open it keeps, and one that starts makes them anew: no answer is less than it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a case; ``stopped`` is when, as the clients' clock has it."""

    case: Case
    run: Run
    stopped: float

    @property
    def share(self) -> float:
        return len(self.run.seconds) / self.run.asked if self.run.asked else 0.0

    @property
    def at_least(self) -> float:
        """What the share may be less than with a probability of one in forty: Wilson's lower bound."""
        n, z = max(1, self.run.asked), 1.96
        spread = z * math.sqrt(self.share * (1 - self.share) / n + z * z / (4 * n * n))
        return (self.share + z * z / (2 * n) - spread) / (1 + z * z / n)

    @property
    def after(self) -> int:
        return sum(one.at > self.stopped + LATE for one in self.run.said)

    @property
    def untold(self) -> int:
        """Answers after the stop that do not tell of it."""
        late = [one for one in self.run.said if one.at > self.stopped + LATE and not one.abstained]
        return sum(self.case.tells not in one.notices for one in late)

    @property
    def fine(self) -> bool:
        return self.share >= WANTED and not self.untold and self.after > 0


async def measure(options: Options) -> Result:
    if options.data is None or not (options.data / SET).is_dir():
        return skipped(f"services are stopped under questions of {SET}")
    dataset = load_set(options.data / SET)
    chosen = [query for query in dataset.queries if query.answerable][:DOCUMENTS]
    wanted = {one for query in chosen for one in dataset.qrels.get(query.id, {})}
    documents = [one for one in dataset.documents() if one.id in wanted]
    questions = [query.text for query in chosen]
    seconds = QUICK_SECONDS if options.quick else SECONDS
    outcomes = []
    for case in (MODEL, WEB, EMBEDDER, FILES):
        told(f"availability: {case.name} is stopped under {CLIENTS} clients, {seconds:g} s")
        kb = options.keep / f"availability-{secrets.token_hex(4)}"
        try:
            outcomes.append(await _stopped(case, kb, documents, questions, seconds))
        finally:
            shutil.rmtree(kb, ignore_errors=True)
    return summary(outcomes)


async def _stopped(
    case: Case, kb: Path, documents: Sequence[Document], questions: Sequence[str], seconds: float
) -> Outcome:
    with _services(case, kb) as (settings, stop):
        with closing(Engine.open(kb, settings, create=True)) as engine:
            await engine.add(documents)
        key = make_key(kb, "load", KeyLimits())
        with served(kb, settings) as server:
            await warmed(server, key, questions[0])
            run, stopped = await _under_load(server, key, questions, seconds, stop)
        if case is FILES:
            with served(kb, settings) as server:
                again = await load(server, key, questions, clients=CLIENTS, seconds=seconds / 3)
            run.statuses += again.statuses
            run.errors += again.errors
            run.seconds += again.seconds
            run.said += again.said
    return Outcome(case=case, run=run, stopped=stopped)


async def _under_load(
    server: Server, key: str, questions: Sequence[str], seconds: float, stop: Stop
) -> tuple[Run, float]:
    asking = asyncio.create_task(load(server, key, questions, clients=CLIENTS, seconds=seconds))
    await asyncio.sleep(seconds / 3)
    await asyncio.to_thread(stop)
    stopped = time.perf_counter()
    return await asking, stopped


@contextmanager
def _services(case: Case, kb: Path) -> Iterator[tuple[list[str], Stop]]:
    """The settings of a case with its services running, and what stops the one that it is about."""
    if case is FILES:

        def remove() -> None:
            for file in sorted((kb / "v1").glob("*/*")):
                file.unlink()

        yield [*_COMMON, *case.settings, "index.embedder=minilm", "index.exact_limit=0"], remove
        return
    with OpenAIServer(_written) as writer, OpenAIServer() as embedder, SearxngServer() as web:
        vectors = ("index.embedder=openai:text-embedding-3-small", "index.dimensions=32")
        own = ("index.embedder=minilm",)
        address = embedder.url if case is EMBEDDER else writer.url
        settings = [
            *_COMMON,
            *case.settings,
            f"services.openai.base_url={address}",
            f"services.searxng.base_url={web.url}",
            *(vectors if case is EMBEDDER else own),
        ]
        server = {MODEL.name: writer, WEB.name: web, EMBEDDER.name: embedder}[case.name]
        yield settings, server.stop


def _written(messages: Sequence[dict[str, str]]) -> str:
    """The first sentence of the first source."""
    source = messages[-1]["content"].partition("\n--- end")[0]
    return f"{source.splitlines()[-1].partition('. ')[0]}. [1]"


def summary(outcomes: Sequence[Outcome]) -> Result:
    """A table, figures, and whether the target is met."""
    rows = [
        [
            one.case.name,
            f"{one.run.asked:,}",
            f"{one.share:.2%}",
            f"{one.at_least:.2%}",
            f"{one.after:,}",
            str(one.untold),
            f"{one.run.quantile(0.95):.0f} ms",
            ", ".join(f"{status}: {number}" for status, number in sorted(one.run.statuses.items()) if status != 200),
        ]
        for one in outcomes
    ]
    table = Table(
        title=f"answers while a service is stopped, {CLIENTS} clients",
        columns=["stopped", "asked", "answered", "at least (95%)", "after the stop", "untold", "p95", "other statuses"],
        rows=rows,
    )
    figures = {
        one.case.name: {
            "asked": one.run.asked,
            "share": round(one.share, 5),
            "at_least": round(one.at_least, 5),
            "after": one.after,
            "untold": one.untold,
        }
        for one in outcomes
    }
    missed = [one.case.name for one in outcomes if not one.fine]
    kinds = sorted({error for one in outcomes for error in one.run.errors[:3]})
    few = [one.case.name for one in outcomes if one.at_least < WANTED]
    verdict = "met, by too few questions to show it" if few else "met"
    if missed:
        verdict = f"MISSED: {', '.join(missed)}"
    told_ = (
        f"Target: {WANTED:.1%} answered, and every answer after a stop tells of it: {verdict}. Where all were answered,"
        f" {1.96**2 / (1 - WANTED):,.0f} questions would show as much with 95% confidence; the bound is Wilson's."
    )
    return Result(figures=figures, tables=[table], notes=[told_, *kinds])


if __name__ == "__main__":
    main({"availability": measure}, "availability")
