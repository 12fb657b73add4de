"""How well each way of searching finds the documents that were judged relevant.

Each data set is indexed once for each embedder; the variants differ in settings for questions only. With
``--embedders minilm,e5-small`` embedders are compared, also on German questions about English texts.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import mean
from typing import Any

from benchmarks.bases import filled, with_settings
from benchmarks.common import Options, Result, Table, main, progress, skipped
from ragstone.core.access import OWNER
from ragstone.core.records import Hit
from ragstone.engine.experiments.memory import MemoizedEmbedder
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.index import build_embedder
from ragstone.review.dataset import Dataset, load
from ragstone.review.evaluate import Search, evaluate
from ragstone.review.report import EvalReport
from ragstone.review.significance import Difference, paired_difference
from ragstone.settings.load import load as load_settings

SETS = (
    "xquad/dev/en",
    "xquad/dev/de",
    "lt_faq",
    "covid_faq_kb",
    "clapnq",
    "cudaq_docs",
    "scifact",
    "malaysian_news",
)
LEGS = ("bm25", "vector")
VARIANTS = {
    "bm25": ["query.method=bm25"],
    "vector": ["query.method=vector"],
    "default": [],
    "default, adapt off": ["query.adapt=false"],
    "min_max, vector .7": ["query.fusion=min_max", "query.vector_weight=0.7", "query.adapt=false"],
    "min_max, vector .5": ["query.fusion=min_max", "query.vector_weight=0.5", "query.adapt=false"],
    "reciprocal_rank": ["query.fusion=reciprocal_rank", "query.vector_weight=0.5", "query.adapt=false"],
    "default + maxsim": ["rank.reranker=maxsim"],
}
MEASURES = ("ndcg@10", "recall@10", "recall@20", "mrr@10", "p@5")
CROSS = ("xquad/dev/de", "xquad/dev/en", "xquad/de-en")
"""The set with the questions, the set with the documents, and the name of the pair."""
RERANKED = 100
"""The most questions for a variant that reranks, because each takes as long as eighty others."""
QUICK_SETS, QUICK_VARIANTS, QUICK_LIMIT = SETS[:3], (*LEGS, "default"), 100

Reports = Mapping[str, EvalReport]
"""The report of each variant on one data set."""


async def measure(options: Options) -> Result:
    sets = [name for name in (QUICK_SETS if options.quick else SETS) if options.folder(name)]
    if not sets:
        return skipped("retrieval needs data sets with judged questions")
    found: dict[str, dict[str, Reports]] = {}
    for number, embedder in enumerate(options.embedders):
        variants = tuple(VARIANTS) if number == 0 and not options.quick else QUICK_VARIANTS
        found[embedder] = await _measure_embedder(options, embedder, sets, variants)
    base = found[options.embedders[0]]
    first = summary({name: reports for name, reports in base.items() if name != CROSS[2]})
    return by_embedder(found, first) if len(found) > 1 else first


async def _measure_embedder(
    options: Options, name: str, sets: Sequence[str], variants: Sequence[str]
) -> dict[str, Reports]:
    assert options.data is not None
    chosen = [f"index.embedder={name}"]
    embedder = MemoizedEmbedder(build_embedder(load_settings(chosen).settings.index))
    reports: dict[str, Reports] = {}
    for one in sets:
        dataset = load(options.data / one)
        asked = [dataset]
        if one == CROSS[1] and len(options.embedders) > 1:
            asked.append(replace(dataset, name=CROSS[2], queries=load(options.data / CROSS[0]).queries))
        async with filled(options, dataset, chosen, embedder) as engine:
            for questions in asked:
                reports[questions.name] = await _measure_set(engine, questions, chosen, variants, options)
    return reports


async def _measure_set(
    engine: KnowledgeBase, dataset: Dataset, chosen: Sequence[str], variants: Sequence[str], options: Options
) -> Reports:
    reports: dict[str, EvalReport] = {}
    limit = QUICK_LIMIT if options.quick else None
    for variant in variants:
        started = time.perf_counter()
        other = with_settings(engine, [*chosen, *VARIANTS[variant]])
        reranks = other.settings.rank.reranker != "none"
        search = reranked(other, engine) if reranks else partial(other.search, reader=OWNER)
        reports[variant] = await evaluate(dataset, search, limit=RERANKED if reranks else limit)
        progress(f"{dataset.name}: {variant} took {time.perf_counter() - started:.1f} s")
    return reports


def reranked(reranking: KnowledgeBase, plain: KnowledgeBase) -> Search:
    """Return a search as people get it: the pool reranked, then the rest in its old order.

    An engine that is asked for many results would rerank all of them.
    """
    pool = reranking.settings.rank.pool

    async def search(question: str, k: int) -> list[Hit]:
        head = await reranking.search(question, pool, reader=OWNER)
        known = {hit.chunk.id for hit in head}
        return [*head, *(hit for hit in await plain.search(question, k, reader=OWNER) if hit.chunk.id not in known)][:k]

    return search


# ---------------------------------------------------------------- tables


def summary(reports: Mapping[str, Reports]) -> Result:
    """Return all measures, the default against its legs and against other variants, and means over the sets."""
    gains = {name: _gain(by_variant) for name, by_variant in reports.items()}
    rows = [
        [name, leg, f"{gain.mean:+.3f}", f"{gain.low:+.3f} to {gain.high:+.3f}", _chance(gain), judgement(gain)]
        for name, (leg, gain) in gains.items()
    ]
    overall = mean(gain.mean for _, gain in gains.values())
    rows.append(["mean over sets", "", f"{overall:+.3f}", "", "", ""])
    columns = ["set", "better leg", "difference", "95% interval", "p", "verdict"]
    tables = [
        *(_measures(name, by_variant) for name, by_variant in reports.items()),
        Table(title="nDCG@10: default minus the better of its two legs", columns=columns, rows=rows),
        _minus_default(reports),
        _means(reports),
    ]
    figures: dict[str, Any] = {
        "sets": {name: _figures(by_variant) for name, by_variant in reports.items()},
        "default_minus_better_leg": {
            name: {"leg": leg, "mean": gain.mean, "low": gain.low, "high": gain.high, "verdict": judgement(gain)}
            for name, (leg, gain) in gains.items()
        },
        "mean_over_sets": overall,
    }
    return Result(tables=tables, figures=figures)


def by_embedder(found: Mapping[str, Mapping[str, Reports]], first: Result) -> Result:
    """Return the tables of the first embedder, and tables in which each embedder has its columns."""
    names = list(found)
    compared = ("vector", "default")
    tables: list[Table] = []
    for measure in ("ndcg@10", "mrr@10", "recall@10"):
        rows: list[list[str]] = []
        for one, by_variant in found[names[0]].items():
            reports = [by_variant["bm25"], *(found[name][one][leg] for name in names for leg in compared)]
            gains = [_starred(_difference(found[name][one]["default"], by_variant["default"])) for name in names[1:]]
            rows.append([one, *(f"{report.measures[measure].mean:.3f}" for report in reports), *gains])
        together = [[float(row[column]) for row in rows] for column in range(1, 2 + len(compared) * len(names))]
        rows.append(["mean", *(f"{mean(values):.3f}" for values in together), *[""] * (len(names) - 1)])
        columns = ["set", "bm25", *(f"{name} {leg}" for name in names for leg in compared)]
        columns += [f"nDCG@10 of {name} default minus {names[0]} default" for name in names[1:]]
        tables.append(Table(title=f"{measure} by embedder", columns=columns, rows=rows))
    figures = {name: {one: _figures(reports) for one, reports in of_sets.items()} for name, of_sets in found.items()}
    return replace(first, tables=[*first.tables, *tables], figures={**first.figures, "embedders": figures})


def judgement(gain: Difference) -> str:
    if gain.low > 0:
        return "better"
    return "WORSE" if gain.high < 0 else "no difference shown"


def _gain(by_variant: Reports) -> tuple[str, Difference]:
    """Return the better leg, and how much better the default is."""
    leg = max(LEGS, key=lambda leg: by_variant[leg].measures["ndcg@10"].mean)
    return leg, _difference(by_variant["default"], by_variant[leg])


def _difference(one: EvalReport, other: EvalReport) -> Difference:
    """Compare nDCG@10 over the questions that both were asked."""
    ours, theirs = _ndcg(one), _ndcg(other)
    both = [id for id in ours if id in theirs]
    return paired_difference([ours[id] for id in both], [theirs[id] for id in both])


def _ndcg(report: EvalReport) -> dict[str, float]:
    return {query.id: query.measures["ndcg@10"] for query in report.per_query if query.measures}


def _measures(name: str, by_variant: Reports) -> Table:
    judged = max(report.judged for report in by_variant.values())
    rows: list[list[str]] = []
    for variant, report in by_variant.items():
        intervals = [report.measures[measure] for measure in MEASURES]
        asked = f", {report.judged} of them" if report.judged < judged else ""
        rows.append([variant + asked, *(f"{one.mean:.3f} ({one.low:.3f}-{one.high:.3f})" for one in intervals)])
    return Table(title=f"{name}, {judged} judged questions", columns=["variant", *MEASURES], rows=rows)


def _minus_default(reports: Mapping[str, Reports]) -> Table:
    variants = [name for name in next(iter(reports.values())) if name != "default"]
    rows = [
        [name, *(_starred(_difference(by_variant[name], by_variant["default"])) for by_variant in reports.values())]
        for name in variants
    ]
    title = "nDCG@10: each variant minus the default (*: the 95% interval leaves out 0)"
    return Table(title=title, columns=["variant", *reports], rows=rows)


def _means(reports: Mapping[str, Reports]) -> Table:
    rows = [
        [name, *(f"{mean(one[name].measures[measure].mean for one in reports.values()):.3f}" for measure in MEASURES)]
        for name in next(iter(reports.values()))
    ]
    return Table(title=f"Means over {len(reports)} sets", columns=["variant", *MEASURES], rows=rows)


def _starred(gain: Difference) -> str:
    return f"{gain.mean:+.3f}{'' if gain.low <= 0 <= gain.high else '*'}"


def _chance(gain: Difference) -> str:
    return "< .001" if gain.p < 0.001 else f"{gain.p:.3f}"


def _figures(by_variant: Reports) -> dict[str, dict[str, list[float]]]:
    return {
        variant: {name: [round(value, 4) for value in _bounds(report, name)] for name in MEASURES}
        for variant, report in by_variant.items()
    }


def _bounds(report: EvalReport, measure: str) -> tuple[float, float, float]:
    one = report.measures[measure]
    return one.mean, one.low, one.high


if __name__ == "__main__":
    main({"retrieval": measure}, "retrieval")
