"""Learning for questions: the policy that answers a question, and access to policies and trials.

A question with its own settings, or one of a measurement, follows no policy and teaches nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from ragstone.core.errors import KnowledgeBaseError, UsageError
from ragstone.core.request import Request
from ragstone.engine import assembly
from ragstone.engine.components import Components
from ragstone.engine.opening import OpenVersions
from ragstone.engine.search import Search
from ragstone.learning.learner import ReplayReport
from ragstone.learning.log import Decision
from ragstone.learning.observation import ReplayCase
from ragstone.learning.policy import Choices, Policy, choices_of, under
from ragstone.learning.proposals import Proposal
from ragstone.learning.report import LearningReport, changes, report
from ragstone.question import KINDS, kind


class Learning:
    """The learned policies of a knowledge base."""

    def __init__(self, versions: OpenVersions) -> None:
        self._versions = versions

    @property
    def is_on(self) -> bool:
        """Whether the learner uses answers."""
        with self._versions.current() as version:
            return version.history.learner().is_on

    def report(self) -> LearningReport:
        """Return the policy in use, the current trial, and the evidence so far."""
        with self._versions.current() as version:
            return report(version.history.learner())

    def policies(self) -> list[Policy]:
        """Return every policy in order; version 0 is the configured settings."""
        with self._versions.current() as version:
            return version.history.learner().log.policies()

    def changes(self, version_number: int) -> tuple[str, ...]:
        """Return the changes of a policy to the configured settings.

        Raises:
            NotFound: there is no such policy.
        """
        with self._versions.current() as version:
            return changes(version.history.learner().log.policy(version_number), choices_of(version.settings))

    def promote(self, version_number: int, why: str = "") -> Decision:
        """Put a policy into use, whatever the evidence; the next question follows it.

        Raises:
            NotFound: there is no such policy.
            UsageError: it is in use.
        """
        with self._versions.current() as version:
            return version.history.learner().promote(version_number, why)

    def rollback(self, version_number: int | None = None, why: str = "") -> Decision:
        """Go back to a policy, or to the parent of the one in use; the next question follows it.

        Raises:
            NotFound: there is no such policy.
            UsageError: it is in use, or there is none before version 0.
        """
        with self._versions.current() as version:
            return version.history.learner().rollback(version_number, why)

    def start_trial(self, by_kind: Mapping[str, Choices], why: str = "") -> Decision:
        """Start a trial of the caller's choices, by kind of question; an empty kind means all others.

        Raises:
            UsageError: a trial is running, a choice is out of bounds or changes nothing, or there is no such kind.
        """
        for one in by_kind:
            if one and one not in KINDS:
                raise UsageError(f"there is no kind of question '{one}'; kinds are {', '.join(KINDS)}")
        with self._versions.current() as version:
            return version.history.learner().start_trial(by_kind, why)

    def suggest(self, cases: Sequence[ReplayCase]) -> Proposal | None:
        """Return a change of the policy in use that deserves a trial; None if no change promises more.

        Args:
            cases: questions with known documents; voted questions are added.
        """
        with self._versions.current() as version:
            return version.history.learner().suggest(cases)

    def replay(self) -> ReplayReport:
        """Repeat every decision from the log alone, and compare it with the logged one."""
        with self._versions.current() as version:
            return version.history.learner().replay()


async def assigned(version: Components, question: str, request: Request) -> Components:
    """Return the version under the policy that answers a question, after logging the draw."""
    learner = version.history.learner()
    if not learner.is_on or not question.strip() or not version.has_embedder:
        return version
    own = _kind(version, question, request)
    try:
        policy = await asyncio.to_thread(learner.assign, request.meter.id, kind=own, asker=request.reader.name)
    except KnowledgeBaseError as error:
        notice = f"Ragstone learns nothing from this answer: {error}; to turn learning off, set learning.mode=off"
        request.meter.notices.append(notice)
        return version
    return _under(version, policy, own)


def in_use(version: Components, question: str, request: Request) -> Components:
    """Return the version under the policy in use, for a search, which teaches nothing."""
    learner = version.history.learner()
    if not learner.is_on or not question.strip() or not version.has_embedder:
        return version
    try:
        policy = learner.current()
    except KnowledgeBaseError:  # a search needs no log
        return version
    return _under(version, policy, _kind(version, question, request))


def _under(version: Components, policy: Policy, kind: str) -> Components:
    settings = under(version.settings, policy.choices(kind))
    if settings is version.settings:
        return version
    pool, depends_on = version.source.own, (policy.version, settings)
    return pool.part("policy", depends_on, lambda: assembly.under(version, settings, policy=policy.version))()


def _kind(version: Components, question: str, request: Request) -> str:
    """Return the kind of a question, by its words."""
    return kind(question, Search(version).language(question, request))
