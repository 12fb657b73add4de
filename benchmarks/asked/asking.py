"""Opens each preset on data of its kind, without a language model, and asks its questions."""

from __future__ import annotations

import csv
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.asked.questions import Question, Verdict, questions
from benchmarks.bases import NO_CACHE, opened
from benchmarks.common import Options, progress
from benchmarks.presets import CASES, Case
from ragstone.core.access import OWNER
from ragstone.core.answers import Answer

SOURCES = {"news": "malaysian_news/dev/news.csv", "companion": "lt_faq/dev/corpus.jsonl"}
"""The files of the presets that `benchmarks.presets` measures on a data set without adding files."""
QUOTED = ("respond.model.name=extractive", "index.embedder=auto")
"""What every preset falls back to without a key, said here so that a key in the environment changes nothing."""
NEWS, EVERY = "news", 4
"""Of the news every fourth article is added, and those that answer a question: all would take an hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A question, its answer, and the verdict on it."""

    question: Question
    answer: Answer
    verdict: Verdict


async def told(options: Options) -> AsyncGenerator[Told]:
    """Yield the answers to all questions whose data are there, preset by preset."""
    asked = questions()
    for case in CASES:
        own = [one for one in asked if one.system == case.preset]
        case = replace(case, source=case.source or SOURCES[case.preset])
        if not own or options.data is None or not (options.data / case.source).exists():
            progress(f"asked: no data for {case.preset}")
            continue
        with opened(options.keep / f"asked-{case.preset}", (*NO_CACHE, *QUOTED), preset=case.preset) as kb:
            report = await kb.documents.add([str(_added(case, own, options))])
            progress(f"{case.preset}: {report.added} documents added, {report.unchanged} unchanged")
            for question in own:
                answer = await kb.ask(question.text, reader=OWNER)
                yield Told(question=question, answer=answer, verdict=question.verdict(answer))


def _added(case: Case, asked: Sequence[Question], options: Options) -> Path:
    """Return the file or folder that is added: the source itself, or the part of the news that is used."""
    assert options.data is not None
    source = options.data / case.source
    if case.preset != NEWS:
        return source
    named = {name for one in asked for name in one.documents}
    part = options.keep / f"asked-{case.preset}.csv"
    with source.open(encoding="utf-8", newline="") as whole, part.open("w", encoding="utf-8", newline="") as file:
        rows = csv.DictReader(whole)
        lines = csv.DictWriter(file, rows.fieldnames or ())
        lines.writeheader()
        lines.writerows(row for place, row in enumerate(rows) if place % EVERY == 0 or row["id"] in named)
    return part
