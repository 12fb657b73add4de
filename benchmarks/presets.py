"""What each preset finds in data of its own kind, from the command line as a user types it.

``ragstone add`` with the preset, then ``ragstone eval`` on a CSV of the judged questions. Without files to add,
``ragstone eval`` runs on the data set.
"""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common import COMMAND, Options, Result, Table, main, progress, skipped
from ragstone.review.dataset import load

MEASURES = ("recall@5", "recall@10", "mrr@10", "ndcg@10")
LIMIT, QUICK_LIMIT = 120, 20
"""The most questions for a preset that reranks, and for every preset in a quick run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A preset, the set with its questions, and the files that a user would add; without files, the set itself."""

    preset: str
    questions: str
    source: str = ""
    reranks: bool = False


CASES = (
    Case(preset="knowledge-base", questions="covid_faq_kb", source="covid_faq_kb/dev/kb.csv"),
    Case(preset="publications", questions="telekom_press", source="telekom_press/dev/txt", reranks=True),
    Case(preset="docs-site", questions="cudaq_docs", source="cudaq_docs/raw/docs/sphinx"),
    Case(preset="news", questions="malaysian_news", reranks=True),
    Case(preset="companion", questions="lt_faq"),
)
QUICK_CASES = (CASES[1], CASES[4])


async def measure(options: Options) -> Result:
    cases = [one for one in (QUICK_CASES if options.quick else CASES) if options.folder(one.questions)]
    if not cases:
        return skipped("presets are measured on data sets of their kind")
    return summary([(one, _evaluate(one, options)) for one in cases])


def _evaluate(case: Case, options: Options) -> Mapping[str, Any]:
    """Return the output of ``ragstone eval --json``."""
    assert options.data is not None
    kb, asked = options.keep / f"preset-{case.preset}", options.data / case.questions
    progress(f"presets: {case.preset} on {case.questions}")
    if case.source:
        if not kb.exists():
            _run("add", str(options.data / case.source), "--kb", str(kb), "--preset", case.preset)
        asked = options.keep / f"{case.questions}.csv"
        write_questions(options.data / case.questions, asked)
    limit = QUICK_LIMIT if options.quick else LIMIT if case.reranks else None
    given = ["--preset", case.preset, "--kb", str(kb), "--search-only", "--json"]
    return json.loads(_run("eval", str(asked), *given, *(["--limit", str(limit)] if limit else [])))


def _run(*words: str) -> str:
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=True).stdout


def write_questions(folder: Path, page: Path) -> None:
    """Write the judged questions of a data set as the CSV that a user would write, each question once."""
    dataset = load(folder)
    rows = {query.text: (query.lang, dataset.qrels.get(query.id, {})) for query in dataset.queries}
    with page.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["question", "source", "answerable", "lang"])
        for text, (language, judged) in rows.items():
            sources = [id for id, relevance in judged.items() if relevance > 0]
            lines.writerow([text, ";".join(sources), "" if sources else "no", language])


def summary(reports: Sequence[tuple[Case, Mapping[str, Any]]]) -> Result:
    rows: list[list[str]] = []
    for case, report in reports:
        measures = [report["measures"][name] for name in MEASURES]
        values = [f"{one['mean']:.3f} ({one['low']:.3f}-{one['high']:.3f})" for one in measures]
        embedder = report["settings"]["index.embedder"]
        rows.append([case.preset, case.source or case.questions, embedder, str(report["judged"]), *values])
    figures = {
        case.preset: {name: round(report["measures"][name]["mean"], 4) for name in MEASURES} for case, report in reports
    }
    columns = ["preset", "data", "embedder", "questions", *MEASURES]
    return Result(tables=[Table(title="Presets", columns=columns, rows=rows)], figures=figures)


if __name__ == "__main__":
    main({"presets": measure}, "presets")
