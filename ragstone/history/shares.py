"""Links by which readers share their conversations.

A link contains 256 random bits, which are stored only as a hash. It shows the conversation as it was when the link was
created, and ends when it is revoked, when it expires, and when the conversation is deleted.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from ragstone.core.access import Reader
from ragstone.core.answers import Turn
from ragstone.core.errors import NotFound, UsageError
from ragstone.core.frozen import frozen
from ragstone.history.conversations import put_turn
from ragstone.history.journal import row_crc
from ragstone.history.keys import secret_hash
from ragstone.history.responses import Response, put_response
from ragstone.history.store import DAY, JournalStore

MOST_LINKS = 20
"""Maximum number of links to one conversation."""
SHOWN_HASH = 12
"""Digits of its hash that identify a link in the audit log."""
_COLUMNS = "hash, session, newest, made, until"


@frozen
class Share:
    """A link to a conversation, without its secret. Times are seconds since 1970.

    ``id`` is the beginning of its hash, ``session`` the stored name of the conversation, and ``newest`` the number of
    the last turn it shows; it ends at ``until``, if ever.
    """

    id: str
    session: str
    newest: int
    made: float
    until: float | None = None


@frozen
class Copied:
    """A turn to copy into another conversation, with the complete answer if that is copied too."""

    at: float
    turn: Turn
    response: Response | None = None


class Shares:
    """The links to the conversations of a knowledge base."""

    def __init__(self, journal: JournalStore, clock: Callable[[], float] | None = None) -> None:
        """Take the journal, and a clock of seconds since 1970 other than that of the journal."""
        self._journal, self._clock = journal, clock or journal.clock

    def make(self, session: str, days: float | None = None) -> tuple[Share, str]:
        """Create a link to a conversation as it is now; return it and its secret, which is not stored.

        Raises:
            NotFound: there is no such conversation.
            UsageError: there are too many links to it.
            KnowledgeBaseError: it could not be stored.
        """
        now, secret = self._clock(), secrets.token_urlsafe(32)
        hash, until = secret_hash(secret), None if days is None else now + days * DAY
        with self._journal.writing() as db:
            db.execute("DELETE FROM shares WHERE until <= ?", [now])
            (newest,) = db.execute("SELECT max(turn) FROM turns WHERE session = ?", [session]).fetchone()
            if newest is None:
                raise NotFound("there is no such conversation")
            (links,) = db.execute("SELECT count(*) FROM shares WHERE session = ?", [session]).fetchone()
            if links >= MOST_LINKS:
                raise UsageError(f"this conversation already has {links} links; revoke them first")
            row = (hash, session, newest, now, until)
            db.execute(f"INSERT INTO shares ({_COLUMNS}, crc) VALUES (?, ?, ?, ?, ?, ?)", [*row, row_crc(*row)])  # noqa: S608
        return _share(*row), secret

    def find(self, secret: str) -> Share | None:
        """Return the link with this secret; None if there is none, or it has expired.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        found = self._those("hash = ?", secret_hash(secret))
        return found[0] if found else None

    def of(self, session: str) -> list[Share]:
        """Return the links to a conversation, the newest first.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        return self._those("session = ?", session)

    def take_back(self, session: str) -> list[Share]:
        """Delete all links to a conversation, and return them.

        Raises:
            KnowledgeBaseError: they could not be deleted.
        """
        gone = self.of(session)
        if gone:
            with self._journal.writing() as db:
                db.execute("DELETE FROM shares WHERE session = ?", [session])
        return gone

    def copy(self, turns: Sequence[Copied], session: str, reader: Reader) -> None:
        """Store turns as a conversation of a reader, all or none. They keep their times, and so expire with the others.

        Raises:
            KnowledgeBaseError: it could not be stored.
        """
        with self._journal.writing() as db:
            for one in turns:
                put_turn(db, session, one.at, one.turn)
                if one.response:
                    put_response(db, one.response, reader, copied_to=session)

    def _those(self, which: str, value: str) -> list[Share]:
        sql = f"SELECT {_COLUMNS}, crc FROM shares WHERE {which} AND (until IS NULL OR until > ?) ORDER BY made DESC"  # noqa: S608
        now = self._clock()
        with self._journal.reading() as db:
            rows = db.execute(sql, [value, now]).fetchall() if db else []
        return [_share(*row[:-1]) for row in rows if row[-1] == row_crc(*row[:-1])]  # doctor reports the others


def _share(hash: str, session: str, newest: int, made: float, until: float | None) -> Share:
    return Share(id=hash[:SHOWN_HASH], session=session, newest=newest, made=made, until=until)
