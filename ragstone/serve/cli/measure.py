"""Commands that measure: the group eval (run, make, sweep, compare, gate)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from ragstone.core.access import OWNER, Reader
from ragstone.serve.cli.options import DEFAULT_KB, As, Asked, Json, Kb, opened, with_settings

if TYPE_CHECKING:
    from ragstone.engine.experiments.sweep import SweepReport
    from ragstone.review.mlflow_sink import Run
    from ragstone.review.report import EvalReport


class DefaultGroup(typer.core.TyperGroup):
    """A group in which ``run`` may be omitted: ``ragstone eval QUESTIONS`` means ``ragstone eval run QUESTIONS``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        named = bool(args) and (args[0] in self.commands or args[0] == "--help")
        return super().parse_args(ctx, args if named else ["run", *args])


app = typer.Typer(
    cls=DefaultGroup,
    help="Measure search and answers. Without a command: run.",
    rich_markup_mode=None,
)

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATASET",
        help="A CSV of questions and sources, or the folder of a data set.",
        show_default=False,
    ),
]
Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="Use at most this many questions.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Also write a page with plots.")]
Metric = Annotated[str, typer.Option("--metric", metavar="NAME", help="Measure, such as mrr@10 or recall@5.")]
Keep = Annotated[
    Path | None,
    typer.Option("--keep", metavar="DIR", help="Keep the knowledge bases here for the next run."),
]
Asked_KB = Annotated[
    Path | None, typer.Option("--kb", metavar="DIR", help="The knowledge base for a CSV of questions.")
]
Measured_KB = Annotated[
    Path | None,
    typer.Option(
        "--kb", metavar="DIR", help="The knowledge base to ask, or the folder to keep the knowledge base of a data set."
    ),
]
Mlflow = Annotated[
    str | None, typer.Option("--mlflow", metavar="URI", help="Record the run in this MLflow store. Sets review.mlflow.")
]


@app.command("run")
@with_settings
def evaluate(
    dataset: Data,
    asked: Asked,
    kb: Measured_KB = None,
    limit: Limit = None,
    groups: As = None,
    search_only: Annotated[bool, typer.Option("--search-only", help="Do not measure answers.")] = False,
    per_question: Annotated[bool, typer.Option("--per-question", help="List the questions, worst first.")] = False,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Write the report as JSON, for compare and gate.")
    ] = None,
    html: Html = None,
    mlflow: Mlflow = None,
    as_json: Json = False,
) -> None:
    """Measure search and answers on questions with known answers.

    A CSV has questions about an existing knowledge base, in the columns question and source, and optionally
    answerable, lang and kind; a source is a document id or the end of one. A data set has its own documents.
    """
    from ragstone.core.printable import one_line
    from ragstone.serve.cli import screen
    from ragstone.serve.report import evaluation_page
    from ragstone.serve.views import measured
    from ragstone.serve.views.blocks import line

    report = _measure(dataset, asked.plus(_mlflow(mlflow)), kb, limit, Reader.of(groups), answers=not search_only)
    _write(save, report.to_json)
    _write(html, lambda: evaluation_page(report))
    _record_evaluation(report)
    head = line((one_line(report.dataset), "bold"), f": {measured.evaluated(report)}")
    view = [head, *measured.evaluation(report), *([measured.questions(report)] if per_question else [])]
    screen.show(asdict(report), view, as_json=as_json)


@app.command()
@with_settings
def make(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The CSV to write; a new file.", show_default=False)],
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    count: Annotated[int, typer.Option("--count", metavar="N", min=1, help="At most this many answerable ones.")] = 40,
    unanswerable: Annotated[
        int, typer.Option("--unanswerable", metavar="N", min=0, help="At most this many without an answer.")
    ] = 10,
    as_json: Json = False,
) -> None:
    """Draft questions from the documents of a knowledge base.

    The CSV has the columns of `ragstone eval run`; evidence are the words that answer a question. The language model of
    the settings writes the questions; without one, they come from headings, definitions and tables. Correct the file
    before you measure: delete what nobody would ask, and ask in the words of your users.
    """
    from ragstone.core.errors import UsageError
    from ragstone.engine.experiments.drafting import draft_questions
    from ragstone.review.drafts import write
    from ragstone.serve.cli import advice, screen
    from ragstone.serve.views import measured

    if file.exists():
        raise UsageError(f"{file} exists already and may have been corrected; name a new file")
    with opened(kb, asked) as live, screen.spinner("reading the documents") as update:
        drafts = asyncio.run(draft_questions(live, count, unanswerable, on_progress=update))
    write(drafts.questions, file)
    screen.show(asdict(drafts), advice.named(measured.drafted(drafts, str(file)), kb), as_json=as_json)


@app.command()
@with_settings
def sweep(
    dataset: Data,
    asked: Asked,
    grid: Annotated[
        list[str] | None,
        typer.Option("--grid", metavar="PATH=A,B,C", help="A setting and its values, or LOW..HIGH; may be repeated."),
    ] = None,
    random: Annotated[int | None, typer.Option("--random", metavar="N", min=1, help="Draw N variants.")] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Seed of the draw and of the choice of held-out questions.")
    ] = 0,
    metric: Metric = "ndcg@10",
    limit: Limit = None,
    kb: Asked_KB = None,
    keep: Keep = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Write the best variant as a preset in YAML.")
    ] = None,
    html: Html = None,
    mlflow: Mlflow = None,
    as_json: Json = False,
) -> None:
    """Try variants of the settings and save the best.

    Half of the questions choose the winner; the other half, held out, measures it. Variants share work: trying fusion
    weights embeds nothing again.
    """
    from ragstone.core.printable import one_line
    from ragstone.engine.experiments.sweep import sweep
    from ragstone.engine.experiments.variants import parse_dimension
    from ragstone.serve.cli import screen
    from ragstone.serve.report import sweep_page
    from ragstone.serve.views import measured
    from ragstone.serve.views.blocks import line

    dimensions = [parse_dimension(one) for one in grid or []]
    with screen.spinner("reading the data set") as update:
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
            on_progress=update,
        )
        report = asyncio.run(run)
    _write(save, lambda: f"{_comment(report)}{report.preset}")
    _write(html, lambda: sweep_page(report))
    _record_sweep(report)
    head = line((one_line(report.dataset), "bold"), f": {measured.swept(report)}")
    screen.show(asdict(report), [head, *measured.sweep(report)], as_json=as_json)


@app.command()
def compare(
    a: Annotated[
        str, typer.Argument(metavar="A", help="A preset, or a report that eval run --save wrote.", show_default=False)
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="The preset or report to compare with A.", show_default=False)],
    dataset: Annotated[
        Path | None,
        typer.Argument(metavar="[DATASET]", help="As for eval run; not needed for two reports.", show_default=False),
    ] = None,
    metric: Metric = "ndcg@10",
    randomisation: Annotated[
        bool, typer.Option("--randomisation", help="Compute p by the randomisation test instead of the bootstrap.")
    ] = False,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="A setting of both sides; may be repeated.")
    ] = None,
    limit: Limit = None,
    kb: Asked_KB = None,
    keep: Keep = None,
    html: Html = None,
    as_json: Json = False,
) -> None:
    """Compare two presets, or two saved reports, question by question."""
    from ragstone.core.printable import one_line
    from ragstone.engine.experiments.contest import compare_two
    from ragstone.serve.cli import screen
    from ragstone.serve.report import comparison_page
    from ragstone.serve.views import measured
    from ragstone.serve.views.blocks import line

    with screen.spinner("reading the data set") as update:
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
            on_progress=update,
        )
        compared = asyncio.run(run)
    _write(html, lambda: comparison_page(compared))
    head = line((one_line(compared.dataset), "bold"), f": {measured.compared(compared)}")
    screen.show(asdict(compared), [head, *measured.comparison(compared)], as_json=as_json)


@app.command()
@with_settings
def gate(
    baseline: Annotated[
        Path, typer.Argument(metavar="BASELINE", help="A report that eval run --save wrote.", show_default=False)
    ],
    dataset: Data,
    asked: Asked,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", metavar="NAME", help="Measure; may be repeated. Default: ndcg@10.")
    ] = None,
    margin: Annotated[
        float, typer.Option("--margin", metavar="SHARE", min=0, help="Tolerate a loss of up to this size.")
    ] = 0.01,
    kb: Measured_KB = None,
    limit: Limit = None,
    as_json: Json = False,
) -> None:
    """Measure again, and fail if quality dropped.

    The exit code is 1 if a measure is significantly worse than in the baseline, which must have the same questions.
    Use it in continuous integration.
    """
    from ragstone.review.compare import gate, pair
    from ragstone.review.report import read_report
    from ragstone.serve.cli import screen
    from ragstone.serve.views import measured

    before = read_report(baseline)
    now = _measure(dataset, asked, kb, limit, OWNER, answers=False)
    verdicts = gate(before, now, metric or ["ndcg@10"], margin)
    lost = any(verdict.lost for verdict in verdicts)
    report = {"lost": lost, "margin": margin, "verdicts": [asdict(one) for one in verdicts]}
    screen.show(report, measured.verdicts(verdicts, len(pair(before, now)), margin), as_json=as_json)
    if lost:
        raise typer.Exit(1)


def _mlflow(uri: str | None) -> tuple[str, ...]:
    return () if uri is None else (f"review.mlflow={uri}",)


def _write(file: Path | None, text: Callable[[], str]) -> None:
    if file:
        file.write_text(text(), encoding="utf-8")


def _measure(
    dataset: Path, asked: Asked, kb: Path | None, limit: int | None, reader: Reader, *, answers: bool
) -> EvalReport:
    from ragstone.engine.experiments.measure import evaluate_dataset
    from ragstone.serve.cli import screen

    with screen.spinner("reading the data set") as update:
        run = evaluate_dataset(
            dataset,
            asked.overrides,
            preset=asked.preset,
            kb=kb,
            limit=limit,
            answers=answers,
            reader=reader,
            on_progress=update,
        )
        return asyncio.run(run)


def _comment(report: SweepReport) -> str:
    """Return the comment above a preset that a sweep chose."""
    from ragstone.core.printable import one_line
    from ragstone.serve.views import measured
    from ragstone.serve.views.blocks import count

    among = f"{count(len(report.tried), 'variant')} on {one_line(report.dataset)}"
    return (
        f"# Chosen by {report.metric} among {among}: {one_line(report.chosen.name)}.\n# {measured.verdict_on(report)}\n"
    )


# ---------------------------------------------------------------- MLflow


def _record_evaluation(report: EvalReport) -> None:
    """Record one run, if `review.mlflow` names a store."""
    from ragstone.review.mlflow_sink import record
    from ragstone.serve.report import evaluation_page

    if store := report.settings.get("review.mlflow"):
        artefacts = {"report.json": report.to_json(), "report.html": evaluation_page(report)}
        record(store, report.dataset, _run("eval", report, artefacts))


def _record_sweep(report: SweepReport) -> None:
    """Record a run of the chosen variant on all questions, and below it one for each variant that was tried."""
    from ragstone.review.mlflow_sink import Run, record
    from ragstone.serve.report import sweep_page

    if not (store := report.winner.settings.get("review.mlflow")):
        return
    artefacts = {
        "sweep.json": json.dumps(asdict(report), ensure_ascii=False, indent=1),
        "sweep.html": sweep_page(report),
        "preset.yaml": report.preset,
    }
    parts: Sequence[Run] = [
        Run(
            name=one.name,
            parameters=dict(setting.split("=", 1) for setting in one.settings),
            metrics={report.metric: one.mean.mean, "milliseconds": one.milliseconds},
        )
        for one in report.tried
    ]
    record(store, report.dataset, _run("sweep", report.winner, artefacts), parts)


def _run(name: str, report: EvalReport, artefacts: dict[str, str]) -> Run:
    from ragstone.review.mlflow_sink import Run

    means = {measure: it.mean for measure, it in report.measures.items()}
    shares = report.answers.shares() if report.answers else {}
    counted = {name.replace(" ", "_"): it.value for name, it in shares.items() if it.value is not None}
    return Run(
        name=name,
        parameters=report.settings,
        metrics={**means, **counted, "milliseconds": report.milliseconds, "questions": report.queries},
        artefacts=artefacts,
    )
