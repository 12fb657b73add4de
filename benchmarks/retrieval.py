"""How well each way of searching finds the documents that were judged relevant.

Each data set is indexed once; the variants differ in settings of the question only.
"""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from benchmarks.common import Options, Result, home, main, skipped, told
from benchmarks.comparison import LEGS, Reports, summary
from benchmarks.memory import Remembering
from ragstone.config import load as load_settings
from ragstone.contracts import Hit
from ragstone.engine import Engine
from ragstone.experiment import add_corpus
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
    "default + maxsim": ["rank.reranker=maxsim"],
}
RERANKED = 100
"""Questions a reranking variant is asked, at most: each takes as long as eighty others."""
QUICK_SETS, QUICK_VARIANTS, QUICK_LIMIT = SETS[:3], (*LEGS, "default"), 100


async def measure(options: Options) -> Result:
    if options.data is None:
        return skipped("retrieval needs data sets with judged questions")
    sets = [name for name in (QUICK_SETS if options.quick else SETS) if (options.data / name).is_dir()]
    variants = QUICK_VARIANTS if options.quick else tuple(VARIANTS)
    embedder = Remembering(build_embedder(load_settings().settings.index))
    reports: dict[str, Reports] = {}
    for name in sets:
        dataset = load(options.data / name)
        limit = QUICK_LIMIT if options.quick else None
        reports[dataset.name] = await _measure_set(
            dataset, home(options, dataset.name, embedder), embedder, variants, limit
        )
    if not reports:
        return skipped("none of the sets is in the folder of data sets")
    return summary(reports)


async def _measure_set(
    dataset: Dataset, kb: Path, embedder: Remembering, variants: tuple[str, ...], limit: int | None
) -> Reports:
    with closing(_open(kb, [], embedder, create=True)) as engine:
        await add_corpus(engine, dataset, lambda message: told(f"{dataset.name}: {message}"))
        reports = {}
        for variant in variants:
            started = time.perf_counter()
            with closing(_open(kb, VARIANTS[variant], embedder)) as other:
                reranks = other.settings.rank.reranker != "none"
                search = _reranked(other, engine) if reranks else other.search
                asked = min(limit or RERANKED, RERANKED) if reranks else limit
                reports[variant] = await evaluate(dataset, search, limit=asked)
            told(f"{dataset.name}: {variant} took {time.perf_counter() - started:.1f} s")
    return reports


def _open(kb: Path, overrides: list[str], embedder: Remembering, *, create: bool = False) -> Engine:
    engine = Engine.open(kb, overrides, create=create)
    engine.__dict__["_embedder"] = embedder  # shared: loaded once, and asked for each question once
    return engine


def _reranked(reranking: Engine, plain: Engine) -> Search:
    """What people get: the pool reranked, and after it the rest as it was. Asked for many, an engine reranks all."""
    pool = reranking.settings.rank.pool

    async def search(question: str, k: int) -> list[Hit]:
        head = await reranking.search(question, pool)
        seen = {hit.chunk.id for hit in head}
        return [*head, *(hit for hit in await plain.search(question, k) if hit.chunk.id not in seen)][:k]

    return search


if __name__ == "__main__":
    main({"retrieval": measure}, "retrieval")
