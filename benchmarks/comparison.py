"""Variants of the search side by side: their measures, and whether the default is worth its two legs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import mean
from typing import Any

from benchmarks.common import Result, Table
from ragstone.review.report import EvalReport
from ragstone.review.significance import Difference, paired_difference

LEGS = ("bm25", "vector")
BY_EMBEDDER = ("vector", "default")
"""Variants that differ from embedder to embedder."""
MEASURES = ("ndcg@10", "recall@10", "recall@20", "mrr@10", "p@5")

Reports = Mapping[str, EvalReport]
"""Variant to what was measured on one data set."""


def summary(reports: Mapping[str, Reports]) -> Result:
    """Tables of all measures, of the default against its legs and other variants, and of the means over the sets."""
    tables = [_measures(name, by_variant) for name, by_variant in reports.items()]
    gains = {name: _gain(by_variant) for name, by_variant in reports.items()}
    rows = [
        [name, leg, f"{gain.mean:+.3f}", f"{gain.low:+.3f} to {gain.high:+.3f}", _chance(gain), verdict(gain)]
        for name, (leg, gain) in gains.items()
    ]
    overall = mean(gain.mean for _, gain in gains.values())
    rows.append(["mean over sets", "", f"{overall:+.3f}", "", "", ""])
    columns = ["set", "better leg", "difference", "95% interval", "p", "verdict"]
    tables.append(Table(title="nDCG@10: default minus the better of its two legs", columns=columns, rows=rows))
    tables += [_minus_default(reports), _means(reports)]
    return Result(tables=tables, figures=_figures(reports, gains, overall))


def by_embedder(found: Mapping[str, Mapping[str, Reports]], first: Result) -> Result:
    """The tables of the first embedder, and one in which each has its columns."""
    names = list(found)
    base = found[names[0]]
    tables = []
    for measure in ("ndcg@10", "mrr@10", "recall@10"):
        rows = []
        for one, by_variant in base.items():
            reports = [by_variant["bm25"], *(found[name][one][leg] for name in names for leg in BY_EMBEDDER)]
            gains = [_starred(_difference(found[name][one]["default"], by_variant["default"])) for name in names[1:]]
            rows.append([one, *(f"{report.measures[measure].mean:.3f}" for report in reports), *gains])
        together = [[float(row[column]) for row in rows] for column in range(1, 2 + len(BY_EMBEDDER) * len(names))]
        rows.append(["mean", *(f"{mean(values):.3f}" for values in together), *[""] * (len(names) - 1)])
        columns = ["set", "bm25", *(f"{name} {leg}" for name in names for leg in BY_EMBEDDER)]
        columns += [f"nDCG@10 of {name} default minus {names[0]} default" for name in names[1:]]
        tables.append(Table(title=f"{measure} by embedder", columns=columns, rows=rows))
    figures = {name: _figures_of(reports) for name, reports in found.items()}
    return replace(first, tables=[*first.tables, *tables], figures={**first.figures, "embedders": figures})


def verdict(gain: Difference) -> str:
    if gain.low > 0:
        return "better"
    return "WORSE" if gain.high < 0 else "no difference shown"


def _gain(by_variant: Reports) -> tuple[str, Difference]:
    leg = max(LEGS, key=lambda leg: by_variant[leg].measures["ndcg@10"].mean)
    return leg, _difference(by_variant["default"], by_variant[leg])


def _difference(one: EvalReport, other: EvalReport) -> Difference:
    """Of nDCG@10, over the questions that both were asked."""
    ours, theirs = _ndcg(one), _ndcg(other)
    both = [id for id in ours if id in theirs]
    return paired_difference([ours[id] for id in both], [theirs[id] for id in both])


def _ndcg(report: EvalReport) -> dict[str, float]:
    return {query.id: query.measures["ndcg@10"] for query in report.per_query if query.measures}


def _measures(name: str, by_variant: Reports) -> Table:
    rows, judged = [], max(report.judged for report in by_variant.values())
    for variant, report in by_variant.items():
        intervals = [report.measures[measure] for measure in MEASURES]
        asked = f", {report.judged} of them" if report.judged < judged else ""
        rows.append([variant + asked, *(f"{one.mean:.3f} ({one.low:.3f}-{one.high:.3f})" for one in intervals)])
    return Table(title=f"{name}, {judged} judged questions", columns=["variant", *MEASURES], rows=rows)


def _minus_default(reports: Mapping[str, Reports]) -> Table:
    rows = []
    for variant in next(iter(reports.values())):
        if variant != "default":
            gains = [_difference(by_variant[variant], by_variant["default"]) for by_variant in reports.values()]
            rows.append([variant, *map(_starred, gains)])
    title = "nDCG@10: each variant minus the default (*: the 95% interval leaves out 0)"
    return Table(title=title, columns=["variant", *reports], rows=rows)


def _starred(gain: Difference) -> str:
    return f"{gain.mean:+.3f}{'*' if gain.low > 0 or gain.high < 0 else ''}"


def _chance(gain: Difference) -> str:
    return "< .001" if gain.p < 0.001 else f"{gain.p:.3f}"


def _means(reports: Mapping[str, Reports]) -> Table:
    variants = list(next(iter(reports.values())))
    rows = []
    for variant in variants:
        means = [[by_variant[variant].measures[name].mean for by_variant in reports.values()] for name in MEASURES]
        rows.append([variant, *(f"{mean(values):.3f}" for values in means)])
    return Table(title=f"Means over {len(reports)} sets", columns=["variant", *MEASURES], rows=rows)


def _figures(
    reports: Mapping[str, Reports], gains: Mapping[str, tuple[str, Difference]], overall: float
) -> dict[str, Any]:
    return {
        "sets": _figures_of(reports),
        "default_minus_better_leg": {
            name: {
                "leg": leg,
                "mean": round(gain.mean, 4),
                "low": round(gain.low, 4),
                "high": round(gain.high, 4),
                "p": round(gain.p, 4),
                "verdict": verdict(gain),
            }
            for name, (leg, gain) in gains.items()
        },
        "mean_over_sets": round(overall, 4),
    }


def _figures_of(reports: Mapping[str, Reports]) -> dict[str, Any]:
    return {
        name: {
            variant: {m: [round(v, 4) for v in _three(report, m)] for m in MEASURES}
            for variant, report in by_variant.items()
        }
        for name, by_variant in reports.items()
    }


def _three(report: EvalReport, measure: str) -> tuple[float, float, float]:
    interval = report.measures[measure]
    return interval.mean, interval.low, interval.high
