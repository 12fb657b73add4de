"""Questions under a policy: which version answers one, and the engine that answers under it.

A question that brings settings of its own, or is asked only to measure, is answered as it was asked, and nothing is
learned from it.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Self

from ragstone import query
from ragstone.access import Reader
from ragstone.conditions import Filter
from ragstone.errors import Damaged, KnowledgeBaseError, UsageError
from ragstone.index.terms.readable import reading
from ragstone.keeping.built import refuse_other_store
from ragstone.keeping.homes import refuse_outside
from ragstone.keeping.moving import on_newest
from ragstone.learning.candidates import Logged
from ragstone.learning.policy import Choices, Policy
from ragstone.policies.governed import as_set, under
from ragstone.policies.learner import Checked
from ragstone.policies.log import Decision
from ragstone.policies.proposing import Proposal
from ragstone.policies.standing import Learned, changes, learned
from ragstone.search import Searcher
from ragstone.sections import Settings

_KEPT = 16
"""Engines under versions and kinds of questions that are kept; they share all that is loaded."""


class Governed(Searcher):
    """The part of an engine that knows what was learned."""

    def with_settings(self, settings: Settings) -> Self:
        """The same open knowledge base under other settings of the question; both share all that is loaded.

        Nothing is opened, so only this engine need be closed, when the others have done.

        Raises:
            SettingsMismatch: something else would be stored under these settings.
        """
        settings = self._built.settled(settings)
        refuse_outside(settings, self._home)
        refuse_other_store(settings, self._built, self._home.folder)
        return type(self)(
            self._home,
            self._version,
            self._catalog,
            settings,
            self._patience,
            build_embedder=self._build_embedder,
            lender=self,
        )

    @on_newest
    def learned(self) -> Learned:
        """How it stands with learning: what is in use, what is tried, and what the evidence is so far."""
        return learned(self._learner, self.settings)

    @on_newest
    def policies(self) -> list[Policy]:
        """Every version of what was learned, in order; version 0 is the settings as they are."""
        return self._learner.log.all()

    @on_newest
    def policy_changes(self, version: int) -> tuple[str, ...]:
        """What a version changes in the settings as they are.

        Raises:
            NotFound: there is no such version.
        """
        return changes(self._learner.log.policy(version), as_set(self.settings))

    @on_newest
    def promote(self, version: int, why: str = "") -> Decision:
        """Take a version into use, whatever the evidence says; the next question is answered under it.

        Raises:
            NotFound: there is no such version.
            UsageError: it is in use.
        """
        return self._learner.promote(version, why)

    @on_newest
    def rollback(self, version: int | None = None, why: str = "") -> Decision:
        """Go back to a version, or to the parent of the one in use; the next question is answered under it.

        Raises:
            NotFound: there is no such version.
            UsageError: it is in use, or there is none before version 0.
        """
        return self._learner.rollback(version, why)

    @on_newest
    def try_out(self, by_kind: Mapping[str, Choices], why: str = "") -> Decision:
        """Put choices of one's own on trial, by kind of question; an empty kind stands for all others.

        Raises:
            UsageError: a trial is under way, a choice is out of bounds or changes nothing, or there is no such kind.
        """
        for kind in by_kind:
            if kind and kind not in query.KINDS:
                raise UsageError(f"no question is of the kind '{kind}'; kinds are {', '.join(query.KINDS)}")
        return self._learner.try_out(by_kind, why)

    @on_newest
    def suggest(self, known: Sequence[Logged]) -> Proposal | None:
        """A change of the version in use that deserves a trial; nothing where none did as well and promises more.

        Args:
            known: questions of which the right documents are known; those that were voted on come by themselves.
        """
        return self._learner.suggest(known)

    @on_newest
    def check_decisions(self) -> Checked:
        """Make every decision again from the log alone, and compare it with what was written."""
        return self._learner.check()

    @property
    def learns(self) -> bool:
        """Whether questions here are answered under policies."""
        return self._lender is None and self._learner.is_on

    async def _assigned(self, question: str, response_id: str, reader: Reader) -> tuple[Self, str]:
        """The engine under the version that is to answer a question, and what to tell where that is not known."""
        if not self.learns or not question.strip() or not self._settle():
            return self, ""
        kind = self._kind(question, reader)
        try:
            policy = await asyncio.to_thread(self._learner.assign, response_id, kind, reader)
        except KnowledgeBaseError as error:
            return self, f"nothing is learned from this answer (learning.mode=off stops trying): {error}"
        return self._under(policy, kind), ""

    def _current(self, question: str, reader: Reader) -> Self:
        """The engine under the version in use, for a search of which nothing is learned."""
        if not self.learns or not question.strip() or not self._settle():
            return self
        try:
            policy = self._learner.current()
        except KnowledgeBaseError:  # a search needs no log
            return self
        return self._under(policy, self._kind(question, reader))

    def _under(self, policy: Policy, kind: str) -> Self:
        """The engine under a version, for one kind of question."""
        settings = under(self.settings, policy.choices(kind))
        if settings is self.settings:
            return self
        name = (policy.version, repr(policy.choices(kind)), repr(settings))
        found = self._others.pop(name, None)
        if found is None:
            found = self.with_settings(settings)
            found._policy = policy.version
        self._others[name] = found  # the one used last stands last
        while len(self._others) > _KEPT:
            self._others.popitem(last=False)
        return found

    @cached_property
    def _others(self) -> OrderedDict[tuple[int, str, str], Self]:
        return OrderedDict()

    def _kind(self, question: str, reader: Reader) -> str:
        """What a question is after, told by its words."""
        try:
            with reading(self._allowed(reader)):
                language = self._language(question)
        except Damaged:  # keyword search says so itself
            language = ""
        return query.kind(question, language)

    def _allowed(self, reader: Reader) -> Filter | None:
        """What lets through what this reader may read; nothing where that is everything, as no document names readers.

        What is added a moment later may name some: what was found is looked at again.
        """
        return reader.allowed if reader.groups is not None and self._catalog.names_readers() else None
