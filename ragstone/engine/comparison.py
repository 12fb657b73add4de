"""Compares the version in use with a rebuilt one on the same questions, before the switch."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median

from ragstone.core.access import OWNER
from ragstone.core.answers import Answer
from ragstone.core.frozen import frozen
from ragstone.core.records import Hit
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.review.dataset import load
from ragstone.review.evaluate import evaluate
from ragstone.review.report import EvalReport
from ragstone.review.significance import Difference, paired_difference

MAX_QUESTIONS = 50
"""Number of recent questions to ask both versions."""
TOP_CHUNKS = 5
"""Number of best chunks whose overlap is measured."""
MEASURES = ("ndcg@10", "mrr@10")

OnMessage = Callable[[str], None]


@frozen
class QuestionComparison:
    """A question answered by both versions.

    ``overlap`` is the share of the old version's five best chunks that share a character with one of the new
    version's five best. ``before`` and ``after`` are confidences; ``changed`` means a different text.
    """

    question: str
    overlap: float
    before: float
    after: float
    changed: bool


@frozen
class VersionSummary:
    """A version: median ``seconds`` per question, and mean ``measures`` on the data set, if there is one."""

    chunks: int
    megabytes: float
    seconds: float
    measures: Mapping[str, float]


@frozen
class VersionComparison:
    """Both versions; ``differences`` are new minus old over the ``judged`` questions of the data set."""

    before: VersionSummary
    after: VersionSummary
    overlap: float
    asked: tuple[QuestionComparison, ...]
    judged: int
    differences: Mapping[str, Difference]


async def compare(
    kb: KnowledgeBase, dataset: Path | None = None, on_progress: OnMessage | None = None
) -> VersionComparison:
    """Ask the version in use and the rebuilt one the same questions, and return the comparison.

    Args:
        kb: the knowledge base.
        dataset: judged questions about its documents, as for `ragstone eval`; by default the latest questions.
        on_progress: called with a message about each step.

    Raises:
        NotFound: there is no rebuilt version.
        SourceError: the data set is missing or malformed.
    """
    # Both run without caches, so that the timings cover all the work.
    with closing(kb.uncached()) as old, closing(kb.uncached(next_version=True)) as new:
        if dataset is not None:
            return await _on_dataset(old, new, dataset, on_progress)
        return await _on_questions(old, new, kb.history.latest_questions(MAX_QUESTIONS), on_progress)


async def _on_questions(
    old: KnowledgeBase, new: KnowledgeBase, questions: Sequence[str], on_progress: OnMessage | None
) -> VersionComparison:
    asked: list[QuestionComparison] = []
    times: tuple[list[float], list[float]] = ([], [])
    for done, question in enumerate(questions):
        answers = list[Answer]()
        for kb, times_of in zip((old, new), times, strict=True):
            if done == 0:  # the first question loads models and opens indexes
                await kb.ask(question, reader=OWNER)
            started = time.perf_counter()
            answers.append(await kb.ask(question, reader=OWNER))
            times_of.append(time.perf_counter() - started)
        best = [await kb.search(question, TOP_CHUNKS, reader=OWNER) for kb in (old, new)]
        before, after = answers
        asked.append(
            QuestionComparison(
                question=question,
                overlap=overlap(*best),
                before=before.confidence,
                after=after.confidence,
                changed=before.answer.split() != after.answer.split(),
            )
        )
        if on_progress:
            on_progress(f"{done + 1} of {len(questions)} questions compared")
    shares = [one.overlap for one in asked]
    return VersionComparison(
        before=_summarize(old, times[0], {}),
        after=_summarize(new, times[1], {}),
        overlap=sum(shares) / len(shares) if shares else 0.0,
        asked=tuple(asked),
        judged=0,
        differences={},
    )


async def _on_dataset(
    old: KnowledgeBase, new: KnowledgeBase, folder: Path, on_progress: OnMessage | None
) -> VersionComparison:
    dataset, reports, best = load(folder), list[EvalReport](), list[dict[str, Sequence[Hit]]]()
    times: tuple[list[float], list[float]] = ([], [])
    for kb, times_of in zip((old, new), times, strict=True):
        hits_by_question: dict[str, Sequence[Hit]] = {}

        async def search(
            question: str,
            k: int,
            kb: KnowledgeBase = kb,
            times_of: list[float] = times_of,
            hits_by_question: dict[str, Sequence[Hit]] = hits_by_question,
        ) -> Sequence[Hit]:
            started = time.perf_counter()
            hits = await kb.search(question, k, reader=OWNER)
            times_of.append(time.perf_counter() - started)
            hits_by_question[question] = hits[:TOP_CHUNKS]
            return hits

        if on_progress:
            on_progress(f"asking {len(dataset.queries):,} questions of the {'old' if kb is old else 'new'} version")
        reports.append(await evaluate(dataset, search))
        best.append(hits_by_question)
    values = [[one.measures for one in report.per_query if one.measures] for report in reports]
    shares = [overlap(best[0][question], best[1][question]) for question in best[0]]
    means = [{name: report.measures[name].mean for name in MEASURES if report.measures} for report in reports]
    return VersionComparison(
        before=_summarize(old, times[0], means[0]),
        after=_summarize(new, times[1], means[1]),
        overlap=sum(shares) / len(shares) if shares else 0.0,
        asked=(),
        judged=len(values[0]),
        differences={
            name: paired_difference([one[name] for one in values[1]], [one[name] for one in values[0]])
            for name in MEASURES
            if values[0]
        },
    )


def overlap(old: Sequence[Hit], new: Sequence[Hit]) -> float:
    """Return the share of old hits that share a character with a new hit; 1 if there are no old hits."""
    places = [(hit.chunk.document_id, hit.chunk.start, hit.chunk.end) for hit in new]
    touched = [
        any(
            id == hit.chunk.document_id and start < hit.chunk.end and hit.chunk.start < end for id, start, end in places
        )
        for hit in old
    ]
    return sum(touched) / len(touched) if touched else 1.0


def _summarize(kb: KnowledgeBase, times: Sequence[float], measures: Mapping[str, float]) -> VersionSummary:
    status = kb.status()
    return VersionSummary(
        chunks=status.chunks,
        megabytes=status.megabytes,
        seconds=round(median(times), 4) if times else 0.0,
        measures=measures,
    )
