"""Sessions of people, and sign-ins in progress at a provider.

A session's cookie has 256 random bits and is stored only as a hash. It ends after a time limit, after a time without
requests, when the person signs out, and when an administrator changes or removes the person.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable
from typing import Literal

from ragstone.core.access import Reader
from ragstone.core.frozen import frozen
from ragstone.history.journal import row_crc
from ragstone.history.keys import Key, KeyLimits, Scope, as_text, from_text, secret_hash
from ragstone.history.store import JournalDatabase, JournalStore

Via = Literal["password", "oidc"]
TOUCH_SECONDS = 60.0
"""The precision of the last use of a session. Each update is a write to the disk."""
SIGN_IN_SECONDS = 600.0
"""The time that a person may take at the provider."""
MOST_SIGN_INS = 10_000
"""Sign-ins in progress to keep; the oldest are dropped, so that nobody can fill the disk."""
_COLUMNS = "hash, name, shown, via, scopes, groups, made, until"


@frozen
class Session:
    """A person who is signed in.

    ``name`` is the name of their reader, ``shown`` the name for display. Times are seconds since 1970.
    """

    name: str
    shown: str
    via: Via
    scopes: tuple[Scope, ...]
    groups: tuple[str, ...] | None
    made: float
    until: float

    @property
    def reader(self) -> Reader:
        """The reader who is signed in."""
        return Reader(name=self.name, groups=None if self.groups is None else frozenset(self.groups))

    def is_through(self, issuer: str) -> bool:
        """Return whether the person signed in with a password, or through the provider of this issuer."""
        return self.via == "password" or (bool(issuer) and self.name.startswith(name_at(issuer, "")))

    @property
    def key(self) -> Key:
        """The key that represents the person for limits, costs and turns: the same in all their sessions."""
        id = f"person-{hashlib.sha256(self.name.encode()).hexdigest()[:16]}"
        return Key(id=id, name=self.name, scopes=self.scopes, groups=self.groups, limits=KeyLimits(), made=self.made)


@frozen
class SignIn:
    """The data sent to a provider, which its response must match, and the view of the page to open afterwards."""

    nonce: str
    verifier: str
    place: str


class Sessions:
    """The sessions of a knowledge base."""

    def __init__(self, journal: JournalStore, clock: Callable[[], float] | None = None) -> None:
        """Take the journal, and a clock of seconds since 1970 other than that of the journal."""
        self._journal, self._clock = journal, clock or journal.clock

    def begin(
        self,
        name: str,
        shown: str,
        via: Via,
        scopes: tuple[Scope, ...],
        groups: tuple[str, ...] | None,
        seconds: float,
    ) -> str:
        """Begin a session with this maximum length, and return its cookie, which is not stored.

        Raises:
            KnowledgeBaseError: it could not be stored.
        """
        with self._journal.writing() as db:
            return put_session(db, self._clock(), name, shown, via, scopes, groups, seconds)

    def find(self, cookie: str, idle_seconds: float) -> tuple[Session, bool] | None:
        """Return the session of a cookie, and whether to record its use; None if it is unknown or expired.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        now = self._clock()
        sql = f"SELECT {_COLUMNS}, used, crc FROM sessions WHERE hash = ?"  # noqa: S608
        with self._journal.reading() as db:
            found = db.execute(sql, [secret_hash(cookie)]).fetchone() if db else None
        if found is None or found[-1] != row_crc(*found[:-2]):
            return None
        session, used = _session(*found[1:-2]), found[-2]
        if now >= min(session.until, used + idle_seconds):
            return None
        return session, now - used >= TOUCH_SECONDS

    def touch(self, cookie: str) -> None:
        """Record the use of a session.

        Raises:
            KnowledgeBaseError: it could not be written.
        """
        now = self._clock()
        with self._journal.writing() as db:
            db.execute("UPDATE sessions SET used = ? WHERE hash = ?", [now, secret_hash(cookie)])

    def end(self, cookie: str) -> None:
        """End a session and invalidate its cookie.

        Raises:
            KnowledgeBaseError: it could not be written.
        """
        with self._journal.writing() as db:
            db.execute("DELETE FROM sessions WHERE hash = ?", [secret_hash(cookie)])

    def end_all_of(self, name: str) -> None:
        """End all sessions of a person.

        Raises:
            KnowledgeBaseError: it could not be written.
        """
        with self._journal.writing() as db:
            end_those_of(db, name)

    def all(self) -> list[Session]:
        """Return the sessions that have not expired, the newest first.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        sql = f"SELECT {_COLUMNS}, crc FROM sessions WHERE until > ? ORDER BY made DESC, hash"  # noqa: S608
        now = self._clock()
        with self._journal.reading() as db:
            rows = db.execute(sql, [now]).fetchall() if db else []
        return [_session(*row[1:-1]) for row in rows if row[-1] == row_crc(*row[:-1])]

    # ---------------------------------------------------------------- through a provider
    def begin_sign_in(self, sign_in: SignIn) -> tuple[str, str]:
        """Store a sign-in until the provider responds; return its state, and a cookie that binds it to the browser.

        Raises:
            KnowledgeBaseError: it could not be stored.
        """
        now, state, browser = self._clock(), secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        kept = (sign_in.nonce, sign_in.verifier, sign_in.place, now + SIGN_IN_SECONDS)
        with self._journal.writing() as db:
            db.execute("DELETE FROM sign_ins WHERE until < ?", [now])
            first_too_many = "SELECT until FROM sign_ins ORDER BY until DESC LIMIT 1 OFFSET ?"
            db.execute(f"DELETE FROM sign_ins WHERE until <= ({first_too_many})", [MOST_SIGN_INS - 1])  # noqa: S608
            db.execute(
                "INSERT INTO sign_ins VALUES (?, ?, ?, ?, ?, ?)", [secret_hash(state), secret_hash(browser), *kept]
            )
        return state, browser

    def take_sign_in(self, state: str, browser: str) -> SignIn | None:
        """Return a sign-in once, and delete it; None if it is unknown, expired, or from another browser.

        Raises:
            KnowledgeBaseError: it could not be written.
        """
        ours = [secret_hash(state), secret_hash(browser)]
        with self._journal.writing() as db:
            sql = "SELECT nonce, verifier, place, until FROM sign_ins WHERE state = ? AND browser = ?"
            row = db.execute(sql, ours).fetchone()
            db.execute("DELETE FROM sign_ins WHERE state = ? AND browser = ?", ours)
        if row is None or row[3] <= self._clock():
            return None
        return SignIn(nonce=row[0], verifier=row[1], place=row[2])


def name_at(issuer: str, subject: str) -> str:
    """Return the reader's name for a provider's subject; the names of different providers never collide."""
    return f"{issuer}#{subject}"


def put_session(
    db: JournalDatabase,
    now: float,
    name: str,
    shown: str,
    via: Via,
    scopes: tuple[Scope, ...],
    groups: tuple[str, ...] | None,
    seconds: float,
) -> str:
    """Begin a session as part of a transaction, and return its cookie; see `Sessions.begin`."""
    cookie = secrets.token_urlsafe(32)
    row = (secret_hash(cookie), name, shown, via, json.dumps(scopes), as_text(groups), now, now + seconds)
    db.execute("DELETE FROM sessions WHERE until < ?", [now])
    db.execute(
        f"INSERT INTO sessions ({_COLUMNS}, used, crc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        [*row, now, row_crc(*row)],
    )
    return cookie


def end_those_of(db: JournalDatabase, name: str) -> None:
    """End all sessions of a person, as part of a transaction."""
    db.execute("DELETE FROM sessions WHERE name = ?", [name])


def _session(name: str, shown: str, via: Via, scopes: str, groups: str | None, made: float, until: float) -> Session:
    return Session(
        name=name,
        shown=shown,
        via=via,
        scopes=tuple(json.loads(scopes)),
        groups=from_text(groups),
        made=made,
        until=until,
    )
