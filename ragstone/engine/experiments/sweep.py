"""Sweeps settings over the same questions, and estimates the gain of the best variant without selection bias.

The best of many variants looks better than it is, because it fits the questions that selected it. So one half of the
questions selects the winner. Only the baseline and the winner run on the other half, which measures the gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

from ragstone.core.access import OWNER
from ragstone.core.errors import UsageError
from ragstone.core.frozen import frozen
from ragstone.engine.experiments.bench import Bench, OnMessage, open_bench
from ragstone.engine.experiments.measure import stamped
from ragstone.engine.experiments.preset import as_preset
from ragstone.engine.experiments.variants import Dimension, grid, sample
from ragstone.question import kind
from ragstone.review.dataset import Query
from ragstone.review.evaluate import MEASURES, evaluate, spread, summarise
from ragstone.review.report import EvalReport
from ragstone.review.significance import Difference, Interval, holm, paired_difference
from ragstone.settings import Settings

BASELINE = "baseline"


@frozen
class VariantResult:
    """A variant on the selection half. ``p`` is corrected for the number of variants; it is None for the baseline.

    ``settings`` are the overrides on top of the baseline. ``milliseconds`` is the time per question; it includes the
    cost of memoized embeddings.
    """

    settings: tuple[str, ...]
    mean: Interval
    difference: Difference | None
    p: float | None
    milliseconds: float

    @property
    def name(self) -> str:
        return " ".join(self.settings) or BASELINE


@frozen
class HeldOutResult:
    """Baseline and winner on the held-out half; ``difference`` is winner minus baseline."""

    questions: int
    baseline: Interval
    winner: Interval
    difference: Difference


@frozen
class SweepReport:
    """The result of a sweep.

    ``tried`` is sorted by the metric, best first; ``winner`` and ``baseline`` are measured on all questions.
    """

    dataset: str
    metric: str
    questions: int
    tried: tuple[VariantResult, ...]
    held_out: HeldOutResult
    winner: EvalReport
    baseline: EvalReport
    knowledge_bases: int
    preset: str

    @property
    def chosen(self) -> VariantResult:
        return self.tried[0]


async def sweep(
    data: Path,
    dimensions: Sequence[Dimension],
    overrides: Sequence[str] = (),
    *,
    preset: str | None = None,
    kb: Path | None = None,
    keep: Path | None = None,
    count: int | None = None,
    metric: str = "ndcg@10",
    limit: int | None = None,
    seed: int = 0,
    on_progress: OnMessage | None = None,
) -> SweepReport:
    """Measure variants of the settings, select the best and return a report.

    Variants share their common work: one knowledge base for each way to store the documents, and one embedding of each
    text and question.

    Args:
        data: as for `evaluate_dataset`.
        dimensions: the settings to vary.
        overrides: settings of all variants, including the baseline.
        preset: preset of all variants.
        kb: the knowledge base for a CSV of questions.
        keep: folder that keeps the built knowledge bases for the next sweep.
        count: number of random variants; by default all are tried.
        metric: the measure to maximize; one of `MEASURES`.
        limit: maximum of questions.
        seed: seed of the random variants and of the halves.
        on_progress: called with a message about each step.

    Raises:
        UsageError: no dimension is given, the metric is unknown, or too few questions have an expected document.
        SettingsError: a value does not fit its setting.
    """
    if metric not in MEASURES:
        raise UsageError(f"there is no measure '{metric}'; there are {', '.join(MEASURES)}")
    async with open_bench(data, kb=kb, keep=keep, on_progress=on_progress) as bench:
        variants = _variants(bench, dimensions, overrides, preset, count, seed)
        choosing, held_out = _split_in_halves(spread(_judged_queries(bench), limit), seed)
        run = _Run(bench, choosing, metric, on_progress)
        for number, (settings, names) in enumerate(variants, start=1):
            await run.choose(settings, names, f"variant {number} of {len(variants)}: {' '.join(names) or BASELINE}")
        tried = run.ranked()
        reports = dict[tuple[str, ...], tuple[EvalReport, EvalReport]]()
        for names in {(): None, tried[0].settings: None}:
            settings = next(one for one, its in variants if its == names)
            shown, _ = await run.measure(settings, held_out)
            whole = summarise(bench.dataset.name, [*run.reports[names].per_query, *shown.per_query])
            reports[names] = shown, stamped(whole, settings)
        (shown, baseline), (best, winner) = reports[()], reports[tried[0].settings]
        return SweepReport(
            dataset=bench.dataset.name,
            metric=metric,
            questions=len(choosing),
            tried=tried,
            held_out=HeldOutResult(
                questions=len(held_out),
                baseline=shown.measures[metric],
                winner=best.measures[metric],
                difference=_difference(best, shown, metric),
            ),
            winner=winner,
            baseline=baseline,
            knowledge_bases=bench.stores,
            preset=as_preset(next(one for one, its in variants if its == tried[0].settings)),
        )


class _Run:
    """Measures variants one after another on the same bench."""

    def __init__(self, bench: Bench, choosing: Sequence[Query], metric: str, on_progress: OnMessage | None) -> None:
        self._bench, self._choosing, self._metric, self._on_progress = bench, choosing, metric, on_progress
        self.reports: dict[tuple[str, ...], EvalReport] = {}
        self._milliseconds: dict[tuple[str, ...], float] = {}

    async def choose(self, settings: Settings, names: tuple[str, ...], message: str) -> None:
        if self._on_progress is not None:
            self._on_progress(message)
        self.reports[names], self._milliseconds[names] = await self.measure(settings, self._choosing)

    async def measure(self, settings: Settings, queries: Sequence[Query]) -> tuple[EvalReport, float]:
        """Return a report and the milliseconds per question, including the cost of memoized embeddings."""
        kb = await self._bench.open(settings)
        await kb.search(queries[0].text, 1, reader=OWNER)  # opens the indexes outside of the measurement
        saved = self._bench.saved
        report = await evaluate(
            replace(self._bench.dataset, queries=tuple(queries)), partial(kb.search, reader=OWNER), kind_of=kind
        )
        return report, report.milliseconds + (self._bench.saved - saved) / len(queries)

    def ranked(self) -> tuple[VariantResult, ...]:
        """Return the variants, best first. In a tie, the baseline comes first, then the earlier variant."""
        base = self.reports[()]
        others = [names for names in self.reports if names]
        differences = {names: _difference(self.reports[names], base, self._metric) for names in others}
        corrected = dict(zip(others, holm([differences[names].p for names in others]), strict=True))
        tried = [
            VariantResult(
                settings=names,
                mean=report.measures[self._metric],
                difference=differences.get(names),
                p=corrected.get(names),
                milliseconds=round(self._milliseconds[names], 3),
            )
            for names, report in self.reports.items()
        ]
        return tuple(sorted(tried, key=lambda one: -one.mean.mean))


def _variants(
    bench: Bench,
    dimensions: Sequence[Dimension],
    overrides: Sequence[str],
    preset: str | None,
    count: int | None,
    seed: int,
) -> list[tuple[Settings, tuple[str, ...]]]:
    """Return the baseline and then the distinct variants, each with its overrides.

    All settings are validated before the first measurement, so that an invalid one fails at once.
    """
    if not dimensions:
        raise UsageError("nothing to try; name a setting and its values: --grid query.vector_weight=.3,.5,.7")
    out = [(bench.settings(overrides, preset), tuple[str, ...]())]
    seen = {_settings_key(out[0][0])}
    for names in grid(dimensions) if count is None else sample(dimensions, count, seed):
        settings = bench.settings([*overrides, *names], preset)
        if _settings_key(settings) not in seen:
            seen.add(_settings_key(settings))
            out.append((settings, names))
    return out


def _settings_key(settings: Settings) -> str:
    return settings.model_dump_json()


def _judged_queries(bench: Bench) -> list[Query]:
    qrels = bench.dataset.qrels
    return [query for query in bench.dataset.queries if any(one > 0 for one in qrels.get(query.id, {}).values())]


def _split_in_halves(queries: Sequence[Query], seed: int) -> tuple[list[Query], list[Query]]:
    """Return two random halves, stratified by language and kind of question."""
    if len(queries) < 2:
        raise UsageError("a sweep holds out half of the questions; name at least two that have an expected document")
    shuffled = list(queries)
    Random(seed).shuffle(shuffled)
    ordered = sorted(shuffled, key=_stratum)
    return ordered[::2], ordered[1::2]


def _stratum(one: Query) -> tuple[str, str]:
    return one.lang, kind(one.text, one.lang)


def _difference(one: EvalReport, other: EvalReport, metric: str) -> Difference:
    ours, theirs = ([result.measures[metric] for result in report.per_query] for report in (one, other))
    return paired_difference(ours, theirs)
