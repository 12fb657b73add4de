"""Tokens of visitors: a site's server requests one per visitor, and it expires after minutes.

A token has 256 random bits and is stored only as a hash. It also ends when the key that made it is revoked.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Sequence

from ragstone.core.access import VISITOR, Reader
from ragstone.core.errors import UsageError
from ragstone.core.frozen import frozen
from ragstone.history.journal import row_crc
from ragstone.history.keys import Key, canonical, secret_hash
from ragstone.history.store import JournalStore

PREFIX = "rgt_"
_FORM = re.compile(r"rgt_[A-Za-z0-9_-]{43}")
_COLUMNS = "hash, key, visitor, groups, until"


@frozen
class Token:
    """A token without its secret.

    ``key`` is the id of the key that made it, ``visitor`` the site's name for the visitor. ``until`` is in seconds
    since 1970.
    """

    key: str
    visitor: str
    groups: tuple[str, ...]
    until: float

    @property
    def reader(self) -> Reader:
        """The visitor as a reader. Visitors of another key have other names, whatever their sites call them."""
        return Reader(name=f"{VISITOR}{self.key}:{self.visitor}", groups=frozenset(self.groups))


class Tokens:
    """The tokens of a knowledge base."""

    def __init__(self, journal: JournalStore, clock: Callable[[], float] | None = None) -> None:
        """Take the journal, and a clock of seconds since 1970 other than that of the journal."""
        self._journal, self._clock = journal, clock or journal.clock

    def make(self, key: Key, visitor: str, groups: Sequence[str], seconds: float) -> str:
        """Make a token for a visitor who may read public documents and those of some groups, and return it.

        Raises:
            UsageError: the key itself may not read all of these groups.
            KnowledgeBaseError: it could not be stored.
        """
        wanted = canonical(groups) or ()
        beyond = [] if key.groups is None else [one for one in wanted if one not in key.groups]
        if beyond:
            raise UsageError(f"the key itself may not read documents of: {', '.join(beyond)}")
        now, text = self._clock(), f"{PREFIX}{secrets.token_urlsafe(32)}"
        row = (secret_hash(text), key.id, visitor, json.dumps(wanted), now + seconds)
        with self._journal.writing() as db:
            db.execute("DELETE FROM tokens WHERE until < ?", [now])
            db.execute(f"INSERT INTO tokens ({_COLUMNS}, crc) VALUES (?, ?, ?, ?, ?, ?)", [*row, row_crc(*row)])  # noqa: S608
        return text

    def find(self, text: str) -> Token | None:
        """Return the token for a secret; None if it is unknown or expired.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        if not _FORM.fullmatch(text):
            return None
        with self._journal.reading() as db:
            sql = f"SELECT {_COLUMNS}, crc FROM tokens WHERE hash = ?"  # noqa: S608
            found = db.execute(sql, [secret_hash(text)]).fetchone() if db else None
        if found is None or found[-1] != row_crc(*found[:-1]):
            return None
        _, key, visitor, groups, until, _ = found
        token = Token(key=key, visitor=visitor, groups=tuple(json.loads(groups)), until=until)
        return token if self._clock() < token.until else None
