"""Questions under what was learned: which policy answers one, and the look at policies and trials.

A question with settings of its own, or one asked to measure, is answered as it was asked, and nothing is learned
from it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from ragstone import query
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


class Learning:
    """What votes have taught a knowledge base."""

    def __init__(self, versions: OpenVersions) -> None:
        self._versions = versions

    @property
    def is_on(self) -> bool:
        """Whether answers are learned from."""
        with self._versions.current() as version:
            return version.history.learner().is_on

    def report(self) -> LearningReport:
        """Return what is in use, what is on trial, and the evidence so far."""
        with self._versions.current() as version:
            return report(version.history.learner())

    def policies(self) -> list[Policy]:
        """Return every policy in order; version 0 is the settings as they are."""
        with self._versions.current() as version:
            return version.history.learner().log.policies()

    def changes(self, version_number: int) -> tuple[str, ...]:
        """Return what a policy changes in the settings as they are.

        Raises:
            NotFound: there is no such policy.
        """
        with self._versions.current() as version:
            return changes(version.history.learner().log.policy(version_number), choices_of(version.settings))

    def promote(self, version_number: int, why: str = "") -> Decision:
        """Put a policy in use, whatever the evidence says; the next question is answered under it.

        Raises:
            NotFound: there is no such policy.
            UsageError: it is in use.
        """
        with self._versions.current() as version:
            return version.history.learner().promote(version_number, why)

    def rollback(self, version_number: int | None = None, why: str = "") -> Decision:
        """Go back to a policy, or to the parent of the one in use; the next question is answered under it.

        Raises:
            NotFound: there is no such policy.
            UsageError: it is in use, or there is none before version 0.
        """
        with self._versions.current() as version:
            return version.history.learner().rollback(version_number, why)

    def start_trial(self, by_kind: Mapping[str, Choices], why: str = "") -> Decision:
        """Put one's own choices on trial, by kind of question; an empty kind means all others.

        Raises:
            UsageError: a trial is under way, a choice is out of bounds or changes nothing, or there is no such kind.
        """
        for kind in by_kind:
            if kind and kind not in query.KINDS:
                raise UsageError(f"there is no kind of question '{kind}'; kinds are {', '.join(query.KINDS)}")
        with self._versions.current() as version:
            return version.history.learner().start_trial(by_kind, why)

    def suggest(self, cases: Sequence[ReplayCase]) -> Proposal | None:
        """Return a change of the policy in use that deserves a trial; None if no change promises more.

        Args:
            cases: questions with known documents; those that were voted on are added.
        """
        with self._versions.current() as version:
            return version.history.learner().suggest(cases)

    def replay(self) -> ReplayReport:
        """Make every decision again from the log alone, and compare it with what was written."""
        with self._versions.current() as version:
            return version.history.learner().replay()


async def assigned(version: Components, question: str, request: Request) -> Components:
    """Return the version under the policy that is to answer a question, once that is logged."""
    learner = version.history.learner()
    if not learner.is_on or not question.strip() or not version.has_embedder:
        return version
    kind = _kind(version, question, request)
    try:
        policy = await asyncio.to_thread(learner.assign, request.meter.id, kind=kind, asker=request.reader.name)
    except KnowledgeBaseError as error:
        notice = f"nothing is learned from this answer (learning.mode=off stops trying): {error}"
        request.meter.notices.append(notice)
        return version
    return _under(version, policy, kind)


def in_use(version: Components, question: str, request: Request) -> Components:
    """Return the version under the policy in use, for a search, from which nothing is learned."""
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
    return query.kind(question, Search(version).language(question, request))
