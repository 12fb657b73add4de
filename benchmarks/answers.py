"""How far answers can be trusted: citations, proof, refusals, probabilities, and the offline judge."""

from __future__ import annotations

from dataclasses import fields

from benchmarks import calibration, judge, support
from benchmarks.common import Options, Result, Table, main, progress, skipped
from ragstone.engine.experiments import dataset_folder, evaluate_dataset
from ragstone.index import build_embedder
from ragstone.review.report import AnswerReport, Share
from ragstone.settings.load import load

SET = "clapnq"
QUICK_LIMIT = 60
MEANING = {
    "citation_precision": "citations that touch a sentence an annotator chose, of all citations",
    "citation_recall": "sentences the annotators chose that a citation touches, of all such sentences",
    "refusal_precision": "unanswerable questions, of all that were refused",
    "refusal_recall": "refused questions, of all that are unanswerable",
    "quotes_exact": "quotes that are, character by character, what the document says, of all quotes",
}


async def measure(options: Options) -> Result:
    folder = options.folder(SET)
    if folder is None:
        return skipped(f"answers are measured on {SET}, with its evidence sentences and unanswerable questions")
    chosen = [f"index.embedder={options.embedders[0]}"]
    settings = load(chosen).settings
    report = await evaluate_dataset(
        folder,
        chosen,
        kb=dataset_folder(options.keep, SET, settings, build_embedder(settings.index)),
        limit=QUICK_LIMIT if options.quick else None,
        on_progress=lambda message: progress(f"{SET}: {message}"),
    )
    if report.answers is None:
        raise ValueError(f"{SET} has neither evidence sentences nor unanswerable questions")
    cited = summary(report.answers)
    parts = {
        "support": await support.measure(options),
        "answerability": await calibration.measure(options),
        "judge": await judge.measure(options),
    }
    return Result(
        tables=[*cited.tables, *(table for part in parts.values() for table in part.tables)],
        figures=cited.figures | {name: part.figures for name, part in parts.items()},
    )


def summary(answers: AnswerReport) -> Result:
    shares: dict[str, Share] = {
        field.name: value for field in fields(answers) if isinstance(value := getattr(answers, field.name), Share)
    }
    rows = [
        [name, "-" if share.value is None else f"{share.value:.3f}", f"{share.part} of {share.whole}", MEANING[name]]
        for name, share in shares.items()
    ]
    title = f"{SET}: {answers.questions} questions, {answers.abstained} refused"
    return Result(
        tables=[Table(title=title, columns=["measure", "share", "count", "what it is"], rows=rows)],
        figures={
            "questions": answers.questions,
            "abstained": answers.abstained,
            **{name: None if share.value is None else round(share.value, 4) for name, share in shares.items()},
        },
    )


if __name__ == "__main__":
    main({"answers": measure}, "answers")
