"""Conversations, stored so that a question can refer to earlier ones, in any process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ragstone.core.access import NAMESPACE_MARK, Reader
from ragstone.core.answers import Turn
from ragstone.core.frozen import frozen
from ragstone.history.journal import row_crc
from ragstone.history.store import DAY, JournalDatabase, JournalStore

LONGEST_SESSION = 200
"""Turns to store of a session; older ones are deleted."""
_LAST = 2**62
_SOON = 10.0
"""Seconds within which an answer is stored after its turn."""
COPIED_TO = "copied_to"
"""Key, in the JSON of a complete answer, of the session into which it was copied."""

_OF_A_SESSION = ("names", "shares")
"""Tables whose rows belong to a session and are deleted with it."""


@frozen
class Session:
    """A stored conversation: its name, the number of turns, and the time of the last one, in seconds since 1970.

    ``first`` is the oldest stored question, ``title`` the reader's name for it, if any; ``pinned`` says that the reader
    keeps it at the top.
    """

    name: str
    turns: int
    last: float
    first: str = ""
    title: str = ""
    pinned: bool = False


@frozen
class StoredTurn:
    """A stored turn of a conversation, its number, and the time of its answer, in seconds since 1970.

    ``response_id`` identifies the complete answer; it is empty if that is not stored.
    """

    at: float
    question: str
    answer: str
    response_id: str = ""
    number: int = 0


class Conversations:
    """The sessions of a knowledge base, by names that users give. A turn is deleted after some days."""

    def __init__(
        self, journal: JournalStore, *, tokens: int, days: float, clock: Callable[[], float] | None = None
    ) -> None:
        """Take the journal and the limits.

        Args:
            journal: the store.
            tokens: the most to return of a session; 0 for nothing.
            days: to store a turn; 0 stores none.
            clock: seconds since 1970; that of the journal if not given.
        """
        self._journal, self._tokens, self._days = journal, tokens, days
        self._clock = clock or journal.clock

    def note(self, session: str, turn: Turn) -> None:
        """Store a turn; it is durable when this returns.

        Raises:
            KnowledgeBaseError: it could not be stored.
        """
        if not self._days:
            return
        now = self._clock()
        with self._journal.writing() as db:
            put_turn(db, session, now, turn)
            db.execute(
                "DELETE FROM turns WHERE session = ?1 AND turn <= (SELECT turn FROM turns WHERE session = ?1"
                " ORDER BY turn DESC LIMIT 1 OFFSET ?2)",
                [session, LONGEST_SESSION],
            )
            if db.execute("DELETE FROM turns WHERE at < ?", [self._oldest(now)]).rowcount:
                _forget_what_belongs_to_none(db)

    def before(self, session: str, count: Callable[[str], int]) -> tuple[Turn, ...]:
        """Return the last turns of a session that fit, the oldest first.

        Args:
            session: its name; an unknown session has no turns.
            count: counts the tokens of a text.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        sql = "SELECT at, question, answer, crc FROM turns WHERE session = ? AND at >= ? ORDER BY turn DESC"
        out: list[Turn] = []
        left = self._tokens
        oldest = self._oldest(self._clock())
        with self._journal.reading() as db:
            rows = db.execute(sql, [session, oldest]) if db and left and self._days else ()
            for at, question, answer, crc in rows:
                left -= count(question) + count(answer)
                if left < 0:
                    break
                if crc == row_crc(session, at, question, answer):  # doctor reports the others
                    out.append(Turn(question=question, answer=answer))
        return tuple(reversed(out))

    def turns(
        self, session: str, who: str = "", newest: int = _LAST, *, most: int = LONGEST_SESSION
    ) -> list[StoredTurn]:
        """Return the last turns of a session, the oldest first; an unknown session has none.

        Args:
            session: its name.
            who: the reader whose session it is; the owner by default.
            newest: the number of the last turn to return.
            most: the most turns to return.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        # The complete answer was stored right after the turn, and any copy of it has the same time.
        sql = """
            SELECT t.turn, t.at, t.question, t.answer, t.crc, r.id, r.answer FROM turns t
            LEFT JOIN responses r ON r.at BETWEEN t.at AND t.at + ?4 AND r.reader = ?3 AND r.question = t.question
            WHERE t.session = ?1 AND t.at >= ?2 AND t.turn IN (
                SELECT turn FROM turns WHERE session = ?1 AND turn <= ?5 ORDER BY turn DESC LIMIT ?6
            ) ORDER BY t.turn, r.at
        """
        out, ranks = dict[int, StoredTurn](), dict[int, int]()
        oldest = self._oldest(self._clock())
        with self._journal.reading() as db:
            rows = db.execute(sql, [session, oldest, who, _SOON, newest, most]) if db else ()
            for turn, at, question, answer, crc, id, told in rows:
                if crc != row_crc(session, at, question, answer):
                    continue
                rank = _rank(json.loads(told), answer, session) if id else 0
                if turn not in out or rank > ranks[turn]:
                    ranks[turn], known = rank, id if rank else ""
                    out[turn] = StoredTurn(at=at, question=question, answer=answer, response_id=known, number=turn)
        return list(out.values())

    def sessions(self, namespace: str = "", q: str = "") -> list[Session]:
        """Return the stored sessions of one reader, those that are pinned first, then the latest.

        Args:
            namespace: of the reader.
            q: words that the title, a question or an answer of the session has, in any order; empty for any session.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        sql = """
            SELECT substr(s.session, length(?1) + 1), turns, last, (SELECT question FROM turns WHERE turn = first),
                coalesce(title, ''), coalesce(pinned, 0)
            FROM (
                SELECT session, count(*) AS turns, max(at) AS last, min(turn) AS first, max(turn) AS newest FROM turns
                WHERE at >= ?2 AND substr(session, 1, length(?1)) = ?1 AND (?1 <> '' OR substr(session, 1, 1) <> ?3)
                GROUP BY session) s
            LEFT JOIN names USING (session)
            ORDER BY coalesce(pinned, 0) DESC, newest DESC
        """
        oldest = self._oldest(self._clock())
        with self._journal.reading() as db:
            rows = db.execute(sql, [namespace, oldest, NAMESPACE_MARK]).fetchall() if db else []
            wanted, texts = q.casefold().split(), dict[str, list[str]]()
            if db and wanted:
                said = "SELECT session, question, answer FROM turns WHERE at >= ? AND substr(session, 1, length(?)) = ?"
                for session, question, answer in db.execute(said, [oldest, namespace, namespace]):
                    texts.setdefault(session.removeprefix(namespace), []).extend((question, answer))
        sessions = [
            Session(name=name, turns=turns, last=last, first=first, title=title, pinned=bool(pinned))
            for name, turns, last, first, title, pinned in rows
        ]
        if not wanted:
            return sessions
        whole = {one.name: "\n".join([one.title, *texts.get(one.name, [])]).casefold() for one in sessions}
        return [one for one in sessions if all(word in whole[one.name] for word in wanted)]

    def names(self) -> list[str]:
        """Return the stored names of all sessions, of every reader.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        with self._journal.reading() as db:
            sql = "SELECT DISTINCT session FROM turns WHERE at >= ?"
            return [name for (name,) in db.execute(sql, [self._oldest(self._clock())])] if db else []

    def name(self, session: str, *, title: str | None = None, pinned: bool | None = None) -> bool:
        """Rename a session, or pin it to the top; None leaves a property unchanged.

        Returns:
            Whether there is such a session.

        Raises:
            KnowledgeBaseError: it could not be stored.
        """
        oldest = self._oldest(self._clock())
        with self._journal.reading() as db:
            if db is None:
                return False
        with self._journal.writing() as db:
            # In the same transaction, because another process may delete the session at the same moment.
            there = "SELECT 1 FROM turns WHERE session = ? AND at >= ? LIMIT 1"
            if not db.execute(there, [session, oldest]).fetchone():
                return False
            kept = db.execute("SELECT title, pinned FROM names WHERE session = ?", [session]).fetchone() or ("", 0)
            row = (session, kept[0] if title is None else title, kept[1] if pinned is None else int(pinned))
            db.execute(
                "INSERT INTO names (session, title, pinned, crc) VALUES (?, ?, ?, ?) ON CONFLICT (session) DO UPDATE"
                " SET title = excluded.title, pinned = excluded.pinned, crc = excluded.crc",
                [*row, row_crc(*row)],
            )
        return True

    def forget(self, session: str) -> int:
        """Delete a session, including its web pages, and return its number of turns.

        Raises:
            KnowledgeBaseError: it could not be deleted.
        """
        return self._delete("session = ?", session)

    def forget_turn(self, number: int) -> None:
        """Delete the turn of this number.

        Raises:
            KnowledgeBaseError: it could not be deleted.
        """
        self._delete("turn = ?", number)

    def prune(self) -> int:
        """Delete expired turns and return their number. `note` does this, too.

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
            _forget_what_belongs_to_none(db)
        self._journal.forget_pages()
        return gone

    def _oldest(self, now: float) -> float:
        return now - self._days * DAY


def _rank(kept: Mapping[str, Any], answer: str, session: str) -> int:
    """Return how sure it is that a complete answer is that of a turn: 0 if it is not, 2 if it was copied with it."""
    if kept["answer"]["answer"] != answer or kept.get(COPIED_TO, session) != session:
        return 0
    return 2 if COPIED_TO in kept else 1


def put_turn(db: JournalDatabase, session: str, at: float, turn: Turn) -> None:
    """Add a turn to a session, as part of a transaction."""
    row = (session, at, turn.question, turn.answer)
    db.execute("INSERT INTO turns (session, at, question, answer, crc) VALUES (?, ?, ?, ?, ?)", [*row, row_crc(*row)])


def forget_if_unused(db: JournalDatabase, name: str) -> None:
    """Forget what is stored for a reader whose name nobody has now, as part of a transaction.

    Whoever gets the name next is somebody else, and may read other documents.
    """
    if is_in_use(db, name):
        return
    who = Reader(name=name).who
    _delete_of(db, "turns", name)
    _forget_what_belongs_to_none(db)
    db.execute("DELETE FROM feedback WHERE response IN (SELECT id FROM responses WHERE reader = ?)", [who])
    db.execute("DELETE FROM responses WHERE reader = ?", [who])
    db.execute("DELETE FROM jobs WHERE reader = ? AND ended IS NOT NULL", [who])


def end_links_if_unused(db: JournalDatabase, name: str) -> None:
    """End the links to the conversations of a reader whose name nobody has now, as part of a transaction.

    Nobody else could take them back.
    """
    if not is_in_use(db, name):
        _delete_of(db, "shares", name)


def is_in_use(db: JournalDatabase, name: str) -> bool:
    """Return whether a key or a user has a name."""
    keys = "SELECT 1 FROM keys WHERE name = ?1 AND revoked IS NULL"
    users = "SELECT 1 FROM users WHERE name = ?1 AND removed IS NULL"
    return db.execute(f"{keys} UNION ALL {users}", [name]).fetchone() is not None


def _delete_of(db: JournalDatabase, table: str, name: str) -> None:
    own = Reader(name=name).namespace
    db.execute(f"DELETE FROM {table} WHERE substr(session, 1, {len(own)}) = ?", [own])  # noqa: S608


def _forget_what_belongs_to_none(db: JournalDatabase) -> None:
    for table in _OF_A_SESSION:
        db.execute(f"DELETE FROM {table} WHERE session NOT IN (SELECT session FROM turns)")  # noqa: S608
