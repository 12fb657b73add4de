"""The records of people's use: conversations, answers, jobs, spending, what was learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.core.frozen import frozen
from ragstone.engine.jobs.queue import JobQueue
from ragstone.engine.lazy import Lazy
from ragstone.engine.location import open_journal
from ragstone.engine.parts.source import Source
from ragstone.engine.tracking import Tracker
from ragstone.history.conversations import Conversations
from ragstone.history.responses import Responses
from ragstone.history.shares import Shares
from ragstone.history.spending import Spending
from ragstone.history.statistics import Statistics
from ragstone.history.store import JournalStore
from ragstone.learning.learner import Learner
from ragstone.settings import Settings

if TYPE_CHECKING:
    from ragstone.review.otel_sink import Telemetry

SAVE_SECONDS = 300.0
"""Seconds between two writes of the statistics."""
SHARED_SAVE_SECONDS = 5.0
"""The same if several processes serve: each reports what the others have written."""


@frozen
class HistoryParts:
    """The records of people's use; they belong to the knowledge base, not to a version.

    ``tracker`` and ``telemetry`` are None if no setting names where they send.
    """

    journal: Lazy[JournalStore]
    jobs: Lazy[JobQueue]
    conversations: Lazy[Conversations]
    responses: Lazy[Responses]
    shares: Lazy[Shares]
    spending: Lazy[Spending]
    statistics: Lazy[Statistics]
    learner: Lazy[Learner]
    tracker: Lazy[Tracker | None]
    telemetry: Lazy[Telemetry | None]


def build_history(source: Source, settings: Settings) -> HistoryParts:
    shared, own = source.shared, settings.review
    memory = (settings.respond.memory_tokens, own.responses_days)
    journal = shared.part("journal", (), lambda: open_journal(source.location))

    def jobs() -> JobQueue:
        queue = settings.jobs
        if queue.queue == "postgres":
            from ragstone.engine.jobs.postgres import PostgresJobs

            services = settings.services
            return PostgresJobs(services.postgres, queue.name, queue.tries, seconds=services.engine_seconds)
        from ragstone.engine.jobs.journal import JournalJobs

        return JournalJobs(journal(), tries=queue.tries)

    def telemetry() -> Telemetry | None:
        if not own.telemetry.to:
            return None
        from ragstone.review.otel_sink import Telemetry

        return Telemetry(own.telemetry)

    return HistoryParts(
        journal=journal,
        jobs=shared.part("jobs", (settings.jobs, settings.services.postgres, settings.services.engine_seconds), jobs),
        conversations=shared.part(
            "conversations", memory, lambda: Conversations(journal(), tokens=memory[0], days=memory[1])
        ),
        responses=shared.part("responses", own.responses_days, lambda: Responses(journal(), days=own.responses_days)),
        shares=shared.part("shares", (), lambda: Shares(journal())),
        spending=shared.part("spending", (), lambda: Spending(journal())),
        statistics=shared.part(
            "statistics",
            own.statistics_days,
            lambda: Statistics(
                journal(),
                days=own.statistics_days,
                every=SAVE_SECONDS if settings.serve.workers == 1 else SHARED_SAVE_SECONDS,
            ),
        ),
        # The learner uses the settings that the knowledge base was opened with, not those of a question.
        learner=shared.part("learner", (), lambda: Learner(journal(), settings, overrides=source.overrides)),
        tracker=shared.part(
            "tracker",
            own.mlflow,
            lambda: Tracker(own.mlflow, str(source.location.folder.resolve())) if own.mlflow else None,
        ),
        telemetry=shared.part(
            "telemetry",
            own.telemetry,
            telemetry,
        ),
    )
