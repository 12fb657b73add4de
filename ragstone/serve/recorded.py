"""Measurements as MLflow gets them, where `review.mlflow` names a store."""

from __future__ import annotations

import json
from dataclasses import asdict

from ragstone.experiment import SweepReport
from ragstone.review.mlflow_sink import Run, record
from ragstone.review.report import EvalReport
from ragstone.serve.report import evaluation_page, sweep_page


def record_evaluation(report: EvalReport) -> None:
    """One run."""
    if store := report.settings.get("review.mlflow"):
        artefacts = {"report.json": report.to_json(), "report.html": evaluation_page(report)}
        record(store, report.dataset, _run("eval", report, artefacts))


def record_sweep(report: SweepReport) -> None:
    """A run for the chosen variant on all questions, and below it one for each that was tried, on those that chose."""
    if not (store := report.winner.settings.get("review.mlflow")):
        return
    artefacts = {
        "sweep.json": json.dumps(asdict(report), ensure_ascii=False, indent=1),
        "sweep.html": sweep_page(report),
        "preset.yaml": report.preset,
    }
    parts = [
        Run(
            name=one.name,
            parameters=dict(setting.split("=", 1) for setting in one.settings),
            metrics={report.metric: one.mean.mean, "milliseconds": one.milliseconds},
        )
        for one in report.tried
    ]
    record(store, report.dataset, _run("sweep", report.winner, artefacts), parts)


def _run(name: str, report: EvalReport, artefacts: dict[str, str]) -> Run:
    means = {measure: it.mean for measure, it in report.measures.items()}
    shares = report.answers.shares() if report.answers else {}
    counted = {name.replace(" ", "_"): it.value for name, it in shares.items() if it.value is not None}
    return Run(
        name=name,
        parameters=report.settings,
        metrics={**means, **counted, "milliseconds": report.milliseconds, "questions": report.queries},
        artefacts=artefacts,
    )
