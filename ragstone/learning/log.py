"""The log of learning: policies, trials, assignments, votes and decisions. Rows are only added.

The latest decision defines the current state. A vote or an assignment is durable when its call returns. The log holds
no
question and no name: a voice is a hash, keyed with a seed that is drawn once for a knowledge base.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields
from typing import Any

from ragstone.core.errors import NotFound
from ragstone.core.frozen import frozen
from ragstone.history.journal import row_crc
from ragstone.history.store import JournalDatabase, JournalStore
from ragstone.learning.observation import Observation
from ragstone.learning.policy import Policy, canonical_json
from ragstone.learning.trial import Outcome, Trial

SEED = "seed"
"""Key in the evidence of version 0 that holds the seed of all draws and hashes."""
_POSITIONS = ("position", "watched_from", "trial_from")


@frozen
class Position:
    """A position in the log: the last assignment and the last vote that were read."""

    assignments: int = 0
    votes: int = 0


START = Position()


@frozen
class AssignmentRecord:
    """A question and the version drawn for it. ``acted`` answered it: another version only in shadow mode."""

    response_id: str
    trial: int
    version: int
    probability: float
    acted: int
    kind: str
    voice: str
    at: float


@frozen
class VoteRecord:
    """A vote, 1 or -1, and the figures of the answer it is about."""

    response_id: str
    voice: str
    vote: int
    at: float
    seen: Observation = field(default_factory=Observation)


@frozen
class Decision:
    """A decision, and what holds from then on.

    Args:
        number: its number in the log.
        at: seconds since 1970.
        action: the decision in a word.
        why: the reason in a sentence.
        position: position up to which the log was read.
        champion: the version in use.
        watched_from: votes on the champion after this position show drift.
        trial: number of the current trial; 0 if there is none.
        trial_from: position at which the trial began.
        stand_ins: versions that answer in place of those on trial; they differ only in the confidence they report.
        versions: the newest version.
        trials: the newest trial.
        calibrated_at: number of votes when the confidence was last calibrated.
        searched_at: number of votes when a change to try was last looked for.
        rules: constants and settings of the decision.
        figures: the figures it rests on.
    """

    number: int = 0
    at: float = 0.0
    action: str = "nothing"
    why: str = ""
    position: Position = START
    champion: int = 0
    watched_from: Position = START
    trial: int = 0
    trial_from: Position = START
    stand_ins: Mapping[str, int] = field(default_factory=dict[str, int])
    versions: int = 0
    trials: int = 0
    calibrated_at: int = 0
    searched_at: int = 0
    rules: Mapping[str, Any] = field(default_factory=dict[str, Any])
    figures: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def answering(self, version: int) -> int:
        """Return the version that answers when this one is drawn."""
        return self.stand_ins.get(str(version), version)

    def to_json(self) -> str:
        """Return the decision as one canonical line, without its number and time."""
        values = {name: getattr(self, name) for name in _STORED}
        for name in _POSITIONS:
            values[name] = [values[name].assignments, values[name].votes]
        return canonical_json(values)

    @classmethod
    def from_json(cls, number: int, at: float, text: str) -> Decision:
        """Return the decision that `to_json` wrote."""
        stored = json.loads(text)
        values = {name: stored[name] for name in _STORED}
        for name in _POSITIONS:
            values[name] = Position(assignments=values[name][0], votes=values[name][1])
        return cls(number=number, at=at, **values)


_STORED = tuple(one.name for one in fields(Decision) if one.name not in ("number", "at"))


class LearningLog:
    """The log of one knowledge base, stored in its journal."""

    def __init__(self, journal: JournalStore, clock: Callable[[], float]) -> None:
        """Take the journal and a clock that gives the seconds since 1970."""
        self._journal, self.clock = journal, clock
        self._policies: dict[int, Policy] = {}

    def latest(self) -> Decision:
        """Return the latest decision, which says what holds now."""
        with self._journal.reading() as db:
            return _latest(db) if db else Decision()

    def decisions(self) -> list[Decision]:
        """Return all decisions, the oldest first."""
        with self._journal.reading() as db:
            return list(_decisions(db)) if db else []

    def position(self) -> Position:
        """Return the current end of the log."""
        with self._journal.reading() as db:
            if not db:
                return START
            ((assignments,),) = db.execute("SELECT coalesce(max(number), 0) FROM assignments")
            ((votes,),) = db.execute("SELECT coalesce(max(number), 0) FROM votes")
        return Position(assignments=assignments, votes=votes)

    def policy(self, version: int) -> Policy:
        """Return a version.

        Raises:
            NotFound: there is no such version, or its row is damaged.
        """
        if version not in self._policies:
            rows = self._rows("SELECT version, at, what, crc FROM policies WHERE version = ?", [version])
            if not rows and version == 0:
                return Policy(version=0)
            if not rows:
                raise NotFound(f"there is no policy {version}; list them: ragstone policy list")
            self._policies[version] = Policy.from_json(rows[0][2])
        return self._policies[version]

    def policies(self) -> list[Policy]:
        """Return every version in order; version 0 always exists."""
        rows = self._rows("SELECT version, at, what, crc FROM policies ORDER BY version", [])
        return [Policy.from_json(row[2]) for row in rows] or [Policy(version=0)]

    def trial(self, number: int) -> Trial | None:
        """Return a trial; None for 0 or if its row is damaged."""
        found = self._rows("SELECT trial, at, what, crc FROM trials WHERE trial = ?", [number]) if number else []
        return Trial.from_json(found[0][2]) if found else None

    def trials(self) -> dict[int, Trial]:
        """Return every trial by its number."""
        rows = self._rows("SELECT trial, at, what, crc FROM trials ORDER BY trial", [])
        return {row[0]: Trial.from_json(row[2]) for row in rows}

    def seed(self) -> str:
        """Return the key of all draws and hashes. The first call draws it and writes it with version 0."""
        value = self.policy(0).evidence.get(SEED)
        if not value:
            first = Policy(version=0, at=self.clock(), evidence={SEED: secrets.token_hex(16)})
            with self._journal.writing() as db:
                if not db.execute("SELECT 1 FROM policies WHERE version = 0").fetchone():
                    _insert(db, "policies", (0, first.at, first.to_json()))
            self._policies.pop(0, None)
            value = self.policy(0).evidence[SEED]
        return str(value)

    def voice(self, name: str) -> str:
        """Return the hash that stands for a name in the log."""
        return hashlib.blake2b(name.encode(errors="replace"), key=self.seed().encode(), digest_size=8).hexdigest()

    def assignments(
        self, upto: Position, after: Position = START, *, trial: int | None = None
    ) -> list[AssignmentRecord]:
        """Return the assignments between two positions in order; only those of a trial if one is given."""
        sql = f"{_ASSIGNMENTS} WHERE a.number > ?1 AND a.number <= ?2 AND {_IN_TRIAL} ORDER BY a.number"
        return [_assignment(row) for row in self._rows(sql, [after.assignments, upto.assignments, trial])]

    def votes(
        self, upto: Position, *, since: float | None = None, newest: int | None = None
    ) -> dict[str, list[VoteRecord]]:
        """Return the last vote of each voice on each answer, in order, by answer.

        Args:
            upto: the end of the votes to read.
            since: read only votes on answers that were also voted on after this time.
            newest: read only this many votes before ``upto``.
        """
        newer = "" if since is None else "AND v.response IN (SELECT response FROM votes WHERE at > ?3)"
        sql = f"{_VOTES} FROM votes v WHERE v.number <= ?1 AND v.number > ?2 {newer} ORDER BY v.number"
        first = 0 if newest is None else upto.votes - newest
        rows = self._rows(sql, [upto.votes, first] if since is None else [upto.votes, first, since])
        return _last_of_each(_vote(row, Observation.from_json(row[4])) for row in rows)

    def count_voices(self, upto: Position, newest: int) -> int:
        """Count the voices among the newest votes before a position."""
        sql = f"{_VOTES} FROM votes v WHERE v.number <= ? AND v.number > ?"
        return len({row[2] for row in self._rows(sql, [upto.votes, upto.votes - newest])})

    def voted_on(self, upto: Position, newest: int) -> list[tuple[AssignmentRecord, VoteRecord]]:
        """Return each assignment with each vote on it, in the order of the questions.

        Args:
            upto: the end of the log to read.
            newest: read only this many votes before ``upto``.
        """
        votes = self.votes(upto, newest=newest)
        sql = f"""
            {_ASSIGNMENTS} WHERE a.number <= ?
            AND a.response IN (SELECT response FROM votes WHERE number <= ? AND number > ?) ORDER BY a.number
        """  # noqa: S608
        asked = map(_assignment, self._rows(sql, [upto.assignments, upto.votes, upto.votes - newest]))
        return [(one, vote) for one in asked for vote in votes.get(one.response_id, ())]

    def outcomes(self, upto: Position, *, trial: int | None = None, after: Position = START) -> list[Outcome]:
        """Return the outcome of each question that its assigned version answered, between two positions.

        Args:
            upto: the end of the log to read.
            trial: only questions of this trial.
            after: only questions after this position.
        """
        # The operand of the join has no index, so it starts with the assignments, and votes on other questions are
        # not read: a log grows for years.
        sql = f"""
            {_VOTES} FROM assignments a JOIN votes v ON v.response = a.response || ''
            WHERE a.number > ?1 AND a.number <= ?2 AND {_IN_TRIAL} AND v.number <= ?4 ORDER BY v.number
        """
        rows = self._rows(sql, [after.assignments, upto.assignments, trial, upto.votes])
        votes = _last_of_each(_vote(row) for row in rows)
        return [
            outcome_of(one, votes.get(one.response_id, ()))
            for one in self.assignments(upto, after, trial=trial)
            if one.acted == one.version
        ]

    def add_assignment(self, assignment: AssignmentRecord) -> None:
        """Write an assignment; durable when this returns.

        Raises:
            KnowledgeBaseError: it could not be written.
        """
        row = (
            assignment.at,
            assignment.response_id,
            assignment.trial,
            assignment.version,
            assignment.probability,
            assignment.acted,
            assignment.kind,
            assignment.voice,
        )
        with self._journal.writing() as db:
            db.execute(
                "INSERT INTO assignments (at, response, trial, version, probability, acted, kind, voice, crc)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [*row, row_crc(*row)],
            )

    def add_decision(
        self, before: Decision, decision: Decision, *, policies: Sequence[Policy] = (), trial: Trial | None = None
    ) -> Decision | None:
        """Write a decision with its new policies and trial in one transaction; None if another decision came first.

        Args:
            before: the latest decision when this one was made.
            decision: the decision.
            policies: new versions.
            trial: a new trial; ``decision.trial`` is its number.

        Raises:
            KnowledgeBaseError: it could not be written; the log is unchanged.
        """
        with self._journal.writing() as db:
            if _latest(db).number != before.number:
                return None
            for policy in policies:
                _insert(db, "policies", (policy.version, policy.at, policy.to_json()))
            if trial is not None:
                _insert(db, "trials", (decision.trial, trial.began, trial.to_json()))
            row = (decision.at, decision.to_json())
            sql = "INSERT INTO decisions (at, what, crc) VALUES (?, ?, ?) RETURNING number"
            ((number,),) = db.execute(sql, [*row, row_crc(*row)])
            return Decision.from_json(number, *row)

    def _rows(self, sql: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        """Return the rows whose checksum is right."""
        with self._journal.reading() as db:
            rows = db.execute(sql, values).fetchall() if db else []
        return [row for row in rows if row[-1] == row_crc(*row[:-1])]


def write_vote(db: JournalDatabase, one: VoteRecord) -> None:
    """Write a vote within a transaction of the caller, if its answer was assigned a version."""
    if db.execute("SELECT 1 FROM assignments WHERE response = ?", [one.response_id]).fetchone():
        row = (one.at, one.response_id, one.voice, one.vote, one.seen.to_json())
        db.execute(
            "INSERT INTO votes (at, response, voice, vote, seen, crc) VALUES (?, ?, ?, ?, ?, ?)", [*row, row_crc(*row)]
        )


def outcome_of(assignment: AssignmentRecord, votes: Sequence[VoteRecord]) -> Outcome:
    """Return the outcome of a question: the vote of the asker, or else the first vote of anyone.

    A question counts once, because one version was drawn for it. The outcome carries the voice that voted, because the
    evidence leaves out voices.
    """
    vote = next((vote for vote in votes if vote.voice == assignment.voice), votes[0] if votes else None)
    return Outcome(
        request_id=assignment.response_id,
        voice=vote.voice if vote else assignment.voice,
        version=assignment.version,
        probability=assignment.probability,
        vote=0 if vote is None else 1 if vote.vote > 0 else -1,
        at=vote.at if vote else assignment.at,
    )


_ASSIGNMENTS = """
    SELECT a.at, a.response, a.trial, a.version, a.probability, a.acted, a.kind, a.voice, a.crc FROM assignments a
"""
_IN_TRIAL = "(?3 IS NULL OR a.trial = ?3)"
_VOTES = "SELECT v.at, v.response, v.voice, v.vote, v.seen, v.crc"
_NOT_READ = Observation()


def _insert(db: JournalDatabase, table: str, row: tuple[object, ...]) -> None:
    db.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", [*row, row_crc(*row)])  # noqa: S608


def _assignment(row: Sequence[Any]) -> AssignmentRecord:
    names = ("at", "response_id", "trial", "version", "probability", "acted", "kind", "voice")
    return AssignmentRecord(**dict(zip(names, row[:-1], strict=True)))


def _vote(row: Sequence[Any], seen: Observation = _NOT_READ) -> VoteRecord:
    at, response, voice, vote, *_ = row
    return VoteRecord(response_id=response, voice=voice, vote=vote, at=at, seen=seen)


def _last_of_each(votes: Iterable[VoteRecord]) -> dict[str, list[VoteRecord]]:
    """Return the last vote of each voice on each answer, by answer."""
    last: dict[tuple[str, str], VoteRecord] = {}
    for vote in votes:
        last.pop((vote.response_id, vote.voice), None)
        last[vote.response_id, vote.voice] = vote
    out: dict[str, list[VoteRecord]] = defaultdict(list)
    for vote in last.values():
        out[vote.response_id].append(vote)
    return out


def _latest(db: JournalDatabase) -> Decision:
    newest = next(_decisions(db, "DESC LIMIT 1"), None)  # a damaged one gives way to the one before
    return newest or next(_decisions(db, "DESC"), Decision())


def _decisions(db: JournalDatabase, order: str = "ASC") -> Iterator[Decision]:
    for number, at, what, crc in db.execute(f"SELECT number, at, what, crc FROM decisions ORDER BY number {order}"):  # noqa: S608
        if crc == row_crc(at, what):
            yield Decision.from_json(number, at, what)
