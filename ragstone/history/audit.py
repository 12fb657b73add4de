"""The audit log: what administrators did and readers shared, who and when. It is append-only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from ragstone.core.frozen import frozen
from ragstone.history.journal import row_crc
from ragstone.history.keys import Key
from ragstone.history.store import JournalStore
from ragstone.history.users import User

Act = Literal[
    "key.make",
    "key.revoke",
    "user.add",
    "user.change",
    "user.password",
    "user.remove",
    "person.sign_out",
    "sync",
    "job.cancel",
    "document.forget",
    "source.add",
    "source.remove",
    "source.schedule",
    "setting.change",
    "model.choose",
    "model.add_server",
    "model.remove_server",
    "learning.try",
    "learning.promote",
    "learning.revert",
    "collection.change",
    "collection.remove",
    "conversation.share",
    "conversation.take_back",
]

_LAST = 2**62


@frozen
class Entry:
    """One act. ``at`` is in seconds since 1970; an empty ``who`` is a person on the server's machine."""

    number: int
    at: float
    who: str
    act: Act
    what: str


class Audit:
    """The acts of a knowledge base's administrators."""

    def __init__(self, journal: JournalStore, clock: Callable[[], float] | None = None) -> None:
        """Take the journal, and a clock of seconds since 1970 other than that of the journal."""
        self._journal, self._clock = journal, clock or journal.clock

    def note(self, who: str, act: Act, what: str) -> None:
        """Add an act.

        Args:
            who: the name of the reader.
            act: what kind of act.
            what: its object; never a secret.

        Raises:
            KnowledgeBaseError: it could not be stored.
        """
        row = (self._clock(), who, act, what)
        with self._journal.writing() as db:
            db.execute("INSERT INTO audit (at, who, act, what, crc) VALUES (?, ?, ?, ?, ?)", [*row, row_crc(*row)])

    def last(self, limit: int, before: int | None = None) -> list[Entry]:
        """Return acts, the newest first; those before a number, if one is given.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        sql = "SELECT number, at, who, act, what, crc FROM audit WHERE number < ? ORDER BY number DESC LIMIT ?"
        with self._journal.reading() as db:
            rows = db.execute(sql, [_LAST if before is None else before, limit]).fetchall() if db else []
        return [
            Entry(number=number, at=at, who=who, act=act, what=what)
            for number, at, who, act, what, crc in rows
            if crc == row_crc(at, who, act, what)  # doctor reports the others
        ]


def told_rights(holder: Key | User) -> str:
    """Return a key or user with what it may do and read, as `Audit` keeps it; ``*`` stands for all documents."""
    name = f"{holder.name} ({holder.id})" if isinstance(holder, Key) else holder.name
    groups = "*" if holder.groups is None else ", ".join(holder.groups)
    return " · ".join((name, ", ".join(holder.scopes), groups)) if groups else f"{name} · {', '.join(holder.scopes)}"
