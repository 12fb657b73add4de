"""The learner of a knowledge base: draws the version that answers a question, and acts on the votes.

Evaluations run in a background thread, under a lock that lets one process evaluate at a time and dies with it. A
decision is one transaction with all it adds, and is refused if another decision came first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from typing import Any

from ragstone.catalog.lock import evaluating
from ragstone.core.errors import Locked, NotFound, UsageError
from ragstone.core.frozen import frozen
from ragstone.history.responses import VOTES, Response, Vote
from ragstone.history.store import JournalDatabase, JournalStore
from ragstone.learning.decisions import CODE, FIRST, NEWEST, decide, reproduces, rules_of
from ragstone.learning.log import AssignmentRecord, Decision, LearningLog, VoteRecord, write_vote
from ragstone.learning.observation import Observation, ReplayCase
from ragstone.learning.policy import Choices, Policy, choices_of, overridden
from ragstone.learning.proposals import Proposal, propose_challenger, replay_cases
from ragstone.learning.trial import draw
from ragstone.settings import Settings

EVALUATE_EVERY = 5
"""Votes between two evaluations."""


@frozen
class ReplayReport:
    """The result of a replay: how many decisions there are, and the numbers of those that differ.

    ``others`` counts, among those that differ, the decisions of other versions of Ragstone.
    """

    decisions: int
    different: tuple[int, ...] = ()
    others: int = 0


class Learner:
    """The learning of one knowledge base under its settings."""

    def __init__(
        self,
        journal: JournalStore,
        settings: Settings,
        *,
        overrides: Sequence[str] = (),
        clock: Callable[[], float] | None = None,
    ) -> None:
        """Take the journal, the settings, the overrides of the command, and a clock; by default that of the journal."""
        self._journal, self._clock = journal, clock or journal.clock
        self.log = LearningLog(journal, self._clock)
        self.settings = settings
        self.overridden = overridden(overrides)
        self.last_error: Exception | None = None
        """Why the last evaluation failed; the next vote tries again."""
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._again = False

    @property
    def mode(self) -> str:
        """The mode of the settings; off if no answers are kept or the command sets something that is learned."""
        off = self.overridden or not self.settings.review.responses_days
        return "off" if off else self.settings.learning.mode

    @property
    def is_on(self) -> bool:
        return self.mode != "off"

    # ------------------------------------------------------------ questions

    def current(self) -> Policy:
        """Return the policy in use."""
        return self.log.policy(self.log.latest().champion)

    def assign(self, response_id: str, *, kind: str, asker: str) -> Policy:
        """Draw the policy that answers a question and write the draw to the log.

        Raises:
            KnowledgeBaseError: it could not be written.
        """
        latest = self.log.latest()
        trial = self.log.trial(latest.trial)
        drawn = draw(trial, response_id) if trial else latest.champion
        in_use = trial.champion if trial else latest.champion
        acted = in_use if self.mode == "shadow" else drawn
        self.log.add_assignment(
            AssignmentRecord(
                response_id=response_id,
                trial=latest.trial if trial else 0,
                version=drawn,
                probability=trial.shares[drawn] if trial else 1.0,
                acted=acted,
                kind=kind,
                voice=self.log.voice(asker),
                at=self._clock(),
            )
        )
        return self.log.policy(latest.answering(acted))

    # ------------------------------------------------------------ votes

    def vote_writer(
        self, response: Response, *, voice: str, vote: Vote, correction: str = ""
    ) -> Callable[[JournalDatabase, float], None]:
        """Return a function that writes a vote within the transaction that stores the feedback."""
        hashed, seen = self.log.voice(voice), Observation.of(response, VOTES[vote], correction)

        def write(db: JournalDatabase, at: float) -> None:
            row = VoteRecord(response_id=response.response_id, voice=hashed, vote=VOTES[vote], at=at, seen=seen)
            write_vote(db, row)

        return write

    def evaluate_soon(self) -> None:
        """Evaluate in the background after a vote was stored."""
        if not self.is_on:
            return
        with self._lock:
            self._again = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="ragstone-learning", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Wait for the evaluation in the background."""
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
                self.last_error = None
            except Exception as error:  # nobody waits for this thread; the report shows the error
                self.last_error = error

    def evaluate(self, *, force: bool = False) -> Decision | None:
        """Decide on the votes; None if there are too few new ones or another process is evaluating.

        Args:
            force: decide even if fewer than `EVALUATE_EVERY` votes are new, but at least one is.

        Raises:
            KnowledgeBaseError: the log cannot be read or written.
        """
        if not self.is_on:
            return None
        with suppress(Locked), closing(self._journal.another()) as journal:
            log = LearningLog(journal, self._clock)
            if not self._is_due(log, force):
                return None
            with evaluating(journal.folder):
                if self._is_due(log, force):
                    return self._decide(log, log.latest(), {})
        return None

    def _is_due(self, log: LearningLog, force: bool) -> bool:
        new = log.position().votes - log.latest().position.votes
        return new >= (1 if force else EVALUATE_EVERY)

    def _decide(self, log: LearningLog, latest: Decision, request: Mapping[str, Any]) -> Decision | None:
        """Make a decision and write it; None if another decision came first."""
        rules = rules_of(self.settings.learning.mode, choices_of(self.settings)) | dict(request)
        made = decide(log, latest, log.position(), rules, self._clock())
        return log.add_decision(latest, made.decision, policies=made.policies, trial=made.trial)

    # ------------------------------------------------------------ by hand

    def promote(self, version: int, why: str = "") -> Decision:
        """Put a version into use, whatever the evidence.

        Raises:
            NotFound: there is no such version.
            UsageError: it is in use.
        """
        return self._put_in_use("promoted by hand", version, why)

    def rollback(self, version: int | None = None, why: str = "") -> Decision:
        """Go back to a version, or to the parent of the one in use. During a trial, only end the trial.

        Raises:
            NotFound: there is no such version.
            UsageError: it is in use and nothing is on trial, or there is none before version 0.
        """
        latest = self.log.latest()
        if version in (None, latest.champion) and self._on_trial(latest):
            request = {"by_hand": latest.champion, "action": "stopped by hand", "why": why}
            return self._decide_by_hand(latest, request)
        if version is None:
            current = self.current()
            if current.version == FIRST:
                raise UsageError("version 0, the settings as configured, is in use; there is no earlier version")
            version = current.parent or FIRST
        return self._put_in_use("rolled back by hand", version, why)

    def start_trial(self, by_kind: Mapping[str, Choices], why: str = "") -> Decision:
        """Start a trial of the policy in use with some choices changed.

        Raises:
            UsageError: a trial is running, a choice is out of bounds, or nothing would change.
        """
        latest = self.log.latest()
        if self._on_trial(latest):
            raise UsageError("a trial is running; wait for its end, or end it with: ragstone policy rollback")
        current = self.current()
        kinds = dict(current.by_kind)
        kinds |= {kind: chosen.with_defaults(current.choices(kind)) for kind, chosen in by_kind.items()}
        new = Policy(
            version=latest.versions + 1,
            parent=current.version,
            at=self._clock(),
            by_kind=kinds,
            evidence={"why": why or "requested by hand"},
        )
        base = choices_of(self.settings)
        if all(new.choices(kind).with_defaults(base) == current.choices(kind).with_defaults(base) for kind in kinds):
            raise UsageError(f"version {current.version} already makes these choices; there is nothing to try")
        return self._decide_by_hand(latest, {"to_try": new.to_json()})

    def suggest(self, cases: Sequence[ReplayCase]) -> Proposal | None:
        """Return a change that deserves a trial, judged by these and the voted questions; None if there is none."""
        voted = self.log.voted_on(self.log.position(), NEWEST)
        cases, votes = [*cases, *replay_cases(voted)], [vote for _, vote in voted]
        return propose_challenger(self.current(), choices_of(self.settings), cases, self.log.policies(), votes)

    def _on_trial(self, latest: Decision) -> bool:
        trial = self.log.trial(latest.trial)
        return trial is not None and trial.decides

    def _put_in_use(self, action: str, version: int, why: str) -> Decision:
        latest = self.log.latest()
        if self.log.policy(version).version == latest.champion:
            raise UsageError(f"version {version} is already in use")
        return self._decide_by_hand(latest, {"by_hand": version, "action": action, "why": why})

    def _decide_by_hand(self, latest: Decision, request: Mapping[str, Any]) -> Decision:
        self.log.seed()
        done = self._decide(self.log, latest, request)
        if done is None:
            raise UsageError("another decision was made a moment ago; see it with: ragstone policy explain")
        return done

    # ------------------------------------------------------------ proof

    def replay(self) -> ReplayReport:
        """Repeat every decision from the log alone and compare it with the logged one."""
        before, different, others = Decision(), list[int](), 0
        decisions = self.log.decisions()
        for decision in decisions:
            try:
                same = reproduces(
                    decide(self.log, before, decision.position, decision.rules, decision.at), self.log, decision
                )
            except (KeyError, NotFound, UsageError):
                same = False
            if not same:
                different.append(decision.number)
                others += decision.rules.get("code") != CODE
            before = decision
        return ReplayReport(decisions=len(decisions), different=tuple(different), others=others)
