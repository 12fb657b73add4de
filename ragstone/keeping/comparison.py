"""Two versions of a knowledge base on the same questions: what a rebuild would change, before it is switched to."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from ragstone.contracts import Hit
from ragstone.engine import Engine
from ragstone.review.dataset import load
from ragstone.review.evaluate import evaluate
from ragstone.review.significance import Difference, paired_difference

COMPARED = 50
"""Latest questions that are asked of both versions."""
BEST = 5
"""Of so many best chunks it is told whether they are the same."""
MEASURES = ("ndcg@10", "mrr@10")

OnMessage = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question put to both versions.

    ``overlap`` is the share of the old version's five best chunks that share a character with one of the new
    version's five best. ``before`` and ``after`` are confidences; ``changed`` whether the words of the answer differ.
    """

    question: str
    overlap: float
    before: float
    after: float
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A version: ``seconds`` are the median of a question, ``measures`` the means on the data set, if there was one."""

    chunks: int
    megabytes: float
    seconds: float
    measures: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Both versions; ``differences`` are new less old, over ``judged`` questions of the data set."""

    before: Side
    after: Side
    overlap: float
    asked: tuple[Asked, ...]
    judged: int
    differences: Mapping[str, Difference]


async def compare(engine: Engine, dataset: Path | None = None, on_progress: OnMessage | None = None) -> Comparison:
    """Ask the version in use, and the one that a rebuild left beside it, the same questions; nothing is changed.

    Args:
        engine: the knowledge base.
        dataset: judged questions about its documents, as for `ragstone eval`; the latest questions if not given.
        on_progress: told in words what is being done.

    Raises:
        NotFound: there is no version beside.
        SourceError: the data set is missing or malformed.
    """
    # Without caches, so that both do all the work that is timed.
    with closing(engine.uncached()) as old, closing(engine.uncached(beside=True)) as new:
        if dataset is not None:
            return await _on_dataset(old, new, dataset, on_progress)
        return await _on_questions(old, new, engine.latest_questions(COMPARED), on_progress)


async def _on_questions(
    old: Engine, new: Engine, questions: Sequence[str], on_progress: OnMessage | None
) -> Comparison:
    asked: list[Asked] = []
    times: tuple[list[float], list[float]] = ([], [])
    for done, question in enumerate(questions):
        answers = []
        for engine, took in zip((old, new), times, strict=True):
            if done == 0:  # the first loads models and opens indexes
                await engine.ask(question)
            started = time.perf_counter()
            answers.append(await engine.ask(question))
            took.append(time.perf_counter() - started)
        best = [await engine.search(question, BEST) for engine in (old, new)]
        before, after = answers
        asked.append(
            Asked(
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
    return Comparison(
        before=_side(old, times[0], {}),
        after=_side(new, times[1], {}),
        overlap=sum(shares) / len(shares) if shares else 0.0,
        asked=tuple(asked),
        judged=0,
        differences={},
    )


async def _on_dataset(old: Engine, new: Engine, folder: Path, on_progress: OnMessage | None) -> Comparison:
    dataset, reports, times, best = load(folder), [], ([], []), []
    for engine, took in zip((old, new), times, strict=True):
        found: dict[str, list[Hit]] = {}

        async def search(
            question: str,
            k: int,
            engine: Engine = engine,
            took: list[float] = took,
            found: dict[str, list[Hit]] = found,
        ) -> list[Hit]:
            started = time.perf_counter()
            hits = await engine.search(question, k)
            took.append(time.perf_counter() - started)
            found[question] = hits[:BEST]
            return hits

        if on_progress:
            on_progress(f"asking {len(dataset.queries):,} questions of the {'old' if engine is old else 'new'} version")
        reports.append(await evaluate(dataset, search))
        best.append(found)
    values = [[one.measures for one in report.per_query if one.measures] for report in reports]
    shares = [overlap(best[0][question], best[1][question]) for question in best[0]]
    means = [{name: report.measures[name].mean for name in MEASURES if report.measures} for report in reports]
    return Comparison(
        before=_side(old, times[0], means[0]),
        after=_side(new, times[1], means[1]),
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
    """Share of the old hits that share a character with a new one; 1 where there are no old ones."""
    places = [(hit.chunk.document_id, hit.chunk.start, hit.chunk.end) for hit in new]
    touched = [
        any(
            id == hit.chunk.document_id and start < hit.chunk.end and hit.chunk.start < end for id, start, end in places
        )
        for hit in old
    ]
    return sum(touched) / len(touched) if touched else 1.0


def _side(engine: Engine, times: Sequence[float], measures: Mapping[str, float]) -> Side:
    status = engine.status()
    return Side(
        chunks=status.chunks,
        megabytes=status.megabytes,
        seconds=round(median(times), 4) if times else 0.0,
        measures=measures,
    )
