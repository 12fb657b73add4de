"""The log of learning: versions, trials, who was assigned what, votes, decisions. Rows are only ever added.

What holds now is what the last decision says. A vote or an assignment is durable when its call returns. No question
and no name is in the log: a voice is a hash, keyed with a seed that is drawn once for a knowledge base.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ragstone.errors import NotFound
from ragstone.index.journal import Journal, row_crc
from ragstone.learning.policy import Policy, canonical, from_json, to_json
from ragstone.learning.trial import Outcome, Trial

_PLACES = ("log", "since", "began")
_UNSEEN: Mapping[str, Any] = MappingProxyType({})
SEED = "seed"
"""Among the figures of version 0: the key of all that is drawn and hashed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """How far a log was read: its last assignment, and its last vote."""

    assignments: int = 0
    votes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """What chance chose for a question, and what answered it: the same, but in shadow."""

    response_id: str
    trial: int
    version: int
    probability: float
    acted: int
    kind: str
    voice: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Voted:
    """A vote, and in figures what it was on."""

    response_id: str
    voice: str
    vote: int
    at: float
    seen: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What was decided, on what, and what holds from then on.

    ``action`` says it in a word and ``why`` in a sentence; ``log`` is how far the log was read. ``champion`` is the
    version in use, and votes on it behind ``since`` tell whether it still does; ``trial`` is the trial under way, 0:
    none, and ``began`` how far the log was then; ``stands`` names the versions that answer in place of those on trial,
    and differ from them only in how sure answers are said to be. ``versions`` and ``trials`` are the newest there are;
    ``weighed`` and ``looked`` how many votes there were when weights, and what deserves a trial, were last looked at;
    ``rules`` are the settings it was made by, ``figures`` what it rests on.
    """

    number: int = 0
    at: float = 0.0
    action: str = "nothing"
    why: str = ""
    log: Position = Position()
    champion: int = 0
    since: Position = Position()
    trial: int = 0
    began: Position = Position()
    stands: Mapping[str, int] = field(default_factory=dict)
    versions: int = 0
    trials: int = 0
    weighed: int = 0
    looked: int = 0
    rules: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """One canonical line, without the number."""
        told = {name: getattr(self, name) for name in Decision.__slots__ if name not in ("number", "at")}
        places = {name: [told[name].assignments, told[name].votes] for name in _PLACES}
        return canonical({**told, **places, **{name: dict(told[name]) for name in ("stands", "rules", "figures")}})

    def answering(self, version: int) -> int:
        """The version that answers where this one was drawn."""
        return self.stands.get(str(version), version)

    @classmethod
    def of(cls, number: int, at: float, text: str) -> Decision:
        """The decision that `to_json` wrote."""
        told = json.loads(text)
        places = {name: Position(assignments=told[name][0], votes=told[name][1]) for name in _PLACES}
        return cls(number=number, at=at, **{**told, **places})


BEGINNING = Decision()
"""What holds before anything was decided: the settings as they are, and no trial."""


class Policies:
    """The log of a knowledge base."""

    def __init__(self, journal: Journal, clock: Callable[[], float] = time.time) -> None:
        """Take the journal, and what tells the seconds since 1970."""
        self._journal, self.clock = journal, clock
        self._known: dict[int, Policy] = {}

    # ------------------------------------------------------------ what is known

    def last(self) -> Decision:
        """What holds now."""
        with self._journal.reading() as db:
            return _last(db) if db else BEGINNING

    def decisions(self) -> list[Decision]:
        """All of them, the first one first."""
        with self._journal.reading() as db:
            return list(_decisions(db)) if db else []

    def position(self) -> Position:
        """How far the log is now."""
        with self._journal.reading() as db:
            return _position(db) if db else Position()

    def policy(self, version: int) -> Policy:
        """A version.

        Raises:
            NotFound: there is none, or it is not what was written.
        """
        if version not in self._known:
            found = self._rows("SELECT version, at, what, crc FROM policies WHERE version = ?", [version])
            if not found and version == 0:
                return Policy(version=0)
            if not found:
                raise NotFound(f"there is no policy {version}; list them: ragstone policy list")
            self._known[version] = from_json(found[0][2])
        return self._known[version]

    def all(self) -> list[Policy]:
        """Every version, in order; version 0 is there from the beginning."""
        rows = self._rows("SELECT version, at, what, crc FROM policies ORDER BY version", [])
        return [from_json(row[2]) for row in rows] or [Policy(version=0)]

    def trial(self, number: int) -> Trial | None:
        """A trial; nothing for 0, or where it is not what was written."""
        found = self._rows("SELECT trial, at, what, crc FROM trials WHERE trial = ?", [number]) if number else []
        return trial_of(found[0][2]) if found else None

    def trials(self) -> dict[int, Trial]:
        """Every trial by its number."""
        rows = self._rows("SELECT trial, at, what, crc FROM trials ORDER BY trial", [])
        return {row[0]: trial_of(row[2]) for row in rows}

    def seed(self) -> str:
        """The key of all that is drawn and hashed; made with the first call, with version 0."""
        found = self.policy(0).evidence.get(SEED)
        if not found:
            first = Policy(version=0, at=self.clock(), evidence={SEED: secrets.token_hex(16)})
            with self._journal.writing() as db:
                if not db.execute("SELECT 1 FROM policies WHERE version = 0").fetchone():
                    _add(db, "policies", (0, first.at, to_json(first)))
            self._known.pop(0, None)
            found = self.policy(0).evidence[SEED]
        return str(found)

    def voice(self, name: str) -> str:
        """A voice as the log has it: whose it is cannot be told without the journal, and not at a glance with it."""
        return hashlib.blake2b(name.encode(errors="replace"), key=self.seed().encode(), digest_size=8).hexdigest()

    def assigned(self, log: Position, after: Position = BEGINNING.log, *, trial: int | None = None) -> list[Assigned]:
        """Who was assigned what, behind one position and up to another, in order; only in a trial, if one is given."""
        sql = f"{_ASSIGNED} WHERE a.number > ?1 AND a.number <= ?2 AND {_IN_TRIAL} ORDER BY a.number"
        return [_assigned(row) for row in self._rows(sql, [after.assignments, log.assignments, trial])]

    def votes(self, log: Position, *, since: float | None = None, newest: int | None = None) -> dict[str, list[Voted]]:
        """The last vote of each voice on each answer, up to a position; by answer, in the order they came.

        Args:
            log: the position.
            since: only on answers that were voted on, also, behind this moment.
            newest: only of so many before the position.
        """
        newer = "" if since is None else "AND v.response IN (SELECT response FROM votes WHERE at > ?3)"
        sql = f"{_VOTED} FROM votes v WHERE v.number <= ?1 AND v.number > ?2 {newer} ORDER BY v.number"
        first = 0 if newest is None else log.votes - newest
        rows = self._rows(sql, [log.votes, first] if since is None else [log.votes, first, since])
        return _last_of_each(_voted(row, json.loads(row[4])) for row in rows)

    def voices(self, log: Position, newest: int) -> int:
        """How many there are among the newest votes before a position."""
        sql = f"{_VOTED} FROM votes v WHERE v.number <= ? AND v.number > ?"
        return len({row[2] for row in self._rows(sql, [log.votes, log.votes - newest])})

    def voted(self, log: Position, newest: int) -> list[tuple[Assigned, Voted]]:
        """The questions that were voted on, with each vote, in the order they were asked.

        Args:
            log: a position.
            newest: so many votes before it are looked at.
        """
        votes = self.votes(log, newest=newest)
        sql = f"""
            {_ASSIGNED} WHERE a.number <= ?
            AND a.response IN (SELECT response FROM votes WHERE number <= ? AND number > ?) ORDER BY a.number
        """  # noqa: S608
        asked = map(_assigned, self._rows(sql, [log.assignments, log.votes, log.votes - newest]))
        return [(one, vote) for one in asked for vote in votes.get(one.response_id, ())]

    def outcomes(self, log: Position, *, trial: int | None = None, after: Position = BEGINNING.log) -> list[Outcome]:
        """What became of each question that was answered by what it was assigned, up to a position.

        Args:
            log: the position.
            trial: only those of this trial.
            after: only those behind this position.
        """
        # The join is made in this order, and of votes on other questions nothing is read: a log grows for years.
        sql = f"""
            {_VOTED} FROM assignments a CROSS JOIN votes v ON v.response = a.response
            WHERE a.number > ?1 AND a.number <= ?2 AND {_IN_TRIAL} AND v.number <= ?4 ORDER BY v.number
        """
        rows = self._rows(sql, [after.assignments, log.assignments, trial, log.votes])
        votes = _last_of_each(map(_voted, rows))
        return [
            outcome_of(one, votes.get(one.response_id, ()))
            for one in self.assigned(log, after, trial=trial)
            if one.acted == one.version
        ]

    # ------------------------------------------------------------ what is added

    def assign(self, one: Assigned) -> None:
        """Write down who was assigned what; durable when this returns.

        Raises:
            KnowledgeBaseError: it could not be written.
        """
        row = (one.at, one.response_id, one.trial, one.version, one.probability, one.acted, one.kind, one.voice)
        with self._journal.writing() as db:
            db.execute(
                "INSERT INTO assignments (at, response, trial, version, probability, acted, kind, voice, crc)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [*row, row_crc(*row)],
            )

    def decide(
        self, before: Decision, decision: Decision, *, policies: Sequence[Policy] = (), trial: Trial | None = None
    ) -> Decision | None:
        """Write a decision down, with the versions and the trial that it brings; nothing where another came first.

        Args:
            before: the decision that was the last one when this one was made.
            decision: this one.
            policies: new versions.
            trial: a new trial; ``decision.trial`` is its number.

        Raises:
            KnowledgeBaseError: it could not be written; nothing was.
        """
        with self._journal.writing() as db:
            if _last(db).number != before.number:
                return None
            for policy in policies:
                _add(db, "policies", (policy.version, policy.at, to_json(policy)))
            if trial is not None:
                _add(db, "trials", (decision.trial, trial.began, trial_json(trial)))
            row = (decision.at, decision.to_json())
            number = db.execute(
                "INSERT INTO decisions (at, what, crc) VALUES (?, ?, ?)", [*row, row_crc(*row)]
            ).lastrowid
            return Decision.of(number or 0, *row)

    # ------------------------------------------------------------ rows

    def _rows(self, sql: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        """Rows that are what was written."""
        with self._journal.reading() as db:
            rows = db.execute(sql, values).fetchall() if db else []
        return [row for row in rows if row[-1] == row_crc(*row[:-1])]


def note_vote(db: sqlite3.Connection, one: Voted) -> None:
    """Write a vote down, in the transaction that notes the opinion, where its answer was assigned something."""
    if db.execute("SELECT 1 FROM assignments WHERE response = ?", [one.response_id]).fetchone():
        row = (one.at, one.response_id, one.voice, one.vote, canonical(dict(one.seen)))
        db.execute(
            "INSERT INTO votes (at, response, voice, vote, seen, crc) VALUES (?, ?, ?, ?, ?, ?)", [*row, row_crc(*row)]
        )


def outcome_of(one: Assigned, votes: Sequence[Voted]) -> Outcome:
    """What became of a question: the vote of who asked; where only others voted, that of the first of them.

    One vote, for chance drew one version; and under the name of who gave it, for evidence leaves users out by name.
    """
    heard = next((vote for vote in votes if vote.voice == one.voice), votes[0] if votes else None)
    return Outcome(
        request_id=one.response_id,
        voice=heard.voice if heard else one.voice,
        version=one.version,
        probability=one.probability,
        vote=0 if heard is None else 1 if heard.vote > 0 else -1,
        at=heard.at if heard else one.at,
    )


def trial_json(trial: Trial) -> str:
    """A trial as one canonical line."""
    told = {name: getattr(trial, name) for name in Trial.__slots__}
    return canonical({**told, "challengers": list(trial.challengers)})


def trial_of(text: str) -> Trial:
    """The trial that `trial_json` wrote."""
    told = json.loads(text)
    return Trial(**{**told, "challengers": tuple(told["challengers"])})


def _add(db: sqlite3.Connection, table: str, row: tuple[object, ...]) -> None:
    db.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", [*row, row_crc(*row)])  # noqa: S608


def _last(db: sqlite3.Connection) -> Decision:
    return next(_decisions(db, newest_first=True), BEGINNING)


_ASSIGNED = """
    SELECT a.at, a.response, a.trial, a.version, a.probability, a.acted, a.kind, a.voice, a.crc FROM assignments a
"""
_IN_TRIAL = "(?3 IS NULL OR a.trial = ?3)"
_VOTED = "SELECT v.at, v.response, v.voice, v.vote, v.seen, v.crc"


def _assigned(row: Sequence[Any]) -> Assigned:
    """A row of `_ASSIGNED` as a record."""
    at, response, trial, version, probability, acted, kind, voice, _ = row
    return Assigned(
        at=at,
        response_id=response,
        trial=trial,
        version=version,
        probability=probability,
        acted=acted,
        kind=kind,
        voice=voice,
    )


def _voted(row: Sequence[Any], seen: Mapping[str, Any] = _UNSEEN) -> Voted:
    """A row of `_VOTED` as a record; what was voted on is read only where it is wanted."""
    at, response, voice, vote, *_ = row
    return Voted(response_id=response, voice=voice, vote=vote, at=at, seen=seen)


def _last_of_each(votes: Iterable[Voted]) -> dict[str, list[Voted]]:
    """The last vote of each voice on each answer, by answer."""
    last: dict[tuple[str, str], Voted] = {}
    for one in votes:
        last.pop((one.response_id, one.voice), None)
        last[one.response_id, one.voice] = one
    out: dict[str, list[Voted]] = defaultdict(list)
    for one in last.values():
        out[one.response_id].append(one)
    return out


def _decisions(db: sqlite3.Connection, *, newest_first: bool = False) -> Iterator[Decision]:
    order = "DESC" if newest_first else "ASC"
    for number, at, what, crc in db.execute(f"SELECT number, at, what, crc FROM decisions ORDER BY number {order}"):  # noqa: S608
        if crc == row_crc(at, what):
            yield Decision.of(number, at, what)


def _position(db: sqlite3.Connection) -> Position:
    ((assignments,),) = db.execute("SELECT coalesce(max(number), 0) FROM assignments")
    ((votes,),) = db.execute("SELECT coalesce(max(number), 0) FROM votes")
    return Position(assignments=assignments, votes=votes)
