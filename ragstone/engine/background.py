"""Background tasks of chat programs, done without a search. Nothing of them is stored or counted as a question."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import suppress
from datetime import UTC, datetime

from ragstone.core.answers import EXTRACTIVE, Answer, Answered, Event, EvidenceFound
from ragstone.core.errors import ModelError
from ragstone.core.records import Evidence
from ragstone.core.request import Request
from ragstone.core.timing import Timings
from ragstone.engine.components import Components
from ragstone.question import read
from ragstone.question.tasks import Task

NO_SEARCH = "none"


async def events_of(version: Components, task: Task, request: Request) -> AsyncGenerator[Event]:
    """Yield no evidence, and the result of a task as an answer: from the model, or else from the words alone."""
    yield EvidenceFound(evidence=Evidence(question=read(task.text), hits=(), method=NO_SEARCH))
    timings, model = Timings(), version.models.chat()
    result, author = task.done_without_model(), EXTRACTIVE
    if model:
        with timings.stage("answer"), suppress(ModelError):  # a plainer title is no reason to tell anybody
            result, author = await task.done_by(model, request), model.name
    yield Answered(
        answer=Answer(
            response_id=request.meter.id,
            question=task.text,
            answer=result,
            outcome="reply",
            citations=(),
            sources=(),
            confidence=0.0,
            retrieval_method=NO_SEARCH,
            timestamp=datetime.now(UTC).isoformat(timespec="milliseconds"),
            timings_ms=timings.milliseconds(),
            usage=request.meter.usage(),
            model=author,
        )
    )
