"""How far answers can be trusted: citations, proof, refusals, probabilities, and the offline judge."""

from __future__ import annotations

from dataclasses import fields
from functools import partial

from benchmarks import calibration, judge
from benchmarks.common import Options, Result, Table, main, progress, skipped
from benchmarks.question_sets import is_there
from benchmarks.recorded import Found, recorded
from ragstone.core.answers import Draft, Outcome
from ragstone.core.request import Request
from ragstone.engine.experiments import dataset_folder, evaluate_dataset
from ragstone.index import build_embedder
from ragstone.respond.drafts import drafted
from ragstone.review.report import AnswerReport, Share
from ragstone.settings.load import load

SET = "clapnq"
CONVERSATIONS, FACTS, WRITTEN = "mtrag_un", "xquad en", "written"
OUTCOMES: tuple[Outcome, ...] = ("answer", "closest", "refusal")
QUICK_LIMIT, QUICK_EVERY = 60, 8
MEANING = {
    "citation_precision": "citations that touch a sentence an annotator chose, of all citations",
    "citation_recall": "sentences the annotators chose that a citation touches, of all such sentences",
    "answers_right": "answers that touch a sentence the annotators chose, of all answers given",
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
    others, outcomes = await _others(options), await _outcomes(options)
    parts = {
        "answerability": await calibration.measure(options),
        "judge": await judge.measure(options),
    }
    return Result(
        tables=[
            *cited.tables,
            others.tables[0],
            outcomes.tables[0],
            *(table for part in parts.values() for table in part.tables),
        ],
        figures={
            **cited.figures,
            "confidence_error_left_out": parts["answerability"].figures["confidence_error_left_out"],
            **others.figures,
            "outcomes": outcomes.figures,
            **{name: part.figures for name, part in parts.items()},
        },
    )


async def _others(options: Options) -> Result:
    """Measure refusals in conversations, questions of fact, and questions in other words than their documents."""
    assert options.data is not None
    every = QUICK_EVERY if options.quick else 1
    rows: list[list[str]] = []
    figures: dict[str, float | None] = {}
    if is_there(options.data, CONVERSATIONS):
        told = await _drafts(options, CONVERSATIONS, every)
        refused = [found for found, draft in told if draft.abstained]
        wrongly, unanswerable = sum(one.answerable for one in refused), sum(not one.answerable for one, _ in told)
        shares = {
            "conversations_refusal_precision": (len(refused) - wrongly, len(refused)),
            "conversations_refusal_recall": (len(refused) - wrongly, unanswerable),
        }
        rows += [[CONVERSATIONS, name, *_share(*counts)] for name, counts in shares.items()]
        figures |= {name: _value(*counts) for name, counts in shares.items()}
    if is_there(options.data, FACTS):
        told = await _drafts(options, FACTS, every)
        right = sum(not draft.abstained and found.asked.is_answered_by(draft.citations) for found, draft in told)
        rows.append([FACTS, "facts_answered", *_share(right, len(told))])
        figures["facts_answered"] = _value(right, len(told))
    if is_there(options.data, WRITTEN):
        told = await _drafts(options, WRITTEN, every)
        answered = [(found, draft) for found, draft in told if not draft.abstained]
        right = sum(found.asked.is_answered_by(draft.citations) for found, draft in answered)
        shares = {
            "answered_right": (right, sum(one.answerable for one, _ in told)),
            "answers_right": (right, len(answered)),
            "refusal_recall": (
                sum(draft.abstained and not found.answerable for found, draft in told),
                sum(not one.answerable for one, _ in told),
            ),
        }
        stated = sum(draft.sure for _, draft in answered) / max(len(answered), 1)
        rows += [[WRITTEN, name, *_share(*counts)] for name, counts in shares.items()]
        rows.append([WRITTEN, "stated, of those answered", f"{stated:.3f}", f"{len(answered)}"])
        figures |= {f"written_{name}": _value(*counts) for name, counts in shares.items()}
    return Result(
        tables=[Table(title="other sets", columns=["set", "measure", "share", "count"], rows=rows)], figures=figures
    )


async def _outcomes(options: Options) -> Result:
    """Measure how often each outcome shows the answer, and how often a question has one, on sets that mark it."""
    assert options.data is not None
    rows: list[list[str]] = []
    figures: dict[str, object] = {}
    for name in filter(partial(is_there, options.data), (SET, WRITTEN, FACTS, "xquad de", CONVERSATIONS)):
        told = await _drafts(options, name, QUICK_EVERY if options.quick else 1)
        for outcome in OUTCOMES:
            some = [(found, draft) for found, draft in told if draft.outcome == outcome]
            right = sum(found.asked.is_answered_by(draft.citations) for found, draft in some)
            answerable = sum(found.answerable for found, _ in some)
            stated = sum(draft.sure for _, draft in some) / max(len(some), 1)
            rows.append([name, outcome, str(len(some)), *_share(right, len(some)), f"{stated:.3f}", str(answerable)])
            figures[f"{name} {outcome}"] = {"count": len(some), "right": right, "answerable": answerable}
    columns = ["set", "outcome", "count", "shows the answer", "of", "stated", "have an answer"]
    return Result(tables=[Table(title="outcomes", columns=columns, rows=rows)], figures=figures)


async def _drafts(options: Options, name: str, every: int) -> list[tuple[Found, Draft]]:
    """Return the answers to every nth question of a set, each with what was found for it."""
    assert options.data is not None
    record = await recorded(options.data, options.keep, name, options.embedders[0])
    answerer = record.answerer(load().settings.respond)
    return [(one, await drafted(answerer, one.evidence, Request.by_owner())) for one in record.found[::every]]


def _share(part: int, whole: int) -> tuple[str, str]:
    return (f"{part / whole:.3f}" if whole else "-", f"{part} of {whole}")


def _value(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


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
