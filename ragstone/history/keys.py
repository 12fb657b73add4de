"""Keys of the HTTP API: their rights and quotas.

A key is shown once, when it is created; only its hash is stored. It has 256 random bits, so no slow hash is needed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from typing import Literal

from ragstone.core.access import Reader, refuse_reserved
from ragstone.core.errors import NotFound, UsageError
from ragstone.core.frozen import frozen
from ragstone.history.conversations import end_links_if_unused, forget_if_unused
from ragstone.history.journal import row_crc
from ragstone.history.store import DAY, JournalDatabase, JournalStore, day_of

Scope = Literal["read", "write", "tokens", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "write", "tokens", "admin")
"""The scopes of a key: reading; adding and removing documents; making short-lived tokens for visitors of a site;
everything, including settings and statistics."""
PREFIX = "rgs_"
_FORM = re.compile(r"rgs_([0-9a-f]{8})_[A-Za-z0-9_-]{43}")
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,100}")
_STATE = "SELECT count(*), count(revoked), coalesce(max(made), 0), coalesce(max(revoked), 0) FROM keys"
_COLUMNS = "id, name, hash, scopes, groups, limits, made, revoked"


@frozen
class KeyLimits:
    """The quotas of a key; None uses the server's settings."""

    rate_per_minute: int | None = None
    burst: int | None = None
    concurrent: int | None = None
    cost_per_day: float | None = None


@frozen
class Key:
    """A key without its secret. ``groups`` are the groups of its reader; None may read everything.

    Keys of the same ``name`` belong to the same reader and see the same conversations.
    """

    id: str
    name: str
    scopes: tuple[Scope, ...]
    groups: tuple[str, ...] | None
    limits: KeyLimits
    made: float
    revoked: float | None = None

    @property
    def reader(self) -> Reader:
        """The reader who uses it."""
        return Reader(name=self.name, groups=None if self.groups is None else frozenset(self.groups))


class KeyRing:
    """All keys at one moment."""

    def __init__(self, keys: Iterable[tuple[Key, str]] = (), made: int = 0) -> None:
        """Take the keys with their hashes, and the number of keys ever created."""
        self._keys = {key.id: (key, hash) for key, hash in keys}
        self._made = made

    def __bool__(self) -> bool:
        """Whether a key was ever created: revoking or damaging the last one does not open the server."""
        return self._made > 0

    def in_force(self, id: str) -> Key | None:
        """Return the key with this id, or None if it is unknown or revoked."""
        key, _ = self._keys.get(id, (None, ""))
        return key if key and key.revoked is None else None

    def find(self, text: str) -> Key | None:
        """Return the key for a secret, or None if it is unknown or revoked; the time this takes reveals nothing."""
        form = _FORM.fullmatch(text)
        key, hash = self._keys.get(form[1] if form else "", (None, ""))
        fits = hmac.compare_digest(hash, secret_hash(text))
        return key if fits and key and key.revoked is None else None


class Keys:
    """The keys of a knowledge base."""

    def __init__(self, journal: JournalStore, clock: Callable[[], float] | None = None) -> None:
        """Take the journal, and a clock of seconds since 1970 other than that of the journal."""
        self._journal, self._clock = journal, clock or journal.clock

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    def make(
        self,
        name: str,
        scopes: Sequence[str],
        groups: Sequence[str] | None = None,
        limits: KeyLimits | None = None,
    ) -> tuple[Key, str]:
        """Create a key and return it with its secret, which cannot be shown again.

        Raises:
            UsageError: the name is blank or reserved, or a scope is unknown.
            KnowledgeBaseError: it could not be stored.
        """
        if not name.strip() or not _NAME.fullmatch(name):
            raise UsageError("a key needs a name of up to 100 characters: its owner or purpose")
        refuse_reserved(name)
        id = secrets.token_hex(4)
        text = f"{PREFIX}{id}_{secrets.token_urlsafe(32)}"
        key = Key(
            id=id,
            name=name.strip(),
            scopes=known_scopes(scopes),
            groups=canonical(groups),
            limits=limits or KeyLimits(),
            made=self._clock(),
        )
        row = _row(key, secret_hash(text))
        with self._journal.writing() as db:
            if db.execute("SELECT 1 FROM users WHERE name = ? AND removed IS NOT NULL", [key.name]).fetchone():
                forget_if_unused(db, key.name)
            db.execute(f"INSERT INTO keys ({_COLUMNS}, crc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [*row, row_crc(*row)])  # noqa: S608
        return key, text

    def all(self) -> list[Key]:
        """Return every key, the newest first.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        return [key for key, _ in self._rows()]

    def ring(self) -> KeyRing:
        """Return all keys, to find one by its secret.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        with self._journal.reading() as db:
            ((made,),) = db.execute("SELECT count(*) FROM keys") if db else ((0,),)
        return KeyRing(self._rows(), made)

    def state(self) -> tuple[float, ...]:
        """Return a value that changes whenever any process creates or revokes a key; cheap enough for every request.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        with self._journal.reading() as db:
            return tuple(db.execute(_STATE).fetchone()) if db else ()

    def revoke(self, which: str) -> list[Key]:
        """Revoke a key by its id, or all keys of a name. Links to its conversations end with the last key of a name.

        Raises:
            NotFound: no such key, or all are revoked already.
            KnowledgeBaseError: it could not be written.
        """
        now = self._clock()
        out: list[Key] = []
        with self._journal.writing() as db:
            rows = _stored(db)
            # An id means one key, whatever others are named.
            wanted = [row for row in rows if row[0].id == which] or [row for row in rows if row[0].name == which]
            for key, hash in wanted:
                if key.revoked is None:
                    out.append(replace(key, revoked=now))
                    sum = row_crc(*_row(out[-1], hash))
                    db.execute("UPDATE keys SET revoked = ?, crc = ? WHERE id = ?", [now, sum, key.id])
                    end_links_if_unused(db, key.name)
        if not out:
            raise NotFound(f"there is no key '{which}' that is valid; list the keys with: ragstone key list")
        return out

    def spend(self, id: str, cost: int) -> None:
        """Add to the cost of a key, in billionths, on this day of UTC.

        Raises:
            KnowledgeBaseError: it could not be written.
        """
        sql = (
            "INSERT INTO key_costs VALUES (?, ?, ?)"
            " ON CONFLICT (day, id) DO UPDATE SET cost = key_costs.cost + excluded.cost"
        )
        today = day_of(self._clock())
        with self._journal.writing() as db:
            db.execute("DELETE FROM key_costs WHERE day < ?", [today])
            db.execute(sql, [today, id, cost])

    def spent(self, id: str) -> int:
        """Return the cost of a key on this day of UTC, in billionths.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        sql, today = "SELECT cost FROM key_costs WHERE day = ? AND id = ?", day_of(self._clock())
        with self._journal.reading() as db:
            found = db.execute(sql, [today, id]).fetchone() if db else None
        return found[0] if found else 0

    def seconds_of_day(self) -> float:
        """Return the seconds until this day of UTC ends.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        return DAY - self._clock() % DAY

    def _rows(self) -> list[tuple[Key, str]]:
        with self._journal.reading() as db:
            return _stored(db) if db else []


def _stored(db: JournalDatabase) -> list[tuple[Key, str]]:
    """Return the keys with their hashes, the newest first, but those whose row is damaged, which doctor reports."""
    rows = db.execute(f"SELECT {_COLUMNS}, crc FROM keys ORDER BY made DESC, id").fetchall()  # noqa: S608
    return [(_key(*row[:-1]), row[2]) for row in rows if row[-1] == row_crc(*row[:-1])]


def known_scopes(scopes: Sequence[str]) -> tuple[Scope, ...]:
    """Return scopes in their order, each once.

    Raises:
        UsageError: one is unknown, or there is none.
    """
    unknown = [one for one in scopes if one not in SCOPES]
    if unknown or not scopes:
        raise UsageError(f"a scope is one of {', '.join(SCOPES)}, not '{', '.join(unknown)}'")
    return tuple(one for one in SCOPES if one in scopes)


def canonical(groups: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return groups by their canonical names, in order; None, which may read everything, stays None.

    Raises:
        UsageError: a name is blank.
    """
    return None if groups is None else tuple(sorted(Reader(groups=frozenset(groups)).groups or ()))


def as_text(groups: tuple[str, ...] | None) -> str | None:
    """Return groups as they are stored."""
    return None if groups is None else json.dumps(groups)


def from_text(groups: str | None) -> tuple[str, ...] | None:
    """Return stored groups."""
    return None if groups is None else tuple(json.loads(groups))


def secret_hash(text: str) -> str:
    """Return the hash that is stored instead of a random secret."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _row(key: Key, hash: str) -> tuple[object, ...]:
    told = (json.dumps(key.scopes), as_text(key.groups), json.dumps(asdict(key.limits)))
    return (key.id, key.name, hash, *told, key.made, key.revoked)


def _key(
    id: str, name: str, hash: str, scopes: str, groups: str | None, limits: str, made: float, revoked: float | None
) -> Key:
    del hash
    return Key(
        id=id,
        name=name,
        scopes=tuple(json.loads(scopes)),
        groups=from_text(groups),
        limits=KeyLimits(**json.loads(limits)),
        made=made,
        revoked=revoked,
    )
