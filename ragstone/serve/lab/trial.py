"""A run over questions with known answers on both sides: quality, latency and calibration."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ragstone.core.answers import Answer
from ragstone.core.errors import SourceError
from ragstone.core.frozen import frozen
from ragstone.core.hits import Hits
from ragstone.engine.experiments.measure import stamped
from ragstone.question import kind
from ragstone.review.compare import Comparison, compare
from ragstone.review.dataset import Dataset
from ragstone.review.evaluate import evaluate, spread
from ragstone.review.questions import read_questions
from ragstone.review.report import EvalReport
from ragstone.serve.cli.screen import explain
from ragstone.serve.lab.desk import Desk
from ragstone.serve.lab.settings import NAMES
from ragstone.settings import Settings

UNWATCHED = 300.0
"""Seconds after which a run stops if nobody watches it: models may cost money."""


@frozen
class Measured:
    """The report of one side, and its answers by question, if answers were asked for."""

    settings: Settings
    report: EvalReport
    answers: Mapping[str, Answer]

    def answerability(self) -> list[Outcome]:
        """Return each answerability that was estimated, and whether the evidence has an expected document."""
        return [
            Outcome(predicted=answer.answerability, true=_holds(answer, self._expected(id)))
            for id, answer in self.answers.items()
            if answer.answerability is not None
        ]

    def confidence(self) -> list[Outcome]:
        """Return the confidence of each given answer, and whether it cites an expected document."""
        return [
            Outcome(predicted=answer.confidence, true=_cites(answer, self._expected(id)))
            for id, answer in self.answers.items()
            if not answer.abstained
        ]

    def milliseconds(self) -> list[float]:
        """Return the time of each answer, or of each search if there are no answers."""
        if self.answers:
            return [answer.timings_ms["total"] for answer in self.answers.values()]
        return [one.milliseconds for one in self.report.per_query if one.measures]

    def _expected(self, id: str) -> Sequence[str]:
        return next(one.expected for one in self.report.per_query if one.id == id)


@frozen
class Outcomes:
    """Both sides, and their comparison, unless no question has an expected document."""

    sides: tuple[Measured, ...]
    comparison: Comparison | None


def read(desk: Desk, csv: bytes, name: str) -> Dataset:
    """Return the questions of a CSV; ``name`` is that of its file.

    Raises:
        SourceError: a line is not as it should be; named with its number.
    """
    with saved(csv, name) as file:
        return read_questions(file, desk.find, desk.kb.documents.all)


@contextmanager
def saved(csv: bytes, name: str) -> Generator[Path]:
    """Yield a file with these bytes. Errors name it without its folder, which would only confuse."""
    with TemporaryDirectory(prefix="ragstone-") as folder:
        file = Path(folder) / (name or "questions.csv")
        file.write_bytes(csv)
        try:
            yield file
        except SourceError as error:
            raise SourceError(str(error).replace(f"{folder}/", "")) from error


class Trial:
    """A run over the questions of a CSV. It starts at once."""

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
        unwatched: float = UNWATCHED,
    ) -> None:
        """
        Args:
            desk: the open knowledge base.
            csv: the questions, as `ragstone.review.questions` reads them.
            name: the name of the file.
            sides: the settings of each side.
            limit: the largest number of questions.
            answers: whether to ask for answers, too.
            metric: the measure by which questions are compared.
            unwatched: seconds after which it stops if nobody watches.
        """
        self._desk, self._csv, self._name = desk, csv, Path(name).name
        self._sides, self._limit, self._answers, self.metric = tuple(sides), limit, answers, metric
        self._unwatched = unwatched
        self.done, self.total = 0, 0
        self._watched = time.monotonic()
        self._future: Future[Outcomes] = desk.start(self._run())

    @property
    def running(self) -> bool:
        """Return whether it is still running; asking counts as watching."""
        self._watched = time.monotonic()
        return not self._future.done()

    @property
    def outcomes(self) -> Outcomes | None:
        """Return the result, or None while it runs and if it failed or was stopped."""
        return self._future.result() if self._future.done() and not self.error else None

    @property
    def error(self) -> str:
        """Return why there is no result, once it has ended."""
        if not self._future.done():
            return ""
        if self._future.cancelled():
            return "stopped"
        error = self._future.exception()
        return explain(error)[0] if isinstance(error, Exception) else ""

    def stop(self) -> None:
        """Stop it and drop its results."""
        self._future.cancel()

    async def _run(self) -> Outcomes:
        dataset = await asyncio.to_thread(read, self._desk, self._csv, self._name)
        self.total = len(spread(dataset.queries, self._limit)) * len(self._sides)
        sides = [await self._measured(dataset, settings) for settings in self._sides]
        comparison = None
        if len(sides) == len(NAMES) and any(one.measures for one in sides[0].report.per_query):
            a, b = (side.report for side in sides)
            comparison = await asyncio.to_thread(compare, a, b, NAMES, metric=self.metric)
        return Outcomes(sides=tuple(sides), comparison=comparison)

    async def _measured(self, dataset: Dataset, settings: Settings) -> Measured:
        kb = await self._desk.ready(settings, dataset.queries[0].text)
        before = self.done
        answers: dict[str, Answer] = {}

        async def ask(question: str) -> Answer:
            await asyncio.sleep(0)  # lets a stop take effect between questions
            answers[question] = await kb.ask(question, reader=self._desk.reader)
            return answers[question]

        async def search(question: str, k: int) -> Hits:
            await asyncio.sleep(0)
            return await kb.search(question, k, reader=self._desk.reader)

        def report_progress(done: int, total: int) -> None:
            del total
            self.done = before + done
            if time.monotonic() - self._watched > self._unwatched:
                self._future.cancel()

        report = await evaluate(
            dataset,
            search,
            ask if self._answers else None,
            limit=self._limit,
            kind_of=kind,
            on_progress=report_progress,
        )
        return Measured(settings=settings, report=stamped(report, settings), answers=answers)


def _holds(answer: Answer, expected: Sequence[str]) -> bool:
    return any(hit.chunk.document_id in expected for hit in answer.hits)


def _cites(answer: Answer, expected: Sequence[str]) -> bool:
    return any(citation.document_id in expected for citation in answer.citations)


# ---------------------------------------------------------------- calibration and latency

BINS = 10
_Z = 1.96
"""Of a 95% interval."""


@frozen
class Outcome:
    """A predicted probability, and whether it came true."""

    predicted: float
    true: bool


@frozen
class Bin:
    """Outcomes with similar predictions: their mean, the observed share and its 95% interval (Wilson's)."""

    predicted: float
    observed: float
    low: float
    high: float
    count: int


@frozen
class Reliability:
    """Calibration: ``error`` is the mean distance between prediction and observed share, ``brier`` the Brier score."""

    bins: tuple[Bin, ...]
    error: float
    brier: float


@frozen
class Latency:
    """Quantiles of the milliseconds per question."""

    median: float
    p95: float
    most: float


def reliability(outcomes: Sequence[Outcome]) -> Reliability | None:
    """Return the calibration of predictions in `BINS` of equal width, or None without outcomes."""
    if not outcomes:
        return None
    groups: dict[int, list[Outcome]] = {}
    for one in outcomes:
        groups.setdefault(min(BINS - 1, int(one.predicted * BINS)), []).append(one)
    found = tuple(_bin(groups[number]) for number in sorted(groups))
    return Reliability(
        bins=found,
        error=sum(abs(one.predicted - one.observed) * one.count for one in found) / len(outcomes),
        brier=sum((one.predicted - one.true) ** 2 for one in outcomes) / len(outcomes),
    )


def latency(milliseconds: Sequence[float]) -> Latency | None:
    """Return quantiles of the times, or None without any."""
    if not milliseconds:
        return None
    median, p95 = np.quantile(milliseconds, [0.5, 0.95])
    return Latency(median=float(median), p95=float(p95), most=max(milliseconds))


def _bin(outcomes: Sequence[Outcome]) -> Bin:
    count = len(outcomes)
    share = sum(one.true for one in outcomes) / count
    low, high = wilson(share, count)
    predicted = sum(one.predicted for one in outcomes) / count
    return Bin(predicted=predicted, observed=share, low=low, high=high, count=count)


def wilson(share: float, count: int) -> tuple[float, float]:
    """Return the 95% interval of a share (Wilson, JASA 22, 1927)."""
    middle = (share + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    reach = _Z / (1 + _Z**2 / count) * sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    # Within the limits, whatever the rounding.
    return min(share, max(0.0, middle - reach)), max(share, min(1.0, middle + reach))
