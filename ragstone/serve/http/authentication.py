"""Authentication: no key is needed until the first one is made; from then on every request has to show one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from ragstone.core.access import OWNER, Reader
from ragstone.history.keys import SCOPES, Key, KeyRing, Keys, Scope
from ragstone.serve.http.errors import Refused
from ragstone.serve.view import View

CALLER = "ragstone.caller"
"""The key of the request's `Caller` in its ASGI scope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sends a request: what they may do and read, their key, and the address of their machine.

    There is no key if none was ever made.
    """

    scopes: frozenset[Scope]
    reader: Reader
    key: Key | None = None
    address: str = ""

    @property
    def name(self) -> str:
        """What tells callers apart who take turns: the key, or else the address."""
        return self.key.id if self.key else self.address

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
            raise Refused("forbidden", f"this needs a key with the scope '{scope}'")


LOCAL_CALLER = Caller(scopes=frozenset(SCOPES), reader=OWNER)
"""The caller as long as no key was made: someone on this machine."""


class Authenticator:
    """Finds the caller of a request by its key."""

    def __init__(self, keys: Keys, *, may_be_open: bool) -> None:
        """Authenticate against the keys of a knowledge base.

        Args:
            keys: with a connection of their own, so that no writer delays reading them.
            may_be_open: whether requests without a key are accepted until the first key is made.
        """
        self._keys, self._may_be_open = keys, may_be_open
        self._ring, self._state = KeyRing(), (0, 0, 0)

    def close(self) -> None:
        """Close the connection to the keys."""
        self._keys.close()

    @property
    def is_open(self) -> bool:
        """Whether no key is needed now. A key that another process makes or revokes counts at once.

        Raises:
            KnowledgeBaseError: the keys cannot be read, so every request is refused.
        """
        if (state := self._keys.state()) != self._state:
            self._ring, self._state = self._keys.ring(), state
        return self._may_be_open and not self._ring

    def caller(self, authorization: str) -> Caller:
        """Return the caller who sends this ``Authorization`` header.

        Raises:
            Refused: a key is needed, and the header has none or an unknown one.
            KnowledgeBaseError: the keys cannot be read.
        """
        if self.is_open:
            return LOCAL_CALLER
        kind, _, text = authorization.partition(" ")
        key = self._ring.find(text.strip()) if kind.lower() == "bearer" else None
        if key is None:
            reason = "this key is unknown or revoked" if authorization else "a key is needed"
            raise Refused("unauthorized", f"{reason}; send it as: Authorization: Bearer rgs_...")
        return Caller(scopes=frozenset(key.scopes), reader=key.reader, key=key)


_SCHEME = HTTPBearer(auto_error=False, scheme_name="key", description="A key made with `ragstone key make`.")


def _with_scope(scope: Scope) -> Callable[..., Awaitable[Caller]]:
    async def dependency(request: Request, _: Annotated[object, Depends(_SCHEME)]) -> Caller:
        caller: Caller = request.scope[CALLER]
        caller.require(scope)
        return caller

    return dependency


Reading = Annotated[Caller, Depends(_with_scope("read"))]
Writing = Annotated[Caller, Depends(_with_scope("write"))]
Administering = Annotated[Caller, Depends(_with_scope("admin"))]
