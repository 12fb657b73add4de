"""What reranking gains over fusion alone, and what it costs.

Gain: nDCG@10 and MRR@10 with ``rank.reranker=maxsim`` minus the same without, question by question, on every set, and
the mean over the sets; its interval resamples the questions of each set. Cost: CPU milliseconds to rerank one
question's candidates, where their token vectors are worked out and where they are kept from an earlier question.
Latency: a whole question at 100,000 chunks, its embedding included, on one core.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np

from benchmarks import query
from benchmarks.common import Options, Result, Table, main, skipped, told
from benchmarks.comparison import verdict
from benchmarks.retrieval import SETS, reranked
from ragstone.config import load as load_settings
from ragstone.engine import Engine
from ragstone.experiment import add_corpus, kept_at
from ragstone.experiment.bench import NO_CACHE
from ragstone.experiment.memory import Remembering
from ragstone.index import build_embedder
from ragstone.rank import build_matcher, build_reranker
from ragstone.review.dataset import Dataset, load
from ragstone.review.evaluate import evaluate, spread
from ragstone.review.report import EvalReport
from ragstone.review.significance import Difference, paired_difference, stratified_difference

MAXSIM = "rank.reranker=maxsim"
MEASURES = ("ndcg@10", "mrr@10")
QUESTIONS, QUICK_QUESTIONS = 100, 20
QUICK_SETS = ("xquad/dev/en", "lt_faq")
TIMED = 12
"""Questions of each set of which the cost is measured."""
CHUNKS, QUICK_CHUNKS = 100_000, 10_000
TARGETS_MS = {"fusion": 15.0, "maxsim": 60.0}
"""At most so many milliseconds for half of the questions at 100,000 chunks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One set: values of each measure by question (n,), without and with reranking; CPU ms of the reranking."""

    plain: Mapping[str, Sequence[float]]
    reranked: Mapping[str, Sequence[float]]
    cost_new: float
    cost_kept: float

    def difference(self, measure: str) -> Difference:
        return paired_difference(self.reranked[measure], self.plain[measure])


async def measure(options: Options) -> Result:
    if options.data is None:
        return skipped("reranking needs data sets with judged questions")
    sets = [name for name in (QUICK_SETS if options.quick else SETS) if (options.data / name).is_dir()]
    if not sets:
        return skipped("none of the sets is in the folder of data sets")
    latencies = _latencies(options, await query.base(options, _chunks(options)))
    found: dict[str, dict[str, Measured]] = {}
    for name in options.embedders:
        chosen = [f"index.embedder={name}", *NO_CACHE]
        embedder = Remembering(build_embedder(load_settings(chosen).settings.index))
        found[name] = {}
        for one in sets:
            dataset = load(options.data / one)
            found[name][dataset.name] = await _measured(options, dataset, chosen, embedder)
    return summary(found, latencies, _chunks(options))


def _chunks(options: Options) -> int:
    return QUICK_CHUNKS if options.quick else CHUNKS


async def _measured(options: Options, dataset: Dataset, chosen: Sequence[str], embedder: Remembering) -> Measured:
    limit = QUICK_QUESTIONS if options.quick else QUESTIONS
    settings = load_settings(chosen).settings
    place = kept_at(options.keep, dataset.name, settings, embedder)
    with closing(Engine.open(place, chosen, create=True, build_embedder=lambda *_: embedder)) as plain:
        await add_corpus(plain, dataset, lambda message: told(f"{dataset.name}: {message}"))
        reranking = plain.with_settings(load_settings([*chosen, MAXSIM]).settings)
        new, kept = await _cost(plain, embedder, [one.text for one in spread(dataset.queries, TIMED)])
        without = await evaluate(dataset, plain.search, limit=limit)
        with_it = await evaluate(dataset, reranked(reranking, plain), limit=limit)
        told(f"{dataset.name}: {embedder.fingerprint}, {without.judged} questions")
    return Measured(plain=_values(without), reranked=_values(with_it), cost_new=new, cost_kept=kept)


async def _cost(engine: Engine, embedder: Remembering, questions: Sequence[str]) -> tuple[float, float]:
    """CPU milliseconds to rerank the pool of a question: with nothing known of it, and with its token vectors kept."""
    settings = engine.settings.rank.model_copy(update={"reranker": "maxsim"})
    new, kept = [], []
    for question in questions:
        hits = await engine.search(question, settings.pool)
        embedder.forget_tokens()
        reranker = build_reranker(settings, build_matcher(embedder, engine._terms.weigh))
        assert reranker is not None
        for times in (new, kept):
            started = time.process_time()
            await reranker.rerank(question, hits)
            times.append((time.process_time() - started) * 1e3)
    return mean(new), mean(kept)


def _values(report: EvalReport) -> dict[str, list[float]]:
    return {name: [one.measures[name] for one in report.per_query if one.measures] for name in MEASURES}


def _latencies(options: Options, folder: Path) -> dict[str, Any]:
    """Of another process, which has one core from its start on."""
    command = [sys.executable, "-m", "benchmarks.rerank_latency", str(folder), str(20 if options.quick else 100)]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)


def summary(found: Mapping[str, Mapping[str, Measured]], latencies: Mapping[str, Any], chunks: int) -> Result:
    """A table of gains for each measure, one of latencies, and whether the targets are met."""
    tables, notes, figures = [], [], {}
    for embedder, sets in found.items():
        rows, figures[embedder] = [], {}
        for name, one in sets.items():
            gains = [one.difference(measure) for measure in MEASURES]
            count = str(len(one.plain[MEASURES[0]]))
            rows.append([name, count, *map(_told, gains), f"{one.cost_new:.0f}", f"{one.cost_kept:.1f}"])
            figures[embedder][name] = _figures(gains) | {"cpu_ms": one.cost_new, "cpu_ms_kept": one.cost_kept}
        overall = [
            stratified_difference([(one.reranked[measure], one.plain[measure]) for one in sets.values()])
            for measure in MEASURES
        ]
        new, kept = (mean(getattr(one, cost) for one in sets.values()) for cost in ("cost_new", "cost_kept"))
        rows.append(["mean over sets", "", *map(_told, overall), f"{new:.0f}", f"{kept:.1f}"])
        figures[embedder]["mean"] = _figures(overall) | {"cpu_ms": new, "cpu_ms_kept": kept}
        columns = ["set", "questions", *(f"gain in {name}" for name in MEASURES), "CPU ms", "CPU ms, vectors kept"]
        tables.append(Table(title=f"MaxSim with {embedder}, minus fusion alone", columns=columns, rows=rows))
        notes.append(f"Gain of MaxSim with {embedder} over fusion alone, nDCG@10: {verdict(overall[0])}.")
    rows = [[name, *(f"{latencies[name][key]:.1f}" for key in ("p50", "p95", "cpu"))] for name in latencies]
    title = f"A whole question at {chunks:,} chunks on one core, milliseconds"
    tables.append(Table(title=title, columns=["search", "p50", "p95", "CPU, median"], rows=rows))
    for name, target in TARGETS_MS.items():
        met = latencies[name]["p50"] <= target
        notes.append(f"Target, {name} at {CHUNKS:,} chunks: p50 of {target:g} ms: {'met' if met else 'MISSED'}.")
    return Result(tables=tables, notes=notes, figures={**figures, "latency_ms": latencies})


def _told(gain: Difference) -> str:
    return f"{gain.mean:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"


def _figures(gains: Sequence[Difference]) -> dict[str, list[float]]:
    return {
        name: [round(gain.mean, 4), round(gain.low, 4), round(gain.high, 4)]
        for name, gain in zip(MEASURES, gains, strict=True)
    }


def spread_of(times: Sequence[float], cpu: Sequence[float]) -> dict[str, float]:
    return {"p50": median(times), "p95": float(np.quantile(times, 0.95)), "cpu": median(cpu)}


if __name__ == "__main__":
    main({"rerank": measure}, "rerank")
