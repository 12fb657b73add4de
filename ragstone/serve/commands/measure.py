"""Commands that measure: eval, sweep, compare, gate."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.access import OWNER, Reader
from ragstone.serve.options import As, Asked, Json, with_settings

if TYPE_CHECKING:
    from ragstone.review.report import EvalReport

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATASET", help="Folder of a data set, or a CSV of questions and sources.", show_default=False
    ),
]
Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="At most so many questions.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page with plots, too.")]
Metric = Annotated[str, typer.Option("--metric", metavar="NAME", help="Measure, such as mrr@10 or recall@5.")]
Keep = Annotated[
    Path | None,
    typer.Option("--keep", metavar="DIR", help="Keep knowledge bases here for the next run."),
]
Asked_KB = Annotated[
    Path | None, typer.Option("--kb", metavar="DIR", help="The knowledge base that a CSV of questions is about.")
]
Mlflow = Annotated[
    str | None, typer.Option("--mlflow", metavar="URI", help="Record it in this MLflow store. Sets review.mlflow.")
]


@with_settings
def evaluate(
    dataset: Data,
    asked: Asked,
    kb: Annotated[
        Path | None,
        typer.Option("--kb", metavar="DIR", help="The knowledge base asked, or where one is kept for the next run."),
    ] = None,
    limit: Limit = None,
    groups: As = None,
    search_only: Annotated[bool, typer.Option("--search-only", help="Do not measure answers.")] = False,
    per_question: Annotated[bool, typer.Option("--per-question", help="List the questions, the worst first.")] = False,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Write the report as JSON, for compare and gate.")
    ] = None,
    html: Html = None,
    mlflow: Mlflow = None,
    as_json: Json = False,
) -> None:
    """Measure search and answers on questions with known answers.

    A data set brings its own documents. A CSV has questions about a knowledge base that is there, in the columns
    question and source, and maybe answerable, lang and kind; a source is the id of a document, or the end of it.
    """
    from ragstone.serve import recorded, render_measured, screen
    from ragstone.serve.report import evaluation_page

    report = _measured(dataset, asked.plus(_mlflow(mlflow)), kb, limit, Reader.of(groups), answers=not search_only)
    _write(save, report.to_json)
    _write(html, lambda: evaluation_page(report))
    recorded.record_evaluation(report)
    if as_json:
        screen.write_json(asdict(report))
        return
    screen.write(render_measured.evaluation(report))
    if per_question:
        screen.write(render_measured.questions(report))


@with_settings
def sweep(
    dataset: Data,
    asked: Asked,
    grid: Annotated[
        list[str] | None,
        typer.Option("--grid", metavar="PATH=A,B,C", help="A setting and its values, or LOW..HIGH; may be repeated."),
    ] = None,
    random: Annotated[int | None, typer.Option("--random", metavar="N", min=1, help="Draw so many variants.")] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the draw, and of the questions held out.")] = 0,
    metric: Metric = "ndcg@10",
    limit: Limit = None,
    kb: Asked_KB = None,
    keep: Keep = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Write the best as a preset, in YAML.")
    ] = None,
    html: Html = None,
    mlflow: Mlflow = None,
    as_json: Json = False,
) -> None:
    """Try settings against each other, and save the best.

    Half of the questions choose; the others, held out, show what the choice is worth. What variants have in common
    is done once: to try weights of the fusion, nothing is embedded again.
    """
    from ragstone.experiment.sweep import sweep
    from ragstone.experiment.variants import parse_dimension
    from ragstone.serve import recorded, render_measured, screen
    from ragstone.serve.report import sweep_page

    dimensions = [parse_dimension(one) for one in grid or []]
    with screen.spinner("reading the data set") as told:
        run = sweep(
            dataset,
            dimensions,
            asked.plus(_mlflow(mlflow)).overrides,
            preset=asked.preset,
            kb=kb,
            keep=keep,
            count=random,
            metric=metric,
            limit=limit,
            seed=seed,
            on_progress=told,
        )
        report = asyncio.run(run)
    _write(save, lambda: f"{render_measured.chosen_comment(report)}{report.preset}")
    _write(html, lambda: sweep_page(report))
    recorded.record_sweep(report)
    if as_json:
        screen.write_json(asdict(report))
    else:
        screen.write(render_measured.swept(report))


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A preset, or a report saved by eval.", show_default=False)],
    b: Annotated[str, typer.Argument(metavar="B", help="What may be better: the same.", show_default=False)],
    dataset: Annotated[
        Path | None,
        typer.Argument(metavar="[DATASET]", help="As for eval; two reports need none.", show_default=False),
    ] = None,
    metric: Metric = "ndcg@10",
    randomisation: Annotated[
        bool, typer.Option("--randomisation", help="Take p from the randomisation test, not the bootstrap.")
    ] = False,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="A setting of both; may be repeated.")
    ] = None,
    limit: Limit = None,
    kb: Asked_KB = None,
    keep: Keep = None,
    html: Html = None,
    as_json: Json = False,
) -> None:
    """Compare two presets, or two saved reports.

    Question by question, with intervals and tests for pairs.
    """
    from ragstone.experiment.contest import compare_two
    from ragstone.serve import render_measured, screen
    from ragstone.serve.report import comparison_page

    with screen.spinner("reading the data set") as told:
        run = compare_two(
            a,
            b,
            dataset,
            set_ or (),
            kb=kb,
            keep=keep,
            metric=metric,
            randomisation=randomisation,
            limit=limit,
            on_progress=told,
        )
        compared = asyncio.run(run)
    _write(html, lambda: comparison_page(compared))
    if as_json:
        screen.write_json(asdict(compared))
    else:
        screen.write(render_measured.comparison(compared))


@with_settings
def gate(
    baseline: Annotated[
        Path, typer.Argument(metavar="BASELINE", help="Report written by eval --save.", show_default=False)
    ],
    dataset: Data,
    asked: Asked,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", metavar="NAME", help="ndcg@10 if not given; may be repeated.")
    ] = None,
    margin: Annotated[
        float, typer.Option("--margin", metavar="SHARE", min=0, help="A smaller loss is let pass.")
    ] = 0.01,
    kb: Annotated[
        Path | None,
        typer.Option("--kb", metavar="DIR", help="The knowledge base asked, or where one is kept for the next run."),
    ] = None,
    limit: Limit = None,
    as_json: Json = False,
) -> None:
    """Measure again, and fail where something was lost.

    The exit code is 1 where a measure is significantly worse than in the baseline. The questions must be the
    same. Made for continuous integration.
    """
    from ragstone.review.compare import gate, pair
    from ragstone.review.report import read_report
    from ragstone.serve import render_measured, screen

    before = read_report(baseline)
    now = _measured(dataset, asked, kb, limit, OWNER, answers=False)
    verdicts = gate(before, now, metric or ["ndcg@10"], margin)
    lost = any(verdict.lost for verdict in verdicts)
    if as_json:
        screen.write_json({"lost": lost, "margin": margin, "verdicts": [asdict(one) for one in verdicts]})
    else:
        screen.write(render_measured.verdicts(verdicts, len(pair(before, now)), margin))
    if lost:
        raise typer.Exit(1)


def _mlflow(uri: str | None) -> tuple[str, ...]:
    return () if uri is None else (f"review.mlflow={uri}",)


def _write(file: Path | None, text: Callable[[], str]) -> None:
    if file:
        file.write_text(text(), encoding="utf-8")


def _measured(
    dataset: Path, asked: Asked, kb: Path | None, limit: int | None, reader: Reader, *, answers: bool
) -> EvalReport:
    from ragstone.experiment.measure import evaluate_dataset
    from ragstone.serve import screen

    with screen.spinner("reading the data set") as told:
        run = evaluate_dataset(
            dataset,
            asked.overrides,
            preset=asked.preset,
            kb=kb,
            limit=limit,
            answers=answers,
            reader=reader,
            on_progress=told,
        )
        return asyncio.run(run)
