"""Questions with known answers, asked under both settings: a run that tells how far it is, and can be stopped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ragstone import query
from ragstone.answers import Answer
from ragstone.contracts import Hit
from ragstone.errors import SourceError
from ragstone.experiment.measure import stamped
from ragstone.review.compare import Comparison, compare
from ragstone.review.dataset import Dataset
from ragstone.review.evaluate import evaluate, spread
from ragstone.review.questions import read_questions
from ragstone.review.report import EvalReport
from ragstone.sections import Settings
from ragstone.serve.failures import explain
from ragstone.serve.lab.desk import Desk
from ragstone.serve.lab.figures import Outcome
from ragstone.serve.lab.sides import NAMES

UNWATCHED = 300.0
"""Seconds after which a run that nobody looks at stops: models may cost money."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One side: the report, and the answers by the ids of the questions, where they were asked."""

    settings: Settings
    report: EvalReport
    answers: Mapping[str, Answer]

    def answerability(self) -> list[Outcome]:
        """What was promised of the evidence, and whether a document expected is in it."""
        return [
            Outcome(promised=answer.answerability, true=_holds(answer, self._expected(id)))
            for id, answer in self.answers.items()
        ]

    def confidence(self) -> list[Outcome]:
        """Of the answers that were given: what was promised, and whether a document expected is cited."""
        return [
            Outcome(promised=answer.confidence, true=_cites(answer, self._expected(id)))
            for id, answer in self.answers.items()
            if not answer.abstained
        ]

    def milliseconds(self) -> list[float]:
        """What each question took: its answer where it was asked, else its search."""
        if self.answers:
            return [answer.timings_ms["total"] for answer in self.answers.values()]
        return [one.milliseconds for one in self.report.per_query if one.measures]

    def _expected(self, id: str) -> Sequence[str]:
        return next(one.expected for one in self.report.per_query if one.id == id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Both sides, and the comparison; that is missing where no question has a document expected."""

    sides: tuple[Measured, ...]
    comparison: Comparison | None


class Trial:
    """A run over the questions of a CSV; it begins at once."""

    def __init__(
        self,
        desk: Desk,
        csv: bytes,
        name: str,
        sides: Sequence[Settings],
        *,
        limit: int | None = None,
        answers: bool = True,
        metric: str = "ndcg@10",
    ) -> None:
        """
        Args:
            desk: where the questions are asked.
            csv: the questions, as `ragstone.review.questions` reads them.
            name: of the file they came in.
            sides: the settings; where both are the same, they are measured once each.
            limit: this many questions at most.
            answers: False measures the search alone.
            metric: the measure by which questions are told apart.
        """
        self._desk, self._csv, self._name = desk, csv, Path(name).name
        self._sides, self._limit, self._answers, self.metric = tuple(sides), limit, answers, metric
        self.done, self.total = 0, 0
        self._looked = time.monotonic()
        self._future: Future[Outcomes] = desk.start(self._run())

    @property
    def running(self) -> bool:
        """Whether it goes on; to ask is to look."""
        self._looked = time.monotonic()
        return not self._future.done()

    @property
    def outcomes(self) -> Outcomes | None:
        """What was measured; nothing as long as it runs, or where it failed or was stopped."""
        return self._future.result() if self._future.done() and not self.error else None

    @property
    def error(self) -> str:
        """Why there is no result, once it has ended."""
        if not self._future.done():
            return ""
        if self._future.cancelled():
            return "stopped"
        error = self._future.exception()
        return explain(error)[0] if isinstance(error, Exception) else ""

    def stop(self) -> None:
        """End it; what was measured so far is dropped."""
        self._future.cancel()

    async def _run(self) -> Outcomes:
        dataset = await asyncio.to_thread(self._dataset)
        self.total = len(spread(dataset.queries, self._limit)) * len(self._sides)
        sides = [await self._measured(dataset, settings) for settings in self._sides]
        comparison = None
        if len(sides) == len(NAMES) and any(one.measures for one in sides[0].report.per_query):
            a, b = (side.report for side in sides)
            comparison = await asyncio.to_thread(compare, a, b, NAMES, metric=self.metric)
        return Outcomes(sides=tuple(sides), comparison=comparison)

    def _dataset(self) -> Dataset:
        with TemporaryDirectory(prefix="ragstone-") as folder:
            file = Path(folder) / (self._name or "questions.csv")
            file.write_bytes(self._csv)
            try:
                return read_questions(file, self._desk.find, self._desk.newest().documents)
            except SourceError as error:  # the folder is ours, and says nothing
                raise SourceError(str(error).replace(f"{folder}/", "")) from error

    async def _measured(self, dataset: Dataset, settings: Settings) -> Measured:
        engine = await self._desk.ready(settings, dataset.queries[0].text)
        before = self.done
        answers: dict[str, Answer] = {}

        async def ask(question: str) -> Answer:
            await asyncio.sleep(0)  # where it can be stopped, however little the engine waits for
            answers[question] = await engine.ask(question, reader=self._desk.reader)
            return answers[question]

        async def search(question: str, k: int) -> list[Hit]:
            await asyncio.sleep(0)
            return await engine.search(question, k, reader=self._desk.reader)

        def told(done: int, total: int) -> None:
            del total
            self.done = before + done
            if time.monotonic() - self._looked > UNWATCHED:
                self._future.cancel()

        report = await evaluate(
            dataset,
            search,
            ask if self._answers else None,
            limit=self._limit,
            kind_of=query.kind,
            on_progress=told,
        )
        return Measured(settings=settings, report=stamped(report, settings), answers=answers)


def _holds(answer: Answer, expected: Sequence[str]) -> bool:
    return any(hit.chunk.document_id in expected for hit in answer.hits)


def _cites(answer: Answer, expected: Sequence[str]) -> bool:
    return any(citation.document_id in expected for citation in answer.citations)
