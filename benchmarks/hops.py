"""Questions that need several passages: are all of them among the best five?

HotpotQA and MuSiQue, 50 questions each (development parts), asked of all passages of their set. Compared: one search;
Ragstone's steps; and HippoRAG's published method on the same chunks with the same embedder (`benchmarks.hipporag` says
what of it had to be replaced). Recall@5 is the share of a question's supporting passages among the five best hits.

With 50 questions a set, differences below about 10 points may be chance: the intervals are printed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

import numpy as np

from benchmarks.bases import NO_CACHE, Parts, filled, with_settings
from benchmarks.common import Options, Result, Table, interval, main, progress, skipped
from benchmarks.hipporag import HippoRag
from ragstone.core.access import OWNER
from ragstone.core.request import Request
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.review.dataset import Dataset, load
from ragstone.review.significance import paired_difference

SETS = {"hotpot": "hotpotqa_sample", "musique": "musique_sample"}
K = 5
ONE, STEPS, HIPPO, HIPPO_2 = "one step", "steps", "HippoRAG", "HippoRAG 2"
QUICK = 15
"""Questions of each set in a quick run, without the method compared with."""

Recall = Mapping[str, Sequence[float]]
"""The recall of each question by the way of searching."""


async def measure(options: Options) -> Result:
    """Measure each set; what is missing is left out."""
    there = {name: folder for name, folder in SETS.items() if options.folder(folder)}
    if not there:
        return skipped("several steps are measured on HotpotQA and MuSiQue")
    assert options.data is not None
    found = {name: await _recall(options, load(options.data / folder)) for name, folder in there.items()}
    figures: dict[str, float] = {}
    rows: list[list[str]] = []
    for name, ways in found.items():
        values = {way: mean(each) for way, each in ways.items()}
        figures[f"{name}_recall{K}"] = round(values[STEPS], 4)
        figures[f"{name}_one_step"] = round(values[ONE], 4)
        if HIPPO in values:
            figures[f"{name}_hipporag"] = round(max(values[HIPPO], values[HIPPO_2]), 4)
        for way, each in ways.items():
            gain = "" if way == STEPS else interval(paired_difference(ways[STEPS], each))
            whole = sum(value == 1 for value in each)
            rows.append([name, way, f"{values[way]:.3f}", f"{whole} of {len(each)}", gain])
    columns = ["set", "way", f"recall@{K}", "all found", "steps minus this (95%)"]
    return Result(figures=figures, tables=[Table(title="Questions of several steps", columns=columns, rows=rows)])


async def _recall(options: Options, dataset: Dataset) -> Recall:
    """Return the recall of each question by each way of searching."""
    queries = dataset.queries[:QUICK] if options.quick else dataset.queries
    chosen = [*NO_CACHE, f"index.embedder={options.embedders[0]}"]

    def recall(query: str, documents: Sequence[str]) -> float:
        right = {one for one, grade in dataset.qrels[query].items() if grade > 0}
        return len(right & set(documents[:K])) / len(right)

    async with filled(options, dataset, chosen) as kb:
        ways = {
            way: [recall(one.id, await _documents(with_settings(kb, [*chosen, setting]), one.text)) for one in queries]
            for way, setting in ((ONE, "query.steps=false"), (STEPS, "query.steps=true"))
        }
        if options.quick:
            return ways
        parts = Parts(kb)
        count = parts.catalog.counts().chunks
        chunks = parts.catalog.chunks(list(range(1, count + 1)))
        vectors = parts.catalog.vectors(list(chunks))
        if len(chunks) != count:
            raise ValueError(f"{dataset.name} was changed after it was made; remove its folder")
        peer = HippoRag(
            list(chunks.values()), np.stack([vectors[row] for row in chunks]), parts.embedder, Request.by_owner()
        )
        await peer.read()
        progress(f"{dataset.name}: the graph of HippoRAG is built")
        ids = [chunk.document_id for chunk in chunks.values()]
        for way, search in ((HIPPO, peer.first), (HIPPO_2, peer.second)):
            ways[way] = [recall(one.id, [ids[at] for at in (await search(one.text))[:K]]) for one in queries]
    return ways


async def _documents(kb: KnowledgeBase, question: str) -> list[str]:
    return [hit.chunk.document_id for hit in await kb.search(question, K, reader=OWNER)]


if __name__ == "__main__":
    main({"hops": measure}, "hops")
