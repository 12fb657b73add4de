"""Records each ingest and each session of questions of a knowledge base as an MLflow run.

A session contains all questions under the same settings between opening the knowledge base and closing it: one question
of `ragstone ask`, or all questions of a conversation or a running server. Its metrics have one step per question. A
thread writes several answers at a time, so that no answer waits for it, and a failing store stops nothing.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial

from ragstone.core.answers import Answer, Answered, Failed
from ragstone.core.errors import RagstoneError
from ragstone.core.frozen import frozen
from ragstone.core.reports import AddReport
from ragstone.review.mlflow_sink import Point, Store
from ragstone.settings import Settings
from ragstone.settings.load import leaves, written

LOGGER = logging.getLogger("ragstone.tracking")
MOST_WAITING = 1000
"""Maximum number of answers that wait to be written; further ones are dropped."""
MOST_SESSIONS = 20
"""Maximum number of concurrent sessions; a question under other settings ends the oldest one."""


@frozen
class Tracked:
    """A question under its settings, and how it ended."""

    settings: Settings
    outcome: Answered | Failed
    at: float = field(default_factory=time.time)


@dataclass(slots=True, kw_only=True)
class _Session:
    """A run of questions, and its sums so far."""

    run: str
    questions: int = 0
    abstained: int = 0
    failed: int = 0
    tokens: int = 0
    cache_hits: int = 0
    cost: float = 0.0

    def point(self, tracked: Tracked) -> Point:
        """Return the metrics of a question, and the sums with it."""
        self.questions += 1
        metrics: dict[str, float] = {}
        if isinstance(tracked.outcome, Answered):
            answer = tracked.outcome.answer
            metrics = _figures(answer)
            self.abstained += answer.abstained
            self.cost += answer.usage.cost or 0.0
            self.tokens += sum(int(value) for name, value in metrics.items() if name.startswith("tokens/"))
            self.cache_hits += len(answer.usage.cached)
        else:
            self.failed += 1
        sums = {f"sum/{name}": value for name, value in asdict(self).items() if name != "run"}
        return Point(metrics={**metrics, **sums}, step=self.questions, at=tracked.at)


class Tracker:
    """Records what a knowledge base does."""

    def __init__(self, store: str, experiment: str) -> None:
        """Set the tracking store; the first write opens it.

        Args:
            store: as for `ragstone.review.mlflow_sink.Store`.
            experiment: the name of the experiment of all runs.
        """
        self._store, self._experiment = store, experiment
        self._opened: Store | None = None
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="ragstone-mlflow")
        self._lock, self._waiting = threading.Lock(), list[Tracked]()
        self._sessions: dict[str, _Session] = {}
        self._is_failing = False

    def note_question(self, settings: Settings, outcome: Answered | Failed) -> None:
        """Record a question and its outcome, soon."""
        with self._lock:
            if len(self._waiting) < MOST_WAITING:
                self._waiting.append(Tracked(settings=settings, outcome=outcome))
            if len(self._waiting) == 1:
                self._writer.submit(self._quietly, self._write_questions)

    def note_ingest(
        self, name: str, sources: Sequence[str], settings: Settings, outcome: AddReport | BaseException
    ) -> None:
        """Record an ingest, soon: its name, what it read, and its report or the error that it failed with."""
        self._writer.submit(self._quietly, partial(self._write_ingest, name, sources, settings, outcome, time.time()))

    def close(self) -> None:
        """Write all waiting records, and end the sessions."""
        self._writer.submit(self._quietly, self._end_sessions)
        self._writer.shutdown()

    def _quietly(self, write: Callable[[], None]) -> None:
        """Write a record; log only the first of consecutive failures."""
        try:
            write()
            self._is_failing = False
        except RagstoneError as error:
            if not self._is_failing:
                LOGGER.warning("ragstone: not tracked: %s", error)
            self._is_failing = True

    def _write_questions(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        by_settings: dict[str, list[Tracked]] = {}
        for one in waiting:
            by_settings.setdefault(one.settings.model_dump_json(), []).append(one)
        for key, some in by_settings.items():
            session = self._session(key, some[0])
            first = session.questions + 1
            points = [session.point(one) for one in some]
            self._open().log(session.run, points)
            answers = [json.dumps(_content(one), ensure_ascii=False) for one in some]
            self._open().write(session.run, {f"questions/{first:06}.jsonl": "".join(f"{line}\n" for line in answers)})

    def _session(self, key: str, first: Tracked) -> _Session:
        if key not in self._sessions:
            if len(self._sessions) >= MOST_SESSIONS:
                self._open().end(self._sessions.pop(next(iter(self._sessions))).run)
            run = self._open().start(self._experiment, "questions", _parameters(first.settings), at=first.at)
            self._sessions[key] = _Session(run=run)
        return self._sessions[key]

    def _write_ingest(
        self, name: str, sources: Sequence[str], settings: Settings, outcome: AddReport | BaseException, at: float
    ) -> None:
        failed = not isinstance(outcome, AddReport)
        store, parameters = self._open(), _parameters(settings) | {"sources": "\n".join(sources)}
        if failed:
            run = store.start(self._experiment, name, parameters, at=at)
            store.write(run, {"error.txt": f"{type(outcome).__name__}: {outcome}\n"})
        else:
            run = store.start(self._experiment, name, parameters, at=at - outcome.seconds)
            store.log(run, [Point(metrics=_counts(outcome), at=at)])
            store.write(run, {"report.json": json.dumps(asdict(outcome), ensure_ascii=False, indent=1)})
        store.end(run, failed=failed)

    def _end_sessions(self) -> None:
        for session in self._sessions.values():
            self._open().end(session.run)
        self._sessions.clear()

    def _open(self) -> Store:
        if self._opened is None:
            self._opened = Store(self._store)
        return self._opened


@contextmanager
def tracked(
    tracker: Tracker | None, name: str, settings: Settings, sources: Sequence[str] = ()
) -> Generator[Callable[[AddReport], AddReport]]:
    """Record an ingest, if there is a tracker; yield a function that takes its report and returns it."""

    def done(report: AddReport) -> AddReport:
        if tracker:
            tracker.note_ingest(name, sources, settings, report)
        return report

    try:
        yield done
    except RagstoneError as error:
        if tracker:
            tracker.note_ingest(name, sources, settings, error)
        raise


def _parameters(settings: Settings) -> dict[str, str]:
    return {path: written(value) for path, _, value in leaves(settings)}


def _figures(answer: Answer) -> dict[str, float]:
    """Return the metrics of an answer: milliseconds by stage, tokens, cost, cache hits and confidence."""
    usage = answer.usage
    figures: dict[str, float] = {
        **{f"latency_ms/{stage}": spent for stage, spent in answer.timings_ms.items()},
        "tokens/prompt": usage.prompt_tokens,
        "tokens/completion": usage.completion_tokens,
        "tokens/embedding": usage.embedding_tokens,
        "calls/model": usage.model_calls,
        "calls/embedding": usage.embedding_calls,
        "cache_hit/search": "search" in usage.cached,
        "cache_hit/answer": "answer" in usage.cached,
        "abstained": answer.abstained,
        "confidence": answer.confidence,
        "support": answer.support,
    }
    if answer.answerability is not None:
        figures["answerability"] = answer.answerability
    if usage.cost is not None:
        figures["cost"] = usage.cost
    if marks := answer.judge_scores:
        figures |= {
            "judge/relevance": marks.relevance,
            "judge/factuality": marks.factuality,
            "judge/completeness": marks.completeness,
        }
    return figures


def _counts(report: AddReport) -> dict[str, float]:
    """Return the numbers of a report; ``reused`` counts the chunks whose text had a vector already."""
    numbers = {name: value for name, value in asdict(report).items() if isinstance(value, int | float)}
    lists = {"skipped": len(report.skipped), "decoded": len(report.decoded)}
    return {**numbers, **lists, "reused": report.chunks - report.embedded}


def _content(one: Tracked) -> dict[str, object]:
    if isinstance(one.outcome, Answered):
        answer = one.outcome.answer
        if answer.is_private:
            return {"response_id": answer.response_id, "outcome": answer.outcome, "private": True}
        return answer.to_dict()
    return {"error": f"{type(one.outcome.error).__name__}: {one.outcome.error}"}
