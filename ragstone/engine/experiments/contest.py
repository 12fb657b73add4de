"""Compares two configurations, each measured now or read from a report."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ragstone.core.access import OWNER
from ragstone.core.errors import UsageError
from ragstone.engine.experiments.bench import Bench, OnMessage, open_bench
from ragstone.engine.experiments.measure import count_messages, stamped
from ragstone.question import kind
from ragstone.review.compare import Comparison, compare
from ragstone.review.evaluate import MEASURES, evaluate
from ragstone.review.report import EvalReport, read_report


async def compare_two(
    a: str,
    b: str,
    data: Path | None = None,
    overrides: Sequence[str] = (),
    *,
    kb: Path | None = None,
    keep: Path | None = None,
    metric: str = "ndcg@10",
    randomisation: bool = False,
    limit: int | None = None,
    on_progress: OnMessage | None = None,
) -> Comparison:
    """Compare two presets, two saved reports, or a preset with a report, and return the comparison.

    Args:
        a: the baseline: name or path of a preset, or a report (``.json``).
        b: the candidate, as for ``a``.
        data: as for `evaluate_dataset`; two reports need none.
        overrides: settings that override both presets.
        kb: the knowledge base for a CSV of questions.
        keep: folder that keeps the built knowledge bases for reuse.
        metric: the measure that ranks gains and losses.
        randomisation: compute p by Fisher's randomisation test instead of the bootstrap.
        limit: maximum of questions.
        on_progress: called with a message about each step.

    Raises:
        UsageError: ``data`` is missing, the metric is unknown, or the reports have different questions.
        SourceError: a report cannot be read.
    """
    if metric not in MEASURES:
        raise UsageError(f"there is no measure '{metric}'; there are {', '.join(MEASURES)}")
    saved = {name: read_report(Path(name)) for name in (a, b) if name.endswith(".json")}
    reports = dict(saved)
    if len(saved) < len({a, b}):
        if data is None:
            raise UsageError("name a data set to measure the presets on; only two saved reports need none")
        async with open_bench(data, kb=kb, keep=keep, on_progress=on_progress) as bench:
            for name in (a, b):
                if name not in reports:
                    reports[name] = await _measured(bench, name, overrides, limit, on_progress)
    return compare(reports[a], reports[b], (a, b), metric=metric, randomisation=randomisation)


async def _measured(
    bench: Bench, preset: str, overrides: Sequence[str], limit: int | None, on_progress: OnMessage | None
) -> EvalReport:
    settings = bench.settings(overrides, preset)
    kb = await bench.open(settings)
    report = await evaluate(
        bench.dataset,
        partial(kb.search, reader=OWNER),
        limit=limit,
        kind_of=kind,
        on_progress=count_messages(on_progress),
    )
    return stamped(report, settings)
