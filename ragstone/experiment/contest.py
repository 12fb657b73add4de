"""Two ways of setting Ragstone up, each measured or read from a report, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragstone import query
from ragstone.errors import UsageError
from ragstone.experiment.bench import Bench, OnMessage, open_bench
from ragstone.experiment.measure import stamped, told
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
    """Compare two presets, two saved reports, or a preset with a report.

    Args:
        a: what is compared with: name or path of a preset, or a report (``.json``).
        b: what may be better.
        data: as for `evaluate_dataset`; two reports need none.
        overrides: settings above both presets.
        kb: the knowledge base that a CSV of questions is about.
        keep: folder where knowledge bases are kept for the next time.
        metric: the measure by which gains and losses are told.
        randomisation: take p from Fisher's randomisation test, not from the bootstrap.
        limit: this many questions at most.
        on_progress: told in words what has been done.

    Raises:
        UsageError: data is missing, there is no such metric, or the questions differ.
        SourceError: a report cannot be read.
    """
    if metric not in MEASURES:
        raise UsageError(f"there is no measure '{metric}'; there are {', '.join(MEASURES)}")
    saved = {name: read_report(Path(name)) for name in (a, b) if name.endswith(".json")}
    reports = dict(saved)
    if len(saved) < len({a, b}):
        if data is None:
            raise UsageError("name a data set to measure the presets on; two saved reports need none")
        async with open_bench(data, kb=kb, keep=keep, on_progress=on_progress) as bench:
            for name in (a, b):
                if name not in reports:
                    reports[name] = await _measured(bench, name, overrides, limit, on_progress)
    return compare(reports[a], reports[b], (a, b), metric=metric, randomisation=randomisation)


async def _measured(
    bench: Bench, preset: str, overrides: Sequence[str], limit: int | None, on_progress: OnMessage | None
) -> EvalReport:
    settings = bench.settings(overrides, preset)
    engine = await bench.engine(settings)
    report = await evaluate(
        bench.dataset, engine.search, limit=limit, kind_of=query.kind, on_progress=told(on_progress)
    )
    return stamped(report, settings)
