"""Learning in an open knowledge base: which version answers a question, and what follows from opinions of answers.

Evaluations run beside all else, in a thread; of several processes one does it, under a lock that dies with it. What
was decided is a row, written in one transaction with all it brings, and refused where another came first.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

from ragstone import index
from ragstone.access import Reader
from ragstone.errors import Locked, NotFound, UsageError
from ragstone.learning.candidates import Logged
from ragstone.learning.policy import Choices, Policy, to_json
from ragstone.learning.trial import Assignment, assign
from ragstone.policies.deciding import CODE, FIRST, NEWEST, decide, rules_of, same
from ragstone.policies.governed import as_set, overruled
from ragstone.policies.log import BEGINNING, Assigned, Decision, Policies, Voted, note_vote
from ragstone.policies.proposing import Proposal, challenger, known_by
from ragstone.policies.seen import seen_of
from ragstone.sections import Settings
from ragstone.usage.responses import VOTES, Response, Vote


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Whether every decision follows from the log: how many were made again, and the numbers of those that differ."""

    decisions: int
    different: tuple[int, ...] = ()
    others: int = 0
    """Decisions of other versions of Ragstone, among those that differ."""


class Learner:
    """The learning of one knowledge base, as its settings want it."""

    def __init__(
        self, journal: index.Journal, settings: Settings, *, overrides: Sequence[str] = (), clock: Callable[[], float]
    ) -> None:
        """Take the journal, the settings, those of them that a command named, and what tells seconds since 1970."""
        self.log = Policies(journal, clock)
        self._journal, self._settings, self._clock = journal, settings, clock
        self.overruled = overruled(overrides)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._again = False
        self.trouble: Exception | None = None
        """Why the last evaluation failed, if it did; the next opinion tries again."""

    @property
    def mode(self) -> str:
        """That of the settings; off where no answers are kept, or a command names what would be learned."""
        review = self._settings.review
        return "off" if self.overruled or not review.responses_days else self._settings.learning.mode

    @property
    def is_on(self) -> bool:
        return self.mode != "off"

    # ------------------------------------------------------------ questions

    def current(self) -> Policy:
        """The version in use."""
        return self.log.policy(self.log.last().champion)

    def assign(self, response_id: str, kind: str, reader: Reader) -> Policy:
        """The version that answers a question, once it is written down.

        Raises:
            KnowledgeBaseError: it could not be written down.
        """
        last = self.log.last()
        trial = self.log.trial(last.trial)
        drawn = assign(trial, response_id) if trial else Assignment(version=last.champion, probability=1.0)
        in_use = trial.champion if trial else last.champion
        acted = in_use if self.mode == "shadow" else drawn.version
        one = Assigned(
            response_id=response_id,
            trial=last.trial if trial else 0,
            version=drawn.version,
            probability=drawn.probability,
            acted=acted,
            kind=kind,
            voice=self.log.voice(reader.name),
            at=self._clock(),
        )
        self.log.assign(one)
        return self.log.policy(last.answering(acted))

    # ------------------------------------------------------------ opinions

    def noting(
        self, rated: Response, voice: str, vote: Vote, correction: str
    ) -> Callable[[sqlite3.Connection, float], None]:
        """What writes a vote down, in the transaction that notes the opinion."""
        who, seen = self.log.voice(voice), seen_of(rated, VOTES[vote], correction)

        def note(db: sqlite3.Connection, at: float) -> None:
            note_vote(db, Voted(response_id=rated.response_id, voice=who, vote=VOTES[vote], at=at, seen=seen))

        return note

    def heard(self) -> None:
        """An opinion was noted: evaluate what there is, beside all else, where enough came since the last time."""
        if not self.is_on:
            return
        with self._lock:
            self._again = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="ragstone-learning", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Wait for an evaluation that is under way."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._again:
                    self._thread = None
                    return
                self._again = False
            try:
                self.evaluate()
                self.trouble = None
            except Exception as error:  # nobody waits for it here; the report tells, and the next opinion tries again
                self.trouble = error

    def evaluate(self, *, anyway: bool = False) -> Decision | None:
        """Decide on what there is; nothing where too little came since the last time, or another process is at it.

        Args:
            anyway: decide even where less than ``learning.every`` opinions came, if any did.

        Raises:
            KnowledgeBaseError: the log cannot be read or written.
        """
        if not self.is_on:
            return None
        with suppress(Locked), closing(index.Journal(self._journal.path.parent)) as journal:
            log = Policies(journal, self._clock)
            if not self._is_due(log, anyway):
                return None
            with index.evaluating(journal.path.parent):
                before = log.last()
                if not self._is_due(log, anyway):
                    return None
                made = decide(log, before, log.position(), self._rules(), self._clock())
                return log.decide(before, made.decision, policies=made.policies, trial=made.trial)
        return None

    def _rules(self) -> dict[str, Any]:
        return rules_of(self._settings.learning, as_set(self._settings))

    def _is_due(self, log: Policies, anyway: bool) -> bool:
        new = log.position().votes - log.last().log.votes
        return new >= (1 if anyway else self._settings.learning.every)

    # ------------------------------------------------------------ by hand

    def promote(self, version: int, why: str = "") -> Decision:
        """Take a version into use, whatever the evidence says.

        Raises:
            NotFound: there is no such version.
            UsageError: it is in use.
        """
        return self._put_in_use("promoted by hand", version, why)

    def rollback(self, version: int | None = None, why: str = "") -> Decision:
        """Go back: to a version, or to the parent of the one in use. A trial that is under way ends.

        Raises:
            NotFound: there is no such version.
            UsageError: it is in use, and nothing is tried; or there is none before version 0.
        """
        last = self.log.last()
        if version in (None, last.champion) and self._is_contested(last):
            return self._told({"by_hand": last.champion, "action": "stopped by hand", "why": why}, last)
        if version is None:
            current = self.current()
            if current.version == FIRST:
                raise UsageError("the settings as they are, version 0, are in use; there is none before it")
            version = current.parent or FIRST
        return self._put_in_use("rolled back by hand", version, why)

    def try_out(self, by_kind: Mapping[str, Choices], why: str = "") -> Decision:
        """Put choices of one's own on trial, as a new version: what the version in use chooses, and these.

        Raises:
            UsageError: a trial of others is under way, or a choice is out of bounds, or nothing would change.
        """
        last = self.log.last()
        if self._is_contested(last):
            raise UsageError("a trial is under way; it ends by itself, or with: ragstone policy rollback")
        current, kinds = self.log.policy(last.champion), dict(self.log.policy(last.champion).by_kind)
        kinds |= {kind: chosen.over(current.choices(kind)) for kind, chosen in by_kind.items()}
        evidence = {"why": why or "somebody wanted it tried"}
        new = Policy(
            version=last.versions + 1, parent=current.version, at=self._clock(), by_kind=kinds, evidence=evidence
        )
        base = as_set(self._settings)
        if all(new.choices(kind).over(base) == current.choices(kind).over(base) for kind in kinds):
            raise UsageError(f"that is chosen already, by version {current.version}: there is nothing to try")
        return self._told({"to_try": to_json(new)}, last)

    def suggest(self, known: Sequence[Logged]) -> Proposal | None:
        """A change of the version in use that deserves a trial, by these questions and those that were voted on."""
        voted = known_by(self.log.voted(self.log.position(), NEWEST))
        return challenger(self.current(), as_set(self._settings), [*known, *voted], self.log.all())

    def _is_contested(self, last: Decision) -> bool:
        """Whether anything is tried against the version in use."""
        trial = self.log.trial(last.trial)
        return bool(trial and (trial.challengers or trial.doubt))

    def _put_in_use(self, action: str, version: int, why: str) -> Decision:
        last = self.log.last()
        if self.log.policy(version).version == last.champion:
            raise UsageError(f"version {version} is in use already")
        return self._told({"by_hand": version, "action": action, "why": why}, last)

    def _told(self, rules: Mapping[str, Any], last: Decision) -> Decision:
        """The decision that somebody makes, written down."""
        self.log.seed()
        made = decide(self.log, last, self.log.position(), {**self._rules(), **rules}, self._clock())
        done = self.log.decide(last, made.decision, policies=made.policies, trial=made.trial)
        if done is None:
            raise UsageError("another decision was made a moment ago; look at it: ragstone policy explain")
        return done

    # ------------------------------------------------------------ proof

    def check(self) -> Checked:
        """Make every decision again, from the log alone, and compare it with what was written."""
        before, different, others = BEGINNING, list[int](), 0
        decisions = self.log.decisions()
        for one in decisions:
            try:
                fits = same(decide(self.log, before, one.log, one.rules, one.at), self.log, one)
            except (KeyError, NotFound, UsageError):
                fits = False
            if not fits:
                different.append(one.number)
                others += one.rules.get("code") != CODE
            before = one
        return Checked(decisions=len(decisions), different=tuple(different), others=others)
