"""Many settings on the same questions, and an honest word on the best of them.

The best of many variants looks better than it is: by chance one fits the very questions it was chosen on. So half of
the questions choose, and the other half, on which only the baseline and the winner are run, says what the choice is
worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from ragstone import query
from ragstone.errors import UsageError
from ragstone.experiment.bench import Bench, OnMessage, open_bench
from ragstone.experiment.measure import stamped
from ragstone.experiment.preset import as_preset
from ragstone.experiment.variants import Dimension, drawn, grid
from ragstone.review.dataset import Query
from ragstone.review.evaluate import MEASURES, evaluate, spread, summarise
from ragstone.review.report import EvalReport
from ragstone.review.significance import Difference, Interval, holm, paired_difference
from ragstone.sections import Settings

BASELINE = "baseline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A variant on the questions that choose. ``p`` is corrected for the number of variants; the baseline has none.

    ``settings`` are the overrides it differs from the baseline by; ``milliseconds`` is what a question took, what
    was remembered from another variant counted as if it had been done again.
    """

    settings: tuple[str, ...]
    mean: Interval
    difference: Difference | None
    p: float | None
    milliseconds: float

    @property
    def name(self) -> str:
        return " ".join(self.settings) or BASELINE


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """Baseline and winner on the questions that had no part in choosing; ``difference`` is winner minus baseline."""

    questions: int
    baseline: Interval
    winner: Interval
    difference: Difference


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepReport:
    """``tried`` is sorted by the metric, best first; ``winner`` and ``baseline`` are measured on all questions."""

    dataset: str
    metric: str
    questions: int
    tried: tuple[Tried, ...]
    held_out: HeldOut
    winner: EvalReport
    baseline: EvalReport
    knowledge_bases: int
    preset: str

    @property
    def chosen(self) -> Tried:
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
    """Try settings against each other and choose the best.

    What the variants have in common is done once: a knowledge base for each way of storing the documents, an
    embedder, each text and each question embedded.

    Args:
        data: as for `evaluate_dataset`.
        dimensions: the settings to vary.
        overrides: settings of all variants, the baseline included.
        preset: the same as a preset.
        kb: the knowledge base that a CSV of questions is about.
        keep: folder where knowledge bases are kept for the next sweep.
        count: draw so many variants instead of trying all.
        metric: what is best; one of `MEASURES`.
        limit: this many questions at most.
        seed: of the draw, and of the halves.
        on_progress: told in words what has been done.

    Raises:
        UsageError: there are no dimensions, no such metric, or too few questions with an expected document.
        SettingsError: a value does not fit its setting.
    """
    if metric not in MEASURES:
        raise UsageError(f"there is no measure '{metric}'; there are {', '.join(MEASURES)}")
    async with open_bench(data, kb=kb, keep=keep, on_progress=on_progress) as bench:
        variants = _variants(bench, dimensions, overrides, preset, count, seed)
        choosing, showing = _halves(spread(_judged(bench), limit), seed)
        run = _Run(bench, choosing, metric, on_progress)
        for number, (settings, names) in enumerate(variants, start=1):
            await run.choose(settings, names, f"variant {number} of {len(variants)}: {' '.join(names) or BASELINE}")
        tried = run.ranked()
        reports = {}
        for names in {(): None, tried[0].settings: None}:
            settings = next(one for one, its in variants if its == names)
            shown, _ = await run.measured(settings, showing)
            whole = summarise(bench.dataset.name, [*run.reports[names].per_query, *shown.per_query])
            reports[names] = shown, stamped(whole, settings)
        (shown, baseline), (best, winner) = reports[()], reports[tried[0].settings]
        return SweepReport(
            dataset=bench.dataset.name,
            metric=metric,
            questions=len(choosing),
            tried=tried,
            held_out=HeldOut(
                questions=len(showing),
                baseline=shown.measures[metric],
                winner=best.measures[metric],
                difference=_minus(best, shown, metric),
            ),
            winner=winner,
            baseline=baseline,
            knowledge_bases=bench.stores,
            preset=as_preset(next(one for one, its in variants if its == tried[0].settings)),
        )


class _Run:
    """Variants measured one after another on the same bench."""

    def __init__(self, bench: Bench, choosing: Sequence[Query], metric: str, on_progress: OnMessage | None) -> None:
        self._bench, self._choosing, self._metric, self._on_progress = bench, choosing, metric, on_progress
        self.reports: dict[tuple[str, ...], EvalReport] = {}
        self._milliseconds: dict[tuple[str, ...], float] = {}

    async def choose(self, settings: Settings, names: tuple[str, ...], message: str) -> None:
        if self._on_progress is not None:
            self._on_progress(message)
        self.reports[names], self._milliseconds[names] = await self.measured(settings, self._choosing)

    async def measured(self, settings: Settings, queries: Sequence[Query]) -> tuple[EvalReport, float]:
        """A report, and what a question took: what was remembered counts as if it had been done."""
        engine = await self._bench.engine(settings)
        await engine.search(queries[0].text, 1)  # opening indexes is not what is measured
        saved = self._bench.saved
        report = await evaluate(replace(self._bench.dataset, queries=tuple(queries)), engine.search, kind_of=query.kind)
        return report, report.milliseconds + (self._bench.saved - saved) / len(queries)

    def ranked(self) -> tuple[Tried, ...]:
        """Best first; of equals the baseline, then the one tried first."""
        base = self.reports[()]
        others = [names for names in self.reports if names]
        differences = {names: _minus(self.reports[names], base, self._metric) for names in others}
        corrected = dict(zip(others, holm([differences[names].p for names in others]), strict=True))
        tried = [
            Tried(
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
    """The baseline, then the variants that differ from it and from each other, with what they are called by.

    All settings are read before anything is measured, so that a wrong one is told at once.
    """
    if not dimensions:
        raise UsageError("nothing to try; name a setting and its values: --grid query.vector_weight=.3,.5,.7")
    out = [(bench.settings(overrides, preset), tuple[str, ...]())]
    known = {_key(out[0][0])}
    for names in grid(dimensions) if count is None else drawn(dimensions, count, seed):
        settings = bench.settings([*overrides, *names], preset)
        if _key(settings) not in known:
            known.add(_key(settings))
            out.append((settings, names))
    return out


def _key(settings: Settings) -> str:
    return settings.model_dump_json()


def _judged(bench: Bench) -> list[Query]:
    qrels = bench.dataset.qrels
    return [query for query in bench.dataset.queries if any(one > 0 for one in qrels.get(query.id, {}).values())]


def _halves(queries: Sequence[Query], seed: int) -> tuple[list[Query], list[Query]]:
    """Two halves drawn by chance, with as many of each language and kind of question in both."""
    if len(queries) < 2:
        raise UsageError("a sweep needs two questions with an expected document at least: half of them are held out")
    shuffled = list(queries)
    Random(seed).shuffle(shuffled)
    alike = sorted(shuffled, key=_trait)
    return alike[::2], alike[1::2]


def _trait(one: Query) -> tuple[str, str]:
    return one.lang, query.kind(one.text, one.lang)


def _minus(one: EvalReport, other: EvalReport, metric: str) -> Difference:
    ours, theirs = ([result.measures[metric] for result in report.per_query] for report in (one, other))
    return paired_difference(ours, theirs)
