"""The command: asks the fifty questions and prints what became of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, get_args

from benchmarks.asked.asking import Told, told
from benchmarks.asked.questions import Verdict
from benchmarks.common import Options, Result, Table, main, skipped

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


async def measure(options: Options) -> Result:
    """Ask all questions whose data are there."""
    answers = [one async for one in told(options)]
    return summary(answers) if answers else skipped("the questions are asked of the data of each preset")


def summary(answers: Sequence[Told]) -> Result:
    """Return a table of each preset with what became of its questions, a table of counts, and the figures."""
    systems = list(dict.fromkeys(one.question.system for one in answers))
    of = {system: [one for one in answers if one.question.system == system] for system in systems}
    tables = [
        Table(
            title=system,
            columns=["kind", "question", "outcome", "confidence", "verdict"],
            rows=[
                [one.question.kind, one.question.text, one.answer.outcome, f"{one.answer.confidence:.2f}", one.verdict]
                for one in own
            ],
        )
        for system, own in of.items()
    ]
    counted = Table(
        title="Fifty questions as users ask them",
        columns=["preset", *VERDICTS],
        rows=[[name, *map(str, counts([one.verdict for one in own]))] for name, own in (*of.items(), ("all", answers))],
    )
    return Result(
        tables=[*tables, counted],
        figures={**figures(answers), "by_preset": {system: figures(own) for system, own in of.items()}},
    )


def figures(answers: Sequence[Told]) -> dict[str, Any]:
    """Return counts of the verdicts, and the mean confidence of the answers that are right and of the others."""
    right = [one.answer.confidence for one in answers if one.verdict == "right"]
    wrong = [one.answer.confidence for one in answers if one.verdict in ("right document", "wrong")]
    became = dict(zip(VERDICTS, counts([one.verdict for one in answers]), strict=True))
    return {
        "questions": len(answers),
        "answers_right": became["right"],
        "answers_right_document": became["right document"],
        "wrong": became["wrong"],
        "refused_rightly": became["refused rightly"],
        "refused_wrongly": became["refused wrongly"],
        "refused_wrongly_but_shown": len(shown(answers)),
        "mean_confidence_right": _mean(right),
        "mean_confidence_wrong": _mean(wrong),
    }


def shown(answers: Sequence[Told]) -> list[Told]:
    """Return the questions that were refused wrongly, but with the words of the answer among the closest passages."""
    refused = [one for one in answers if one.verdict == "refused wrongly"]
    return [one for one in refused if one.question.is_said_in(one.answer.answer)]


def counts(verdicts: Iterable[Verdict]) -> list[int]:
    """Return how often each verdict was passed, in the order of `VERDICTS`."""
    passed = Counter(verdicts)
    return [passed[verdict] for verdict in VERDICTS]


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


if __name__ == "__main__":
    main({"asked": measure}, "asked")
