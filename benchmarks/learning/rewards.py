"""The quality of several settings on each question of a labelled set: votes are simulated from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone.core.access import OWNER
from ragstone.core.errors import UsageError
from ragstone.engine.experiments.bench import OnMessage, open_bench
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.review.dataset import Dataset
from ragstone.review.evaluate import MEASURES, spread

READ = 10
"""Chunks that count."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rewards:
    """The quality of each variant on each question, 0 to 1 (questions, variants); the first has no overrides."""

    dataset: str
    variants: tuple[tuple[str, ...], ...]
    values: NDArray[np.float64]


async def measure_rewards(
    data: Path,
    variants: Sequence[tuple[str, ...]],
    *,
    kb: Path | None = None,
    keep: Path | None = None,
    metric: str = "ndcg@10",
    limit: int | None = None,
    on_progress: OnMessage | None = None,
) -> Rewards:
    """Search for each question under each variant and measure the result.

    Args:
        data: a data set, or a CSV of questions about ``kb``.
        variants: the overrides of each variant.
        kb: the knowledge base that a CSV of questions is about.
        keep: folder that keeps knowledge bases for the next run.
        metric: one of `MEASURES`.
        limit: maximum number of questions.
        on_progress: called with messages on progress.

    Raises:
        UsageError: no question has an expected document.
        SettingsError: a value does not fit its setting.
    """
    tried = ((), *dict.fromkeys(one for one in variants if one))
    async with open_bench(data, kb=kb, keep=keep, on_progress=on_progress) as bench:
        dataset = bench.dataset
        judged = [one for one in dataset.queries if any(v > 0 for v in dataset.qrels.get(one.id, {}).values())]
        asked = spread(judged, limit)
        if not asked:
            raise UsageError(f"{data} has no question with a document that answers it")
        columns: list[list[float]] = []
        for number, names in enumerate(tried, start=1):
            if on_progress is not None:
                on_progress(f"{dataset.name}: setting {number} of {len(tried)}: {' '.join(names) or 'as configured'}")
            engine = await bench.open(bench.settings(names))
            columns.append([await _quality(engine, dataset, one.id, one.text, metric) for one in asked])
    return Rewards(dataset=dataset.name, variants=tried, values=np.array(columns, dtype=np.float64).T)


async def _quality(engine: KnowledgeBase, dataset: Dataset, id: str, text: str, metric: str) -> float:
    hits = await engine.search(text, READ, reader=OWNER)
    ranking = list(dict.fromkeys(hit.chunk.document_id for hit in hits))
    return float(MEASURES[metric](ranking, dataset.qrels[id]))
