"""What each shipped preset gives on data of its own kind, from the command line as a user types it.

``ragstone add`` with the preset, then ``ragstone eval`` on a CSV of the judged questions; where the data come as a data
set only, ``ragstone eval`` with the preset on that. And what searching both ways is worth: Recall@20 of the default,
and of the fusion by rank of the preset for news, minus that of vectors alone, on every set where those find less than
95%.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.common import Options, Result, Table, main, skipped, told
from benchmarks.retrieval import SETS
from ragstone.config import load as load_settings
from ragstone.engine import Engine
from ragstone.experiment import add_corpus, kept_at
from ragstone.experiment.bench import NO_CACHE
from ragstone.experiment.memory import Remembering
from ragstone.index import build_embedder
from ragstone.review.dataset import load
from ragstone.review.evaluate import evaluate

COMMAND = (sys.executable, "-c", "from ragstone.serve.cli import main; main()")
MEASURES = ("recall@5", "recall@10", "mrr@10", "ndcg@10")
LIMIT, QUICK_LIMIT = 120, 20
"""Questions of a preset that reranks, and of every one in a quick run, at most."""
ENOUGH = 0.95
"""Where vectors alone find so much, there is little to gain."""
TARGET = 0.08
BOTH_WAYS = {
    "vectors alone": ("query.method=vector",),
    "both": (),
    "both, by rank": ("query.fusion=reciprocal_rank", "query.vector_weight=0.5", "query.adapt=false"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A preset, the set that has its questions, and the files of it that a user would add; none: the set itself."""

    preset: str
    questions: str
    source: str = ""
    settings: tuple[str, ...] = ()
    reranks: bool = False


CASES = (
    Case(preset="knowledge-base", questions="covid_faq_kb", source="covid_faq_kb/dev/kb.csv"),
    Case(preset="publications", questions="telekom_press", source="telekom_press/dev/txt", reranks=True),
    Case(preset="docs-site", questions="cudaq_docs", source="cudaq_docs/raw/docs/sphinx"),
    Case(preset="news", questions="malaysian_news", reranks=True),
    Case(preset="companion", questions="lt_faq"),
    Case(preset="companion", questions="lt_faq", settings=("rank.boosts.full_length=0",)),
)
QUICK_CASES = (CASES[1], CASES[4])
QUICK_SETS = SETS[:3]


async def measure(options: Options) -> Result:
    if options.data is None:
        return skipped("presets are measured on data sets of their kind")
    cases = [one for one in (QUICK_CASES if options.quick else CASES) if (options.data / one.questions).is_dir()]
    if not cases:
        return skipped("none of the sets is in the folder of data sets")
    reports = [(one, _evaluated(one, options)) for one in cases]
    recalls = await _recalls(options)
    return summary(reports, recalls)


def _evaluated(case: Case, options: Options) -> Mapping[str, Any]:
    """What ``ragstone eval --json`` says."""
    assert options.data is not None
    kb, folder = options.keep / f"preset-{case.preset}", options.data / case.questions
    told(f"{case.preset}: {case.questions}")
    asked = folder
    if case.source:
        if not kb.exists():
            _run("add", str(options.data / case.source), "--kb", str(kb), "--preset", case.preset)
        asked = options.keep / f"{case.questions}.csv"
        write_questions(folder, asked)
    limit = QUICK_LIMIT if options.quick else LIMIT if case.reranks else None
    given = ["--preset", case.preset, "--kb", str(kb), "--search-only", "--json"]
    given += ["--limit", str(limit)] if limit else []
    given += [word for one in case.settings for word in ("--set", one)]
    return json.loads(_run("eval", str(asked), *given))


def _run(*words: str) -> str:
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=True).stdout


def write_questions(folder: Path, page: Path) -> None:
    """The judged questions of a data set as the CSV that a user would write; a question asked twice stands once."""
    dataset = load(folder)
    rows = {query.text: (query.lang, dataset.qrels.get(query.id, {})) for query in dataset.queries}
    with page.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["question", "source", "answerable", "lang"])
        for text, (language, judged) in rows.items():
            sources = [id for id, relevance in judged.items() if relevance > 0]
            lines.writerow([text, ";".join(sources), "" if sources else "no", language])


async def _recalls(options: Options) -> dict[str, dict[str, float]]:
    """Recall@20 of each set, by the way of searching."""
    assert options.data is not None
    chosen = [f"index.embedder={options.embedders[0]}", *NO_CACHE]
    embedder = Remembering(build_embedder(load_settings(chosen).settings.index))
    found: dict[str, dict[str, float]] = {}
    for one in QUICK_SETS if options.quick else SETS:
        if not (options.data / one).is_dir():
            continue
        dataset = load(options.data / one)
        place = kept_at(options.keep, dataset.name, load_settings(chosen).settings, embedder)
        with closing(Engine.open(place, chosen, create=True, build_embedder=lambda *_: embedder)) as engine:
            await add_corpus(engine, dataset, lambda message, name=one: told(f"{name}: {message}"))
            found[dataset.name] = {}
            for way, settings in BOTH_WAYS.items():
                search = engine.with_settings(load_settings([*chosen, *settings]).settings).search
                report = await evaluate(dataset, search, limit=QUICK_LIMIT if options.quick else None)
                found[dataset.name][way] = report.measures["recall@20"].mean
        told(f"{one}: {found[dataset.name]}")
    return found


def summary(reports: Sequence[tuple[Case, Mapping[str, Any]]], recalls: Mapping[str, Mapping[str, float]]) -> Result:
    rows, figures = [], {}
    for case, report in reports:
        name = " ".join((case.preset, *case.settings))
        intervals = [report["measures"][measure] for measure in MEASURES]
        told_of = [f"{one['mean']:.3f} ({one['low']:.3f}-{one['high']:.3f})" for one in intervals]
        embedder = report["settings"]["index.embedder"]
        rows.append([name, case.source or case.questions, embedder, str(report["judged"]), *told_of])
        figures[name] = {measure: round(report["measures"][measure]["mean"], 4) for measure in MEASURES}
    presets = Table(title="Presets", columns=["preset", "of", "embedder", "questions", *MEASURES], rows=rows)
    less = {name: one for name, one in recalls.items() if one["vectors alone"] < ENOUGH}
    ways = list(BOTH_WAYS)
    rows = [[name, *(f"{one[way]:.3f}" for way in ways)] for name, one in less.items()]
    if less:
        rows.append(["mean", *(f"{mean(one[way] for one in less.values()):.3f}" for way in ways)])
    title = f"Recall@20 where vectors alone find less than {ENOUGH:.0%}"
    gains = {way: mean(one[way] - one[ways[0]] for one in less.values()) for way in ways[1:]} if less else {}
    notes = [
        f"{way}, minus {ways[0]}: {gain:+.3f}; target {TARGET:+.2f}: {'met' if gain >= TARGET else 'MISSED'}."
        for way, gain in gains.items()
    ]
    return Result(
        tables=[presets, Table(title=title, columns=["set", *ways], rows=rows)],
        notes=notes,
        figures={"presets": figures, "recall@20": recalls, "gains": {way: round(one, 4) for way, one in gains.items()}},
    )


if __name__ == "__main__":
    main({"presets": measure}, "presets")
