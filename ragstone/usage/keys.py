"""Keys of the HTTP API: what each may do, what it may read, and how much it may take.

A key is shown once, when it is made; what is kept is its hash. It has 256 random bits, so no slow hash is needed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from ragstone.access import Reader
from ragstone.errors import NotFound, UsageError
from ragstone.index.journal import Journal, row_crc

Scope = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "write", "admin")
"""What a key may allow: to ask and look; to add and remove documents; everything, with settings and statistics."""
PREFIX = "rgs_"
_FORM = re.compile(r"rgs_([0-9a-f]{8})_[A-Za-z0-9_-]{43}")
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,100}")
_COLUMNS = "id, name, hash, scopes, groups, limits, made, revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLimits:
    """What a key may take; nothing: what the server's settings say."""

    rate_per_minute: int | None = None
    burst: int | None = None
    concurrent: int | None = None
    cost_per_day: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key as it is kept. ``groups`` are those it speaks for; none at all: it may read everything.

    Keys of the same ``name`` belong to the same reader: they see the same conversations.
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
        """Who asks with it."""
        return Reader(name=self.name, groups=None if self.groups is None else frozenset(self.groups))


class KeyRing:
    """All keys as they were at one moment."""

    def __init__(self, keys: Iterable[tuple[Key, str]] = (), made: int = 0) -> None:
        """Take the keys with their hashes, and how many were ever made."""
        self._keys = {key.id: (key, hash) for key, hash in keys}
        self._made = made

    def __bool__(self) -> bool:
        """Whether a key was ever made: to revoke or damage the last one opens nothing."""
        return self._made > 0

    def find(self, text: str) -> Key | None:
        """The key that was shown, unless it is none or was revoked; how long that takes tells nothing of any other."""
        form = _FORM.fullmatch(text)
        key, hash = self._keys.get(form[1] if form else "", (None, ""))
        fits = hmac.compare_digest(hash, _hash(text))
        return key if fits and key and key.revoked is None else None


class Keys:
    """The keys of a knowledge base."""

    def __init__(self, journal: Journal, clock: Callable[[], float] = time.time) -> None:
        """Take the journal, and what tells the seconds since 1970."""
        self._journal, self._clock = journal, clock

    def close(self) -> None:
        """Let go of the journal."""
        self._journal.close()

    def make(
        self,
        name: str,
        scopes: Sequence[str],
        groups: Sequence[str] | None = None,
        limits: KeyLimits | None = None,
    ) -> tuple[Key, str]:
        """A new key, and the text of it, which cannot be had again.

        Raises:
            UsageError: the name is blank, or a scope is none.
            KnowledgeBaseError: it could not be kept.
        """
        if not name.strip() or not _NAME.fullmatch(name):
            raise UsageError("a key needs a name of up to 100 characters: whose it is, or what for")
        unknown = [one for one in scopes if one not in SCOPES]
        if unknown or not scopes:
            raise UsageError(f"a scope is one of {', '.join(SCOPES)}, not '{', '.join(unknown)}'")
        own = None if groups is None else tuple(sorted(Reader(groups=frozenset(groups)).groups or ()))
        id = secrets.token_hex(4)
        text = f"{PREFIX}{id}_{secrets.token_urlsafe(32)}"
        key = Key(
            id=id,
            name=name.strip(),
            scopes=tuple(one for one in SCOPES if one in scopes),
            groups=own,
            limits=limits or KeyLimits(),
            made=self._clock(),
        )
        row = _row(key, _hash(text))
        with self._journal.writing() as db:
            db.execute(f"INSERT INTO keys ({_COLUMNS}, crc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [*row, row_crc(*row)])  # noqa: S608
        return key, text

    def all(self) -> list[Key]:
        """Every key that was made, the newest first.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        return [key for key, _ in self._rows()]

    def ring(self) -> KeyRing:
        """All of them, to find one by its text.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        with self._journal.reading() as db:
            ((made,),) = db.execute("SELECT count(*) FROM keys") if db else ((0,),)
        return KeyRing(self._rows(), made)

    def revoke(self, which: str) -> list[Key]:
        """Let a key, by its id, or all of a name, open nothing from now on.

        Raises:
            NotFound: there is no such key that is not revoked yet.
            KnowledgeBaseError: it could not be written.
        """
        now = self._clock()
        out: list[Key] = []
        for key, hash in self._rows():
            if which in (key.id, key.name) and key.revoked is None:
                revoked = replace(key, revoked=now)
                with self._journal.writing() as db:
                    sum = row_crc(*_row(revoked, hash))
                    db.execute("UPDATE keys SET revoked = ?, crc = ? WHERE id = ?", [now, sum, key.id])
                out.append(revoked)
        if not out:
            raise NotFound(f"there is no key '{which}' in force; ragstone key list shows them")
        return out

    def spend(self, id: str, cost: int) -> None:
        """Note what a key has cost, in billionths, on this day of UTC.

        Raises:
            KnowledgeBaseError: it could not be written.
        """
        sql = "INSERT INTO key_costs VALUES (?, ?, ?) ON CONFLICT (day, id) DO UPDATE SET cost = cost + excluded.cost"
        with self._journal.writing() as db:
            db.execute("DELETE FROM key_costs WHERE day < ?", [self.today()])
            db.execute(sql, [self.today(), id, cost])

    def spent(self, id: str) -> int:
        """What a key has cost on this day of UTC, in billionths.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        with self._journal.reading() as db:
            sql = "SELECT cost FROM key_costs WHERE day = ? AND id = ?"
            found = db.execute(sql, [self.today(), id]).fetchone() if db else None
        return found[0] if found else 0

    def today(self) -> str:
        return datetime.fromtimestamp(self._clock(), UTC).date().isoformat()

    def _rows(self) -> list[tuple[Key, str]]:
        with self._journal.reading() as db:
            rows = db.execute(f"SELECT {_COLUMNS}, crc FROM keys ORDER BY made DESC, id").fetchall() if db else []  # noqa: S608
        return [(_key(*row[:-1]), row[2]) for row in rows if row[-1] == row_crc(*row[:-1])]  # doctor tells of others


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _row(key: Key, hash: str) -> tuple[object, ...]:
    groups = None if key.groups is None else json.dumps(key.groups)
    told = (json.dumps(key.scopes), groups, json.dumps(asdict(key.limits)))
    return (key.id, key.name, hash, *told, key.made, key.revoked)


def _key(
    id: str, name: str, hash: str, scopes: str, groups: str | None, limits: str, made: float, revoked: float | None
) -> Key:
    del hash
    return Key(
        id=id,
        name=name,
        scopes=tuple(json.loads(scopes)),
        groups=None if groups is None else tuple(json.loads(groups)),
        limits=KeyLimits(**json.loads(limits)),
        made=made,
        revoked=revoked,
    )
