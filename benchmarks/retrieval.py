"""How well each way of searching finds the documents that were judged relevant.

Each data set is indexed once for each embedder; the variants differ in settings of the question only.
``--embedders minilm,e5-small`` compares embedders, also on German questions to English texts.
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from benchmarks.common import Options, Result, main, skipped, told
from benchmarks.comparison import LEGS, Reports, by_embedder, summary
from ragstone.config import load as load_settings
from ragstone.contracts import Hit
from ragstone.engine import Engine
from ragstone.experiment import add_corpus, kept_at
from ragstone.experiment.memory import Remembering
from ragstone.index import build_embedder
from ragstone.review.dataset import Dataset, load
from ragstone.review.evaluate import Search, evaluate

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
VARIANTS = {
    "bm25": ["query.method=bm25"],
    "vector": ["query.method=vector"],
    "default": [],
    "default, adapt off": ["query.adapt=false"],
    "min_max, vector .7": ["query.fusion=min_max", "query.vector_weight=0.7", "query.adapt=false"],
    "min_max, vector .5": ["query.fusion=min_max", "query.vector_weight=0.5", "query.adapt=false"],
    "reciprocal_rank": ["query.fusion=reciprocal_rank", "query.vector_weight=0.5", "query.adapt=false"],
    "default + telling words": ["query.variations=1"],
    "default + maxsim": ["rank.reranker=maxsim"],
}
CROSS = ("xquad/dev/de", "xquad/dev/en", "xquad/de-en")
"""A set with the questions, one with the documents, and the name of both together."""
RERANKED = 100
"""Questions a reranking variant is asked, at most: each takes as long as eighty others."""
QUICK_SETS, QUICK_VARIANTS, QUICK_LIMIT = SETS[:3], (*LEGS, "default"), 100


async def measure(options: Options) -> Result:
    if options.data is None:
        return skipped("retrieval needs data sets with judged questions")
    sets = [name for name in (QUICK_SETS if options.quick else SETS) if (options.data / name).is_dir()]
    if not sets:
        return skipped("none of the sets is in the folder of data sets")
    variants = QUICK_VARIANTS if options.quick else tuple(VARIANTS)
    found = {}
    for number, embedder in enumerate(options.embedders):
        found[embedder] = await _measure_embedder(options, embedder, sets, variants if number == 0 else QUICK_VARIANTS)
    first = summary(
        {name: found[options.embedders[0]][name] for name in found[options.embedders[0]] if name != CROSS[2]}
    )
    return by_embedder(found, first) if len(found) > 1 else first


async def _measure_embedder(
    options: Options, name: str, sets: list[str], variants: tuple[str, ...]
) -> dict[str, Reports]:
    """Data set to what was measured on it with this embedder."""
    chosen = [f"index.embedder={name}"]
    settings = load_settings(chosen).settings
    embedder = Remembering(build_embedder(settings.index))
    limit = QUICK_LIMIT if options.quick else None
    assert options.data is not None
    reports: dict[str, Reports] = {}
    for one in sets:
        dataset = load(options.data / one)
        kb = kept_at(options.keep, dataset.name, settings, embedder)
        reports[dataset.name] = await _measure_set(dataset, kb, chosen, embedder, variants, limit)
        if one == CROSS[1] and len(options.embedders) > 1:
            crossed = replace(dataset, name=CROSS[2], queries=load(options.data / CROSS[0]).queries)
            reports[CROSS[2]] = await _measure_set(crossed, kb, chosen, embedder, variants, limit)
    return reports


async def _measure_set(
    dataset: Dataset, kb: Path, chosen: list[str], embedder: Remembering, variants: tuple[str, ...], limit: int | None
) -> Reports:
    with closing(Engine.open(kb, chosen, create=True, build_embedder=lambda *_: embedder)) as engine:
        await add_corpus(engine, dataset, lambda message: told(f"{dataset.name}: {message}"))
        reports = {}
        for variant in variants:
            started = time.perf_counter()
            other = engine.with_settings(load_settings([*chosen, *VARIANTS[variant]]).settings)
            reranks = other.settings.rank.reranker != "none"
            search = reranked(other, engine) if reranks else other.search
            asked = min(limit or RERANKED, RERANKED) if reranks else limit
            reports[variant] = await evaluate(dataset, search, limit=asked)
            told(f"{dataset.name}: {variant} took {time.perf_counter() - started:.1f} s")
    return reports


def reranked(reranking: Engine, plain: Engine) -> Search:
    """What people get: the pool reranked, and after it the rest as it was. Asked for many, an engine reranks all."""
    pool = reranking.settings.rank.pool

    async def search(question: str, k: int) -> list[Hit]:
        head = await reranking.search(question, pool)
        seen = {hit.chunk.id for hit in head}
        return [*head, *(hit for hit in await plain.search(question, k) if hit.chunk.id not in seen)][:k]

    return search


if __name__ == "__main__":
    main({"retrieval": measure}, "retrieval")
