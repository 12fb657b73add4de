"""The preset `news` learning from opinions on real questions: what people who check the source would teach it.

Headlines are asked of the articles that are stored without them, by forty users in turn; two in three give an opinion.
A user likes an answer that cites the article the headline belongs to, and is wrong one time in ten. Nothing else is
made up: answers, marks, the log and the decisions are those of the preset, offline.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

import numpy as np

from benchmarks.bases import NO_CACHE
from benchmarks.common import Options, Result, Table, main, progress, skipped
from ragstone.core.access import Reader
from ragstone.engine.experiments import add_corpus
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.learning.report import LearningReport
from ragstone.review.dataset import Dataset, load

SET = "malaysian_news"
QUESTIONS, QUICK_QUESTIONS = 600, 60
USERS, VOTES, MISTAKEN = 40, 2 / 3, 0.1
STARTS: dict[str, dict[str, str]] = {
    "as the preset has it": {},
    "from keywords alone": {"RAGSTONE_QUERY__VECTOR_WEIGHT": "0"},
}
FOUND = {"RAGSTONE_RANK__RERANKER": "none"}
OFFLINE = (*NO_CACHE, "query.web.engine=none", "learning.per_hour=100000")
BINS = 10
QUIET = ("went on", "watched", "waited")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """An answer to a headline: whether it cites the right article, how sure it was said to be, its version."""

    right: bool
    abstained: bool
    confidence: float
    policy: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What was asked, what was decided, and whether every decision follows from the log."""

    asked: Sequence[Asked]
    opinions: int
    report: LearningReport
    same: bool
    decision_ms: float


async def measure(options: Options) -> Result:
    if options.data is None or not (options.data / SET).is_dir():
        return skipped(f"the preset news is measured on {SET}")
    dataset = load(options.data / SET)
    filled = options.keep / "preset-news"
    with closing(KnowledgeBase.open(filled, NO_CACHE, preset="news", create=True)) as engine:
        await add_corpus(engine, dataset, lambda message: progress(f"{SET}: {message}"))
    count = QUICK_QUESTIONS if options.quick else QUESTIONS
    runs: dict[str, Run] = {}
    for name, settings in STARTS.items():
        progress(f"news_learning: {count} questions, {name}")
        kb = options.keep / "news-learning"
        shutil.rmtree(kb, ignore_errors=True)
        shutil.copytree(filled, kb)
        with _environment(FOUND | settings), closing(KnowledgeBase.open(kb, OFFLINE, preset="news")) as engine:
            runs[name] = await _run(engine, dataset, count)
    return summary(runs)


@contextmanager
def _environment(settings: Mapping[str, str]) -> Generator[None]:
    """Settings that are found, not named: what a command names would not be learned."""
    os.environ.update(settings)
    try:
        yield
    finally:
        for name in settings:
            del os.environ[name]


async def _run(engine: KnowledgeBase, dataset: Dataset, count: int) -> Run:
    chance = random.Random(7)
    judged = [one for one in dataset.queries if any(dataset.qrels.get(one.id, {}).values())]
    asked, opinions = list[Asked](), 0
    for number in range(count):
        headline = chance.choice(judged)
        reader = Reader(name=f"user {number % USERS}")
        answer = await engine.ask(headline.text, reader=reader)
        right = any(dataset.qrels[headline.id].get(one.document_id, 0) > 0 for one in answer.sources)
        asked.append(
            Asked(right=right, abstained=answer.abstained, confidence=answer.confidence, policy=answer.policy or 0)
        )
        if chance.random() < VOTES:
            likes = right != (chance.random() < MISTAKEN)
            engine.history.rate(answer.response_id, vote="up" if likes else "down", reader=reader)
            opinions += 1
    began = time.perf_counter()
    checked = engine.learning.replay()
    seconds = time.perf_counter() - began
    return Run(
        asked=asked,
        opinions=opinions,
        report=engine.learning.report(),
        same=not checked.different,
        decision_ms=round(1000 * seconds / max(1, checked.decisions), 2),
    )


def summary(runs: Mapping[str, Run]) -> Result:
    tables: list[Table] = []
    figures: dict[str, dict[str, float | bool]] = {}
    columns = ["", "questions", "opinions", "right at first", "right at last", "in use", "off at first", "off at last"]
    rows: list[list[str]] = []
    for name, run in runs.items():
        third = len(run.asked) // 3
        first, last = run.asked[:third], run.asked[-third:]
        one = {
            "questions": len(run.asked),
            "opinions": run.opinions,
            "right_first": _right(first),
            "right_last": _right(last),
            "in_use": run.report.champion,
            "calibration_first": _off(first),
            "calibration_last": _off(last),
            "replayed_the_same": run.same,
            "decision_ms": run.decision_ms,
        }
        figures[name] = one
        shares = [f"{one[key]:.3f}" for key in ("right_first", "right_last")]
        off = [f"{one[key]:.3f}" for key in ("calibration_first", "calibration_last")]
        rows.append([name, str(len(run.asked)), str(run.opinions), *shares, f"version {run.report.champion}", *off])
    tables.append(Table(title="Headlines, by thirds of the questions", columns=columns, rows=rows))
    for name, run in runs.items():
        shown = [one for one in run.report.moments if one.action not in QUIET]
        rows = [[str(one.votes), one.action, one.why] for one in shown]
        tables.append(Table(title=f"What was decided, {name}", columns=["opinions", "decision", "why"], rows=rows))
    same = all(run.same for run in runs.values())
    return Result(
        figures={"runs": figures},
        tables=tables,
        notes=[
            "Right: the answer cites the article that the headline belongs to. Off: how far the confidence of answers"
            " is from the share of right ones, in ten parts of equal size.",
            f"Every decision made again from the log gives the same bytes: {'yes' if same else 'NO'}.",
        ],
    )


def _right(asked: Sequence[Asked]) -> float:
    return round(float(np.mean([one.right for one in asked])), 4)


def _off(asked: Sequence[Asked]) -> float:
    """How far what was said of answers is from what they were; refusals say nothing."""
    answers = [one for one in asked if not one.abstained]
    sure, right = (np.array([float(getattr(one, name)) for one in answers]) for name in ("confidence", "right"))
    bins = np.array_split(np.argsort(sure, kind="stable"), BINS)
    error = sum(abs(sure[one].mean() - right[one].mean()) * len(one) for one in bins if len(one))
    return round(float(error) / max(len(right), 1), 4)


if __name__ == "__main__":
    main({"news_learning": measure}, "news_learning")
