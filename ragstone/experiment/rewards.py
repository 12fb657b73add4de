"""How well several settings do on each question of a labelled set: what votes are simulated from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone import query
from ragstone.contracts import Hit
from ragstone.engine import Engine
from ragstone.errors import UsageError
from ragstone.experiment.bench import OnMessage, open_bench
from ragstone.review.dataset import Dataset
from ragstone.review.evaluate import MEASURES, spread

READ = 10
"""Chunks that a reader is taken to look at."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rewards:
    """``values`` (questions, variants), 0 to 1: how good each variant is on each question.

    ``variants`` are the settings each differs by; the first differs by nothing. ``kinds`` are those of the questions.
    """

    dataset: str
    metric: str
    variants: tuple[tuple[str, ...], ...]
    kinds: tuple[str, ...]
    values: NDArray[np.float64]


async def measure_rewards(
    data: Path,
    variants: Sequence[tuple[str, ...]],
    overrides: Sequence[str] = (),
    *,
    preset: str | None = None,
    kb: Path | None = None,
    keep: Path | None = None,
    metric: str = "ndcg@10",
    limit: int | None = None,
    on_progress: OnMessage | None = None,
) -> Rewards:
    """Ask each question under each variant, and measure what is found.

    Args:
        data: as for `evaluate_dataset`.
        variants: the settings each differs by from ``overrides``; what differs by nothing is always tried first.
        overrides: settings of all.
        preset: the same as a preset.
        kb: the knowledge base that a CSV of questions is about.
        keep: folder where knowledge bases are kept for the next time.
        metric: what is good; one of `MEASURES`.
        limit: this many questions at most.
        on_progress: told in words what has been done.

    Raises:
        UsageError: there is no such metric, or no question with an expected document.
        SettingsError: a value does not fit its setting.
    """
    if metric not in MEASURES:
        raise UsageError(f"there is no measure '{metric}'; there are {', '.join(MEASURES)}")
    tried = ((), *dict.fromkeys(one for one in variants if one))
    async with open_bench(data, kb=kb, keep=keep, on_progress=on_progress) as bench:
        dataset = bench.dataset
        judged = [one for one in dataset.queries if any(v > 0 for v in dataset.qrels.get(one.id, {}).values())]
        asked = spread(judged, limit)
        if not asked:
            raise UsageError(f"{data} has no question with a document that answers it")
        columns = []
        for number, names in enumerate(tried, start=1):
            if on_progress is not None:
                on_progress(f"{dataset.name}: setting {number} of {len(tried)}: {' '.join(names) or 'as it is'}")
            engine = await bench.engine(bench.settings([*overrides, *names], preset))
            columns.append([await _quality(engine, dataset, one.id, one.text, metric) for one in asked])
    return Rewards(
        dataset=dataset.name,
        metric=metric,
        variants=tried,
        kinds=tuple(query.kind(one.text, one.lang) for one in asked),
        values=np.array(columns, dtype=np.float64).T,
    )


async def _quality(engine: Engine, dataset: Dataset, id: str, text: str, metric: str) -> float:
    hits: list[Hit] = await engine.search(text, READ)
    ranking = list(dict.fromkeys(hit.chunk.document_id for hit in hits))
    return float(MEASURES[metric](ranking, dataset.qrels[id]))
