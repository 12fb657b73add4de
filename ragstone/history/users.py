"""People who sign in with a name and a password of this knowledge base."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ragstone.core.access import refuse_reserved
from ragstone.core.errors import MissingExtra, NotFound, UsageError
from ragstone.core.frozen import frozen
from ragstone.history.conversations import end_links_if_unused, forget_if_unused, is_in_use
from ragstone.history.journal import row_crc
from ragstone.history.keys import Scope, as_text, canonical, from_text, known_scopes
from ragstone.history.sessions import end_those_of, put_session
from ragstone.history.store import JournalDatabase, JournalStore

_NAME = re.compile(r"[^\W_][\w.@+-]{0,63}")
"""Colons and slashes are reserved for the names of people who sign in with a provider."""
_COLUMNS = "name, hash, scopes, groups, made, removed"
_PUT = (
    f"INSERT INTO users ({_COLUMNS}, crc) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET"  # noqa: S608
    " hash = excluded.hash, scopes = excluded.scopes, groups = excluded.groups, made = excluded.made,"
    " removed = excluded.removed, crc = excluded.crc"
)


@frozen
class User:
    """A person, their scopes and their groups; ``groups=None`` may read everything."""

    name: str
    scopes: tuple[Scope, ...]
    groups: tuple[str, ...] | None
    made: float
    removed: float | None = None


class Users:
    """The users of a knowledge base. A change to a user ends their sessions."""

    def __init__(self, journal: JournalStore, clock: Callable[[], float] | None = None) -> None:
        """Take the journal, and a clock of seconds since 1970 other than that of the journal."""
        self._journal, self._clock = journal, clock or journal.clock

    def add(self, name: str, password: str, scopes: Sequence[str], groups: Sequence[str] | None = None) -> User:
        """Add a user. The conversations, answers and jobs of somebody who had the name and has left are forgotten.

        Raises:
            UsageError: the name is taken, reserved or not allowed, the password is weak, or a scope is unknown.
            KnowledgeBaseError: it could not be stored.
        """
        name = unicodedata.normalize("NFC", name)
        if not _NAME.fullmatch(name):
            raise UsageError(
                "a user's name has up to 64 letters, digits and . @ + - _, and begins with a letter or digit"
            )
        refuse_reserved(name)
        user = User(name=name, scopes=known_scopes(scopes), groups=canonical(groups), made=self._clock())
        stored = _hashed(password, name)
        with self._journal.writing() as db:
            if _find(db, name):
                raise UsageError(f"there is a user '{name}' already")
            forget_if_unused(db, name)
            _put(db, user, stored)
        return user

    def set_rights(self, name: str, scopes: Sequence[str], groups: Sequence[str] | None) -> User:
        """Change what a user may do and read.

        Raises:
            NotFound: there is no such user.
            UsageError: a scope is unknown.
            KnowledgeBaseError: it could not be stored.
        """
        new_scopes, new_groups = known_scopes(scopes), canonical(groups)
        with self._journal.writing() as db:
            user, stored = _found(db, name)
            changed = replace(user, scopes=new_scopes, groups=new_groups)
            _put(db, changed, stored)
        return changed

    def set_password(self, name: str, password: str) -> User:
        """Set a user's password.

        Raises:
            NotFound: there is no such user.
            UsageError: the password is weak.
            KnowledgeBaseError: it could not be stored.
        """
        with self._journal.reading() as db:
            user, _ = _found(db, name)
        stored = _hashed(password, user.name)
        with self._journal.writing() as db:
            user, _ = _found(db, name)
            _put(db, user, stored)
        return user

    def remove(self, name: str) -> User:
        """Remove a user, who can no longer sign in. Their conversations and votes stay; links to them end.

        Raises:
            NotFound: there is no such user.
            KnowledgeBaseError: it could not be written.
        """
        with self._journal.writing() as db:
            user, _ = _found(db, name)
            removed = replace(user, removed=self._clock())
            _put(db, removed, "")
            end_links_if_unused(db, user.name)
        return removed

    def all(self) -> list[User]:
        """Return the users in the order of their names.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        with self._journal.reading() as db:
            return [user for user, _ in _rows(db)]

    def departed(self) -> list[str]:
        """Return the names of removed users that nobody has now.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        with self._journal.reading() as db:
            return [
                user.name for user, _ in _stored(db) if db and user.removed is not None and not is_in_use(db, user.name)
            ]

    def were_ever_added(self) -> bool:
        """Return whether a user was ever added: removing or damaging the last one does not open the server.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        with self._journal.reading() as db:
            return bool(db and db.execute("SELECT 1 FROM users LIMIT 1").fetchone())

    def check(self, name: str, password: str) -> User | None:
        """Return the user with this name and password, or None; the time does not reveal which of the two is wrong.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        found = self._with_password(name, password)
        return found[0] if found else None

    def begin_session(self, name: str, password: str, seconds: float) -> str | None:
        """Return the cookie of a new session of the user with this name and password, or None as for `check`.

        A change to the user ends their sessions, so none begins with what was read before the change.

        Args:
            name: of the user.
            password: of the user.
            seconds: maximum length of the session.

        Raises:
            KnowledgeBaseError: the journal cannot be used.
        """
        checked = self._with_password(name, password)
        if checked is None:
            return None
        user, _ = checked
        with self._journal.writing() as db:
            if _find(db, user.name) != checked:
                return None
            return put_session(db, self._clock(), user.name, user.name, "password", user.scopes, user.groups, seconds)

    def _with_password(self, name: str, password: str) -> tuple[User, str] | None:
        with self._journal.reading() as db:
            found = _find(db, name)
        return found if _fits(password, found[1] if found else None) else None


def _find(db: JournalDatabase | None, name: str) -> tuple[User, str] | None:
    """Return a user and the hash of their password."""
    return next((one for one in _rows(db) if is_same_name(one[0].name, name)), None)


def _found(db: JournalDatabase | None, name: str) -> tuple[User, str]:
    found = _find(db, name)
    if found is None:
        raise NotFound(f"there is no user '{name}'; list the users with: ragstone user list")
    return found


def _rows(db: JournalDatabase | None) -> list[tuple[User, str]]:
    return [(user, stored) for user, stored in _stored(db) if user.removed is None]


def _stored(db: JournalDatabase | None) -> list[tuple[User, str]]:
    """Return all users, also those that were removed, and the hashes of their passwords."""
    rows = db.execute(f"SELECT {_COLUMNS}, crc FROM users ORDER BY name").fetchall() if db else []  # noqa: S608
    whole = [row for row in rows if row[-1] == row_crc(*row[:-1])]  # doctor reports the others
    return [(_user(*row[:-1]), row[1]) for row in whole]


def is_same_name(one: str, other: str) -> bool:
    """Return whether two names are the same; phones capitalise the first letter."""
    return same_name(one) == same_name(other)


def same_name(name: str) -> str:
    """Return the form that all spellings of a name share."""
    return unicodedata.normalize("NFC", name).casefold()


def _put(db: JournalDatabase, user: User, stored: str) -> None:
    row = (user.name, stored, json.dumps(user.scopes), as_text(user.groups), user.made, user.removed)
    db.execute(_PUT, [*row, row_crc(*row)])
    end_those_of(db, user.name)


def _user(name: str, stored: str, scopes: str, groups: str | None, made: float, removed: float | None) -> User:
    del stored
    return User(name=name, scopes=tuple(json.loads(scopes)), groups=from_text(groups), made=made, removed=removed)


def _hashed(password: str, name: str) -> str:
    with _needing_serve():
        from ragstone.history.passwords import check_strength, hashed
    check_strength(password, name)
    return hashed(password)


def _fits(password: str, stored: str | None) -> bool:
    with _needing_serve():
        from ragstone.history.passwords import fits
    return fits(password, stored)


@contextmanager
def _needing_serve() -> Generator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "cryptography", extra="serve") from error
