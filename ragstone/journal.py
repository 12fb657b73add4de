"""Conversations, kept so that a question can lean on the ones before it, in whichever process it is asked."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from ragstone.answers import Turn
from ragstone.index.journal import Journal, row_crc

DAY = 86_400.0
"""Seconds."""
LONGEST_SESSION = 200
"""Turns that are kept of a session; older ones go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation that is kept: its name, how many turns, and when the last was, in seconds since 1970."""

    name: str
    turns: int
    last: float


class Conversations:
    """The sessions of a knowledge base, by names their users give. A turn is kept for some days, and then forgotten."""

    def __init__(self, journal: Journal, *, tokens: int, days: float, clock: Callable[[], float] = time.time) -> None:
        """Take the journal and the limits.

        Args:
            journal: where they are kept.
            tokens: most that is given back of a session; 0: nothing is.
            days: that a turn is kept; 0: none is.
            clock: seconds since 1970.
        """
        self._journal, self._tokens, self._days, self._clock = journal, tokens, days, clock

    def note(self, session: str, turn: Turn) -> None:
        """Keep a turn; durable when this returns.

        Raises:
            KnowledgeBaseError: it could not be kept.
        """
        if not self._days:
            return
        now = self._clock()
        with self._journal.writing() as db:
            row = (session, now, turn.question, turn.answer)
            db.execute(
                "INSERT INTO turns (session, at, question, answer, crc) VALUES (?, ?, ?, ?, ?)", [*row, row_crc(*row)]
            )
            db.execute(
                "DELETE FROM turns WHERE session = ?1 AND turn <= (SELECT turn FROM turns WHERE session = ?1"
                " ORDER BY turn DESC LIMIT 1 OFFSET ?2)",
                [session, LONGEST_SESSION],
            )
            db.execute("DELETE FROM turns WHERE at < ?", [self._oldest(now)])

    def before(self, session: str, count: Callable[[str], int]) -> tuple[Turn, ...]:
        """The last turns of a session that fit, the oldest first.

        Args:
            session: its name; one that is not known has no turns.
            count: tokens of a text.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        sql = "SELECT at, question, answer, crc FROM turns WHERE session = ? AND at >= ? ORDER BY turn DESC"
        out: list[Turn] = []
        left = self._tokens
        with self._journal.reading() as db:
            rows = db.execute(sql, [session, self._oldest(self._clock())]) if db and left and self._days else ()
            for at, question, answer, crc in rows:
                left -= count(question) + count(answer)
                if left < 0:
                    break
                if crc == row_crc(session, at, question, answer):  # doctor tells of others
                    out.append(Turn(question=question, answer=answer))
        return tuple(reversed(out))

    def sessions(self) -> list[Session]:
        """Those that are kept, the last one first.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        sql = "SELECT session, count(*), max(at) FROM turns WHERE at >= ? GROUP BY session ORDER BY max(turn) DESC"
        with self._journal.reading() as db:
            rows = db.execute(sql, [self._oldest(self._clock())]).fetchall() if db else []
        return [Session(name=name, turns=turns, last=last) for name, turns, last in rows]

    def forget(self, session: str) -> int:
        """Delete a session, its words too; gives how many turns it had.

        Raises:
            KnowledgeBaseError: it could not be deleted.
        """
        return self._delete("session = ?", session)

    def prune(self) -> int:
        """Delete what is past its time; gives how many turns that were. `note` does so by itself.

        Raises:
            KnowledgeBaseError: it could not be deleted.
        """
        return self._delete("at < ?", self._oldest(self._clock()))

    def _delete(self, which: str, value: str | float) -> int:
        with self._journal.reading() as db:
            if db is None:
                return 0
        with self._journal.writing() as db:
            gone = db.execute(f"DELETE FROM turns WHERE {which}", [value]).rowcount  # noqa: S608
        self._journal.forget_pages()
        return gone

    def _oldest(self, now: float) -> float:
        return now - self._days * DAY
