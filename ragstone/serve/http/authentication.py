"""Authentication: who sends a request.

No key is needed until the first key or user is made. From then on every request shows a key, or the cookie of somebody
who is signed in.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import field
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, Request
from fastapi.security import HTTPBearer

from ragstone.core.access import OWNER, Reader
from ragstone.core.errors import KnowledgeBaseError
from ragstone.core.frozen import frozen
from ragstone.history.keys import SCOPES, Key, KeyRing, Keys, Scope
from ragstone.history.sessions import Session, Sessions
from ragstone.history.store import JournalStore
from ragstone.history.users import Users
from ragstone.serve.http.errors import Refused
from ragstone.serve.view import View

CALLER = "ragstone.caller"
"""The key of the request's `Caller` in its ASGI scope."""
LOOKING_UP = 8
"""Threads that read keys and sessions if they are on a database server."""
Found = TypeVar("Found")
LOOK_AGAIN_SECONDS = 1.0
"""How long a server relies on the keys that it has read, if they are on a database server."""


@frozen
class Caller:
    """Who sends a request: what they may do and read, their key, and the address of their machine.

    There is no key if none was ever made. That of a person who is signed in has no secret; limits and costs count by
    it. ``to_touch`` is the cookie of a session whose use has to be noted. A visitor of another site may only ask and
    rate; ``payer`` is the key that a visitor's questions are charged to. ``voice`` names whose opinion a vote is, if
    not the reader's.
    """

    scopes: frozenset[Scope]
    reader: Reader
    key: Key | None = None
    address: str = ""
    session: Session | None = None
    to_touch: str = field(default="", repr=False)
    is_visitor: bool = False
    payer: Key | None = None
    voice: str = ""

    @property
    def name(self) -> str:
        """What tells callers apart who take turns: the key, or else the address."""
        return self.key.id if self.key else self.address

    @property
    def charged(self) -> Key | None:
        """The key that pays for models; its own, unless another one pays for it."""
        return self.payer or self.key

    @property
    def identity(self) -> str:
        """Who acts, for the record; empty on the server's own machine.

        A provider's people may be able to choose what they are called, so their unique name stands beside it.
        """
        if self.session is None:
            return f"{self.key.name} ({self.key.id})" if self.key else ""
        name, shown = self.session.name, self.session.shown
        return name if name == shown else f"{shown} ({name})"

    @property
    def is_admin(self) -> bool:
        return "admin" in self.scopes

    @property
    def view(self) -> View:
        """What the caller is shown of a record."""
        return View(reader=self.reader, is_admin=self.is_admin)

    def may(self, scope: Scope) -> bool:
        """Return whether the caller has a scope; administrators have all."""
        return scope in self.scopes or self.is_admin

    def require(self, scope: Scope) -> None:
        """Check that the caller has a scope.

        Raises:
            Refused: the scope is missing.
        """
        if not self.may(scope):
            raise Refused("forbidden", f"this needs {'' if self.session else 'a key with '}the scope '{scope}'")


LOCAL_CALLER = Caller(scopes=frozenset(SCOPES), reader=OWNER)
"""The caller as long as no key was made: someone on this machine."""


class Authenticator:
    """Finds the caller of a request by its key, or by the cookie of somebody who is signed in."""

    def __init__(self, journal: JournalStore, *, may_be_open: bool, idle_seconds: float, issuer: str) -> None:
        """Authenticate against the keys and sessions of a knowledge base.

        Args:
            journal: a connection of its own, so that no writer delays reading it.
            may_be_open: whether requests without a key are accepted until the first key or user is made.
            idle_seconds: the pause after which a session ends.
            issuer: of the provider that signs people in now; sessions through another one are over.
        """
        self._journal, self._keys, self._users = journal, Keys(journal), Users(journal)
        self._sessions, self._idle_seconds, self._issuer = Sessions(journal), idle_seconds, issuer
        self._may_be_open = may_be_open
        self._ring, self._has_users = KeyRing(), False
        self._state: tuple[float, ...] = ()
        self._looked = float("-inf")
        self._threads = ThreadPoolExecutor(LOOKING_UP, "ragstone-keys")

    def close(self) -> None:
        """Close the connection to the journal."""
        self._threads.shutdown(cancel_futures=True)
        self._journal.close()

    async def looked_up(self, look: Callable[[], Found]) -> Found:
        """Return what a function reads from the journal: in a thread unless that takes only microseconds.

        The threads are for this alone, so that neither a slow journal nor slow work elsewhere holds up the other.
        """
        if self._journal.is_local:
            return look()
        return await asyncio.get_running_loop().run_in_executor(self._threads, look)

    def is_open(self) -> bool:
        """Return whether no key is needed now. A key that another process makes or revokes counts at once.

        Raises:
            KnowledgeBaseError: the keys cannot be read, so every request is refused.
        """
        if not self._may_be_open or self._ring or self._has_users:  # it never opens again
            return False
        self._look_again()
        return not self._ring and not self._has_users

    def in_force(self, id: str) -> Key | None:
        """Return a key by its id, unless it is unknown or revoked.

        Raises:
            KnowledgeBaseError: the keys cannot be read.
        """
        self._look_again()
        return self._ring.in_force(id)

    def _look_again(self) -> None:
        """Read the keys if another process has changed them; those on a database server at most once a second."""
        if not self._journal.is_local and time.monotonic() - self._looked < LOOK_AGAIN_SECONDS:
            return
        if (state := self._keys.state()) != self._state:
            self._ring, self._state = self._keys.ring(), state
        self._has_users = self._has_users or self._users.were_ever_added()
        self._looked = time.monotonic()

    def caller(self, authorization: str, cookie: str = "") -> Caller:
        """Return the caller who sends this ``Authorization`` header, or else this cookie of a session.

        Raises:
            Refused: a key is needed, and the header has none or an unknown one, or the session is over.
            KnowledgeBaseError: the keys cannot be read.
        """
        if self.is_open():
            return LOCAL_CALLER
        self._look_again()
        if cookie and not authorization:
            found = self._sessions.find(cookie, self._idle_seconds)
            if found is None or not found[0].is_through(self._issuer):
                raise Refused("unauthorized", "the session is over; sign in again")
            session, is_stale = found
            return Caller(
                scopes=frozenset(session.scopes),
                reader=session.reader,
                key=session.key,
                session=session,
                to_touch=cookie if is_stale else "",
            )
        kind, _, text = authorization.partition(" ")
        key = self._ring.find(text.strip()) if kind.lower() == "bearer" else None
        if key is None:
            reason = "this key is unknown or revoked" if authorization else "a key is needed"
            raise Refused("unauthorized", f"{reason}; send it as: Authorization: Bearer rgs_...")
        return Caller(scopes=frozenset(key.scopes), reader=key.reader, key=key)

    def touch(self, cookie: str) -> None:
        """Note that a session is used; a disk that cannot be written only ends it earlier."""
        with suppress(KnowledgeBaseError):
            self._sessions.touch(cookie)


_SCHEME = HTTPBearer(auto_error=False, scheme_name="key", description="A key made with `ragstone key make`.")


def _with_scope(scope: Scope) -> Callable[..., Awaitable[Caller]]:
    async def dependency(request: Request, _: Annotated[object, Depends(_SCHEME)]) -> Caller:
        caller: Caller = request.scope[CALLER]
        caller.require(scope)
        return caller

    return dependency


Reading = Annotated[Caller, Depends(_with_scope("read"))]
Writing = Annotated[Caller, Depends(_with_scope("write"))]
MakingTokens = Annotated[Caller, Depends(_with_scope("tokens"))]
_may_administer = Depends(_with_scope("admin"))
Administering = Annotated[Caller, _may_administer]


def admin_router(path: str = "") -> APIRouter:
    """Return a router below ``/admin``, whose routes all need the scope ``admin``."""
    return APIRouter(prefix=f"/admin{path}", tags=["administration"], dependencies=[_may_administer])
